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
        // A local copy, for access to a class's property is checked each time.
        var lower = lower
        let tables = G722Tables.shared
        for index in 0..<bytes.count {
          room[index] = Int16(G722Decoder.low(bytes[index], &lower, tables) << 1)
        }
        self.lower = lower
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

  /// The same, and then as if nothing had been decoded.
  package func peek(_ bytes: UnsafeRawBufferPointer, into samples: SampleBuffer) -> Bool {
    let (lower, higher) = (lower, higher)
    defer { (self.lower, self.higher) = (lower, higher) }
    return filter.trying { decode(bytes, into: samples) }
  }

  private func wide(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutableBufferPointer<Int16>) {
    var lower = lower
    var higher = higher
    let tables = G722Tables.shared
    for index in 0..<bytes.count {
      let low = G722Decoder.low(bytes[index], &lower, tables)
      let high = G722Decoder.high(bytes[index], &higher, tables)
      // Both have 15 bits.
      filter.first[index] = Int16(truncatingIfNeeded: low &+ high)
      filter.second[index] = Int16(truncatingIfNeeded: low &- high)
    }
    self.lower = lower
    self.higher = higher
    for index in 0..<bytes.count {
      let (rising, falling) = filter.sums(at: index)
      room[2 * index] = Int16(G722Band.limit(falling >> 11))
      room[2 * index + 1] = Int16(G722Band.limit(rising >> 11))
    }
    filter.advance(bytes.count)
  }

  /// 15 bits.
  @inline(__always)
  private static func low(_ byte: UInt8, _ band: inout G722Band, _ tables: G722Tables) -> Int32 {
    let code = Int(byte & 0x3F)
    let sample = band.prediction &+ (band.scale &* tables.qm6[code]) >> 15
    // Six bits without the last two: 0 to 15, as long as both tables.
    _ = band.adapt(meaning: tables.qm4[code >> 2], step: tables.wl[code >> 2], tables)
    return min(max(sample, -16_384), 16_383)
  }

  /// 15 bits.
  @inline(__always)
  private static func high(_ byte: UInt8, _ band: inout G722Band, _ tables: G722Tables) -> Int32 {
    let code = Int(byte >> 6)
    let predicted = band.prediction
    let difference = band.adapt(meaning: tables.qm2[code], step: tables.wh[code], tables)
    return min(max(predicted &+ difference, -16_384), 16_383)
  }
}
