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
    var bucket: TokenBucket
    var isKnownAsOver = false
  }

  private struct Table {
    var entries: [SIPHost: Entry] = [:]
    var prunedAt = MonotonicInstant.zero
  }

  /// Between two looks through a full table: its size must not be the price of each request.
  static let pruneMilliseconds: Int64 = 1_000

  private let entries = Mutex(Table())
  private let full: TokenBucket

  /// - Parameters:
  ///   - perSecond: 1 to ``TokenBucket/maximum``; what lies outside is brought there.
  ///   - burst: as many.
  package init(perSecond: Int, burst: Int) { full = TokenBucket(perSecond: max(perSecond, 1), burst: burst) }

  package var hostCount: Int { entries.withLock { $0.entries.count } }

  /// Counts a request.
  package func count(_ host: SIPHost, at now: MonotonicInstant) -> Verdict {
    entries.withLock { table in
      let key = place(host, at: now, &table)
      var entry = entry(of: key, at: now, table)
      let isTaken = entry.bucket.consume(at: now)
      let isFirst = !isTaken && !entry.isKnownAsOver
      if isFirst { entry.isKnownAsOver = true }
      table.entries[key] = entry
      return isTaken ? .within : .over(seconds: entry.bucket.secondsToNext(at: now), isFirst: isFirst)
    }
  }

  /// Counts what a refused proof costs besides its request. It may be owed: then the host waits longer, at most as long as
  /// two bursts take.
  package func countRefusedProof(_ host: SIPHost, at now: MonotonicInstant) {
    entries.withLock { table in
      let key = place(host, at: now, &table)
      var entry = entry(of: key, at: now, table)
      entry.bucket.owe(Int(HostRequests.costOfRefusedProof) - 1, at: now)
      table.entries[key] = entry
    }
  }

  /// A host that has got everything back is as good as new.
  private func entry(of key: SIPHost, at now: MonotonicInstant, _ table: Table) -> Entry {
    guard let entry = table.entries[key], !entry.bucket.isFull(at: now) else { return Entry(bucket: full) }
    return entry
  }

  private func place(_ host: SIPHost, at now: MonotonicInstant, _ table: inout Table) -> SIPHost {
    let key = host.subscriber
    if table.entries[key] != nil { return key }
    if table.entries.count >= HostRequests.maximumHosts,
      table.prunedAt.advanced(byMilliseconds: HostRequests.pruneMilliseconds) <= now
    {
      table.entries = table.entries.filter { !$0.value.bucket.isFull(at: now) }
      table.prunedAt = now
    }
    return table.entries.count < HostRequests.maximumHosts ? key : .name("")
  }
}
