import Synchronization

/// Counts connections, in all and by address, and says when there are too many.
final class ConnectionGate: Sendable {
  private struct Counts {
    var total = 0
    var byHost: [String: Int] = [:]
  }

  private let counts = Mutex(Counts())
  private let limit: Int
  private let limitPerHost: Int

  init(limit: Int, limitPerHost: Int) {
    self.limit = limit
    self.limitPerHost = limitPerHost
  }

  /// - Parameter isProxy: whether the host speaks for many.
  /// - Returns: `false` when the connection is one too many; then nothing was counted.
  func enter(_ host: String, isProxy: Bool = false) -> Bool {
    counts.withLock { counts in
      let ofHost = counts.byHost[host, default: 0]
      guard counts.total < limit, isProxy || ofHost < limitPerHost else { return false }
      counts.total += 1
      counts.byHost[host] = ofHost + 1
      return true
    }
  }

  func leave(_ host: String) {
    counts.withLock { counts in
      counts.total -= 1
      let left = counts.byHost[host, default: 1] - 1
      counts.byHost[host] = left > 0 ? left : nil
    }
  }

  var total: Int { counts.withLock { $0.total } }
}
