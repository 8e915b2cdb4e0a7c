import CallModel
import LedgerCore

/// Invents what customers, gateways and clerks do, well or badly, from a stream of random numbers.
///
/// It knows only what a real caller could: what it has asked for, and the answers it was told.
struct OperationMaker {
  /// Customers at a time; closed ones are replaced.
  static let customers = 12
  /// Calls that the maker keeps in mind as under way.
  static let maximumActiveCalls = 400
  /// Ended calls kept in mind for late operations.
  static let maximumEndedCalls = 128
  /// Operations kept for repeats.
  static let maximumHistory = 2048
  /// Transfers kept for refunds and chargebacks.
  static let maximumTransfers = 256

  static let zones = [
    "UTC", "Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo",
  ]

  /// A gateway as the maker believes it to be.
  struct Gateway {
    let id: NodeID
    var epoch: Int64
    var isBeating: Bool
  }

  private struct Customer {
    let name: AccountName
    let currency: Currency
    var isClosing = false
    var isLocked = false
  }

  private struct Call {
    let customer: Int
    let id: CallID
    let origin: CallOperation.Origin
    let isEmergency: Bool
    /// Seconds granted as far as is known.
    var seconds: Int64
    var isAnswered = false
    var extensions: Int64 = 0
  }

  private struct Transfer {
    let seq: Int64
    let customer: Int
    let isCharge: Bool
    let amount: MicroUnits
  }

  var random: SeededGenerator
  var gateways: [Gateway] = []
  private let prefix: String
  private var customers: [Customer] = []
  private var active: [Call] = []
  private var ended: [Call] = []
  private var history: [LedgerOperation] = []
  private var historyEnd = 0
  private var transfers: [Transfer] = []
  private var transfersEnd = 0
  private var snapshots: [RateSnapshot] = []
  private var serial = 0
  private let actor = "simulation"

  /// - Parameter prefix: starts every key and call id, so that several runs on one ledger never share one.
  init(random: SeededGenerator, prefix: String) {
    self.random = random
    self.prefix = prefix
  }

  private mutating func nextSerial() -> Int {
    serial += 1
    return serial
  }

  private mutating func newKey() -> RequestKey { RequestKey(unchecked: "\(prefix)k\(nextSerial())") }

  // MARK: Answers

  /// Learns what became of an operation.
  mutating func note(_ operation: LedgerOperation, _ outcome: LedgerOutcome) {
    switch (operation.request, outcome) {
    case (.move(let movement), .posted(let seq, let amount, _)):
      if case .topup = movement.kind { remember(movement.account, seq, isCharge: false, amount) }
    case (.call(let call), .settled(_, _, let cost, let seq?)): remember(call.account, seq, isCharge: true, cost)
    case (.call(let call), .granted(let seconds, _, _)):
      if let index = active.lastIndex(where: { $0.id == call.call }) { active[index].seconds = seconds }
    case (.call(let call), .refused(let refusal)):
      guard case .authorise = call.phase else { return }
      if let index = active.lastIndex(where: { $0.id == call.call }) { end(at: index) }
      guard let index = customers.lastIndex(where: { $0.name == call.account }) else { return }
      if refusal == .accountLocked { customers[index].isLocked = true }
      if refusal == .accountClosed { customers[index].isClosing = true }
    case (.administer(let administration), .changed):
      guard administration.change == .unlock,
        let index = customers.lastIndex(where: { $0.name == administration.account })
      else { return }
      customers[index].isLocked = false
    default: break
    }
  }

  private mutating func remember(_ account: AccountName, _ seq: Int64, isCharge: Bool, _ amount: MicroUnits) {
    guard let customer = customers.firstIndex(where: { $0.name == account }) else { return }
    let transfer = Transfer(seq: seq, customer: customer, isCharge: isCharge, amount: amount.magnitude)
    if transfers.count < OperationMaker.maximumTransfers {
      transfers.append(transfer)
    } else {
      transfers[transfersEnd % OperationMaker.maximumTransfers] = transfer
      transfersEnd += 1
    }
  }

