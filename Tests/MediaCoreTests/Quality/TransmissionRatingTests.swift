import MediaCore
import SDPCore
import Testing

@Suite struct TransmissionRatingTests {
  private let perfect = CodecImpairment(equipment: 0, robustness: 4.3)

  private func rating(_ impairment: CodecImpairment, loss: Double = 0, burst: Double = 1, delay: Double = 0) -> Double {
    TransmissionRating(impairment, lossRate: loss, burstRatio: burst, delay: delay).value
  }

  /// All defaults: G.107 says R = 93.2, which is MOS 4.41.
  @Test func defaults() {
    let rating = TransmissionRating(perfect, lossRate: 0, delay: 0)
    #expect(abs(rating.value - 93.2) < 0.05)
    #expect(abs(rating.meanOpinionScore - 4.41) < 0.005)
  }

  /// G.107 annex B, table B.1: R and its MOS-CQE. A codec's Ie moves R down to each.
  @Test(arguments: [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)] as [(Double, Double)])
  func scores(rating: Double, score: Double) {
    let found = TransmissionRating(
      CodecImpairment(equipment: self.rating(perfect) - rating, robustness: 10), lossRate: 0, delay: 0)
    #expect(abs(found.value - rating) < 0.001)
    #expect(abs(found.meanOpinionScore - score) < 0.01)
  }

  /// Ie,eff = Ie + (95 - Ie) Ppl / (Ppl / BurstR + Bpl), with the codecs of G.113 appendix I.
  @Test(
    arguments: [
      // Ie, Bpl, loss in percent, BurstR, Ie,eff by hand.
      (0, 25.1, 2, 1, 7.0111), (0, 4.3, 2, 1, 30.1587), (0, 25.1, 10, 1, 27.0655), (11, 19, 3, 1, 22.4545),
      (15, 16.1, 5, 1, 33.9573), (0, 25.1, 10, 2, 31.5615), (0, 4.3, 100, 1, 91.0834),
    ] as [(Double, Double, Double, Double, Double)])
  func loss(equipment: Double, robustness: Double, percent: Double, burst: Double, effective: Double) {
    let impairment = CodecImpairment(equipment: equipment, robustness: robustness)
    let found = rating(perfect) - rating(impairment, loss: percent / 100, burst: burst)
    #expect(abs(found - effective) < 0.001)
  }

  /// Delay alone. Up to 300 ms the well-known approximation 0.024 d + 0.11 (d - 177.3), the second part above 177.3 ms
  /// only (Cole and Rosenbluth, 2001), is near to the recommendation.
  @Test func delay() {
    var last = rating(perfect)
    for milliseconds in stride(from: 10.0, through: 300, by: 10) {
      let found = rating(perfect, delay: milliseconds)
      #expect(found < last)
      last = found
      let approximation = 0.024 * milliseconds + 0.11 * max(0, milliseconds - 177.3)
      #expect(abs(93.2 - found - approximation) < 1, "\(milliseconds) ms: \(93.2 - found) \(approximation)")
    }
    #expect(abs(rating(perfect, delay: 100_000) - rating(perfect, delay: 10_000)) < 0.001)
  }

  @Test func codecsOfAGateway() {
    for codec in AudioCodec.allCases {
      let clean = MeanOpinionScore.estimate(codec: codec, lossRate: 0, delay: 50)
      let lossy = MeanOpinionScore.estimate(codec: codec, lossRate: 0.05, delay: 50)
      let bursty = MeanOpinionScore.estimate(codec: codec, lossRate: 0.05, burstRatio: 3, delay: 50)
      let slow = MeanOpinionScore.estimate(codec: codec, lossRate: 0.05, delay: 350)
      #expect(clean > 4.2 && clean <= 4.5)
      #expect(lossy < clean && bursty < lossy && slow < lossy)
    }
    #expect(
      MeanOpinionScore.estimate(codec: .opus, forwardCorrection: true, lossRate: 0.1, delay: 0)
        > MeanOpinionScore.estimate(codec: .opus, lossRate: 0.1, delay: 0))
  }

  /// Whatever is put in, a score comes out.
  @Test func bounds() {
    let odd: [Double] = [-1, 0, 0.5, 1, 2, 1e300, .infinity, -.infinity, .nan]
    for loss in odd {
      for burst in odd {
        for delay in odd {
          let score = MeanOpinionScore.estimate(codec: .pcmu, lossRate: loss, burstRatio: burst, delay: delay)
          #expect(score >= 1 && score <= 4.5)
        }
      }
    }
    #expect(MeanOpinionScore.estimate(codec: .opus, lossRate: 1, burstRatio: 9, delay: 5000) == 1)
  }
}
