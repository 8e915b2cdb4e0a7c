import SDPCore
import SecureTransport

/// A tone that repeats, as packets of one codec: all legs of a thread that hear it are sent the same ones. A packet is
/// encoded when the first of them gets there, and a leg that rings needs no encoder of its own.
///
/// Codecs remember. So the first round is as a decoder without a past needs it, and the second, which stands for all that
/// follow, as one that has heard the pause at the end of a round.
package final class ToneRound {
  struct Key: Hashable {
    var tone: Tone
    var codec: AudioCodec
  }

  /// Longest round in milliseconds; longer tones are made anew each time.
  static let maximumMilliseconds = 10_000
  /// Rounds that one thread keeps.
  static let maximumKept = 32

  /// Of one round.
  private let frames: Int
  /// Of two rounds.
  private var packets: [[UInt8]] = []
  private var generator: ToneGenerator
  /// `nil` once both rounds are complete.
  private var encoder: AudioEncoder?

  /// - Returns: `nil` where the tone does not repeat, ends with a sine, is no whole number of packets or too long, where the
  ///   codec cannot be made, and for G.722: its memory comes to rest in no pause, and its encoder is small.
  init?(_ key: Key) {
    let tone = key.tone
    guard key.codec != .g722, tone.repeats,
      tone.segments.allSatisfy({ (0...ToneRound.maximumMilliseconds).contains($0.milliseconds) }),
      tone.segments.last?.components.isEmpty == true
    else { return nil }
    let milliseconds = tone.segments.reduce(0) { $0 + $1.milliseconds }
    guard milliseconds > 0, milliseconds <= ToneRound.maximumMilliseconds,
      milliseconds % LocalSound.frameMilliseconds == 0, let encoder = try? LocalSound.encoder(for: key.codec)
    else { return nil }
    frames = milliseconds / LocalSound.frameMilliseconds
    generator = ToneGenerator(tone, samplingRate: encoder.samplingRate)
    self.encoder = encoder
  }

  /// Appends the payload of frame `index`, counted from the tone's beginning. `false`: it cannot be encoded, or there is no
  /// room.
  func append(_ index: Int, to packet: PacketBuffer, using sound: SampleBuffer) -> Bool {
    let wanted = index < frames ? index : frames + index % frames
    while let encoder, packets.count <= wanted {
      let made = PacketBuffer()
      generator.fill(sound, count: LocalSound.samples(of: encoder))
      guard encoder.encode(sound, from: 0, count: sound.count, into: made) else { return false }
      packets.append(made.bytes)
      if packets.count == 2 * frames { self.encoder = nil }
    }
    return packet.append(payload: packets[wanted])
  }
}
