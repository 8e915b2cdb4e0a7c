package import CallModel
import Synchronization

/// How often a host may ask, over all of its connections: a few requests at once, then so many a second. A proof that was
/// refused counts as ``costOfRefusedProof`` requests.
package final class HostRequests: Sendable {
  /// Hosts that are counted one by one; those beyond share one place.
  package static let maximumHosts = 16_384
  package static let costOfRefusedProof: Int64 = 10

  /// What is said of a request.
  package enum Verdict: Equatable, Sendable {
    case within
    /// - Parameters:
    ///   - seconds: until the next one is taken, at least 1.
    ///   - isFirst: whether the host was within its limit the whole time before: worth a line of the log.
    case over(seconds: Int64, isFirst: Bool)
  }

  private struct Entry {
    /// When everything that was taken is given back.
    var fullAt: MonotonicInstant
    var isKnownAsOver = false
  }

  private struct Table {
    var entries: [SIPHost: Entry] = [:]
    var prunedAt = MonotonicInstant.zero
  }

  /// Between two looks through a full table: its size must not be the price of each request.
  static let pruneMilliseconds: Int64 = 1_000

  private let entries = Mutex(Table())
  /// Microseconds that one request takes.
  private let interval: Int64
  /// Microseconds of as many requests as may come at once.
  private let burst: Int64

  /// - Parameters:
  ///   - perSecond: 1 to 1,000,000; what lies outside is brought there.
  ///   - burst: as many.
  package init(perSecond: Int, burst: Int) {
    interval = 1_000_000 / Int64(min(max(perSecond, 1), 1_000_000))
    self.burst = interval * Int64(min(max(burst, 1), 1_000_000))
  }

  package var hostCount: Int { entries.withLock { $0.entries.count } }

  /// Counts a request.
  package func count(_ host: SIPHost, at now: MonotonicInstant) -> Verdict {
    entries.withLock { table in
      let key = place(host, at: now, &table)
      var entry = table.entries[key] ?? Entry(fullAt: now)
      if entry.fullAt <= now { entry = Entry(fullAt: now) }
      let taken = microseconds(from: now, to: entry.fullAt) + interval
      guard taken <= burst else {
        let isFirst = !entry.isKnownAsOver
        entry.isKnownAsOver = true
        table.entries[key] = entry
        return .over(seconds: max((taken - burst + 999_999) / 1_000_000, 1), isFirst: isFirst)
      }
      entry.fullAt = MonotonicInstant(microseconds: now.microseconds + taken)
      table.entries[key] = entry
      return .within
    }
  }

  /// Counts what a refused proof costs besides its request. It may be owed: then the host waits longer, at most as long as
  /// two bursts take.
  package func countRefusedProof(_ host: SIPHost, at now: MonotonicInstant) {
    entries.withLock { table in
      let key = place(host, at: now, &table)
      var entry = table.entries[key] ?? Entry(fullAt: now)
      if entry.fullAt <= now { entry = Entry(fullAt: now) }
      let taken = microseconds(from: now, to: entry.fullAt) + interval * (HostRequests.costOfRefusedProof - 1)
      let most = 2 * max(burst, interval * HostRequests.costOfRefusedProof)
      entry.fullAt = MonotonicInstant(microseconds: now.microseconds + min(taken, most))
      table.entries[key] = entry
    }
  }

  private func microseconds(from now: MonotonicInstant, to then: MonotonicInstant) -> Int64 {
    max(then.microseconds - now.microseconds, 0)
  }

  private func place(_ host: SIPHost, at now: MonotonicInstant, _ table: inout Table) -> SIPHost {
    let key = HostRequests.key(host)
    if table.entries[key] != nil { return key }
    if table.entries.count >= HostRequests.maximumHosts,
      table.prunedAt.advanced(byMilliseconds: HostRequests.pruneMilliseconds) <= now
    {
      table.entries = table.entries.filter { now < $0.value.fullAt }
      table.prunedAt = now
    }
    return table.entries.count < HostRequests.maximumHosts ? key : .name("")
  }

  /// What counts as one host: an IPv6 subscriber has a /64 to himself, and an IPv4 address is the same in either form.
  private static func key(_ host: SIPHost) -> SIPHost {
    guard case .ipv6(let high, let low) = host else { return host }
    if high == 0, low >> 32 == 0xFFFF { return .ipv4(UInt32(truncatingIfNeeded: low)) }
    return .ipv6(high: high, low: 0)
  }
}
