public import CallModel

/// Where a subscription stands (RFC 6665 section 8.2.3): of a transfer, whether more reports come.
public struct SubscriptionState: Hashable, Sendable {
  /// The states of RFC 6665 section 4.1.3.
  public enum State: String, Hashable, Sendable {
    case active, pending, terminated
  }

  /// `terminated` says that no further report comes.
  public let state: State
  /// Seconds that it still lives.
  public let expires: UInt32?
  /// Why it ended: `noresource`, `timeout`.
  public let reason: String?

  public init(_ state: State, expires: UInt32? = nil, reason: String? = nil) {
    self.state = state
    self.expires = expires
    self.reason = reason
  }

  /// A state that is not known counts as active (RFC 6665 section 4.1.3 lets it be an extension).
  /// - Throws: `InvalidValue` with rules `subscription.long`, `subscription.state`, `subscription.expires`,
  ///   `subscription.parameter`, `subscription.end`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      text, kind: "Subscription-State header", rule: "subscription",
      accepted: "active, pending or terminated with parameters, such as active;expires=60", maximumBytes: 1024)
    reader.skipSpace()
    let state = reader.token()
    guard !state.isEmpty else { throw reader.invalid("state", "\(reader.nextName) stands where the state begins") }
    var expires: UInt32?
    var reason: String?
    while true {
      let place = reader.offset
      guard let (name, value) = try reader.parameter() else { break }
      switch name.lowercased() {
      case "expires":
        guard let number = value.flatMap(FieldNumber.read) else {
          throw reader.invalid("expires", "the life is no number of seconds", at: place)
        }
        expires = number
      case "reason": reason = value
      default: break
      }
    }
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after the value") }
    self.init(State(rawValue: state.lowercased()) ?? .active, expires: expires, reason: reason)
  }

  /// The state with its parameters: `active;expires=60`, `terminated;reason=noresource`.
  public var fieldValue: String {
    state.rawValue + (expires.map { ";expires=\($0)" } ?? "") + (reason.map { ";reason=\($0)" } ?? "")
  }
}
