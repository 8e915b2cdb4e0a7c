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
  private let sound = SampleBuffer()

  /// Prompts, one after the other.
  init(_ prompts: [PromptRecording], at now: MonotonicInstant) {
    source = .prompts(prompts)
    start = now
  }

  /// Tones, one after the other; `nil` when the codec cannot be made.
  init?(_ tones: [Tone], for send: MediaPlan.Format, at now: MonotonicInstant) {
    let rate = send.codec == .opus ? 8_000 : send.codec.samplingRate
    guard let encoder = try? AudioEncoder(send.codec, samplingRate: rate) else { return nil }
    source = .tones(encoder)
    start = now
    waiting = Array(tones.prefix(LocalSound.maximumTones))
  }

  /// It is no prompt.
  var isTones: Bool { if case .tones = source { true } else { false } }

  func add(_ tones: [Tone]) { waiting += tones.prefix(LocalSound.maximumTones - waiting.count) }

  var nextDeadline: MonotonicInstant? {
    isOver ? nil : start.advanced(byMilliseconds: Int64(frames * LocalSound.frameMilliseconds))
  }

  /// Appends the payload of the next frame; `false`: it is over.
  func appendFrame(to packet: PacketBuffer) -> Bool {
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
    case .tones(let encoder):
      if generator?.isFinished ?? true {
        generator = waiting.isEmpty ? nil : ToneGenerator(waiting.removeFirst(), samplingRate: encoder.samplingRate)
      }
      guard generator != nil else { break }
      generator?.fill(sound, count: encoder.samplingRate * LocalSound.frameMilliseconds / 1000)
      return encoder.encode(sound, from: 0, count: sound.count, into: packet)
    }
    isOver = true
    return false
  }
}
