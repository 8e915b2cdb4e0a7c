import CallModel
import LedgerCore

/// The gateways that have written to the ledger, each by its newest life.
enum NodeReport {
  /// Where a life stands.
  static func state(_ node: LedgerNode, now: Instant) -> String {
    if node.leaseUntil <= node.lastBeat { return "taken over" }
    return node.leaseUntil < now ? "lapsed" : "alive"
  }

  static func list(_ reading: any LedgerReading, now: Instant) throws -> Answer {
    var newest: [LedgerNode] = []
    for node in try reading.nodes() {
      if newest.last?.id == node.id { newest.removeLast() }
      newest.append(node)
    }
    var listing = Listing([
      Column("node"), Column("epoch", .number), Column("state"), Column("last_beat", title: "last beat"),
      Column("lease_until", title: "lease until"), Column("open_calls", title: "open calls", .number),
    ])
    for node in newest {
      var open: Int64 = 0
      try reading.forEachHold(HoldFilter(node: node.id, openOnly: true, limit: 0)) { _ in open += 1 }
      listing.rows.append([
        .text(node.id.text), .integer(node.epoch), .text(state(node, now: now)), .instant(node.lastBeat),
        .instant(node.leaseUntil), .integer(open),
      ])
    }
    return Answer("nodes", listing, asOf: try reading.head())
  }
}
