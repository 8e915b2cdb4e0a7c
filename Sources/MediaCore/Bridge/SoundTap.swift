import CallModel
import SDPCore
import SecureTransport

/// Listens to the sound of one direction at 8 kHz, beside its way: for keys pressed as tones, and for a recording.
final class SoundTap {
  static let samplingRate = 8_000

  private let leg: LegID
  private let channel: WAVRecorder.Channel
  private let workspace: MediaWorkspace
  private let detector: DTMFDetector?
  var recorder: WAVRecorder?
  private var decoder: AudioDecoder?
  private var converter: RateConverter?
  private var digits: [DigitPressed] = []

  init(_ leg: LegID, channel: WAVRecorder.Channel, detectsTones: Bool, workspace: MediaWorkspace) {
    self.leg = leg
    self.channel = channel
    self.workspace = workspace
    detector = detectsTones ? DTMFDetector(samplingRate: SoundTap.samplingRate) : nil
  }

  /// A packet that passes undecoded.
  func hear(
    _ packet: PacketBuffer, _ header: RTPHeader, _ codec: AudioCodec, at now: MonotonicInstant,
    events: inout [MediaEvent]
  ) {
    if decoder?.codec != codec { decoder = try? AudioDecoder(codec, samplingRate: SoundTap.samplingRate) }
    let sound = workspace.decoded
    guard let decoder,
      decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: sound)
    else { return }
    hear(sound, samplingRate: SoundTap.samplingRate, at: now, events: &events)
  }

  /// Sound that was decoded on its way.
  func hear(
    _ sound: SampleBuffer, samplingRate: Int, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    var sound = sound
    if samplingRate != SoundTap.samplingRate {
      if converter == nil { converter = RateConverter(from: samplingRate, to: SoundTap.samplingRate) }
      guard let converter, converter.convert(sound, into: workspace.converted) else { return }
      sound = workspace.converted
    }
    recorder?.record(sound, on: channel, at: now)
    guard let detector else { return }
    detector.process(sound, from: 0, count: sound.count, digits: &digits)
    for digit in digits { events.append(.digit(leg, digit)) }
    digits.removeAll(keepingCapacity: true)
  }
}
