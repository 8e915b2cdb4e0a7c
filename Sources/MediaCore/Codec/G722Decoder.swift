/// ITU-T G.722 at 64 kbit/s to sound at 16 kHz; at 8 kHz the lower sub-band alone, which needs no filter.
package final class G722Decoder {
  private var lower = G722Band.lower
  private var higher = G722Band.higher
  private let filter = G722Filter()
  private let samplingRate: Int

  package init(samplingRate: Int) throws(CodecFailure) {
    guard samplingRate == 16_000 || samplingRate == 8_000 else { throw .samplingRate(samplingRate) }
    self.samplingRate = samplingRate
  }

  /// Each byte is two samples at 16 kHz, one at 8 kHz. `false`: no byte, or more than a sample buffer holds.
  package func decode(_ bytes: UnsafeRawBufferPointer, into samples: SampleBuffer) -> Bool {
    let each = samplingRate / 8_000
    guard bytes.count > 0, bytes.count <= SampleBuffer.capacity / each else { return false }
    samples.count = bytes.count * each
    samples.withUnsafeMutableRoom { room in
      if each == 1 {
        for index in 0..<bytes.count { room[index] = Int16(low(bytes[index]) << 1) }
      } else {
        var start = 0
        while start < bytes.count {
          let count = min(G722Filter.block, bytes.count - start)
          wide(
            UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]),
            into: UnsafeMutableBufferPointer(rebasing: room[(2 * start)..<(2 * (start + count))]))
          start += count
        }
      }
    }
    return true
  }

  private func wide(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<Int16>) {
    for index in 0..<bytes.count {
      let low = low(bytes[index])
      let high = high(bytes[index])
      filter.first[index] = low &+ high
      filter.second[index] = low &- high
    }
    for index in 0..<bytes.count {
      let (rising, falling) = filter.sums(at: index)
      room[2 * index] = Int16(G722Band.limit(falling >> 11))
      room[2 * index + 1] = Int16(G722Band.limit(rising >> 11))
    }
    filter.advance(bytes.count)
  }

  /// 15 bits.
  @inline(__always)
  private func low(_ byte: UInt8) -> Int32 {
    let code = Int(byte & 0x3F)
    let sample = lower.prediction &+ (lower.scale &* G722Tables.qm6[code]) >> 15
    _ = lower.adapt(meaning: G722Tables.qm4[code >> 2], step: G722Tables.wl[code >> 2])
    return min(max(sample, -16_384), 16_383)
  }

  /// 15 bits.
  @inline(__always)
  private func high(_ byte: UInt8) -> Int32 {
    let code = Int(byte >> 6)
    let predicted = higher.prediction
    let difference = higher.adapt(meaning: G722Tables.qm2[code], step: G722Tables.wh[code])
    return min(max(predicted &+ difference, -16_384), 16_383)
  }
}
