import CallModel

/// What has the legs of a bridge in a room of their own in place of flows between them: what is mixed needs a clock, and
/// packets are none in a pause.
struct OwnRoom {
  /// When the sound is over that is played beneath the talk; `nil`: there is none.
  var soundEnd: MonotonicInstant?
  /// A recording's tone is heard beneath the talk.
  var hasTone = false
  /// Legs of other bridges may be in it.
  var isShared = false
  /// The legs are in it now.
  var isTaken = false

  var isWanted: Bool { soundEnd != nil || hasTone || isShared }
}
