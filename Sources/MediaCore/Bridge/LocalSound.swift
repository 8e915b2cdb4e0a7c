import CallModel
import SDPCore
import SecureTransport

/// Sound of our own towards a leg, a frame every 20 ms by the clock: a prompt that is encoded already, or tones.
final class LocalSound {
  static let frameMilliseconds = PromptRecording.packetTime
  /// Tones that wait at most.
  static let maximumTones = 64

  private enum Source {
    case prompts([PromptRecording])
    case round(ToneRound)
    case tones(AudioEncoder)
  }

  private let source: Source
  private let start: MonotonicInstant
  private var frames = 0
  private var isOver = false
  /// The prompt that is being said, and its next packet.
  private var prompt = 0
  private var next = 0
  private var waiting: [Tone] = []
  private var generator: ToneGenerator?

  /// Prompts, one after the other.
  init(_ prompts: [PromptRecording], at now: MonotonicInstant) {
    source = .prompts(prompts)
    start = now
  }

  /// Tones, one after the other; what stands behind one that repeats is never heard. `nil` when the codec cannot be made.
  init?(_ tones: [Tone], for codec: AudioCodec, sharing workspace: MediaWorkspace, at now: MonotonicInstant) {
    start = now
    if let first = tones.first, let round = workspace.toneRound(first, codec) {
      source = .round(round)
    } else if let encoder = try? LocalSound.encoder(for: codec) {
      source = .tones(encoder)
      waiting = Array(tones.prefix(LocalSound.maximumTones))
    } else {
      return nil
    }
  }

  /// For tones: none has a part that a telephone would not carry.
  static func encoder(for codec: AudioCodec) throws(CodecFailure) -> AudioEncoder {
    try AudioEncoder(codec, samplingRate: codec == .opus ? 8_000 : codec.samplingRate)
  }

  /// Of one frame.
  static func samples(of encoder: AudioEncoder) -> Int { encoder.samplingRate * frameMilliseconds / 1000 }

  /// It is no prompt.
  var isTones: Bool { if case .prompts = source { false } else { true } }

  func add(_ tones: [Tone]) {
    guard case .tones = source else { return }
    waiting += tones.prefix(LocalSound.maximumTones - waiting.count)
  }

  var nextDeadline: MonotonicInstant? {
    isOver ? nil : start.advanced(byMilliseconds: Int64(frames * LocalSound.frameMilliseconds))
  }

  /// Appends the payload of the next frame; `false`: it is over.
  /// - Parameter sound: Room for the frame's samples.
  func appendFrame(to packet: PacketBuffer, using sound: SampleBuffer) -> Bool {
    defer { frames += 1 }
    switch source {
    case .prompts(let prompts):
      while prompt < prompts.count {
        if prompts[prompt].append(next, to: packet) {
          next += 1
          return true
        }
        prompt += 1
        next = 0
      }
    case .round(let round):
      if round.append(frames, to: packet, using: sound) { return true }
    case .tones(let encoder):
      if generator?.isFinished ?? true {
        generator = waiting.isEmpty ? nil : ToneGenerator(waiting.removeFirst(), samplingRate: encoder.samplingRate)
      }
      guard generator != nil else { break }
      generator?.fill(sound, count: LocalSound.samples(of: encoder))
      return encoder.encode(sound, from: 0, count: sound.count, into: packet)
    }
    isOver = true
    return false
  }
}
