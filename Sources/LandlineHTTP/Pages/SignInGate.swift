package import CallModel
import Synchronization

/// How often a peer may try a wrong key: a few times at once, then one for each ``refillMilliseconds``.
package final class SignInGate: Sendable {
  package static let maximumPeers = 4096
  package static let burst: Int64 = 10
  package static let refillMilliseconds: Int64 = 6000

  /// By peer, when everything that it has taken is given back.
  private let fullAt = Mutex<[String: Instant]>([:])

  package init() {}

  package var peerCount: Int { fullAt.withLock { $0.count } }

  /// Counts one try.
  /// - Returns: seconds to wait when there is none left; `nil` when it was counted.
  package func countTry(by peer: String?, at now: Instant) -> Int64? {
    fullAt.withLock { table in
      let name = SignInGate.name(peer)
      if table[name] == nil, table.count >= Self.maximumPeers { table = table.filter { now < $0.value } }
      // Where the table stays full, whoever is not in it shares one place.
      let key = table[name] == nil && table.count >= Self.maximumPeers ? "" : name
      let most = now.advanced(byMilliseconds: Self.burst * Self.refillMilliseconds)
      // Never further away than everything taken, should the clock have been set back.
      let next = min(max(table[key] ?? now, now), most).advanced(byMilliseconds: Self.refillMilliseconds)
      if next > most { return (next.milliseconds - most.milliseconds + 999) / 1000 }
      table[key] = next
      return nil
    }
  }

  /// A good key costs no try.
  package func giveBack(_ peer: String?) {
    fullAt.withLock { table in
      let name = SignInGate.name(peer)
      if let full = table[name] { table[name] = full.advanced(byMilliseconds: -Self.refillMilliseconds) }
    }
  }

  /// One network of IPv6 is one peer: everybody has 2^64 addresses in it.
  private static func name(_ peer: String?) -> String {
    guard let peer, peer.contains(":"), !peer.contains(".") else { return peer ?? "" }
    let halves = peer.split(separator: "%")[0].firstRange(of: "::").map { range in
      (peer[..<range.lowerBound].split(separator: ":"), peer[range.upperBound...].split(separator: ":"))
    }
    let (front, back) = halves ?? (peer.split(separator: ":"), [])
    let groups = front.map(String.init) + Array(repeating: "0", count: max(0, 8 - front.count - back.count))
    return (groups + back.map(String.init)).prefix(4).joined(separator: ":")
  }
}
