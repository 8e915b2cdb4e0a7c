public import SDPCore

/// What a codec costs on the scale of ITU-T G.107: without loss, and how fast it gets worse with it.
public struct CodecImpairment: Equatable, Sendable {
  /// Ie.
  public let equipment: Double
  /// Bpl: percent of loss at which half of what remains is gone.
  public let robustness: Double

  /// A robustness below 1 counts as 1.
  public init(equipment: Double, robustness: Double) {
    self.equipment = equipment
    self.robustness = max(robustness, 1)
  }

  /// `forwardCorrection`: the sender repeats packets in the next ones (Opus in-band FEC, RFC 6716 section 2.1.7).
  public init(_ codec: AudioCodec, forwardCorrection: Bool = false) {
    switch codec {
    // ITU-T G.113 appendix I: G.711 with concealment, random loss. Assumption: ours, which repeats the waveform as that of
    // G.711 appendix I does, and that of far ends are as good; without any it would be 4.3.
    case .pcmu, .pcma: self.init(equipment: 0, robustness: 25.1)
    // Assumption: G.113 rates G.722 on the wide-band scale alone. On this scale, which ends where G.711 does, it loses
    // nothing; its predictors take longer to recover from a loss than G.711, which has no memory.
    case .g722: self.init(equipment: 0, robustness: 15)
    // Assumption: G.113 has no values for Opus. Its narrow band sounds nearly like G.711 at the bit rates used here;
    // its concealment is taken for that of GSM-EFR (G.113: 10). A copy of each packet in the next repairs single losses.
    case .opus: self.init(equipment: 3, robustness: forwardCorrection ? 20 : 10)
    }
  }

  /// Ie,eff (G.107 section 7.5).
  func effective(lossRate: Double, burstRatio: Double) -> Double {
    let loss = 100 * min(max(lossRate.isFinite ? lossRate : 0, 0), 1)
    let burst = max(burstRatio.isFinite ? burstRatio : 1, 1)
    return equipment + (95 - equipment) * loss / (loss / burst + robustness)
  }
}

/// The mean opinion score of a direction of a call, estimated from what a gateway can measure (ITU-T G.107).
public enum MeanOpinionScore {
  /// 1 to 4.5. `lossRate`: 0 to 1. `delay`: milliseconds one way: half the round trip, and what buffers add.
  public static func estimate(
    codec: AudioCodec, forwardCorrection: Bool = false, lossRate: Double, burstRatio: Double = 1, delay: Double
  ) -> Double {
    TransmissionRating(
      CodecImpairment(codec, forwardCorrection: forwardCorrection), lossRate: lossRate, burstRatio: burstRatio,
      delay: delay
    ).meanOpinionScore
  }
}
