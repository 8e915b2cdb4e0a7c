public import CallModel

/// The life signs of gateways: what makes recovery exact to one beat at one row a second.
public enum NodeLease {
  /// A node is alive until this long after its last beat, in milliseconds.
  public static let milliseconds: Int64 = 5000
  /// How often a node beats, in milliseconds.
  public static let beatInterval: Int64 = 1000
  /// Holds settled in one transaction when a dead node's calls are taken over.
  public static let recoveryBatch = 256
}

extension LedgerNode {
  /// How long a call of this life was certainly carried, in milliseconds: from its answer to the last beat on the node's
  /// monotonic clock, which no step of the wall clock moves. `nil` of a call that nobody answered.
  public func carried(_ hold: Hold) -> Int64? {
    guard let answeredAt = hold.answeredAt else { return nil }
    // Written before uptimes were: what the wall clock says is all there is.
    guard let answeredUptime = hold.answeredUptime else { return max(0, lastBeat.milliseconds(since: answeredAt)) }
    guard let uptime else { return 0 }
    return max(0, uptime.subtractingReportingOverflow(answeredUptime).partialValue)
  }
}

extension LedgerBook {
  /// A node starts, or starts again: every earlier life of it is over.
  public mutating func registerNode(_ id: NodeID, at: Instant) throws -> LedgerNode {
    let row = LedgerNode(
      id: id, epoch: (try node(id)?.epoch ?? 0) + 1,
      leaseUntil: at.advanced(byMilliseconds: NodeLease.milliseconds), lastBeat: at)
    try saveNode(row)
    return row
  }

  /// - Parameter uptime: what the node's monotonic clock shows.
  /// - Returns: `false` when the node has been declared dead or replaced: it must drop its calls.
  public mutating func beat(_ id: NodeID, epoch: Int64, at: Instant, uptime: Int64? = nil) throws -> Bool {
    guard var row = try node(id), row.epoch == epoch else { return false }
    row.lastBeat = max(row.lastBeat, at)
    row.uptime = uptime
    row.leaseUntil = max(row.leaseUntil, at.advanced(byMilliseconds: NodeLease.milliseconds))
    try saveNode(row)
    return true
  }

  /// Declares a node dead if its lease has lapsed: a newer life without a lease stands in its place, so nothing that the
  /// old one still says is accepted.
  /// - Returns: the life that ended, or `nil` when the node is alive, unknown or was declared dead before.
  public mutating func takeOver(_ id: NodeID, at: Instant) throws -> LedgerNode? {
    guard let row = try node(id), row.leaseUntil < at, row.leaseUntil > row.lastBeat else { return nil }
    // A life that never beats has its lease end where it begins.
    try saveNode(LedgerNode(id: id, epoch: row.epoch + 1, leaseUntil: row.lastBeat, lastBeat: row.lastBeat))
    return row
  }

  /// The next batch of calls that ended lives of a node have left open.
  public mutating func orphans(of id: NodeID) throws -> [Hold] {
    guard let row = try node(id) else { return [] }
    return try rows.openHolds(node: id, beforeEpoch: row.epoch, limit: NodeLease.recoveryBatch)
  }
}
