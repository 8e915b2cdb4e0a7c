import CallModel
import SDPCore
import SecureTransport

/// What came in, as a steady flow of sound: decoded, concealed, at the listener's rate.
final class StreamPlayout {
  /// Milliseconds of one piece of sound.
  static let frameMilliseconds = 20
  /// Milliseconds that are made up while nothing comes; then there is silence until enough has come again.
  static let concealed = 100

  /// Packets of quiet sound in a row, after which such are left out: no pause between two words is that long.
  static let quietPackets = 5
  /// -dBov from which on sound is quiet.
  static let quiet = 45

  /// Milliseconds over which sound goes before packets that are not decoded, and comes in behind them.
  static let fadeMilliseconds = 5
  /// Packets that a decoder is given before one may be missing: amid a stream a new one may be wrong by far, half as much
  /// with each packet.
  static let learnedPackets = 5

  /// Room while a packet is worked on, which holds nothing between packets: many may share it.
  final class Scratch {
    let decoded = SampleBuffer()
    let converted = SampleBuffer()
    /// Packets that were not decoded since the start, for their senders said that they are quiet.
    var spared: UInt64 = 0
  }

  /// What a quiet packet follows, which may be spared then or not.
  private enum Former {
    /// Nothing yet.
    case nothing
    /// Sound, whose end is in the next packet.
    case sound
    /// Silence in place of a packet, or a quiet packet that ended in it.
    case silence
  }

  private(set) var samplingRate: Int
  private let buffer: PlayoutBuffer
  private let queue: SampleQueue
  private let scratch: Scratch
  private let decoded: SampleBuffer
  private let converted: SampleBuffer
  private let frame = SampleBuffer()
  private var decoder: AudioDecoder?
  private var converter: RateConverter?
  /// Samples of the last packet at the decoder's rate.
  private var lastSamples = 160
  private var starvedMilliseconds = 0
  /// Quiet packets in a row, counted while more waits than is needed.
  private var quietPackets = 0
  private var former = Former.nothing
  /// Packets that the decoder was given, up to ``learnedPackets``.
  private var learned = 0

  /// - Parameter highestRate: that is ever used, in Hz.
  init(samplingRate: Int, highestRate: Int, _ policy: PlayoutPolicy, _ scratch: Scratch = Scratch()) {
    self.samplingRate = samplingRate
    buffer = PlayoutBuffer(policy)
    // Two of the longest packets.
    queue = SampleQueue(capacity: 2 * highestRate * SampleBuffer.milliseconds / 1000)
    self.scratch = scratch
    decoded = scratch.decoded
    converted = scratch.converted
  }

  /// The listener's rate is another from now on; packets that wait are heard at it.
  func use(samplingRate: Int) {
    guard samplingRate != self.samplingRate else { return }
    self.samplingRate = samplingRate
    queue.removeAll()
    decoder = nil
    converter = nil
  }

  /// Milliseconds of sound that wait behind what is heard.
  var waiting: Int { buffer.waiting + queue.count * 1000 / samplingRate }

  var frameCount: Int { samplingRate * StreamPlayout.frameMilliseconds / 1000 }
  var late: UInt64 { buffer.late }
  var skipped: UInt64 { buffer.skipped }

  func restart() {
    buffer.restart()
    starvedMilliseconds = 0
  }

  func formatsChanged() {
    restart()
    decoder = nil
    converter = nil
  }

  /// `isQuiet`: its sender says that nobody would hear it. `false`: its turn was over.
  func insert(
    _ packet: PacketBuffer, _ header: RTPHeader, isSound: Bool, isQuiet: Bool = false, at now: MonotonicInstant
  ) -> Bool {
    buffer.insert(packet, header.sequence, isSound: isSound, isQuiet: isQuiet, at: now)
  }

  /// The next frame. Counts what was made up in `leg`. `sparesQuiet`: what its sender says is quiet is silence, and not
  /// decoded where that costs much.
  func nextFrame(_ leg: any PlayoutSource, sparesQuiet: Bool = false, at now: MonotonicInstant) -> SampleBuffer {
    while queue.count < frameCount, produce(leg, sparesQuiet, at: now) {}
    if !queue.pop(frameCount, into: frame) {
      let rest = queue.count
      if rest > 0, queue.pop(rest, into: frame) {
        frame.count = frameCount
        for index in rest..<frameCount { frame[index] = 0 }
      } else {
        frame.fillSilence(frameCount)
      }
    }
    return frame
  }