  private mutating func end(at index: Int) {
    active.swapAt(index, active.count - 1)
    guard let call = active.popLast() else { return }
    if ended.count < OperationMaker.maximumEndedCalls {
      ended.append(call)
    } else {
      ended[random.index(ended.count)] = call
    }
  }

  // MARK: Operations

  /// The first operations: every customer, with some credit.
  mutating func opening(at: Instant) throws -> [LedgerOperation] {
    var operations: [LedgerOperation] = []
    for _ in 0..<OperationMaker.customers {
      operations.append(newCustomer(at: at))
      operations.append(try topup(customers.count - 1, at: at))
    }
    return operations
  }

  /// - Parameter uptime: what monotonic clocks show; `nil` where nodes tell none.
  mutating func next(at: Instant, uptime: Int64? = nil) throws -> LedgerOperation {
    self.uptime = uptime
    let operation = try make(at: at)
    if history.count < OperationMaker.maximumHistory {
      history.append(operation)
    } else {
      history[historyEnd % OperationMaker.maximumHistory] = operation
      historyEnd += 1
    }
    return operation
  }

  private var uptime: Int64?

  private mutating func make(at: Instant) throws -> LedgerOperation {
    let choice = random.weighted([240, 500, 70, 20, 25, 25, 5, 40, 60, 15])
    switch choice {
    case 0: return try authorise(at: at)
    case 1: return active.isEmpty ? try authorise(at: at) : try advance(random.index(active.count), at: at)
    case 2: return try topup(randomCustomer(), at: at)
    case 3, 6: return try reversal(isChargeback: choice == 6, at: at)
    case 4: return try adjust(at: at)
    case 5: return try transfer(at: at)
    case 7: return administer(at: at)
    case 8: return try repeated(at: at)
    default: return late(at: at)
    }
  }

  private mutating func randomCustomer() -> Int {
    // A few busy accounts make contention; the newest are those that are open.
    let recent = min(OperationMaker.customers, customers.count)
    func draw(_ random: inout SeededGenerator) -> Int {
      max(0, customers.count - 1 - random.index(random.chance(400) ? min(3, recent) : recent))
    }
    let index = draw(&random)
    return customers[index].isClosing && random.chance(800) ? draw(&random) : index
  }

  private func wrap(_ request: LedgerOperation.Request, _ at: Instant) -> LedgerOperation {
    LedgerOperation(request, at: at, uptime: uptime, actor: actor)
  }

  // MARK: Accounts

  private mutating func caps() -> AccountCaps {
    AccountCaps(
      concurrentCalls: random.chance(300) ? random.number(0...8) : nil,
      callsPerSecond: random.chance(200) ? random.number(0...4) : nil,
      perCall: random.chance(300) ? random.amount(0...2_000_000) : nil,
      perDay: random.chance(300) ? random.amount(0...6_000_000) : nil,
      highestRate: random.chance(150) ? random.amount(0...900_000_000) : nil,
      countries: random.chance(150) ? random.one([46], [46, 1], [], [44, 33, 46]) : nil)
  }

  private mutating func newCustomer(at: Instant) -> LedgerOperation {
    let name = AccountName(unchecked: "\(prefix)a\(customers.count + 1)")
    let currency = random.one(Currency.eur, .eur, .usd)
    customers.append(Customer(name: name, currency: currency))
    let isPostpaid = random.chance(250)
    let limit: MicroUnits = isPostpaid ? random.amount(0...5_000_000) : 0
    return wrap(
      .administer(
        AccountAdministration(
          account: name, key: newKey(),
          .create(
            kind: isPostpaid ? .postpaid : .prepaid, currency: currency, creditLimit: limit, plan: "retail",
            caps: random.chance(500) ? caps() : AccountCaps(),
            zone: random.element(of: OperationMaker.zones) ?? "UTC"))), at)
  }

