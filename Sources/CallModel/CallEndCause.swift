/// Why a call ended, as an app sees it.
public enum CallEndCause: String, Hashable, Sendable, CaseIterable {
  /// Not ended yet.
  case none
  case timeout
  case denied
  case noAnswer
  case error
  case hungUp
  case canceled
  case otherDeviceAnswered
  /// It put the other side through to somebody else, and the call goes on without it.
  case transferred
}
