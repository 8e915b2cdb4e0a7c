import CallModel
import LedgerCore

/// The rows of a ledger in memory: what the real book writes, without a disk. One writer, no transaction to roll back: a
/// throw ends the simulation.
struct MemoryLedgerRows: LedgerRows {
  struct Place: Hashable {
    let account: Int64
    let name: String
  }

  private(set) var ledgerHead = LedgerHead.empty
  private(set) var accounts: [Int64: LedgerAccount] = [:]
  private var customers: [String: Int64] = [:]
  private var operators: [String: Int64] = [:]
  private(set) var operations: [Place: OperationRecord] = [:]
  /// In the order of authorisation.
  private(set) var holds: [Hold] = []
  private var holdIndexes: [Place: Int] = [:]
  private var holdsBySeq: [Int64: Int] = [:]
  /// Places in ``holds``, ascending.
  private(set) var openHolds: [Int] = []
  private(set) var grants: [Int64: [HoldGrant]] = [:]
  private(set) var transfers: [Transfer] = []
  private var transferIndexes: [Int64: Int] = [:]
  private(set) var entries: [Int64: [Entry]] = [:]
  private(set) var events: [AccountEvent] = []
  private(set) var counters: [Int64: [Int64: DayCounter]] = [:]
  private(set) var nodes: [LedgerNode] = []
  /// Kept as rows change: what all accounts have, what open holds of each account hold, and which accounts changed.
  private(set) var postedSum = MicroUnits.zero
  private(set) var heldSums: [Int64: MicroUnits] = [:]
  private(set) var touched: [Int64] = []
  private(set) var accountChanges = 0
  mutating func forgetTouched() { touched.removeAll(keepingCapacity: true) }

  func head() -> LedgerHead { ledgerHead }
  mutating func save(_ head: LedgerHead) { ledgerHead = head }

  // MARK: Accounts

  func account(id: Int64) -> LedgerAccount? { accounts[id] }
  func customer(named name: String) -> LedgerAccount? { customers[name].flatMap { accounts[$0] } }

  func operatorAccount(named name: String, currency: Currency) -> LedgerAccount? {
    operators["\(name) \(currency)"].flatMap { accounts[$0] }
  }

  mutating func insert(_ account: LedgerAccount) {
    accounts[account.id] = account
    accountChanges += 1
    postedSum += account.posted
    touched.append(account.id)
    if account.kind.isCustomer {
      customers[account.name] = account.id
    } else {
      operators["\(account.name) \(account.currency)"] = account.id
    }
  }

  mutating func update(_ account: LedgerAccount, ifRevision revision: Int64) -> Bool {
    guard let former = accounts[account.id], former.revision == revision else { return false }
    accounts[account.id] = account
    accountChanges += 1
    postedSum += account.posted - former.posted
    touched.append(account.id)
    return true
  }

  mutating func updateBalance(_ account: LedgerAccount, ifRevision revision: Int64) -> Bool {
    update(account, ifRevision: revision)
  }

  // MARK: Answers

  func operation(account: Int64, key: String) -> OperationRecord? { operations[Place(account: account, name: key)] }

  mutating func insert(_ operation: OperationRecord) {
    operations[Place(account: operation.account, name: operation.key)] = operation
  }

  // MARK: Holds

  func hold(account: Int64, call: CallID) -> Hold? {
    holdIndexes[Place(account: account, name: call.text)].map { holds[$0] }
  }

  mutating func insert(_ hold: Hold) {
    holdIndexes[Place(account: hold.account, name: hold.call.text)] = holds.count
    holdsBySeq[hold.seq] = holds.count
    openHolds.append(holds.count)
    holds.append(hold)
    heldSums[hold.account, default: 0] += hold.amount
    touched.append(hold.account)
  }

  private mutating func change(_ hold: Hold, _ body: (inout Hold) -> Void) -> Bool {
    guard let index = holdsBySeq[hold.seq], holds[index].state.isOpen else { return false }
    let former = holds[index].amount
    body(&holds[index])
    let isOpen = holds[index].state.isOpen
    heldSums[hold.account, default: 0] += (isOpen ? holds[index].amount : 0) - former
    touched.append(hold.account)
    if !isOpen, let place = openHolds.firstIndex(of: index) { openHolds.remove(at: place) }
    return true
  }

  mutating func answer(_ hold: Hold) -> Bool {
    change(hold) {
      $0.state = hold.state
      $0.answeredAt = hold.answeredAt
      $0.answeredUptime = hold.answeredUptime
    }
  }

  mutating func extend(_ hold: Hold) -> Bool {
    change(hold) {
      $0.amount = hold.amount
      $0.grantedSeconds = hold.grantedSeconds
      $0.extensions = hold.extensions
      $0.day = hold.day
    }
  }

  mutating func resolve(_ hold: Hold) -> Bool {
    change(hold) {
      $0.state = hold.state
      $0.resolvedAt = hold.resolvedAt
      $0.duration = hold.duration
      $0.cost = hold.cost
      $0.transfer = hold.transfer
      $0.reason = hold.reason
    }
  }

  mutating func insert(_ grant: HoldGrant) { grants[grant.hold, default: []].append(grant) }

  func openHolds(node: NodeID, beforeEpoch epoch: Int64, limit: Int) -> [Hold] {
    openHolds.filter { holds[$0].epoch < epoch && holds[$0].node == node }.prefix(limit).map { holds[$0] }
  }

  // MARK: Money

  mutating func insert(_ transfer: Transfer) {
    transferIndexes[transfer.seq] = transfers.count
    transfers.append(transfer)
  }

  mutating func insert(_ entry: Entry) { entries[entry.account, default: []].append(entry) }
  mutating func insert(_ event: AccountEvent) { events.append(event) }
  func transfer(seq: Int64) -> Transfer? { transferIndexes[seq].map { transfers[$0] } }

  func reversedAmount(of seq: Int64) -> MicroUnits {
    transfers.reduce(.zero) { $1.reverses == seq ? $0 + $1.amount : $0 }
  }

  // MARK: Counters and nodes

  func counter(account: Int64, day: Int64) -> DayCounter? { counters[account]?[day] }
  mutating func save(_ counter: DayCounter) { counters[counter.account, default: [:]][counter.day] = counter }

  func newestLife(of id: NodeID) -> LedgerNode? { nodes.last { $0.id == id } }
  func life(of id: NodeID, epoch: Int64) -> LedgerNode? { nodes.last { $0.id == id && $0.epoch == epoch } }

  mutating func save(_ node: LedgerNode) {
    if let index = nodes.lastIndex(where: { $0.id == node.id && $0.epoch == node.epoch }) {
      nodes[index] = node
    } else {
      nodes.append(node)
    }
  }

  /// Nothing gets old enough here.
  mutating func prune(before instant: Instant) -> Int { 0 }
}
