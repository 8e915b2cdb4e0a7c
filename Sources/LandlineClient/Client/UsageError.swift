/// A method called at a time when it has no meaning: a mistake of the calling code.
public enum UsageError: String, Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Calls can be placed once the client has told ``ClientEvent/started(user:)``.
  case notStarted
  /// The client was started and not stopped since.
  case alreadyStarted
  /// The client was started without the capability that the method needs.
  case capabilityMissing
  /// The call is over.
  case callEnded
  /// The call goes out: only an incoming one can be answered.
  case notIncoming

  /// One phrase in English, for the developer.
  public var description: String {
    switch self {
    case .notStarted: "the client is not started yet, or not any more"
    case .alreadyStarted: "the client is started"
    case .capabilityMissing: "the client was started without the capability that this needs"
    case .callEnded: "the call is over"
    case .notIncoming: "the call is not an incoming one"
    }
  }
}
