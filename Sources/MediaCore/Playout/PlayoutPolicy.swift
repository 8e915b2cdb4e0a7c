/// How much sound waits until it is heard, and when some of it is left out.
struct PlayoutPolicy {
  /// Milliseconds of sound that wait behind what is heard on a calm network.
  let minimumDelay: Int
  /// Milliseconds that are held at most, however uneven the network is.
  let maximumDelay: Int
  /// Microseconds over which the least that waited is looked at before sound is left out.
  let window: Int64
  /// What waits longer than needed is left out where it is quiet, all of it; where it is loud, only beyond ``maximumDelay``.
  let shrinksInSilence: Bool

  /// A listener of one voice: a packet is left out now and then, whatever it holds.
  static let endpoint = PlayoutPolicy(
    minimumDelay: 40, maximumDelay: 120, window: 2_000_000, shrinksInSilence: false)
  /// A room, where all wait for each other: no more than is needed, and no syllable is cut for it.
  static let room = PlayoutPolicy(minimumDelay: 20, maximumDelay: 120, window: 200_000, shrinksInSilence: true)
}
