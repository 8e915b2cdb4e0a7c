import AppProtocol
package import CallEngine
package import CallModel

/// How the attempts over each trunk went in the last hour, counted in parts of five minutes.
package struct TrunkStatistics: Sendable {
  package static let partSeconds: Int64 = 300
  /// Most trunks; beyond, those without attempts in the window are forgotten, and then new ones are not counted.
  package static let maximumTrunks = 1024
  /// Most kinds of failure of one trunk in one part; those beyond count as attempts only.
  package static let maximumFailures = 16

  private struct FailureKind: Hashable {
    let code: CallFailureCode
    let sipStatus: Int?
  }

  private struct Part {
    /// Parts since 1970.
    let number: Int64
    var attempts = 0
    var answered = 0
    var talkMilliseconds: Int64 = 0
    var failures: [FailureKind: (count: Int, lastAt: Instant)] = [:]
  }

  /// Oldest part first.
  private var trunks: [String: [Part]] = [:]

  package init() {}

  /// Counts what a call that is over tried.
  package mutating func add(_ record: CallRecord, at now: Instant) {
    for attempt in record.attempts { add(attempt, talk: record.summary.durationMilliseconds, at: now) }
  }

  private mutating func add(_ attempt: CallAttempt, talk milliseconds: Int64, at now: Instant) {
    let number = TrunkStatistics.part(now)
    if trunks[attempt.trunk] == nil, trunks.count >= TrunkStatistics.maximumTrunks {
      trunks = trunks.filter { ($0.value.last?.number ?? 0) > number - TrunkStatistics.parts }
      guard trunks.count < TrunkStatistics.maximumTrunks else { return }
    }
    var parts = trunks[attempt.trunk] ?? []
    // A clock that was set back adds to the newest part.
    if parts.last.map({ $0.number < number }) ?? true { parts.append(Part(number: number)) }
    let newest = parts.count - 1
    parts[newest].attempts += 1
    if let code = attempt.code {
      let kind = FailureKind(code: code, sipStatus: attempt.sipStatus)
      if parts[newest].failures[kind] != nil || parts[newest].failures.count < TrunkStatistics.maximumFailures {
        let former = parts[newest].failures[kind]
        parts[newest].failures[kind] = ((former?.count ?? 0) + 1, max(former?.lastAt ?? .distantPast, attempt.endedAt))
      }
    } else {
      parts[newest].answered += 1
      parts[newest].talkMilliseconds += max(0, milliseconds)
    }
    let oldest = parts[newest].number - TrunkStatistics.parts
    parts.removeAll { $0.number <= oldest }
    trunks[attempt.trunk] = parts
  }

  package func figures(of trunk: String, at now: Instant) -> TrunkFigures {
    var figures = TrunkFigures()
    var failures: [FailureKind: (count: Int, lastAt: Instant)] = [:]
    let oldest = TrunkStatistics.part(now) - TrunkStatistics.parts
    for part in trunks[trunk] ?? [] where part.number > oldest {
      figures.attempts += part.attempts
      figures.answered += part.answered
      figures.talkMilliseconds += part.talkMilliseconds
      for (kind, seen) in part.failures {
        let former = failures[kind]
        failures[kind] = ((former?.count ?? 0) + seen.count, max(former?.lastAt ?? .distantPast, seen.lastAt))
      }
    }
    figures.failures = failures.map { kind, seen in
      TrunkFigures.Failure(code: kind.code, sipStatus: kind.sipStatus, count: seen.count, lastAt: seen.lastAt)
    }.sorted {
      ($1.count, $0.code.rawValue, $0.sipStatus ?? 0) < ($0.count, $1.code.rawValue, $1.sipStatus ?? 0)
    }
    return figures
  }

  private static let parts = TrunkFigures.windowSeconds / partSeconds
  private static func part(_ now: Instant) -> Int64 { now.milliseconds / (partSeconds * 1000) }
}
