import Glibc

/// The transmission rating of ITU-T G.107 (the E-model, narrow band) with its default values for everything that a
/// gateway does not know: loudness, noise, echo of the terminals.
public struct TransmissionRating: Equatable, Sendable {
  /// R, 0 to about 93.2; below 0 for what nobody would stay on the line with.
  public let value: Double
  /// The same without the delay: how it sounds to one who only listens.
  private let withoutDelay: Double

  /// `lossRate`: part of the packets that the listener misses, 0 to 1. `burstRatio`: G.107 BurstR, 1 or more. `delay`:
  /// milliseconds from mouth to ear, one way.
  public init(_ impairment: CodecImpairment, lossRate: Double, burstRatio: Double = 1, delay: Double) {
    withoutDelay = TransmissionRating.best - impairment.effective(lossRate: lossRate, burstRatio: burstRatio)
    let known = min(max(delay.isFinite ? delay : 0, 0), TransmissionRating.maximumDelay)
    value = withoutDelay - TransmissionRating.delayImpairment(known) + TransmissionRating.delayImpairment(0)
  }

  private init(value: Double) {
    self.value = value
    withoutDelay = value
  }

  /// As if there were no delay.
  var listening: TransmissionRating { TransmissionRating(value: withoutDelay) }

  /// G.107 annex B: 1 to 4.5.
  public var meanOpinionScore: Double { TransmissionRating.meanOpinionScore(value) }

  static func meanOpinionScore(_ rating: Double) -> Double {
    guard rating > 0 else { return 1 }
    guard rating < 100 else { return 4.5 }
    return max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
  }

  /// Milliseconds: more is not told apart.
  static let maximumDelay = 10_000.0
}

/// The default values of G.107 table 2, by the names of the recommendation.
private enum Default {
  static let sendLoudness = 8.0
  static let receiveLoudness = 2.0
  static let sidetone = 15.0
  static let listenerSidetone = 18.0
  static let sendDFactor = 3.0
  static let talkerEcho = 65.0
  static let weightedEchoPath = 110.0
  static let quantizing = 1.0
  static let circuitNoise = -70.0
  static let noiseFloor = -64.0
  static let roomNoise = 35.0
}

extension TransmissionRating {
  /// R without loss, without delay: 93.2.
  static let best = basicRatio - simultaneous - delayImpairment(0)

  /// Power of circuit and room noise at the 0 dBr point, dBm0p (G.107 section 7.2).
  private static let noise: Double = {
    let overall = Default.sendLoudness + Default.receiveLoudness
    let sendRoom =
      Default.roomNoise - Default.sendLoudness - Default.sendDFactor - 100
      + 0.004 * pow(Default.roomNoise - overall - Default.sendDFactor - 14, 2)
    let effectiveRoom = Default.roomNoise + 10 * log10(1 + pow(10, (10 - Default.listenerSidetone) / 10))
    let receiveRoom = Default.receiveLoudness - 121 + effectiveRoom + 0.008 * pow(effectiveRoom - 35, 2)
    let floor = Default.noiseFloor + Default.receiveLoudness
    let sum = [Default.circuitNoise, sendRoom, receiveRoom, floor].reduce(0) { $0 + pow(10, $1 / 10) }
    return 10 * log10(sum)
  }()

  /// Ro.
  private static let basicRatio = 15 - 1.5 * (Default.sendLoudness + noise)

  /// Is: too loud, sidetone, quantizing (section 7.3).
  private static let simultaneous: Double = {
    let overall = Default.sendLoudness + Default.receiveLoudness
    let excess = overall + 0.2 * (64 + noise - Default.receiveLoudness)
    let loudness = 20 * (pow(1 + pow(excess / 8, 8), 1.0 / 8) - excess / 8)
    let mask = -10 * log10(pow(10, -Default.sidetone / 10) + pow(10, -Default.talkerEcho / 10))
    let sidetone =
      12 * pow(1 + pow((mask - 13) / 6, 8), 1.0 / 8) - 28 * pow(1 + pow((mask + 1) / 19.4, 35), 1.0 / 35)
      - 13 * pow(1 + pow((mask - 3) / 33, 13), 1.0 / 13) + 29
    let signalToQuantizing = 37 - 15 * log10(Default.quantizing)
    let g = 1.07 + 0.258 * signalToQuantizing + 0.0602 * signalToQuantizing * signalToQuantizing
    let y = (basicRatio - 100) / 15 + 46 / 8.4 - g / 9
    let z = 46.0 / 30 - g / 40
    return loudness + sidetone + 15 * log10(1 + pow(10, y) + pow(10, z))
  }()

  /// Id: talker echo, listener echo, too long a way (section 7.4). `delay`: milliseconds one way.
  static func delayImpairment(_ delay: Double) -> Double {
    talkerEcho(delay) + listenerEcho(roundTrip: 2 * delay) + absoluteDelay(delay)
  }

  private static func talkerEcho(_ delay: Double) -> Double {
    // Below 1 ms an echo is sidetone.
    guard delay >= 1 else { return 0 }
    let masked =
      Default.talkerEcho - 40 * log10((1 + delay / 10) / (1 + delay / 150)) + 6 * exp(-0.3 * delay * delay)
    let withEcho = 80 + 2.5 * (masked - 14)
    let withoutEcho = -1.5 * (noise - Default.receiveLoudness)
    let half = (withoutEcho - withEcho) / 2
    return (half + (half * half + 100).squareRoot() - 1) * (1 - exp(-delay))
  }

  private static func listenerEcho(roundTrip: Double) -> Double {
    let withEcho = 10.5 * (Default.weightedEchoPath + 7) * pow(roundTrip + 1, -0.25)
    let half = (basicRatio - withEcho) / 2
    return half + (half * half + 169).squareRoot()
  }

  private static func absoluteDelay(_ delay: Double) -> Double {
    guard delay > 100 else { return 0 }
    let x = log2(delay / 100)
    return 25 * (pow(1 + pow(x, 6), 1.0 / 6) - 3 * pow(1 + pow(x / 3, 6), 1.0 / 6) + 2)
  }
}
