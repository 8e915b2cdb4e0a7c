import Foundation

/// The spectrum of a window of sound at the eight frequencies of the keys (ITU-T Q.23), by Goertzel's recursion.
struct GoertzelBank {
  static let rows: [Double] = [697, 770, 852, 941]
  static let columns: [Double] = [1209, 1336, 1477, 1633]

  /// A spectral line, its phase turned to the end of the window.
  struct Line {
    var real: Float
    var imaginary: Float
    var power: Float { real * real + imaginary * imaginary }

    /// Radians from the phase of `earlier` to this one.
    func phase(since earlier: Line) -> Float {
      atan2(
        imaginary * earlier.real - real * earlier.imaginary, real * earlier.real + imaginary * earlier.imaginary)
    }
  }

  let samplingRate: Double
  private let coefficients: SIMD8<Float>
  private let cosines: SIMD8<Float>
  private let sines: SIMD8<Float>

  init(samplingRate: Int) {
    self.samplingRate = Double(samplingRate)
    var cosines = SIMD8<Float>()
    var sines = SIMD8<Float>()
    for (index, frequency) in (GoertzelBank.rows + GoertzelBank.columns).enumerated() {
      let angle = 2 * Double.pi * frequency / Double(samplingRate)
      cosines[index] = Float(cos(angle))
      sines[index] = Float(sin(angle))
    }
    self.cosines = cosines
    self.sines = sines
    coefficients = 2 * cosines
  }

  /// Real and imaginary parts of the eight lines, rows first.
  func lines(_ window: UnsafeBufferPointer<Float>) -> (real: SIMD8<Float>, imaginary: SIMD8<Float>) {
    var last = SIMD8<Float>()
    var former = SIMD8<Float>()
    for sample in window {
      let next = coefficients * last - former + sample
      former = last
      last = next
    }
    return (last - cosines * former, sines * former)
  }

  /// Power at one frequency.
  func power(_ window: UnsafeBufferPointer<Float>, at frequency: Double) -> Float {
    let coefficient = Float(2 * cos(2 * Double.pi * frequency / samplingRate))
    var last: Float = 0
    var former: Float = 0
    for sample in window { (last, former) = (coefficient * last - former + sample, last) }
    return last * last + former * former - coefficient * last * former
  }
}
