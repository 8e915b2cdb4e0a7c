import CallModel

/// How much of the sound on one way of a leg nobody heard, as the seconds of a trace tell.
struct EvidenceLoss: Sendable {
  /// Seconds that are judged together, and the share that is borne in them: those of the warning that apps get.
  static let window = 7

  let side: LegID
  /// The gateway sent it, and the peer reports the loss; otherwise it came in.
  let isSent: Bool
  /// Of the whole call, 0 to 1.
  let share: Double
  /// Seconds above ``CallRule/highLoss``, and the worst of all.
  let seconds: Int
  let peak: Double
  /// Whether a window of seconds lost more than the limit, however long the call was.
  let isLasting: Bool
  /// Share of the packets that came when something had been made up in their place.
  let tooLate: Double
  /// Share that never came in time, before copies made it good.
  let lost: Double
  /// Milliseconds: the worst second's jitter.
  let jitter: Double

  /// Whether somebody must have heard it.
  var isHeard: Bool { share > CallRule.highLoss || isLasting }

  /// - Parameter seconds: of one leg, by time.
  init(_ seconds: [CallTrace.Second], side: LegID, isSent: Bool) {
    self.side = side
    self.isSent = isSent
    func direction(_ second: CallTrace.Second) -> CallTrace.Direction { isSent ? second.sent : second.received }
    var before: Int64 = 0
    /// Packets that a peer's newest report can be about.
    var reported: Int64 = 0
    var report: CallTrace.Direction?
    var rates: [Double] = []
    for second in seconds {
      let now = direction(second)
      // Before the first report nothing is known of what was sent.
      let isKnown = !isSent || now.score > 0 || now.lossRate > 0
      if now.packets > before, isKnown { rates.append(EvidenceLoss.bounded(now.effectiveLoss ?? now.lossRate)) }
      before = max(before, now.packets)
      if report.map({ ($0.lost, $0.lossRate, $0.jitter) != (now.lost, now.lossRate, now.jitter) }) ?? true {
        report = now
        reported = now.packets
      }
    }
    // The first second of a stream says little by itself.
    let judged = Array(rates.dropFirst())
    let bad = judged.filter { $0 > CallRule.highLoss }
    self.seconds = bad.count
    peak = bad.max() ?? rates.max() ?? 0
    isLasting = judged.indices.contains { start in
      let window = judged[start...].prefix(EvidenceLoss.window)
      return window.count == EvidenceLoss.window
        && window.reduce(0, +) > CallRule.highLoss * Double(EvidenceLoss.window)
    }
    jitter = seconds.map { direction($0).jitter }.filter { $0.isFinite && $0 < 1e9 }.max() ?? 0
    let mean = rates.isEmpty ? 0 : rates.reduce(0, +) / Double(rates.count)
    guard let last = seconds.last.map(direction), last.packets > 0 else {
      share = mean
      tooLate = 0
      lost = 0
      return
    }
    // Of what was sent, packets are all; of what came in, those that are there, late ones among them.
    let late = Double(max(0, last.tooLate ?? 0))
    let all = max(1, isSent ? Double(reported) : Double(last.packets) + max(0, Double(last.lost) - late))
    func part(_ packets: Double) -> Double { EvidenceLoss.bounded(packets / all) }
    lost = part(Double(last.lost))
    tooLate = part(late)
    // Totals know what seconds left out of a long trace do not. A peer's total that no rate of its own bears out is none.
    let total = peak > 0 ? part(Double(last.lost) - Double(max(0, last.recovered ?? 0))) : 0
    share = max(mean, total)
  }

  private static func bounded(_ share: Double) -> Double { share.isFinite ? min(max(share, 0), 1) : 0 }
}
