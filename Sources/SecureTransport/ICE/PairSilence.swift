import CallModel

/// When media leaves a pair without a nomination: the pair has fallen silent, and another one that passed its checks speaks
/// in its place. So a peer is followed whose address changed on the way and who nominates nothing.
///
/// Only what is authenticated and no replay counts. As long as the selected pair is heard at all, nobody speaks alone: two
/// pairs that both live cannot toss media to and fro.
struct PairSilence {
  /// Milliseconds that another pair has to speak alone before media follows it: longer than a network jitters, shorter
  /// than people wait for a word.
  static let patience: Int64 = 1_000
  /// The same where the selected pair was silent for ``patience`` before the other one began: after an outage nothing is to
  /// be waited for but that it speaks on.
  static let patienceAfterOutage: Int64 = 200

  /// When the selected pair was last heard, by a check, sound or a report.
  private(set) var heard = MonotonicInstant.zero

  /// The selected pair was heard, or has just been selected.
  mutating func end(at now: MonotonicInstant) { heard = now }

  /// The selected pair has not been heard for as long as another one would have to speak.
  func isLong(at now: MonotonicInstant) -> Bool { now.milliseconds(since: heard) >= PairSilence.patience }

  /// Another pair speaks. `since`: its first packet after the selected one was last heard; kept with that pair.
  /// - Returns: Whether media is to follow it.
  func gives(wayTo since: inout MonotonicInstant?, at now: MonotonicInstant) -> Bool {
    guard let start = since, start > heard else {
      since = now
      return false
    }
    let wasLongSilent = start.milliseconds(since: heard) >= PairSilence.patience
    return now.milliseconds(since: start)
      >= (wasLongSilent ? PairSilence.patienceAfterOutage : PairSilence.patience)
  }
}
