import CLandlineOpus

/// Opus to mono sound at 8, 16 or 48 kHz. Stereo is mixed down by the decoder itself.
///
/// Every packet is inspected before the library sees it (``OpusPacket``).
package final class OpusDecoder {
  private let state: OpaquePointer
  private let samplingRate: Int

  package init(samplingRate: Int) throws(CodecFailure) {
    guard [8_000, 16_000, 48_000].contains(samplingRate) else { throw .samplingRate(samplingRate) }
    var failure: Int32 = 0
    guard let state = opus_decoder_create(opus_int32(samplingRate), 1, &failure) else { throw .library(failure) }
    self.state = state
    self.samplingRate = samplingRate
  }

  deinit { opus_decoder_destroy(state) }

  /// `false`: the packet is malformed and changed nothing.
  package func decode(_ bytes: UnsafeRawBufferPointer, into samples: SampleBuffer) -> Bool {
    guard let packet = OpusPacket.inspect(bytes, eachFrame: { _ in }) else { return false }
    return run(bytes, samples: packet.duration * samplingRate / 48_000, recovering: false, into: samples)
  }

  /// The sound that was lost just before this packet: `count` samples. `true`: its last frame came from the copy in
  /// this packet; `false`: all of it is concealment.
  package func recover(_ bytes: UnsafeRawBufferPointer, samples count: Int, into samples: SampleBuffer) -> Bool {
    guard let packet = OpusPacket.inspect(bytes, eachFrame: { _ in }), packet.hasForwardErrorCorrection,
      whole(count) >= packet.frameDuration * samplingRate / 48_000
    else {
      conceal(samples: count, into: samples)
      return false
    }
    guard run(bytes, samples: whole(count), recovering: true, into: samples) else {
      conceal(samples: count, into: samples)
      return false
    }
    samples.count = min(count, samples.count)
    return true
  }

  /// `count` samples of what was probably lost. Fades to the noise behind the voice.
  package func conceal(samples count: Int, into samples: SampleBuffer) {
    if run(UnsafeRawBufferPointer(start: nil, count: 0), samples: whole(count), recovering: false, into: samples) {
      samples.count = min(max(count, 0), samples.count)
    } else {
      samples.fillSilence(count)
    }
  }

  package func reset() { _ = landline_opus_decoder_reset(state) }

  /// The library works in units of 2.5 ms.
  private func whole(_ count: Int) -> Int {
    let unit = samplingRate / 400
    let most = SampleBuffer.capacity / unit
    return min(max((count + unit - 1) / unit, 1), most) * unit
  }

  private func run(
    _ bytes: UnsafeRawBufferPointer, samples count: Int, recovering: Bool, into samples: SampleBuffer
  ) -> Bool {
    let decoded = samples.withUnsafeMutableRoom { room in
      guard let sound = room.baseAddress else { return OPUS_BAD_ARG }
      return opus_decode(
        state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), opus_int32(bytes.count), sound,
        Int32(min(count, room.count)), recovering ? 1 : 0)
    }
    guard decoded >= 0 else { return false }
    samples.count = Int(decoded)
    return true
  }
}