  private mutating func administer(at: Instant) -> LedgerOperation {
    let index = randomCustomer()
    let change: AccountAdministration.Change
    switch random.weighted([20, 380, 20, 230, 90, 90, 60, 40]) {
    case 0:
      // A closed account is replaced, so that there are always some that can pay.
      guard !customers[index].isClosing else { return newCustomer(at: at) }
      customers[index].isClosing = true
      change = .close
    case 1: change = .unlock
    case 2: change = .lock
    case 3: change = .setCaps(random.chance(600) ? AccountCaps() : caps())
    case 4: change = .setCreditLimit(random.chance(500) ? 0 : random.amount(-1...8_000_000))
    case 5: change = .setZone(random.element(of: OperationMaker.zones) ?? "UTC")
    case 6: change = .setPlan(random.one("retail", "wholesale"))
    default:
      if customers.contains(where: \.isClosing), random.chance(500) { return newCustomer(at: at) }
      change = .create(
        kind: random.one(.prepaid, .revenue), currency: .eur, creditLimit: random.amount(-1...1), plan: "",
        caps: AccountCaps(), zone: "UTC")
    }
    let name =
      random.chance(20)
      ? AccountName(unchecked: "\(prefix)nobody") : customers[index].name
    // A name nobody has must stay free.
    if case .create = change, name != customers[index].name {
      return wrap(
        .administer(AccountAdministration(account: customers[index].name, key: newKey(), change)), at)
    }
    return wrap(.administer(AccountAdministration(account: name, key: newKey(), change)), at)
  }

  // MARK: Money

  private mutating func move(
    _ customer: Int, _ kind: MoneyMovement.Kind, _ micros: MicroUnits?, at: Instant
  ) throws -> LedgerOperation {
    let currency = random.chance(8) ? Currency.usd : customers[customer].currency
    return wrap(
      .move(
        MoneyMovement(
          account: customers[customer].name, key: newKey(), kind,
          amount: try micros.map { try Credits(micros: $0, currency) },
          detail: random.chance(100) ? "ticket \(serial)" : "")), at)
  }

  private mutating func topup(_ customer: Int, at: Instant) throws -> LedgerOperation {
    if random.chance(3) {
      // Amounts at the edge of the range, by ways of paying of their own so that the other ways stay usable.
      let micros = random.one(
        Credits.maximumMicros, Credits.maximumMicros - 1, MicroUnits(1 << 61), MicroUnits(1 << 60))
      let method = RequestKey(unchecked: "wire-\(random.index(40))")
      return try move(customer, .topup(method: method), micros, at: at)
    }
    let kind: MoneyMovement.Kind =
      random.chance(60)
      ? .opening : .topup(method: RequestKey(unchecked: random.one("card", "voucher", "bank")))
    return try move(
      customer, kind,
      random.chance(15) ? random.amount(-2...0) : random.amount(1...(random.chance(100) ? 4_000_000 : 500_000)), at: at)
  }

  private mutating func reversal(isChargeback: Bool, at: Instant) throws -> LedgerOperation {
    guard let transfer = random.element(of: transfers), !random.chance(30) else {
      return try move(randomCustomer(), .refund(of: random.number(0...5000)), nil, at: at)
    }
    let customer = random.chance(20) ? randomCustomer() : transfer.customer
    let amount: MicroUnits? = random.chance(400) ? nil : random.amount(0...transfer.amount.count)
    return try move(
      customer, isChargeback ? .chargeback(of: transfer.seq) : .refund(of: transfer.seq), amount, at: at)
  }

  private mutating func adjust(at: Instant) throws -> LedgerOperation {
    try move(randomCustomer(), .adjust(force: random.chance(150)), random.amount(-1_500_000...1_500_000), at: at)
  }

  private mutating func transfer(at: Instant) throws -> LedgerOperation {
    let target =
      random.chance(20) ? AccountName(unchecked: "\(prefix)nobody") : customers[randomCustomer()].name
    return try move(randomCustomer(), .transfer(to: target), random.amount(-1...2_000_000), at: at)
  }

