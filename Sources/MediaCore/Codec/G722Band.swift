/// The adaptive prediction of one sub-band, which encoder and decoder keep alike (ITU-T G.722 section 3.5, 3.6).
struct G722Band {
  /// Prediction of the next sample.
  private(set) var prediction: Int32 = 0
  /// Width of the quantizer's steps.
  private(set) var scale: Int32
  /// The same, as a logarithm.
  private var logarithm: Int32 = 0
  private var zeroPrediction: Int32 = 0
  /// The two latest reconstructed samples.
  private var reconstructed: (Int32, Int32) = (0, 0)
  /// The two latest partly reconstructed samples.
  private var partial: (Int32, Int32) = (0, 0)
  /// Coefficients of the poles.
  private var poles: (Int32, Int32) = (0, 0)
  /// The six latest quantized differences, newest first; two lanes stay zero.
  private var differences = SIMD8<Int32>()
  /// Coefficients of the zeros.
  private var zeros = SIMD8<Int32>()

  private let ceiling: Int32
  private let exponent: Int32

  /// Lower band: four bits steer the adaptation.
  static let lower = G722Band(scale: 32, ceiling: 18_432, exponent: 8)
  /// Higher band: two bits.
  static let higher = G722Band(scale: 8, ceiling: 22_528, exponent: 10)

  private init(scale: Int32, ceiling: Int32, exponent: Int32) {
    self.scale = scale
    self.ceiling = ceiling
    self.exponent = exponent
  }

  /// Takes in what was coded: `meaning` of the code for a step of 32768, and `step` of the logarithmic scale.
  /// Returns the quantized difference.
  @inline(__always)
  mutating func adapt(meaning: Int32, step: Int32) -> Int32 {
    let difference = (scale &* meaning) >> 15
    logarithm = min(max((logarithm &* 127) >> 7 &+ step, 0), ceiling)
    let mantissa = G722Tables.ilb[Int(logarithm >> 6 & 31)]
    let shift = exponent &- logarithm >> 11
    scale = (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2
    predict(difference)
    return difference
  }

  @inline(__always)
  private mutating func predict(_ difference: Int32) {
    let newest = G722Band.limit(prediction &+ difference)
    let part = G722Band.limit(zeroPrediction &+ difference)

    // Poles: a sign correlation of the partly reconstructed signal.
    let sameAsLast = (part ^ partial.0) >= 0
    let sameAsBefore = (part ^ partial.1) >= 0
    let quadruple = G722Band.limit(poles.0 << 2)
    let push = sameAsLast ? min(-quadruple, 32_767) : quadruple
    let second = min(
      max((sameAsBefore ? 128 : -128) &+ push >> 7 &+ (poles.1 &* 32_512) >> 15, -12_288), 12_288)
    let bound = 15_360 &- second
    let first = min(max((sameAsLast ? 192 : -192) &+ (poles.0 &* 32_640) >> 15, -bound), bound)
    poles = (first, second)
    reconstructed = (newest, reconstructed.0)
    partial = (part, partial.0)

    // Zeros: a sign correlation of the differences.
    let amount: Int32 = difference == 0 ? 0 : 128
    let opposite = (differences ^ SIMD8(repeating: difference)) .< 0
    let push8 = SIMD8<Int32>(repeating: amount).replacing(with: -amount, where: opposite)
    zeros = G722Band.limit(push8 &+ (zeros &* 32_640) &>> 15)
    // The two idle lanes take no part below, for their differences stay zero.
    differences = G722Band.shift(differences, in: difference)

    let doubled = G722Band.limit(differences &+ differences)
    zeroPrediction = G722Band.limit(((zeros &* doubled) &>> 15).wrappedSum())
    let polePrediction = G722Band.limit(
      (first &* G722Band.limit(2 &* reconstructed.0)) >> 15
        &+ (second &* G722Band.limit(2 &* reconstructed.1)) >> 15)
    prediction = G722Band.limit(polePrediction &+ zeroPrediction)
  }

  @inline(__always)
  private static func shift(_ lanes: SIMD8<Int32>, in newest: Int32) -> SIMD8<Int32> {
    SIMD8(newest, lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], 0, 0)
  }

  @inline(__always)
  static func limit(_ value: Int32) -> Int32 { min(max(value, -32_768), 32_767) }

  @inline(__always)
  private static func limit(_ value: SIMD8<Int32>) -> SIMD8<Int32> {
    value.clamped(lowerBound: SIMD8(repeating: -32_768), upperBound: SIMD8(repeating: 32_767))
  }
}
