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
  /// Twice the six latest quantized differences, newest first.
  private var doubled: Six = (0, 0, 0, 0, 0, 0)
  /// Coefficients of the zeros. They cannot leave 16 bits: at most 128 is added to 255/256 of each.
  private var zeros: Six = (0, 0, 0, 0, 0, 0)

  private typealias Six = (Int32, Int32, Int32, Int32, Int32, Int32)

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
  mutating func adapt(meaning: Int32, step: Int32, _ tables: borrowing G722Tables) -> Int32 {
    let difference = (scale &* meaning) >> 15
    logarithm = min(max((logarithm &* 127) >> 7 &+ step, 0), ceiling)
    let mantissa = tables.ilb[Int(logarithm >> 6 & 31)]
    let shift = exponent &- logarithm >> 11
    scale = (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2
    predict(difference)
    return difference
  }

  @inline(__always)
  private mutating func predict(_ difference: Int32) {
    let sample = G722Band.limit(prediction &+ difference)
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
    reconstructed = (sample, reconstructed.0)
    partial = (part, partial.0)

    // Zeros: a sign correlation of the differences.
    let newest = G722Band.limit(difference &+ difference)
    let amount: Int32 = difference == 0 ? 0 : 128
    zeros = (
      G722Band.push(zeros.0, (doubled.0 ^ newest) >> 31, amount),
      G722Band.push(zeros.1, (doubled.1 ^ newest) >> 31, amount),
      G722Band.push(zeros.2, (doubled.2 ^ newest) >> 31, amount),
      G722Band.push(zeros.3, (doubled.3 ^ newest) >> 31, amount),
      G722Band.push(zeros.4, (doubled.4 ^ newest) >> 31, amount),
      G722Band.push(zeros.5, (doubled.5 ^ newest) >> 31, amount)
    )
    doubled = (newest, doubled.0, doubled.1, doubled.2, doubled.3, doubled.4)
    let firstHalf =
      (zeros.0 &* doubled.0) >> 15 &+ (zeros.1 &* doubled.1) >> 15 &+ (zeros.2 &* doubled.2) >> 15
    let secondHalf =
      (zeros.3 &* doubled.3) >> 15 &+ (zeros.4 &* doubled.4) >> 15 &+ (zeros.5 &* doubled.5) >> 15
    zeroPrediction = G722Band.limit(firstHalf &+ secondHalf)
    let polePrediction = G722Band.limit(
      (first &* G722Band.limit(2 &* reconstructed.0)) >> 15
        &+ (second &* G722Band.limit(2 &* reconstructed.1)) >> 15)
    prediction = G722Band.limit(polePrediction &+ zeroPrediction)
  }

  @inline(__always)
  static func limit(_ value: Int32) -> Int32 { min(max(value, -32_768), 32_767) }

  /// 255/256 of a coefficient, rounded down, plus `amount`; minus it where `opposite` is -1 and not 0.
  @inline(__always)
  private static func push(_ zero: Int32, _ opposite: Int32, _ amount: Int32) -> Int32 {
    zero &- (zero &+ 255) >> 8 &+ (amount ^ opposite) &- opposite
  }
}