  /// Adds the sound of one turn to the queue; `false`: there is none.
  private func produce(_ leg: any PlayoutSource, _ sparesQuiet: Bool, at now: MonotonicInstant) -> Bool {
    let milliseconds = decoder.map { lastSamples * 1000 / $0.samplingRate } ?? StreamPlayout.frameMilliseconds
    switch buffer.nextTurn(packetTime: milliseconds, jitter: leg.jitterMilliseconds, at: now) {
    case .packet(let packet, let isQuiet):
      starvedMilliseconds = 0
      guard let header = RTPHeader(packet), let decoder = decoder(for: leg.codec(of: header.payloadType)) else {
        return true
      }
      let isSpared = sparesQuiet && isQuiet && decoder.codec == .opus
      guard isSpared && former != .sound ? spare(packet, header, decoder) : decode(packet, header, decoder) else {
        leg.malformed += 1
        return true
      }
      lastSamples = decoded.count
      if isLeftOut() { return true }
      fade(isSpared, decoder)
      push()
    case .missing(let next, let isNextQuiet):
      guard let decoder else { return true }
      // Amid silence only a copy in what is heard again is looked for.
      if former != .sound, next == nil || sparesQuiet && isNextQuiet {
        decoded.fillSilence(lastSamples)
        leg.concealed += 1
      } else if recover(next, decoder, leg) {
        leg.recoveredByCodec += 1
        fade(false, decoder)
      } else {
        if former != .sound { decoded.fillSilence(lastSamples) }
        leg.concealed += 1
      }
      push()
    case .silent: break
    case .starved:
      guard let decoder, starvedMilliseconds < StreamPlayout.concealed else {
        buffer.refill()
        return false
      }
      if former == .sound {
        decoder.conceal(samples: lastSamples, into: decoded)
      } else {
        decoded.fillSilence(lastSamples)
      }
      leg.concealed += 1
      starvedMilliseconds += max(milliseconds, 1)
      push()
    case .filling: return false
    }
    return true
  }

  private func decode(_ packet: PacketBuffer, _ header: RTPHeader, _ decoder: AudioDecoder) -> Bool {
    learned = min(learned + 1, StreamPlayout.learnedPackets)
    return decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: decoded)
  }

  /// Silence as long as the sound of a packet, which is not decoded unless the decoder is new. `false`: malformed.
  private func spare(_ packet: PacketBuffer, _ header: RTPHeader, _ decoder: AudioDecoder) -> Bool {
    if learned < StreamPlayout.learnedPackets {
      guard decode(packet, header, decoder) else { return false }
      decoded.fillSilence(decoded.count)
    } else {
      guard let sound = OpusPacket.inspect(packet, offset: header.payloadOffset, count: header.payloadCount) else {
        return false
      }
      decoded.fillSilence(sound.duration * decoder.samplingRate / 48_000)
      scratch.spared += 1
    }
    former = .silence
    return true
  }

  /// The sound that was decoded goes over into silence, where packets that follow are to be spared, or comes out of it.
  private func fade(_ isSpared: Bool, _ decoder: AudioDecoder) {
    let samples = decoder.samplingRate * StreamPlayout.fadeMilliseconds / 1000
    if former == .silence, !isSpared { decoded.fadeIn(samples) }
    if former == .sound, isSpared { decoded.fadeOut(samples) }
    former = isSpared ? .silence : .sound
  }

  /// The sound that was decoded is one of many quiet ones in a row, and more waits than is needed.
  private func isLeftOut() -> Bool {
    guard buffer.hasSurplus, ComfortNoise.level(of: decoded) >= StreamPlayout.quiet else {
      quietPackets = 0
      return false
    }
    quietPackets = min(quietPackets + 1, StreamPlayout.quietPackets)
    return quietPackets == StreamPlayout.quietPackets && buffer.leavesOut()
  }

  /// Makes up one packet; `true`: from a copy in the next one.
  private func recover(_ next: PacketBuffer?, _ decoder: AudioDecoder, _ leg: any PlayoutSource) -> Bool {
    guard let next, let header = RTPHeader(next), leg.codec(of: header.payloadType) == decoder.codec else {
      decoder.conceal(samples: lastSamples, into: decoded)
      return false
    }
    decoder.bridge(
      lastSamples, to: next, offset: header.payloadOffset, count: header.payloadCount, scratch: decoded)
    return decoder.recover(
      from: next, offset: header.payloadOffset, count: header.payloadCount, samples: lastSamples, into: decoded)
  }

  private func push() {
    if let converter {
      guard converter.convert(decoded, into: converted) else { return }
      _ = queue.push(converted)
    } else {
      _ = queue.push(decoded)
    }
  }

  private func decoder(for codec: AudioCodec) -> AudioDecoder? {
    if let decoder, decoder.codec == codec { return decoder }
    let rate = codec == .opus ? samplingRate : min(codec.samplingRate, samplingRate)
    decoder = try? AudioDecoder(codec, samplingRate: rate)
    learned = 0
    converter = rate == samplingRate ? nil : RateConverter(from: rate, to: samplingRate)
    lastSamples = rate * StreamPlayout.frameMilliseconds / 1000
    return decoder
  }
}
