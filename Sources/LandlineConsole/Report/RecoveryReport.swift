import CallModel
import LedgerCore

/// What taking over dead nodes' calls did, or would do.
struct RecoveryReport {
  var recoveries: [LedgerRecovery]
  var isDryRun: Bool
  var now: Instant

  /// What ``LedgerStore/recover(_:at:)`` would do now.
  static func rehearse(_ reading: any LedgerReading, only: NodeID?, now: Instant) throws -> [LedgerRecovery] {
    let lives = try reading.nodes()
    var recoveries: [LedgerRecovery] = []
    for (index, newest) in lives.enumerated() where index + 1 == lives.count || lives[index + 1].id != newest.id {
      if let only, newest.id != only { continue }
      let own = lives.filter { $0.id == newest.id }
      let hasLapsed = newest.leaseUntil < now && newest.leaseUntil > newest.lastBeat
      // The newest life is over only when its lease has lapsed; the others always are.
      let ended = hasLapsed ? own : Array(own.dropLast())
      guard let life = ended.last else { continue }
      var recovery = LedgerRecovery(node: newest.id, life: life, settled: [], voided: [])
      try reading.forEachHold(HoldFilter(node: newest.id, openOnly: true, limit: 0)) { hold in
        guard let life = ended.first(where: { $0.epoch == hold.epoch }) else { return }
        guard let carried = life.carried(hold) else {
          recovery.voided.append(hold.call)
          return
        }
        let settlement = hold.settlement(milliseconds: carried)
        recovery.settled.append(
          LedgerRecovery.Recovered(
            account: hold.account, call: hold.call, milliseconds: settlement.duration,
            cost: try Credits(micros: settlement.cost, hold.snapshot.currency)))
      }
      if hasLapsed || !recovery.settled.isEmpty || !recovery.voided.isEmpty { recoveries.append(recovery) }
    }
    return recoveries
  }

  func answer() throws -> Answer {
    var listing = Listing([
      Column("node"), Column("epoch", .number), Column("last_beat"), Column("lease_until"),
      Column("settled", .number), Column("settled_amount", .amount), Column("currency"), Column("voided", .number),
    ])
    var answer = Answer(blocks: [], members: [], records: listing)
    for recovery in recoveries {
      var sums: [Currency: MicroUnits] = [:]
      for settled in recovery.settled { sums[settled.cost.currency, default: .zero] += settled.cost.micros }
      let totals = try sums.sorted { $0.key < $1.key }.map { try Credits(micros: $0.value, $0.key) }
      let life = recovery.life
      let settled = TableText.grouped(Int64(recovery.settled.count))
      let voided = TableText.grouped(Int64(recovery.voided.count))
      let money = totals.isEmpty ? "nothing" : totals.map { "\($0)" }.joined(separator: " and ")
      let lease =
        life.leaseUntil < now
        ? "lease ended \(TableText.grouped(now.milliseconds(since: life.leaseUntil) / 1000)) s ago" : "restarted since"
      answer.blocks.append(
        .line(
          "node \(recovery.node) epoch \(life.epoch) \(lease), last beat \(life.lastBeat.description.dropFirst(11)): "
            + (isDryRun
              ? "\(settled) answered → settle \(money), \(voided) unanswered → void"
              : "\(settled) answered, settled \(money); \(voided) unanswered, voided")))
      for total in totals.isEmpty ? [nil] : totals.map(Optional.some) {
        let count = recovery.settled.count { total == nil || $0.cost.currency == total?.currency }
        listing.rows.append([
          .text(recovery.node.text), .integer(life.epoch), .instant(life.lastBeat), .instant(life.leaseUntil),
          .integer(Int64(count)), total.map { .amount($0) } ?? .absent, .text(optional: total.map { "\($0.currency)" }),
          .integer(Int64(recovery.voided.count)),
        ])
      }
    }
    if recoveries.isEmpty { answer.blocks = [.line("no node is dead: nothing to recover")] }
    answer.records = listing
    answer.members = [("dry_run", .boolean(isDryRun)), ("nodes", .array(listing.json))]
    return answer
  }
}
