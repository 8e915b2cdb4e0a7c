import CallModel
import SDPCore
import SecureTransport

/// Sound of our own, cut into packets of the leg's codec.
final class EndpointCapture {
  /// Of speech coding.
  static let complexity = 5

  private let samplingRate: Int
  /// At the encoder's rate.
  private let queue = SampleQueue(capacity: SampleBuffer.capacity * 2)
  private let given = SampleBuffer()
  private let converted = SampleBuffer()
  private let frame = SampleBuffer()
  private var encoder: AudioEncoder?
  private var converter: RateConverter?

  init(samplingRate: Int) { self.samplingRate = samplingRate }

  /// Another codec, or another stream: what waits for the rest of its packet is dropped.
  func formatsChanged() {
    encoder = nil
    converter = nil
    queue.removeAll()
  }

  /// What the peer reports of our packets decides how Opus is encoded. `protection`: bytes that it adds to a packet.
  func report(_ report: PeerReport, protection: Int) {
    encoder?.report(
      lossRate: report.lossRate, roundTrip: report.roundTrip, protection: protection, at: report.instant)
  }

  /// What goes out holds copies of the packets before.
  var sendsCopies: Bool { encoder?.sendsCopies ?? false }

  func send(_ samples: UnsafeBufferPointer<Int16>, _ leg: MediaLeg, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard leg.mayPlay, let audio = leg.audio, let encoder = encoder(for: audio.send) else {
      queue.removeAll()
      return
    }
    let packetSamples = audio.packetTime(forAtLeast: encoder.packetTime) * encoder.samplingRate / 1000
    var start = 0
    // A piece that both a sample buffer and the converter hold, whatever is given.
    let piece = samplingRate / 50
    while start < samples.count {
      let count = min(piece, samples.count - start)
      given.count = count
      given.withUnsafeMutableRoom { room in
        _ = UnsafeMutableBufferPointer(rebasing: room[..<count]).update(
          from: UnsafeBufferPointer(rebasing: samples[start..<(start + count)]))
      }
      if leg.isMuted { given.fillSilence(count) }
      start += count
      if let converter {
        guard converter.convert(given, into: converted) else { continue }
        _ = queue.push(converted)
      } else {
        _ = queue.push(given)
      }
      while queue.pop(packetSamples, into: frame) { emit(encoder, audio.send, leg, at: now, outbox: outbox) }
    }
  }

  private func emit(
    _ encoder: AudioEncoder, _ send: MediaPlan.Format, _ leg: MediaLeg, at now: MonotonicInstant, outbox: PacketOutbox
  ) {
    let out = outbox.next
    out.count = RTPHeader.size
    guard encoder.encode(frame, from: 0, count: frame.count, into: out) else { return }
    let count = out.count
    let stamp = leg.outgoing.stamp(
      timestamp: leg.outgoing.following(at: now),
      duration: frame.count * send.codec.clockRate / encoder.samplingRate, marker: false, at: now)
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: leg.outgoing.source)
    out.count = count
    leg.send(out, outbox: outbox)
  }

  private func encoder(for send: MediaPlan.Format) -> AudioEncoder? {
    if let encoder { return encoder }
    let rate = send.codec == .opus ? samplingRate : min(send.codec.samplingRate, samplingRate)
    var settings = AudioEncoder.Settings()
    if send.codec == .opus {
      settings = AudioEncoder.Settings(peer: OpusParameters(send.parameters))
      // The sound of a microphone is sent throughout: the far end's clock is kept going.
      settings.discontinuous = false
      // An app has one call to encode for.
      settings.complexity = EndpointCapture.complexity
    }
    encoder = try? AudioEncoder(send.codec, samplingRate: rate, settings: settings)
    converter = rate == samplingRate ? nil : RateConverter(from: samplingRate, to: rate)
    return encoder
  }
}