  // MARK: Calls

  private mutating func origin() -> CallOperation.Origin {
    guard let gateway = random.element(of: gateways) else {
      return CallOperation.Origin(node: NodeID(unchecked: "\(prefix)n0"), epoch: 1)
    }
    return CallOperation.Origin(node: gateway.id, epoch: gateway.epoch)
  }

  private mutating func authorise(at: Instant) throws -> LedgerOperation {
    let index = randomCustomer()
    let customer = customers[index]
    // Mostly somebody helps a customer who cannot call.
    if customer.isClosing, random.chance(300) { return newCustomer(at: at) }
    if customer.isLocked, random.chance(700) {
      guard random.chance(500) else { return try topup(index, at: at) }
      return wrap(.administer(AccountAdministration(account: customer.name, key: newKey(), .unlock)), at)
    }
    let id = CallID(unchecked: "\(prefix)c\(nextSerial())")
    let isEmergency = random.chance(12)
    let rating: CallOperation.Authorisation.Rating =
      random.chance(20)
      ? .refused(random.one(.noRate, .destinationBlocked, .noProfitableRoute))
      : .rated(try snapshot(random.chance(6) ? .usd : customer.currency, at: at))
    let origin = origin()
    let seconds = random.chance(700) ? CallOperation.Authorisation.defaultSeconds : random.number(0...400)
    let maximum =
      random.chance(600) ? CallOperation.Authorisation.defaultMaximumSeconds : random.number(0...900)
    let call = Call(
      customer: index, id: id, origin: origin, isEmergency: isEmergency, seconds: max(seconds, 1))
    if active.count < OperationMaker.maximumActiveCalls { active.append(call) }
    return wrap(
      .call(
        CallOperation(
          account: customer.name, call: id, origin: origin,
          .authorise(
            CallOperation.Authorisation(
              destination: "+46\(700_000_000 + random.index(9_999_999))", country: random.one(46, 46, 1, 44, nil),
              rating: rating, seconds: seconds, maximumSeconds: maximum, isEmergency: isEmergency,
              linkedCall: random.chance(30) ? ended.first?.id : nil)))), at)
  }

  private mutating func advance(_ index: Int, at: Instant) throws -> LedgerOperation {
    let call = active[index]
    let phase: CallOperation.Phase
    // Mostly the order of a sound call; the rest comes too early, twice or never.
    switch random.weighted(call.isAnswered ? [3, 42, 50, 5] : [62, 8, 6, 24]) {
    case 0:
      active[index].isAnswered = true
      phase = .answer
    case 1:
      active[index].extensions += 1
      phase = .extend(
        number: call.extensions + (random.chance(20) ? 2 : 1),
        seconds: random.chance(700) ? 60 : random.number(-1...900))
    case 2:
      if call.isAnswered || random.chance(300) { end(at: index) }
      phase = .settle(milliseconds: duration(call.seconds), reason: "hungUp", carriers: carriers())
    default:
      end(at: index)
      phase = .void(reason: "noAnswer", carriers: random.chance(100) ? carriers() : [])
    }
    return wrap(
      .call(CallOperation(account: customers[call.customer].name, call: call.id, origin: call.origin, phase)), at)
  }

  /// A measured duration: mostly inside the grant, sometimes on its edges, sometimes nonsense.
  private mutating func duration(_ granted: Int64) -> Int64 {
    let limit = max(granted, 1) * 1000
    switch random.weighted([70, 12, 6, 6, 3, 2, 1]) {
    case 0: return random.number(0...limit)
    case 1: return random.number(0...granted) * 1000 + random.number(-2...2)
    case 2: return limit + random.number(-1...60_000)
    case 3: return random.number(0...1500)
    case 4: return -random.number(0...3_600_000)
    case 5: return limit * 100
    default: return random.one(.min, .max)
    }
  }

