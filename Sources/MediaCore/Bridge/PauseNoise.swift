import CallModel
import Glibc

/// Fills a long pause of a stream that knows none of its own: when a G.711 or G.722 sender falls silent without a word
/// (lost packets, a cut way, silence suppression without RFC 3389), the listener hears the noise behind the voice in
/// place of nothing, and the time stamps that are sent go on.
///
/// A pause shorter than ``patience`` is left to concealment and to the listener's own decoder.
struct PauseNoise {
  /// Microseconds without a packet, after which noise is made.
  static let patience: Int64 = 200_000
  /// -dBov between which noise is made: neither loud enough for a voice nor so faint that the line seems dead.
  static let loudest = 50
  static let faintest = 75

  /// Mean square of the quietest sound of late.
  private var floor = Float.infinity
  /// When the next frame of noise is due.
  private(set) var nextDeadline: MonotonicInstant?
  /// Noise has been made since the last packet.
  private(set) var isFilling = false
  private var noise: ComfortNoise?

  /// A packet of sound came.
  mutating func heard(_ sound: SampleBuffer, at now: MonotonicInstant) {
    nextDeadline = now.advanced(byMicroseconds: PauseNoise.patience)
    isFilling = false
    noise = nil
    guard sound.count > 0 else { return }
    let power = sound.withUnsafeMutableRoom { room in
      var sum: Float = 0
      for index in 0..<sound.count { sum += Float(room[index]) * Float(room[index]) }
      return sum / Float(sound.count)
    }
    // It sinks at once and rises slowly (2 dB a second at 20 ms): a voice has quiet places, noise has none.
    floor = min(max(power, 1), floor * 1.01)
  }

  /// A key is pressed in place of sound: that is no pause.
  mutating func postpone(at now: MonotonicInstant) {
    if nextDeadline != nil { nextDeadline = now.advanced(byMicroseconds: PauseNoise.patience) }
  }

  /// Replaces `sound` by the `count` samples of noise that are due now. `microseconds`: their length.
  mutating func fill(_ sound: SampleBuffer, count: Int, microseconds: Int64, at now: MonotonicInstant) {
    var noise = self.noise ?? ComfortNoise(seed: UInt64(bitPattern: now.microseconds), .init(level: level))
    noise.fill(sound, count: count)
    self.noise = noise
    isFilling = true
    let due = (nextDeadline ?? now).advanced(byMicroseconds: max(microseconds, 1))
    // After a stall of ours the frames that were not made are left out.
    nextDeadline = due > now ? due : now.advanced(byMicroseconds: max(microseconds, 1))
  }

  /// No noise until the next packet.
  mutating func stop() {
    nextDeadline = nil
    isFilling = false
    noise = nil
  }

  private var level: Int {
    guard floor.isFinite, floor > 0 else { return PauseNoise.faintest }
    let level = Int(-10 * log10(Double(floor) / (32_768 * 32_768)))
    return min(max(level, PauseNoise.loudest), PauseNoise.faintest)
  }
}
