import CallModel
import LedgerCore

/// The real book over rows in memory. It outlives every node, as a database does.
final class SimulatedLedger {
  private var book = LedgerBook(rows: MemoryLedgerRows())
  private var isBegun = false
  private(set) var performed = 0

  /// One operation in a transaction of its own.
  func perform(_ operation: LedgerOperation) throws -> LedgerReceipt {
    performed += 1
    return try transaction { book throws in try book.apply(operation) }
  }

  func register(_ node: NodeID, at: Instant) throws -> LedgerNode {
    try transaction { book throws in try book.registerNode(node, at: at) }
  }

  func beat(_ node: NodeID, epoch: Int64, at: Instant, uptime: Int64?) throws -> Bool {
    try transaction { book throws in try book.beat(node, epoch: epoch, at: at, uptime: uptime) }
  }

  /// Settles the calls of lives that are over, as the store's recovery does.
  /// - Returns: how many calls.
  func recover(_ node: NodeID, at: Instant) throws -> Int {
    try transaction { book throws in
      _ = try book.takeOver(node, at: at)
      let orphans = try book.orphans(of: node)
      for hold in orphans {
        guard let account = book.rows.account(id: hold.account) else { continue }
        let receipt = try book.apply(
          LedgerOperation(
            .call(
              CallOperation(
                account: AccountName(unchecked: account.name), call: hold.call,
                origin: CallOperation.Origin(node: node, epoch: hold.epoch), .recover)), at: at, actor: "recovery"))
        switch receipt.outcome {
        case .settled, .voided: break
        case .changed, .posted, .granted, .answered, .refused:
          throw LedgerFault("recovery of call \(hold.call) was answered \(receipt.outcome.text)")
        }
      }
      return orphans.count
    }
  }

  private func transaction<Value>(
    _ body: (inout LedgerBook<MemoryLedgerRows>) throws -> Value
  ) throws -> Value {
    try book.begin(isUnchanged: isBegun)
    isBegun = true
    let value = try body(&book)
    try book.finish()
    return value
  }

  // MARK: What it holds

  var reading: MemoryLedgerReading { MemoryLedgerReading(rows: book.rows) }

  func account(_ name: String) -> LedgerAccount? { book.rows.customer(named: name) }

  func hold(account: String, call: CallID) -> Hold? {
    account.isEmpty ? nil : book.rows.customer(named: account).flatMap { book.rows.hold(account: $0.id, call: call) }
  }

  /// Grows with every change of an account.
  var accountChanges: Int { book.rows.accountChanges }
  var openHoldCount: Int { book.rows.openHolds.count }
  var holds: [Hold] { book.rows.holds }

  private static func broken(_ account: LedgerAccount, held: MicroUnits) -> String? {
    guard account.kind.isCustomer else { return nil }
    if account.held != held { return "account \(account.name) holds \(account.held), its open holds \(held)" }
    if account.status == .open, account.available < .zero {
      return "account \(account.name) is \(account.available.magnitude) micro-units below its floor"
    }
    return nil
  }

  /// Looks at what has changed since the last time.
  /// - Returns: the rule that the balances break, if they break one: sum 0, held amounts, floors.
  func newlyBrokenBalance() -> String? {
    defer { book.rows.forgetTouched() }
    for id in book.rows.touched {
      guard let account = book.rows.account(id: id) else { continue }
      if let problem = SimulatedLedger.broken(account, held: book.rows.heldSums[id] ?? 0) { return problem }
    }
    return book.rows.postedSum == 0 ? nil : "the balances add up to \(book.rows.postedSum), not 0"
  }

  /// The same of every account, with nothing taken from the sums kept along the way.
  var brokenBalance: String? {
    var sum = MicroUnits.zero
    var held: [Int64: MicroUnits] = [:]
    for index in book.rows.openHolds {
      let hold = book.rows.holds[index]
      held[hold.account, default: 0] += hold.amount
    }
    for (id, account) in book.rows.accounts.sorted(by: { $0.key < $1.key }) {
      sum += account.posted
      if let problem = SimulatedLedger.broken(account, held: held[id] ?? 0) { return problem }
    }
    return sum == 0 ? nil : "the balances add up to \(sum), not 0"
  }
}
