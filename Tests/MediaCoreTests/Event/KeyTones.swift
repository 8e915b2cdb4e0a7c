import Foundation
import MediaCore

/// Sound of keys and other things for tests of ``DTMFDetector``.
enum KeyTones {
  static let rows: [Double] = [697, 770, 852, 941]
  static let columns: [Double] = [1209, 1336, 1477, 1633]
  static let layout: [[Int]] = [[1, 2, 3, 12], [4, 5, 6, 13], [7, 8, 9, 14], [10, 0, 11, 15]]

  static func frequencies(of code: Int) -> (row: Double, column: Double) {
    for (row, codes) in layout.enumerated() {
      if let column = codes.firstIndex(of: code) { return (rows[row], columns[column]) }
    }
    return (0, 0)
  }

  /// Amplitude of a sine of so many dBm0 (ITU-T G.711: full scale is 3.17).
  static func amplitude(_ level: Double) -> Double { 32768 * pow(10, (level - 3.17) / 20) }

  static func clipped(_ value: Double) -> Int16 { Int16(max(-32768, min(32767, value.rounded()))) }

  /// Sines together: frequency in hertz, level in dBm0.
  static func tones(
    _ tones: [(frequency: Double, level: Double)], milliseconds: Double, rate: Int = 8_000, phase: Double = 0.4
  ) -> [Double] {
    (0..<Int(milliseconds * Double(rate) / 1000)).map { index in
      tones.reduce(0) {
        $0 + amplitude($1.level) * sin(phase + 2 * Double.pi * $1.frequency * Double(index) / Double(rate))
      }
    }
  }

  static func key(
    _ code: Int, milliseconds: Double, level: Double = -10, twist: Double = 0, detune: Double = 0, rate: Int = 8_000
  ) -> [Double] {
    let (row, column) = frequencies(of: code)
    return tones(
      [(row * (1 + detune), level), (column * (1 + detune), level + twist)], milliseconds: milliseconds, rate: rate)
  }

  static func silence(_ milliseconds: Double, rate: Int = 8_000) -> [Double] {
    Array(repeating: 0, count: Int(milliseconds * Double(rate) / 1000))
  }

  /// White noise of so many dBm0.
  static func noise(_ count: Int, level: Double, using chance: inout EventChance) -> [Double] {
    // A uniform spread of ±a has the power of a sine of amplitude a·√(2/3).
    let spread = amplitude(level) * (1.5).squareRoot()
    return (0..<count).map { _ in Double.random(in: -spread...spread, using: &chance) }
  }

  /// µ-law and back (ITU-T G.711), by its defining segments.
  static func throughMuLaw(_ sample: Int16) -> Int16 {
    let magnitude = min(abs(Int(sample)), 32635) + 132
    let exponent = max(0, Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7)
    let mantissa = (magnitude >> (exponent + 3)) & 0x0F
    let decoded = (((mantissa << 3) + 132) << exponent) - 132
    return Int16(sample < 0 ? -decoded : decoded)
  }

  /// What the detector says of some sound, handed over in blocks of 20 ms.
  static func heard(_ samples: [Int16], rate: Int = 8_000, block: Int? = nil) -> [DigitPressed] {
    let detector = DTMFDetector(samplingRate: rate)
    var digits: [DigitPressed] = []
    let step = block ?? rate / 50
    for start in stride(from: 0, to: samples.count, by: step) {
      let buffer = SampleBuffer(samples[start..<min(start + step, samples.count)])
      detector.process(buffer, from: 0, count: buffer.count, digits: &digits)
    }
    detector.finish(digits: &digits)
    return digits
  }

  static func heard(_ sound: [Double], rate: Int = 8_000, block: Int? = nil) -> [DigitPressed] {
    heard(sound.map(clipped), rate: rate, block: block)
  }
}
