/// How much sound waits until it is heard, and when some of it is left out.
struct PlayoutPolicy {
  /// Milliseconds of sound that wait behind what is heard on a calm network. Where it ``adapts``, that the slowest of the first
  /// packets waits: nothing is known of the network yet.
  let minimumDelay: Int
  /// Milliseconds that are held at most, however uneven the network is.
  let maximumDelay: Int
  /// Microseconds over which the least that waited is looked at before sound is left out.
  let window: Int64
  /// No more waits than the slowest of the latest packets needs. Beyond that, sound is left out where it is quiet, and only
  /// beyond ``maximumDelay`` where it is loud; where less waits, something quiet is heard twice.
  let adapts: Bool

  /// A listener of one voice: a packet is left out now and then, whatever it holds.
  static let endpoint = PlayoutPolicy(minimumDelay: 40, maximumDelay: 120, window: 2_000_000, adapts: false)
  /// A room, where all wait for each other: no more than is needed, and no syllable is cut for it.
  static let room = PlayoutPolicy(minimumDelay: 38, maximumDelay: 120, window: 200_000, adapts: true)
}
