public import AppProtocol
public import CallModel

/// One of the two who talk with each other.
public enum CallSide: String, Hashable, Sendable, CaseIterable {
  case caller, called

  var leg: LegID { self == .caller ? .near : .far }
}

/// What an operator or an owner's server does to a call that is up.
public enum CallOrder: Hashable, Sendable {
  /// Keys are pressed towards a side: 0-9, *, #, A-D.
  case press(CallSide, String)
  /// A side is heard by nobody, whatever its app says; or is again.
  case mute(CallSide, Bool)
  /// A side waits with a quiet tone and is not heard; or talks again.
  case hold(CallSide, Bool)
  /// A side leaves, and the other one talks with somebody else.
  case transfer(CallSide, TransferOrder)
  case record(RecordingOrder)
  /// Sides hear a sound in place of the other one.
  case say(PreparedSound, to: Set<CallSide>)
  /// Both sides hear a sound beneath their talk.
  case sayBeneath(PreparedSound)
  /// What is said to sides ends, and they hear the other one again.
  case stopSaying(Set<CallSide>)
}

/// Why an operator ends a call, as its trunks are told (ITU-T Q.850).
public enum HangUpCause {
  /// What may be told.
  public static let range = 1...127
  /// Normal call clearing.
  public static let normal = 16
}

/// Names an order until ``EngineEffect/ordered(_:_:)`` answers it.
public struct CallOrderID: Hashable, Sendable {
  /// Counted up by the shell.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}
