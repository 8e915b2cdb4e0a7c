import Foundation

/// A whole sound brought from any usual sampling rate to another, before it is played: a windowed sinc for each of the
/// places that an output sample can have between two input samples.
public enum SoundResampler {
  /// Input samples on each side of an output sample that count; more where the rate falls.
  private static let reach = 24
  /// What passes, as a part of the lower rate's band.
  private static let cutoff = 0.95
  /// Places between two samples at most: 48 kHz out of 44.1 kHz has 160.
  private static let maximumPhases = 1_024

  /// - Returns: `nil` where the rates have so little in common that the filters would be too large.
  public static func convert(_ samples: [Int16], from source: Int, to target: Int) -> [Int16]? {
    guard source > 0, target > 0 else { return nil }
    guard source != target else { return samples }
    let divisor = greatestCommonDivisor(source, target)
    let up = target / divisor
    let down = source / divisor
    guard up <= maximumPhases, down <= maximumPhases else { return nil }
    let narrowing = max(1, Double(source) / Double(target))
    let half = Int((Double(reach) * narrowing).rounded(.up))
    let filters = (0..<up).map { filter(offset: Double($0) / Double(up), half: half, narrowing: narrowing) }
    let count = samples.count * up / down
    return samples.withUnsafeBufferPointer { input in
      (0..<count).map { index in
        let place = index * down
        let first = place / up - half + 1
        var sum: Float = 0
        for (tap, weight) in filters[place % up].enumerated() {
          let position = first + tap
          if position >= 0, position < input.count { sum += weight * Float(input[position]) }
        }
        return Int16(min(max(sum.rounded(), -32_768), 32_767))
      }
    }
  }

  /// Weights of the samples from `half - 1` before to `half` behind a place, with a gain of 1 at 0 Hz.
  private static func filter(offset: Double, half: Int, narrowing: Double) -> [Float] {
    let cutoff = cutoff / narrowing
    let weights = (0..<(2 * half)).map { tap -> Double in
      let distance = Double(tap - half + 1) - offset
      let angle = Double.pi * cutoff * distance
      let sinc = angle == 0 ? 1 : sin(angle) / angle
      // Blackman: what it lets through beside the band is below what 16 bits can tell.
      let turn = Double.pi * distance / Double(half)
      let window = abs(distance) >= Double(half) ? 0 : 0.42 + 0.5 * cos(turn) + 0.08 * cos(2 * turn)
      return sinc * window
    }
    let sum = weights.reduce(0, +)
    return weights.map { Float($0 / sum) }
  }

  private static func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
  }
}