  private mutating func carriers() -> [CarrierCharge] {
    guard random.chance(350) else { return [] }
    let count = random.chance(5) ? CarrierCharge.maximumPerCall + 1 : 1 + random.index(3)
    return (0..<count).map { _ in
      let amount: MicroUnits = random.chance(5) ? -1 : random.amount(0...60_000)
      let overrun: MicroUnits = random.chance(100) ? random.amount(0...max(amount.count, 0)) : 0
      return CarrierCharge(
        trunk: TrunkName(unchecked: random.one("north", "south", "west")), amount: amount,
        overrun: random.chance(3) ? amount + 1 : overrun)
    }
  }

  /// An earlier operation once more: word for word, or with other content under the same key.
  private mutating func repeated(at: Instant) throws -> LedgerOperation {
    guard var operation = random.element(of: history) else { return try authorise(at: at) }
    operation.at = at
    if random.chance(500) { return operation }
    switch operation.request {
    case .administer(var administration):
      administration.change = .setPlan("other-\(random.index(4))")
      operation.request = .administer(administration)
    case .move(var movement):
      if let amount = movement.amount, amount.micros.magnitude < MicroUnits(1 << 60) {
        movement.amount = try Credits(micros: amount.micros + 1, amount.currency)
      } else {
        movement.kind = .adjust(force: false)
        movement.amount = try Credits(micros: 7, .eur)
      }
      operation.request = .move(movement)
    case .call(var call):
      switch call.phase {
      case .authorise(var authorisation):
        // The price may differ in a repeat; another destination is another request.
        if random.chance(500) { authorisation.destination += "0" } else { authorisation.seconds += 1 }
        call.phase = .authorise(authorisation)
      case .answer: call.phase = .void(reason: "cancelled", carriers: [])
      case .extend(let number, let seconds): call.phase = .extend(number: number, seconds: seconds &+ 1)
      case .settle(let milliseconds, _, let carriers):
        call.phase = .settle(milliseconds: milliseconds &+ 1000, reason: "hungUp", carriers: carriers)
      case .void(let reason, let carriers):
        call.phase =
          random.chance(500)
          ? .settle(milliseconds: 1000, reason: reason, carriers: carriers)
          : .void(reason: reason, carriers: carriers + [CarrierCharge(trunk: TrunkName(unchecked: "east"), amount: 5)])
      case .recover: break
      }
      operation.request = .call(call)
    }
    return operation
  }

  /// Something for a call that is over, that never was, or under another node's name.
  private mutating func late(at: Instant) -> LedgerOperation {
    var call = random.chance(500) ? random.element(of: ended) : random.element(of: active)
    if call == nil || random.chance(100) {
      call = Call(
        customer: randomCustomer(), id: CallID(unchecked: "\(prefix)nocall"), origin: origin(), isEmergency: false,
        seconds: 60)
    }
    let customer = call?.customer ?? 0
    let phase: CallOperation.Phase =
      switch random.index(5) {
      case 0: .answer
      case 1: .extend(number: random.number(1...3), seconds: 60)
      case 2: .settle(milliseconds: duration(60), reason: "late", carriers: [])
      case 3: .recover
      default: .void(reason: "late", carriers: [])
      }
    let origin = random.chance(300) ? origin() : call?.origin ?? origin()
    return wrap(
      .call(
        CallOperation(
          account: customers[customer].name, call: call?.id ?? CallID(unchecked: "\(prefix)nocall"), origin: origin,
          phase)), at)
  }

  // MARK: Prices

  private mutating func snapshot(_ currency: Currency, at: Instant) throws -> RateSnapshot {
    if snapshots.count >= 64, !random.chance(100) {
      let candidate = snapshots[random.index(snapshots.count)]
      if candidate.currency == currency { return candidate }
    }
    let made = try PriceMaker.snapshot(&random, currency, at: at)
    if snapshots.count < 64 { snapshots.append(made) } else { snapshots[random.index(64)] = made }
    return made
  }
}
