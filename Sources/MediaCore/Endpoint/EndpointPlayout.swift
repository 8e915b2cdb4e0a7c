import CallModel
import SDPCore
import SecureTransport

/// What came in, as a steady flow of sound: decoded, concealed, at the listener's rate.
final class EndpointPlayout {
  /// Milliseconds of one piece of sound.
  static let frameMilliseconds = 20
  /// Milliseconds that are made up while nothing comes; then there is silence until enough has come again.
  static let concealed = 100

  private let samplingRate: Int
  private let buffer = PlayoutBuffer()
  private let queue = SampleQueue(capacity: SampleBuffer.capacity * 2)
  private let decoded = SampleBuffer()
  private let converted = SampleBuffer()
  private let frame = SampleBuffer()
  private var decoder: AudioDecoder?
  private var converter: RateConverter?
  /// Samples of the last packet at the decoder's rate.
  private var lastSamples = 160
  private var starvedMilliseconds = 0

  init(samplingRate: Int) { self.samplingRate = samplingRate }

  var frameCount: Int { samplingRate * EndpointPlayout.frameMilliseconds / 1000 }
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

  /// `false`: its turn was over.
  func insert(_ packet: PacketBuffer, _ header: RTPHeader, isSound: Bool, at now: MonotonicInstant) -> Bool {
    buffer.insert(packet, header.sequence, isSound: isSound, at: now)
  }

  /// The next frame. Counts what was made up in `leg`.
  func nextFrame(_ leg: MediaLeg, at now: MonotonicInstant) -> SampleBuffer {
    while queue.count < frameCount, produce(leg, at: now) {}
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
  private func produce(_ leg: MediaLeg, at now: MonotonicInstant) -> Bool {
    let milliseconds = decoder.map { lastSamples * 1000 / $0.samplingRate } ?? EndpointPlayout.frameMilliseconds
    switch buffer.nextTurn(packetTime: milliseconds, jitter: leg.reception.jitterMilliseconds, at: now) {
    case .packet(let packet):
      starvedMilliseconds = 0
      guard let header = RTPHeader(packet), let decoder = decoder(for: leg.codec(of: header.payloadType)) else {
        return true
      }
      guard decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: decoded) else {
        leg.malformed += 1
        return true
      }
      lastSamples = decoded.count
      push()
    case .missing(let next):
      guard let decoder else { return true }
      if recover(next, decoder, leg) { leg.recoveredByCodec += 1 } else { leg.concealed += 1 }
      push()
    case .silent: break
    case .starved:
      guard let decoder, starvedMilliseconds < EndpointPlayout.concealed else {
        buffer.refill()
        return false
      }
      decoder.conceal(samples: lastSamples, into: decoded)
      leg.concealed += 1
      starvedMilliseconds += max(milliseconds, 1)
      push()
    case .filling: return false
    }
    return true
  }

  /// Makes up one packet; `true`: from a copy in the next one.
  private func recover(_ next: PacketBuffer?, _ decoder: AudioDecoder, _ leg: MediaLeg) -> Bool {
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
    converter = rate == samplingRate ? nil : RateConverter(from: rate, to: samplingRate)
    lastSamples = rate * EndpointPlayout.frameMilliseconds / 1000
    return decoder
  }
}
