import AppProtocol
import CallEngine
import CallModel

extension StoryTeller {
  /// The sound of each leg: the totals of its last second, and the scores of all.
  var media: [CallStory.Leg] {
    let legs = (trace?.soundingLegs ?? []).compactMap { side -> CallStory.Leg? in
      let seconds = (trace?.seconds ?? []).filter { $0.side == side }
      guard let last = seconds.max(by: { $0.at < $1.at }) else { return nil }
      let scores = seconds.lazy.map(\.received.score).filter { $0 > 0 }
      let mean = scores.isEmpty ? nil : scores.reduce(0, +) / Double(scores.count)
      return CallStory.Leg(
        side: side, received: last.received, sent: last.sent, meanScore: mean, worstScore: scores.min())
    }
    return legs.isEmpty ? recordedMedia : legs
  }

  /// Mean scores of what the called side heard and of what the calling side heard, as far as they are known: each way is
  /// as good as the worse of what came in from one leg and what went out to the other.
  var listeningScores: [Double] {
    let legs = media
    func mean(sentTo side: LegID) -> Double? {
      let scores = (trace?.seconds ?? []).lazy.filter { $0.side == side }.map(\.sent.score).filter { $0 > 0 }
      return scores.isEmpty ? nil : scores.reduce(0, +) / Double(scores.count)
    }
    return [(LegID.near, LegID.far), (.far, .near)].compactMap { from, to in
      [legs.first { $0.side == from }?.meanScore, mean(sentTo: to)].compactMap { $0 }.min()
    }
  }

  /// Of a call without a trace: what its record has.
  private var recordedMedia: [CallStory.Leg] {
    guard let quality = call?.quality else { return [] }
    func leg(_ side: LegID, _ direction: CallQuality.Direction, _ mean: Double?) -> CallStory.Leg {
      let received = CallTrace.Direction(
        packets: Int64(clamping: direction.packets), bytes: 0, lost: 0, lossRate: direction.loss ?? 0,
        jitter: direction.jitter ?? 0, score: direction.meanOpinionScore ?? 0)
      let sent = CallTrace.Direction(packets: 0, bytes: 0, lost: 0, lossRate: 0, jitter: 0, score: 0)
      return CallStory.Leg(side: side, received: received, sent: sent, meanScore: mean, worstScore: nil)
    }
    return [
      leg(.near, quality.sent, sources.record?.meanScoreNear),
      leg(.far, quality.received, sources.record?.meanScoreFar),
    ]
  }

  // MARK: Time

  /// When the call rang, was answered and ended, in milliseconds since its start.
  struct Times {
    var rung: Int64?
    var answered: Int64?
    var end: Int64
  }

  var times: Times {
    let traced = tracedTimes
    guard let start = call?.startedAt else { return traced }
    func since(_ instant: Instant?) -> Int64? { instant.map { max(0, $0.milliseconds(since: start)) } }
    guard let summary = sources.record?.summary else {
      return Times(rung: traced.rung, answered: since(call?.answeredAt) ?? traced.answered, end: traced.end)
    }
    return Times(
      rung: since(summary.rungAt), answered: since(summary.answeredAt), end: since(summary.endedAt) ?? traced.end)
  }

  /// From messages and lines alone.
  private var tracedTimes: Times {
    var times = Times(end: 0)
    guard let trace else { return times }
    func first(_ type: String) -> Int64? {
      trace.lines.filter { !$0.isFromApp && $0.device == nil && $0.type == type }.map(\.at).min().map { $0 / 1000 }
    }
    func response(_ isMeant: (Int) -> Bool) -> Int64? {
      let seen = messages.first { seen in
        !seen.message.isSent && seen.read.sequence?.method == "INVITE" && seen.read.status.map(isMeant) ?? false
          && dialog(of: seen)?.side == .far
      }
      return seen.map { $0.message.at / 1000 }
    }
    times.rung = first("ringing") ?? response { $0 == 180 }
    times.answered = first("accepted") ?? response { (200...299).contains($0) }
    let last = [
      messages.last?.message.at, trace.lines.map(\.at).max(), trace.seconds.map(\.at).max(),
      trace.notes.map(\.at).max(),
    ]
    times.end = (last.compactMap { $0 }.max() ?? 0) / 1000
    return times
  }

  /// `set-up` until it rings (the post-dial delay), `ringing`, `talking`.
  var timing: [CallStory.Phase] {
    let times = self.times
    guard times.end > 0 || times.rung != nil || times.answered != nil else { return [] }
    var phases: [CallStory.Phase] = []
    func add(_ name: String, _ from: Int64, _ to: Int64) {
      phases.append(CallStory.Phase(name: name, fromMilliseconds: from, toMilliseconds: max(from, to)))
    }
    // A call that was answered at once never rang.
    let rung = times.rung.flatMap { rung in times.answered.map { rung < $0 } ?? true ? rung : nil }
    add("set-up", 0, rung ?? times.answered ?? times.end)
    if let rung { add("ringing", rung, times.answered ?? times.end) }
    if let answered = times.answered { add("talking", answered, times.end) }
    return phases
  }
}
