import CallModel

/// Connections, registrations and messages of each host, for a bounded number of hosts; those beyond share one entry.
struct HostTable {
  private struct Entry {
    var connections = 0
    var registrations: TokenBucket
    var messages: TokenBucket
  }

  private let configuration: AppDoor.Configuration
  private var entries: [SIPHost: Entry] = [:]
  private var prunedAt: MonotonicInstant?
  /// Stands for all hosts that have no entry of their own; no connection has an empty name.
  private static let others = SIPHost.name("")
  /// Least time between two searches for entries that say nothing any more.
  private static let pruneMilliseconds: Int64 = 1000

  init(_ configuration: AppDoor.Configuration) { self.configuration = configuration }

  var count: Int { entries.count }

  /// What counts as one host: an IPv6 subscriber has a /64 to himself, and an IPv4 address is the same in either form.
  private static func key(_ host: SIPHost) -> SIPHost {
    guard case .ipv6(let high, let low) = host else { return host }
    if high == 0, low >> 32 == 0xFFFF { return .ipv4(UInt32(truncatingIfNeeded: low)) }
    return .ipv6(high: high, low: 0)
  }

  /// Counts a connection.
  /// - Returns: the entry to give back with ``closed(_:)``; `nil` when the host has too many.
  mutating func open(_ host: SIPHost, at now: MonotonicInstant) -> SIPHost? {
    let key = place(HostTable.key(host), at: now)
    let limit = configuration.maximumConnectionsPerHost
    guard let entry = entries[key], entry.connections < limit || key == HostTable.others else { return nil }
    entries[key]?.connections += 1
    return key
  }

  mutating func closed(_ key: SIPHost) {
    entries[key]?.connections -= 1
  }

  /// Counts a registration.
  /// - Returns: seconds to wait when there were too many.
  mutating func register(_ key: SIPHost, at now: MonotonicInstant) -> Int? {
    guard var entry = entries[key] else { return 1 }
    let isTaken = entry.registrations.take(at: now)
    entries[key] = entry
    return isTaken ? nil : entry.registrations.waitSeconds
  }

  /// Counts a message.
  /// - Returns: seconds to wait when there were too many.
  mutating func message(_ key: SIPHost, at now: MonotonicInstant) -> Int? {
    // In place: this is asked for every message.
    guard let index = entries.index(forKey: key) else { return 1 }
    let isTaken = entries.values[index].messages.take(at: now)
    return isTaken ? nil : entries.values[index].messages.waitSeconds
  }

  /// Counts what a refused proof costs besides its registration.
  mutating func refused(_ key: SIPHost, at now: MonotonicInstant) {
    guard let index = entries.index(forKey: key) else { return }
    entries.values[index].messages.owe(AppDoor.costOfRefusedProof - 1, at: now)
  }

  private mutating func place(_ key: SIPHost, at now: MonotonicInstant) -> SIPHost {
    if entries[key] != nil { return key }
    if entries.count >= configuration.maximumHosts { prune(at: now) }
    let chosen = entries.count < configuration.maximumHosts ? key : HostTable.others
    if entries[chosen] == nil {
      entries[chosen] = Entry(
        registrations: TokenBucket(
          perSecond: configuration.registrationsPerSecond, burst: configuration.registrationBurst, at: now),
        messages: TokenBucket(
          perSecond: configuration.requestsPerSecond, burst: configuration.requestBurst, at: now))
    }
    return chosen
  }

  private mutating func prune(at now: MonotonicInstant) {
    if let prunedAt, now.milliseconds(since: prunedAt) < HostTable.pruneMilliseconds { return }
    prunedAt = now
    entries = entries.filter { _, entry in
      var registrations = entry.registrations
      var messages = entry.messages
      return entry.connections > 0 || !registrations.isFull(at: now) || !messages.isFull(at: now)
    }
  }
}
