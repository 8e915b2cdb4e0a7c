import CallModel
import Foundation
import LedgerCore
import TestVectors
import Testing

/// The published scenarios of a prepaid ledger, told in this ledger's words.
///
/// | Scenario | Here |
/// |---|---|
/// | user | one account for each currency: `u1-EUR` |
/// | hold of an amount | authorisation under a tariff whose second costs the greatest common divisor of all amounts of that call, for amount ÷ second seconds; nought is a zero rate |
/// | extend by an amount | extension by as many seconds |
/// | settle of an amount | answer, then settlement after as many seconds |
/// | release | void |
/// | refund of a call | refund of the call's charge |
/// | reference | request key |
/// | at | seconds after the start |
@Suite("Published scenarios", .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct ScenarioTests {
  struct Step: Decodable, Sendable {
    var op: String
    var user: String?
    var amount: Int64?
    var ref: String?
    var call: String?
    var currency: String?
    var frm: String?
    var to: String?
    var at: Int64?
    var times: Int?
    var ops: [Step]?
  }

  enum Expected: Decodable, Sendable {
    case number(Int64)
    case text(String)
    case texts([String])
    case flag(Bool)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? value.decode(Int64.self) {
        self = .number(number)
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else {
        self = .texts(try value.decode([String].self))
      }
    }
  }

  struct Scenario: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var steps: [Step]
    var expect: [String: Expected]

    enum CodingKeys: String, CodingKey {
      case name = "case"
      case steps, expect
    }
    var testDescription: String { name }
  }

  static let scenarios: [Scenario] = {
    guard TestVectors.arePresent, let text = try? TestVectors.text("ledger/scenarios.jsonl") else { return [] }
    return text.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(Scenario.self, from: Data($0.utf8))
    }
  }()

  @Test("every scenario is read")
  func complete() throws {
    let lines = try TestVectors.text("ledger/scenarios.jsonl").split(separator: "\n")
    #expect(Self.scenarios.count == lines.count && !lines.isEmpty)
  }

  @Test("the scenario's verdict is the ledger's", arguments: StoreKind.all, scenarios)
  func verdict(_ kind: StoreKind, _ scenario: Scenario) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      var play = Play(ledger, scenario)
      try await play.run()
      try await play.check()
    }
  }

  /// One scenario on its ledger.
  private struct Play {
    let ledger: LedgerUnderTest
    let scenario: Scenario
    let start: Instant
    var receipts: [LedgerReceipt] = []
    var calls: [String: Call] = [:]
    var accounts: Set<String> = []

    struct Call {
      var account: String
      var second: Int64
      var extensions: Int64 = 0
    }

    init(_ ledger: LedgerUnderTest, _ scenario: Scenario) {
      self.ledger = ledger
      self.scenario = scenario
      start = ledger.now
    }

    mutating func run() async throws {
      // A scenario that only spends says in its note to begin with ten units.
      if !scenario.steps.contains(where: { $0.op == "topup" }), scenario.steps.contains(where: { $0.op == "repeat" }) {
        try await account("u1-EUR", .eur)
        try await ledger.topup("u1-EUR", "10")
      }
      for step in scenario.steps {
        if let at = step.at { ledger.now = start.advanced(byMilliseconds: at * 1000) }
        switch step.op {
        case "parallel":
          var operations: [LedgerOperation] = []
          for inner in step.ops ?? [] { operations += try await self.operations(inner) }
          receipts += try await ledger.race(operations)
        case "repeat":
          for base in stride(from: 0, to: step.times ?? 0, by: 250) {
            var operations: [LedgerOperation] = []
            for index in base..<min(base + 250, step.times ?? 0) {
              for var inner in step.ops ?? [] {
                inner.call = inner.call?.replacingOccurrences(of: "{i}", with: "\(index)")
                operations += try await self.operations(inner, among: step.ops ?? [])
              }
            }
            receipts += try await ledger.store.perform(operations).map { try $0.get() }
          }
        default:
          let results = try await ledger.store.perform(operations(step)).map { try $0.get() }
          // An answer goes before a settlement; the step's own result is the last.
          receipts += results.suffix(1)
        }
      }
    }

    /// The account of a user in a currency, made when first named.
    @discardableResult
    private mutating func account(_ name: String, _ currency: Currency) async throws -> String {
      if accounts.insert(name).inserted { try await ledger.create(name, currency: currency) }
      return name
    }

    private mutating func account(of step: Step) async throws -> String {
      let currency = try Currency(step.currency ?? "EUR")
      return try await account("\(step.user ?? "u1")-\(currency)", currency)
    }

    private func key(_ step: Step) -> RequestKey { step.ref.map { RequestKey(unchecked: $0) } ?? ledger.newKey() }

    private mutating func operations(_ step: Step, among steps: [Step]? = nil) async throws -> [LedgerOperation] {
      let amount = step.amount ?? 0
      let id = step.call ?? ""
      switch step.op {
      case "topup":
        let currency = try Currency(step.currency ?? "EUR")
        return [
          try ledger.movement(
            try await account(of: step), .topup(method: RequestKey(unchecked: "card")),
            DecimalText.format(amount, scale: 6), currency, key: key(step))
        ]
      case "transfer":
        let from = (step.frm ?? "").split(separator: " ").map(String.init)
        let to = (step.to ?? "").split(separator: " ").joined(separator: "-")
        return [
          try ledger.movement(
            from.joined(separator: "-"), .transfer(to: AccountName(unchecked: to)),
            DecimalText.format(amount, scale: 6), try Currency(from[1]), key: key(step))
        ]
      case "hold":
        let name = try await account(of: step)
        let all = (steps ?? scenario.steps.flatMap { [$0] + ($0.ops ?? []) })
          .filter { $0.op != "refund" && (steps != nil ? $0.call != nil : $0.call == id) }.compactMap(\.amount)
        let second = all.reduce(Int64(0), ScenarioTests.commonDivisor)
        calls[id] = Call(account: name, second: second)
        let snapshot = try LedgerUnderTest.snapshot(rate: NanoUnits(second * 60_000), initial: 1)
        return [
          try ledger.authorisation(
            name, id, snapshot, seconds: second == 0 ? 60 : amount / second, maximumSeconds: Tariff.maximumSeconds)
        ]
      case "extend":
        guard var call = calls[id] else { return [] }
        call.extensions += 1
        calls[id] = call
        return [ledger.call(call.account, id, .extend(number: call.extensions, seconds: amount / max(call.second, 1)))]
      case "settle":
        guard let call = calls[id] else { return [] }
        let milliseconds = amount / max(call.second, 1) * 1000
        return [
          ledger.call(call.account, id, .answer),
          ledger.call(call.account, id, .settle(milliseconds: milliseconds, reason: "hungUp", carriers: [])),
        ]
      case "release":
        guard let call = calls[id] else { return [] }
        return [ledger.call(call.account, id, .void(reason: "released", carriers: []))]
      case "refund":
        guard let call = calls[id], let charge = try await ledger.hold(call.account, id)?.transfer else { return [] }
        return [
          try ledger.movement(
            call.account, .refund(of: charge), DecimalText.format(amount, scale: 6), key: key(step))
        ]
      default:
        Issue.record("no step is called \(step.op)")
        return []
      }
    }

    func check() async throws {
      for (fact, expected) in scenario.expect.sorted(by: { $0.key < $1.key }) {
        switch (fact, expected) {
        case (_, .number(let value)) where fact.hasSuffix(".available"):
          #expect(try await ledger.balance(user(fact)).available.count == value, "\(fact)")
        case (_, .text(">= 0")) where fact.hasSuffix(".available"):
          #expect(try await ledger.balance(user(fact)).available >= .zero)
        case (_, .number(let value)) where fact.hasSuffix(".held"):
          #expect(try await ledger.balance(user(fact)).held.count == value, "\(fact)")
        case ("sum_all_accounts", .number(let value)):
          let sum = try await ledger.store.read { try $0.allAccounts().reduce(MicroUnits.zero) { $0 + $1.posted } }
          #expect(sum.count == value)
        case ("revenue", .number(let value)):
          #expect(try await ledger.operatorBalance(ChartOfAccounts.revenue).count == value)
        case ("rounding_drift", .number(let value)):
          let costs = try await ledger.store.read { reading in
            var costs = MicroUnits.zero
            try reading.forEachHold(HoldFilter(limit: 0)) { costs += $0.cost ?? .zero }
            return costs
          }
          let revenue = try await ledger.operatorBalance(ChartOfAccounts.revenue)
          #expect((revenue - costs).count == value)
        case ("results", .texts(let texts)):
          #expect(receipts.map { $0.refusal == nil } == texts.map { $0 == "ok" }, "\(receipts.map(\.outcome))")
        case ("exactly_one_refused", .flag(true)):
          #expect(receipts.filter { $0.refusal != nil }.count == 1)
        case ("result", .text):
          // Ours is capped at the hold, and says so: the settlement's own figures.
          guard case .settled(let milliseconds, _, let cost, _)? = receipts.last?.outcome, let call = calls["c1"] else {
            Issue.record("not settled")
            continue
          }
          let hold = try #require(try await ledger.hold(call.account, "c1"))
          #expect(cost == hold.amount && milliseconds == hold.grantedSeconds * 1000)
        case ("call", .text(let text)):
          let id = scenario.steps.compactMap(\.call).first ?? ""
          let hold = try await ledger.hold(calls[id]?.account ?? "", id)
          switch text.prefix(5) {
          case "never": #expect(hold == nil)
          case "ended": #expect(hold?.extensions == 0 && hold?.state.isOpen == true)
          case "allow": #expect(hold?.state == .settled && hold?.amount == 0)
          default: Issue.record("nothing is known of a call that is \(text)")
          }
        case ("entries_deleted", .number(let value)):
          let (charge, refund) = (
            try await ledger.transfers().filter { $0.transfer.kind == .call }.count,
            try await ledger.transfers().filter { $0.transfer.kind == .refund }.count
          )
          #expect(charge == 1 && refund == 1 && value == 0)
        case ("cdr.c1.entries", .texts(let texts)):
          let hold = try #require(try await ledger.hold(calls["c1"]?.account ?? "", "c1"))
          #expect(texts == ["hold", "settle"] && hold.state == .settled && hold.transfer != nil)
        case ("sum_of_entries_for_c1", .number(let value)):
          let sum = try await ledger.transfers().filter { $0.transfer.call?.text == "c1" }
            .reduce(MicroUnits.zero) { $0 + $1.transfer.amount }
          #expect(sum.count == value)
        case (_, .number(let value)) where fact.hasPrefix("balance_at_"):
          let seconds = try #require(Int64(fact.dropFirst("balance_at_".count)))
          let account = try await ledger.account("u1-EUR")
          let at = start.advanced(byMilliseconds: seconds * 1000)
          let balance = try await ledger.store.read { try $0.balance(of: account, at: at) }
          #expect((balance.posted - balance.held).count == value, "\(fact)")
        default: Issue.record("nothing checks \(fact) \(expected)")
        }
      }
    }

    private func user(_ fact: String) -> String { "\(fact.prefix { $0 != "." })-EUR" }
  }

  private static func commonDivisor(_ first: Int64, _ second: Int64) -> Int64 {
    second == 0 ? first : commonDivisor(second, first % second)
  }
}
