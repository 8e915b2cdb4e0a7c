/// Keeps the sum of many voices within 16 bits: less gain before or at once where a peak comes, and back within a tenth of
/// a second. Whatever comes in, nothing that goes out wraps.
package struct RoomLimiter: Sendable {
  /// Peaks above this are turned down.
  package static let threshold: Float = 29_000
  /// Blocks of a frame of 20 ms that have a gain of their own.
  package static let blocks = 4
  /// Of what is missing to full gain, what a block of 5 ms gives back: nine tenths in 100 ms.
  package static let release: Float = 0.11
  /// The part of a block in which the gain falls where a frame begins with a peak: no step is heard. What is too loud
  /// meanwhile is cut.
  static let attack = 4

  package private(set) var gain: Float = 1

  package init() {}

  /// Writes a frame; `sum` and `output` have the same count, a multiple of ``blocks``.
  package mutating func limit(_ sum: UnsafeBufferPointer<Int32>, into output: UnsafeMutableBufferPointer<Int16>) {
    let length = min(sum.count, output.count) / RoomLimiter.blocks
    guard length > 0 else { return }
    var allowed = RoomLimiter.gain(sum, 0, length)
    for block in 0..<RoomLimiter.blocks {
      let start = block * length
      let following =
        block + 1 < RoomLimiter.blocks ? RoomLimiter.gain(sum, start + length, length) : Float(1)
      let before = gain
      // Neither block may be too loud where they meet.
      let after = min(allowed, following, before + (1 - before) * RoomLimiter.release)
      gain = after > 0.9999 ? 1 : after
      defer { allowed = following }
      guard before < 1 || gain < 1 else {
        for index in start..<(start + length) { output[index] = Int16(clamping: sum[index]) }
        continue
      }
      let ramp = before > allowed ? max(length / RoomLimiter.attack, 1) : length
      let step = (gain - before) / Float(ramp)
      var current = before
      for index in 0..<length {
        if index < ramp { current += step }
        output[start + index] = RoomLimiter.saturated(Float(sum[start + index]) * current)
      }
    }
  }

  /// What the loudest sample of a block may be multiplied by.
  private static func gain(_ sum: UnsafeBufferPointer<Int32>, _ start: Int, _ length: Int) -> Float {
    var peak: UInt32 = 0
    for index in start..<(start + length) { peak = max(peak, sum[index].magnitude) }
    return Float(peak) > threshold ? threshold / Float(peak) : 1
  }

  private static func saturated(_ value: Float) -> Int16 {
    // Neither an infinity nor what is no number comes out of a finite sum and a gain up to 1.
    Int16(min(max(value.rounded(), -32_768), 32_767))
  }
}
