import AppProtocol
package import CallEngine
package import CallModel

/// How the attempts over each trunk went in the last hour, counted in parts of five minutes, and in each hour of a day.
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

  private struct Hour {
    /// Hours since 1970.
    let number: Int64
    var attempts = 0
    var answered = 0
    var pings = 0
    var pingAnswers = 0
    var microseconds: Int64 = 0
    var worst: Int64 = 0
  }

  /// Oldest part first.
  private var trunks: [String: [Part]] = [:]
  /// Oldest hour first; at most ``TrunkFigures/hourCount`` of a trunk, and as many trunks as above.
  private var hours: [String: [Hour]] = [:]

  package init() {}

  /// Counts what a call that is over tried.
  package mutating func add(_ record: CallRecord, at now: Instant) {
    for attempt in record.attempts {
      add(attempt, talk: record.summary.durationMilliseconds, at: now)
      changeHour(of: attempt.trunk, at: now) { hour in
        hour.attempts += 1
        if attempt.code == nil { hour.answered += 1 }
      }
    }
  }

  /// Counts an OPTIONS and what came of it.
  /// - Parameter microseconds: until the answer; `nil` without one.
  package mutating func pinged(_ trunk: String, microseconds: Int64?, at now: Instant) {
    changeHour(of: trunk, at: now) { hour in
      hour.pings += 1
      guard let microseconds else { return }
      hour.pingAnswers += 1
      hour.microseconds += max(0, microseconds)
      hour.worst = max(hour.worst, microseconds)
    }
  }

  private mutating func changeHour(of trunk: String, at now: Instant, _ change: (inout Hour) -> Void) {
    let number = now.milliseconds / TrunkStatistics.hourMilliseconds
    if hours[trunk] == nil, hours.count >= TrunkStatistics.maximumTrunks {
      hours = hours.filter { ($0.value.last?.number ?? 0) > number - TrunkFigures.hourCount }
      guard hours.count < TrunkStatistics.maximumTrunks else { return }
    }
    var kept = hours[trunk] ?? []
    // A clock that was set back adds to the newest hour.
    if kept.last.map({ $0.number < number }) ?? true { kept.append(Hour(number: number)) }
    change(&kept[kept.count - 1])
    let oldest = kept[kept.count - 1].number - TrunkFigures.hourCount
    kept.removeAll { $0.number <= oldest }
    hours[trunk] = kept
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
    let first = now.milliseconds / TrunkStatistics.hourMilliseconds - TrunkFigures.hourCount
    figures.hours = (hours[trunk] ?? []).filter { $0.number > first }.map { hour in
      TrunkFigures.Hour(
        startsAt: Instant(milliseconds: hour.number * TrunkStatistics.hourMilliseconds), attempts: hour.attempts,
        answered: hour.answered, pings: hour.pings, pingAnswers: hour.pingAnswers,
        meanOptionsMilliseconds: hour.pingAnswers > 0
          ? Double(hour.microseconds) / Double(hour.pingAnswers) / 1000 : nil,
        worstOptionsMilliseconds: hour.pingAnswers > 0 ? Double(hour.worst) / 1000 : nil)
    }
    return figures
  }

  private static let hourMilliseconds: Int64 = 3_600_000
  private static let parts = TrunkFigures.windowSeconds / partSeconds
  private static func part(_ now: Instant) -> Int64 { now.milliseconds / (partSeconds * 1000) }
}
