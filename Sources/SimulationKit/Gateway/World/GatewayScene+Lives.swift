import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import SIPCore

// MARK: - Lives of the node, and what they leave behind

extension GatewayScene {
  /// Starts a life of the node.
  func boot() {
    guard node == nil else { return }
    lives += 1
    let node = SimulatedNode(self, life: lives)
    self.node = node
    note { "node boots, life \(lives)" }
    handle(.start, life: node.life)
  }

  /// The ledger gave no life: the process ends, and whatever runs it starts another.
  func restart() {
    node = nil
    touchNode()
    schedule.add(.boot, at: now.advanced(byMilliseconds: 1000))
  }

  /// The process is gone, with all that it had in memory.
  func kill(returnsAfter milliseconds: Int64) {
    guard let node else { return }
    note { "node is killed" }
    oracles.killed(node.life, in: self)
    // A commit may have been under way.
    if random.chance(500), !isLedgerAway {
      for operation in underWay where violation == nil { perform(operation) }
    }
    underWay = []
    for link in node.links.values.sorted(by: { $0.nodeID.number < $1.nodeID.number }) {
      link.isBroken = true
      if random.chance(800) {
        schedule.add(.linkLost(link, atNode: false), at: now.advanced(byMilliseconds: random.number(0...200)))
      }
    }
    self.node = nil
    touchNode()
    schedule.add(.boot, at: now.advanced(byMilliseconds: milliseconds))
  }

  /// Whether a planted bug keeps a BYE from its leg: then all of that leg.
  func isSuppressed(_ bytes: [UInt8]) -> Bool {
    guard canary == .missingBye, let scan = WireScan(bytes, methods: ["BYE "]), scan.status == 0 else { return false }
    if let known = suppressedLegs[scan.callID] { return known }
    let isSuppressed = plants(.missingBye)
    suppressedLegs[scan.callID] = isSuppressed
    return isSuppressed
  }

  /// A planted bug: a movement that no call explains.
  private func charge(_ account: AccountName) {
    guard let amount = try? Credits(micros: -1000, .eur) else { return }
    let movement = MoneyMovement(
      account: account, key: RequestKey(unchecked: "charge-\(report.records)"), .adjust(force: true), amount: amount)
    _ = try? ledger.perform(LedgerOperation(.move(movement), at: clock, actor: "gw"))
  }

  func observe(_ record: CallRecord, _ node: SimulatedNode) {
    guard !plants(.lostRecord) else { return }
    var record = record
    if plants(.wrongRecord), record.summary.costMicro != nil { record.summary.costMicro? += 1 }
    if plants(.secretInRecord) {
      record.story.append(CallRecord.StoryLine(milliseconds: 0, text: GatewayScene.applicationSecret))
    }
    if record.call.kind == .user, plants(.chargedUser) { charge(record.call.account) }
    report.records += 1
    let failure = record.summary.failure.map { " " + $0.code.rawValue } ?? ""
    report.ends[record.summary.cause.rawValue + failure, default: 0] += 1
    digest.add("\(record.call.id) \(record.summary.cause) \(record.summary.durationMilliseconds)")
    note {
      "record of \(record.call.id): \(record.summary.cause.rawValue)\(failure), \(record.summary.durationMilliseconds) ms,"
        + " \(record.summary.costMicro.map { "\($0)" } ?? "unknown")"
    }
    oracles.recorded(record, life: node.life, in: self)
  }
}
