/// Where a call stands. States only move forward: a call may skip one, and never returns.
public enum CallState: String, Hashable, Sendable, CaseIterable, Comparable {
  case initiating
  /// The other side is being reached. Never seen on an incoming call.
  case progressing
  /// The other side's device rings, or this one for an incoming call.
  case ringing
  /// Answered, media not yet flowing.
  case answered
  case established
  case ended

  private var order: Int {
    switch self {
    case .initiating: 0
    case .progressing: 1
    case .ringing: 2
    case .answered: 3
    case .established: 4
    case .ended: 5
    }
  }

  /// By how far the call has come: ``initiating`` first, ``ended`` last.
  public static func < (left: CallState, right: CallState) -> Bool { left.order < right.order }
}
