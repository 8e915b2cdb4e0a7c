/// What one message says of session timers (RFC 4028 sections 4 to 6).
package struct SessionTimerHeaders: Hashable, Sendable {
  package typealias Refresher = SessionExpires.Refresher

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

  /// What a message says; a value that cannot be read counts as absent.
  package init(_ message: SIPMessage) {
    let expires = message.value("Session-Expires").flatMap { try? SessionExpires(parsing: $0) }
    self.init(
      interval: expires?.seconds, refresher: expires?.refresher,
      minimum: message.value("Min-SE").flatMap { try? MinSE(parsing: $0) }?.seconds,
      supportsTimer: message.tokens("Supported")?.contains("timer") ?? false,
      requiresTimer: message.tokens("Require")?.contains("timer") ?? false)
  }

  /// The fields to send, without Supported, whose list stands in every message anyway.
  package var fields: [OutgoingField] {
    var fields: [OutgoingField] = []
    func append(_ name: String, _ value: String) {
      if let field = try? OutgoingField(name, value) { fields.append(field) }
    }
    if let interval { append("Session-Expires", SessionExpires(seconds: interval, refresher: refresher).fieldValue) }
    if let minimum { append("Min-SE", MinSE(seconds: minimum).fieldValue) }
    if requiresTimer { append("Require", "timer") }
    return fields
  }
}
