import CallModel
import SDPCore
import SecureTransport

/// Listens to the sound that comes from one leg, beside its way: for keys pressed as tones, at 8 kHz, and for a recording.
final class SoundTap {
  /// Hz, for keys.
  static let samplingRate = 8_000

  private let leg: LegID
  private let workspace: MediaWorkspace
  private let detector: DTMFDetector?
  private var recorder: WAVRecorder?
  private var channel = WAVRecorder.Channel.left
  private var decoder: AudioDecoder?
  private var narrowing: RateConverter?
  private var recording: RateConverter?
  private var digits: [DigitPressed] = []

  init(_ leg: LegID, detectsTones: Bool, workspace: MediaWorkspace) {
    self.leg = leg
    self.workspace = workspace
    detector = detectsTones ? DTMFDetector(samplingRate: SoundTap.samplingRate) : nil
  }

  /// Records what comes from now on.
  func record(_ recorder: WAVRecorder, on channel: WAVRecorder.Channel) {
    self.channel = channel
    self.recorder = recorder
  }

  func endRecording() { recorder = nil }

  var isRecording: Bool { recorder != nil }

  /// A packet that passes undecoded. `isMuted`: nobody hears it, nor does a recording; keys are found all the same.
  func hear(
    _ packet: PacketBuffer, _ header: RTPHeader, _ codec: AudioCodec, isMuted: Bool, detectsTones: Bool = true,
    at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    // What is wide stays so where somebody records it.
    let rate = min(codec.samplingRate, max(recorder?.samplingRate ?? 0, SoundTap.samplingRate))
    if decoder?.codec != codec || decoder?.samplingRate != rate {
      decoder = try? AudioDecoder(codec, samplingRate: rate)
    }
    let sound = workspace.decoded
    guard let decoder,
      decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: sound)
    else { return }
    hear(
      sound, header, codec, samplingRate: rate, isMuted: isMuted, detectsTones: detectsTones, at: now, events: &events)
  }

  /// Sound of a packet that was decoded on its way.
  func hear(
    _ sound: SampleBuffer, _ header: RTPHeader, _ codec: AudioCodec, samplingRate: Int, isMuted: Bool,
    detectsTones: Bool = true, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    if let recorder, !isMuted, let sound = converted(sound, samplingRate, recorder.samplingRate, &recording) {
      recorder.record(
        sound, on: channel, at: now,
        stamp: WAVRecorder.Stamp(timestamp: header.timestamp, clockRate: codec.clockRate))
    }
    guard detectsTones, let detector,
      let sound = converted(sound, samplingRate, SoundTap.samplingRate, &narrowing)
    else { return }
    detector.process(sound, from: 0, count: sound.count, digits: &digits)
    for digit in digits { events.append(.digit(leg, digit)) }
    digits.removeAll(keepingCapacity: true)
  }

  private func converted(
    _ sound: SampleBuffer, _ source: Int, _ target: Int, _ converter: inout RateConverter?
  ) -> SampleBuffer? {
    guard source != target else { return sound }
    if converter?.source != source || converter?.target != target {
      converter = RateConverter(from: source, to: target)
    }
    guard let converter, converter.convert(sound, into: workspace.converted) else { return nil }
    return workspace.converted
  }
}
