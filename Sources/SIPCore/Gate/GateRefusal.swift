/// Why a message does not reach the parser, and what to do about it.
public struct GateRefusal: Error, Sendable {
  /// What the receiver of the message does.
  public enum Action: Hashable, Sendable {
    /// Count it and stay silent: a response, an ACK, no SIP at all, or nothing an answer could be addressed with.
    case drop
    /// Answer with this status (400, 414, 416, 505, 513), within the rate limit of the source.
    case answer(status: Int, reason: String)
  }

  /// What the message broke. Counted in ``UserAgentCounters/refusedByRule``.
  public let rule: GateRule
  /// Offset of the first offending byte in what ``message`` holds; `nil` when the whole message is at fault.
  public let offset: Int?
  /// An answer only where ``ErrorResponse/canAnswer(_:)`` says that one is possible.
  public let action: Action
  /// What could be read, for ``ErrorResponse``; `nil` when there was no start line.
  public let message: ScannedMessage?

  package init(_ rule: GateRule, at offset: Int?, in message: ScannedMessage?) {
    self.rule = rule
    self.offset = offset
    self.message = message
    if let message, ErrorResponse.canAnswer(message) {
      action = .answer(status: rule.status, reason: rule.reason)
    } else {
      action = .drop
    }
  }
}

extension GateRefusal: CustomStringConvertible {
  /// Safe to log: no byte of the message.
  public var description: String {
    let place = offset.map { " at byte \($0)" } ?? ""
    return switch action {
    case .drop: "dropped: \(rule.rawValue)\(place)"
    case .answer(let status, _): "\(status): \(rule.rawValue)\(place)"
    }
  }
}
