package import CallModel
package import SIPCore

/// Answers by question, for as long as they hold. Bounded: the ones that would be forgotten first make room.
package struct DNSCache {
  private struct Entry {
    let answer: DNSAnswer
    var expires: MonotonicInstant
    /// Until when it may stand in for an answer that cannot be had.
    let staleUntil: MonotonicInstant

    var isPositive: Bool {
      switch answer {
      case .naptr, .srv, .addresses: true
      case .notFound, .serverFailure, .timedOut: false
      }
    }
  }

  /// How long a stale answer is used before the servers are asked again (RFC 8767 section 5).
  package static let staleSeconds: Int64 = 30

  private let configuration: ResolverConfiguration
  private var entries: [DNSQuestion: Entry] = [:]

  package init(_ configuration: ResolverConfiguration) { self.configuration = configuration }

  package var count: Int { entries.count }

  package func answer(to question: DNSQuestion, at now: MonotonicInstant) -> DNSAnswer? {
    guard let entry = entries[question], now < entry.expires else { return nil }
    return entry.answer
  }

  /// An answer that is too old, and may stand in for one that does not come.
  package func staleAnswer(to question: DNSQuestion, at now: MonotonicInstant) -> DNSAnswer? {
    guard let entry = entries[question], entry.isPositive, now < entry.staleUntil else { return nil }
    return entry.answer
  }

  /// Remembers an answer.
  /// - Parameter seconds: Its time to live; `nil` where it says none.
  /// - Returns: What to answer with: an older answer in place of a failure, where one may still be used.
  package mutating func remember(
    _ answer: DNSAnswer, to question: DNSQuestion, seconds: Int64?, at now: MonotonicInstant
  ) -> DNSAnswer {
    var kept: Int64
    var stale: Int64 = 0
    switch answer {
    case .naptr, .srv, .addresses:
      kept = min(max(seconds ?? 0, configuration.minimumSeconds), configuration.maximumSeconds)
      stale = configuration.staleSeconds
    case .notFound:
      let negative = configuration.maximumNegativeSeconds
      kept = min(max(seconds ?? negative, min(configuration.minimumSeconds, negative)), negative)
    case .serverFailure, .timedOut:
      if var older = entries[question], now < older.staleUntil, older.isPositive {
        older.expires = min(now.advanced(byMilliseconds: DNSCache.staleSeconds * 1000), older.staleUntil)
        entries[question] = older
        return older.answer
      }
      kept = configuration.failureSeconds
    }
    kept = max(0, kept)
    guard configuration.cachedAnswers > 0, kept > 0 else { return answer }
    if entries[question] == nil, entries.count >= configuration.cachedAnswers { makeRoom() }
    let expires = now.advanced(byMilliseconds: kept.multipliedSaturating(by: 1000))
    entries[question] = Entry(
      answer: answer, expires: expires,
      staleUntil: expires.advanced(byMilliseconds: max(0, stale).multipliedSaturating(by: 1000)))
    return answer
  }

  /// Drops an eighth at once, so that a full cache does not sort for every answer.
  private mutating func makeRoom() {
    let dropped = max(1, entries.count / 8)
    for (question, _) in entries.sorted(by: { $0.value.staleUntil < $1.value.staleUntil }).prefix(dropped) {
      entries[question] = nil
    }
  }
}

extension Int64 {
  /// Stops at the largest number; neither factor is negative.
  fileprivate func multipliedSaturating(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
