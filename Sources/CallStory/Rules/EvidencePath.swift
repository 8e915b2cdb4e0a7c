import CallModel

/// A link that carried less than the call sent: packets were lost while others stood in a queue before it.
struct EvidenceThinLink: Sendable {
  /// Seconds of loss with a queue that make a thin link: a report comes every five or so.
  static let leastSeconds = 5
  /// A queue stands where a packet takes so many times as long there and back as at best, and so many milliseconds more.
  /// Assumption: no change of path does both.
  static let queueFactor = 3.0
  static let queueMilliseconds = 100.0
  /// Where the queue stood from the first second, the best is not known. Then: milliseconds there and back that no path on
  /// the ground takes (Assumption: ITU-T G.114 has 400 one way as the most that a network may be planned for), a share of
  /// the seconds with loss, and the share that was lost. A satellite's link takes as long, but does not lose so steadily.
  static let standingRoundTrip = 400.0
  static let continuousShare = 0.8
  static let continuousLoss = 0.1

  let side: LegID
  /// Mean of the lossy seconds, 0 to 1.
  let loss: Double
  let seconds: Int
  /// Milliseconds: the middle one of those seconds, and the best of the call.
  let roundTrip: Double
  let best: Double
  /// Whether the sound that came in lost more than the sound that was sent.
  let isInward: Bool
  /// Sound that got through in those seconds; `nil` where its bytes are not known.
  let kilobits: Int?

  /// - Parameter seconds: of one leg, by time.
  init?(_ seconds: [CallTrace.Second], side: LegID) {
    struct Measure {
      let second: CallTrace.Second
      let roundTrip: Double
      var inward: Double { second.received.lossRate }
      var outward: Double { second.sent.lossRate }
      var loss: Double { max(inward, outward) }
    }
    let measures = seconds.compactMap { second -> Measure? in
      guard let roundTrip = second.roundTrip, roundTrip.isFinite, roundTrip >= 0 else { return nil }
      return Measure(second: second, roundTrip: roundTrip)
    }
    guard let best = measures.map(\.roundTrip).min() else { return nil }
    let lossy = measures.filter { $0.loss > CallRule.highLoss && $0.loss <= 1 }
    let queued = lossy.filter {
      $0.roundTrip >= max(EvidenceThinLink.queueFactor * best, best + EvidenceThinLink.queueMilliseconds)
    }
    func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
    let isSteady =
      Double(lossy.count) >= EvidenceThinLink.continuousShare * Double(measures.count)
      && mean(lossy.map(\.loss)) >= EvidenceThinLink.continuousLoss && best >= EvidenceThinLink.standingRoundTrip
    let bad = isSteady ? lossy : queued
    guard bad.count >= EvidenceThinLink.leastSeconds, let first = bad.first, let last = bad.last else { return nil }
    self.side = side
    self.best = best
    self.seconds = bad.count
    loss = mean(bad.map(\.loss))
    roundTrip = bad.map(\.roundTrip).sorted()[bad.count / 2]
    let isInward = mean(bad.map(\.inward)) >= mean(bad.map(\.outward))
    self.isInward = isInward
    func bytes(_ measure: Measure) -> Double {
      Double(isInward ? measure.second.received.bytes : measure.second.sent.bytes)
    }
    let time = Double(last.second.at) - Double(first.second.at)
    // Bytes that were sent are those of the gateway; the lost ones did not get through.
    let rate = (bytes(last) - bytes(first)) * (isInward ? 1 : 1 - loss) * 8_000 / max(time, 1)
    kilobits = rate > 0 && rate < 1e6 ? Int(rate.rounded()) : nil
  }
}

/// A stretch of a call in which nothing of a peer came, neither sound nor a report.
struct EvidenceInterruption: Sendable {
  /// Microseconds. Longer than two reports may lie apart (RFC 3550 section 6.3.1: 5 s, by 0.5 to 1.5 at random).
  static let least: Int64 = 8_000_000

  let side: LegID
  /// Microseconds since the call began: the last second with a packet, and the last one without.
  let from: Int64
  let to: Int64
  let comesBack: Bool

  var milliseconds: Int64 { CallEvidence.milliseconds(from, to) }

  func overlaps(_ other: EvidenceInterruption) -> Bool { from < other.to && other.from < to }

  /// The longest of a leg. A side that never reported may only be silent, so nothing is found of it.
  /// - Parameters:
  ///   - seconds: of one leg, by time.
  ///   - isWanted: whether sound was to come in at a time.
  static func longest(
    _ seconds: [CallTrace.Second], side: LegID, isWanted: (Int64) -> Bool
  ) -> EvidenceInterruption? {
    var longest: EvidenceInterruption?
    var start: CallTrace.Second?
    for (place, second) in seconds.enumerated() {
      if let begun = start, begun.received.packets == second.received.packets, begun.reports == second.reports,
        isWanted(second.at)
      {
        let found = EvidenceInterruption(
          side: side, from: begun.at, to: second.at, comesBack: place + 1 < seconds.count)
        if found.milliseconds * 1_000 >= least, found.milliseconds > longest?.milliseconds ?? 0 { longest = found }
      } else {
        start = second.received.packets > 0 && (second.reports ?? 0) > 0 ? second : nil
      }
    }
    return longest
  }
}
