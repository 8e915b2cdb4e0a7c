/// Sound at 16 kHz to ITU-T G.722 at 64 kbit/s; sound at 8 kHz fills the lower sub-band alone.
package final class G722Encoder {
  private var lower = G722Band.lower
  private var higher = G722Band.higher
  private let filter = G722Filter()
  private let samplingRate: Int

  package init(samplingRate: Int) throws(CodecFailure) {
    guard samplingRate == 16_000 || samplingRate == 8_000 else { throw .samplingRate(samplingRate) }
    self.samplingRate = samplingRate
  }

  /// A second encoder that goes on as `other` does.
  package init(copying other: G722Encoder) {
    samplingRate = other.samplingRate
    copyState(from: other)
  }

  /// Goes on as `other` would, of the same sampling rate. `false`: it has another, and nothing has changed.
  @discardableResult
  package func copyState(from other: G722Encoder) -> Bool {
    guard other.samplingRate == samplingRate else { return false }
    lower = other.lower
    higher = other.higher
    filter.copyState(from: other.filter)
    return true
  }

  /// Bytes written: one for each two samples at 16 kHz, which must be even in number, or for each sample at 8 kHz.
  /// 0: not even, or no room.
  package func encode(_ samples: UnsafeBufferPointer<Int16>, into bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let each = samplingRate / 8_000
    let total = samples.count / each
    guard samples.count % each == 0, total <= bytes.count else { return 0 }
    // Local copies, for access to a class's property is checked each time.
    var lower = lower
    var higher = higher
    defer {
      self.lower = lower
      self.higher = higher
    }
    let tables = G722Tables.shared
    if each == 1 {
      for index in samples.indices {
        bytes[index] =
          G722Encoder.quantizeHigher(0, &higher, tables) << 6
          | G722Encoder.quantizeLower(Int32(samples[index]) >> 1, &lower, tables)
      }
      return total
    }
    var start = 0
    while start < total {
      let count = min(G722Filter.block, total - start)
      for index in 0..<count {
        filter.first[index] = samples[2 * (start + index)]
        filter.second[index] = samples[2 * (start + index) + 1]
      }
      for index in 0..<count {
        let (rising, falling) = filter.sums(at: index)
        bytes[start + index] =
          G722Encoder.quantizeHigher((falling &- rising) >> 14, &higher, tables) << 6
          | G722Encoder.quantizeLower((falling &+ rising) >> 14, &lower, tables)
      }
      filter.advance(count)
      start += count
    }
    return total
  }

  /// Six bits.
  @inline(__always)
  private static func quantizeLower(_ sample: Int32, _ lower: inout G722Band, _ tables: G722Tables) -> UInt8 {
    let difference = G722Band.limit(sample &- lower.prediction)
    let magnitude = difference < 0 ? ~difference : difference
    // The first decision level above the difference: levels rise with the index.
    var below = 0
    var above = G722Tables.levels
    while above - below > 1 {
      let middle = (below + above) / 2
      if magnitude < (tables.q6[middle] &* lower.scale) >> 12 { above = middle } else { below = middle }
    }
    let code = G722Encoder.code(level: above, isNegative: difference < 0)
    _ = lower.adapt(meaning: tables.qm4[code >> 2], step: tables.wl[code >> 2], tables)
    return UInt8(code)
  }

  /// Levels 1 to 30 outwards. The two innermost negative codes lie apart from the rest.
  @inline(__always)
  private static func code(level: Int, isNegative: Bool) -> Int {
    if isNegative { return level <= 2 ? 64 - level : 34 - level }
    return 62 - level
  }

  /// Two bits.
  @inline(__always)
  private static func quantizeHigher(_ sample: Int32, _ higher: inout G722Band, _ tables: G722Tables) -> UInt8 {
    let difference = G722Band.limit(sample &- higher.prediction)
    let magnitude = difference < 0 ? ~difference : difference
    let isLarge = magnitude >= (564 &* higher.scale) >> 12
    let code = difference < 0 ? (isLarge ? 0 : 1) : (isLarge ? 2 : 3)
    _ = higher.adapt(meaning: tables.qm2[code], step: tables.wh[code], tables)
    return UInt8(code)
  }
}
