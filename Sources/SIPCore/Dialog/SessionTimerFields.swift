/// What one message says of session timers (RFC 4028 sections 4 to 6).
package struct SessionTimerFields: Hashable, Sendable {
  /// Who refreshes, by the roles in the transaction that the message belongs to.
  package enum Refresher: String, Hashable, Sendable {
    case uac, uas
  }

  /// Seconds of Session-Expires.
  package var interval: UInt32?
  /// Its refresher parameter.
  package var refresher: Refresher?
  /// Seconds of Min-SE.
  package var minimum: UInt32?
  /// Whether Supported or Require list `timer`.
  package var supportsTimer: Bool
  /// Whether Require lists `timer`.
  package var requiresTimer: Bool

  package init(
    interval: UInt32? = nil, refresher: Refresher? = nil, minimum: UInt32? = nil, supportsTimer: Bool = false,
    requiresTimer: Bool = false
  ) {
    self.interval = interval
    self.refresher = refresher
    self.minimum = minimum
    self.supportsTimer = supportsTimer || requiresTimer
    self.requiresTimer = requiresTimer
  }

  /// The fields to send, without Supported, whose list stands in every message anyway.
  package var fields: [OutgoingField] {
    var pairs: [(String, String)] = []
    if let interval {
      pairs.append(("Session-Expires", "\(interval)" + (refresher.map { ";refresher=\($0.rawValue)" } ?? "")))
    }
    if let minimum { pairs.append(("Min-SE", "\(minimum)")) }
    if requiresTimer { pairs.append(("Require", "timer")) }
    return pairs.compactMap { try? OutgoingField($0.0, $0.1) }
  }
}
