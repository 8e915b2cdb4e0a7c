import CallModel

/// What sources may do that have not proved who they are: answers that they get, and digests that were wrong.
///
/// A source is a host, of IPv6 the first half of the address: who has one has them all.
struct SourceCounts: Sendable {
  private enum Source: Hashable {
    case host(SIPHost)
    case network(UInt64)

    init(_ host: SIPHost) {
      self = if case .ipv6(let high, _) = host { .network(high) } else { .host(host) }
    }
  }

  /// A count that begins anew with each window.
  private struct Window {
    var count = 0
    var endsAt = MonotonicInstant.zero

    mutating func consume(_ limit: Int, _ milliseconds: Int64, at now: MonotonicInstant) -> Bool {
      if endsAt <= now {
        count = 0
        endsAt = now.advanced(byMilliseconds: milliseconds)
      }
      guard count < limit else { return false }
      count += 1
      return true
    }

    func isFull(_ limit: Int, at now: MonotonicInstant) -> Bool { now < endsAt && count >= limit }
  }

  private struct Row {
    var answers = Window()
    var failures = Window()
  }

  private let limits: RegistrarLimits
  private var everybody: TokenBucket
  private var rows: [Source: Row] = [:]
  /// In the order in which they were met; a ring once it is full.
  private var order: [Source] = []
  private var oldest = 0

  init(_ limits: RegistrarLimits) {
    self.limits = limits
    everybody = TokenBucket(perSecond: limits.unprovenAnswersPerSecond)
  }

  var count: Int { rows.count }

  /// Whether an answer may go to a host that has not proved anything; counts it.
  mutating func admitsAnswer(to host: SIPHost, at now: MonotonicInstant) -> Bool {
    let source = Source(host)
    meet(source)
    return (rows[source]?.answers.consume(limits.unprovenAnswers, limits.answerWindowMilliseconds, at: now) ?? false)
      && everybody.consume(at: now)
  }

  /// Whether a host has been wrong so often that nothing of it is looked at.
  func isShut(_ host: SIPHost, at now: MonotonicInstant) -> Bool {
    rows[Source(host)]?.failures.isFull(limits.failures, at: now) ?? false
  }

  /// A digest of a host was wrong.
  mutating func failed(_ host: SIPHost, at now: MonotonicInstant) {
    let source = Source(host)
    meet(source)
    _ = rows[source]?.failures.consume(limits.failures, limits.failureWindowMilliseconds, at: now)
  }

  private mutating func meet(_ source: Source) {
    guard rows[source] == nil else { return }
    rows[source] = Row()
    guard order.count >= max(1, limits.sources) else { return order.append(source) }
    rows[order[oldest]] = nil
    order[oldest] = source
    oldest = (oldest + 1) % order.count
  }
}
