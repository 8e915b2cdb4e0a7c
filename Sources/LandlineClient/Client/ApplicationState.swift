/// Where the app stands for its user, as the app says it: a program without windows leaves it at ``active``.
public enum ApplicationState: String, Hashable, Sendable, CaseIterable {
  /// In front.
  case active
  /// In front, while something else has the user's attention.
  case inactive
  /// Not in front: incoming calls are announced (``CallClientDelegate/callClient(_:willReceiveIncomingCall:)``), and taken
  /// once the app is in front again.
  case background

  /// A call may be shown and taken.
  var isInFront: Bool { self != .background }
}
