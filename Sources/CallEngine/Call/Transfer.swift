import AppProtocol
import CallModel
import SIPCore

extension LegID {
  /// The leg that a transfer leads to, until it has another's place.
  static let third = LegID(2)
}

/// A leg of a call that stands gives its place to a third, while the other one waits.
///
/// ```
/// blind     connecting ──▶ ringing ──────── answer ────────▶ over: the two talk, whoever asked has left
/// consult   connecting ──▶ ringing ──▶ consulting ──complete──▶ the same
///               └──────────────┴─────────────┴──▶ failed, or taken back: as it was before
/// ```
/// Whoever asked may leave before the answer: then the call ends where the third does not answer.
struct Transfer {
  enum Stage {
    /// Media and the hold are asked for, or the user's devices are looked up.
    case connecting(isPrepared: Bool, until: MonotonicInstant)
    case ringing
    /// The third has answered, and talks with whoever asked.
    case consulting
  }

  /// The leg that leaves.
  let by: LegID
  let kind: Destination.Kind
  /// Whom it leads to, in canonical form.
  let target: String
  /// Whether whoever asks talks with the third first.
  var consults: Bool
  var stage: Stage
  /// Whoever asked has left: nobody is there to take the call back.
  var isLeft = false
  /// When the devices of a user began to ring, and when they cease.
  var ring: RingTimes?
  /// The end of sound that comes before an answer.
  var earlyMediaUntil: MonotonicInstant?
  /// Whether it has been told that the third rings.
  var hasRung = false
  /// The dialog between others that the third leg is to take the place of (RFC 3891).
  var replaces: String?
  /// The user whom it leads to, once the devices are known.
  var called: CalledUser?

  /// The leg that waits to be put through.
  var waiting: LegID { by == .near ? .far : .near }

  func partner(of leg: LegID) -> LegID? {
    guard consults, case .consulting = stage else { return nil }
    if leg == .third { return by }
    return leg == by ? .third : nil
  }

  /// When the machine has to look at it.
  var until: MonotonicInstant? {
    switch stage {
    case .connecting(_, let until): until
    case .ringing: [ring?.until, earlyMediaUntil].compactMap { $0 }.min()
    case .consulting: nil
    }
  }
}

/// When the devices of a user began to ring, and when they cease.
struct RingTimes {
  let since: MonotonicInstant
  var until: MonotonicInstant
}
