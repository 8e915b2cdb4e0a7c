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

  /// Counts a connection.
  /// - Returns: the entry to give back with ``closed(_:)``; `nil` when the host has too many.
  mutating func open(_ host: SIPHost, at now: MonotonicInstant) -> SIPHost? {
    let key = place(host.subscriber, at: now)
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
    let isTaken = entry.registrations.consume(at: now)
    entries[key] = entry
    return isTaken ? nil : Int(clamping: entry.registrations.secondsToNext(at: now))
  }

  /// Counts a message.
  /// - Returns: seconds to wait when there were too many.
  mutating func message(_ key: SIPHost, at now: MonotonicInstant) -> Int? {
    // In place: this is asked for every message.
    guard let index = entries.index(forKey: key) else { return 1 }
    let isTaken = entries.values[index].messages.consume(at: now)
    return isTaken ? nil : Int(clamping: entries.values[index].messages.secondsToNext(at: now))
  }

  /// Counts what a refused proof costs besides its registration.
  mutating func refused(_ key: SIPHost, at now: MonotonicInstant) {
    guard let index = entries.index(forKey: key) else { return }
    entries.values[index].messages.owe(Int(AppDoor.costOfRefusedProof) - 1, at: now)
  }

  private mutating func place(_ key: SIPHost, at now: MonotonicInstant) -> SIPHost {
    if entries[key] != nil { return key }
    if entries.count >= configuration.maximumHosts { prune(at: now) }
    let chosen = entries.count < configuration.maximumHosts ? key : HostTable.others
    if entries[chosen] == nil {
      entries[chosen] = Entry(
        registrations: HostTable.bucket(configuration.registrationsPerSecond, configuration.registrationBurst),
        messages: HostTable.bucket(configuration.requestsPerSecond, configuration.requestBurst))
    }
    return chosen
  }

  /// At least one a second: a limit of nothing would leave nobody in.
  private static func bucket(_ perSecond: Int64, _ burst: Int64) -> TokenBucket {
    TokenBucket(perSecond: max(Int(clamping: perSecond), 1), burst: Int(clamping: burst))
  }

  private mutating func prune(at now: MonotonicInstant) {
    if let prunedAt, now.milliseconds(since: prunedAt) < HostTable.pruneMilliseconds { return }
    prunedAt = now
    entries = entries.filter { _, entry in
      entry.connections > 0 || !entry.registrations.isFull(at: now) || !entry.messages.isFull(at: now)
    }
  }
}
