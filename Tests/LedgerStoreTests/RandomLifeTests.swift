import CallModel
import LedgerCore
import Testing

/// Requests in an order that nobody planned, under prices that nobody would publish. Whatever happens, the answer is a
/// refusal by name or a sound record; "the rows contradict each other" is never one.
@Suite("Random lives of accounts and calls")
struct RandomLifeTests {
  @Test("any order of requests keeps the books", arguments: StoreKind.all, [UInt64](1...6))
  func anyOrder(_ kind: StoreKind, _ seed: UInt64) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      var random = SplitMix(seed: seed)
      var script = Script(ledger)
      for name in ["a", "b", "c"] { try await ledger.create(name, credit: "2") }
      try await ledger.create("d", credit: "2", currency: .usd)
      try await ledger.create("e", kind: .postpaid, creditLimit: 1_500_000, zone: "Pacific/Auckland")
      for round in 0..<120 {
        ledger.advance(milliseconds: Int64.random(in: -2000...90_000, using: &random))
        if Int.random(in: 0..<40, using: &random) == 0 {
          try await ledger.restartNode()
          _ = try await ledger.store.recover(nil, at: ledger.now)
        } else {
          _ = try await ledger.store.beat(ledger.node, epoch: ledger.epoch, at: ledger.now)
        }
        let batch = try (0..<Int.random(in: 1...12, using: &random)).map { _ in try script.next(&random) }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: ledger.trouble.strike(.beforeCommit)
        case 1: ledger.trouble.strike(.afterCommit)
        default: break
        }
        var results = await ledger.store.perform(batch)
        if case .failure(let error) = results[0], error.cause == .inputOutput {
          results = await ledger.store.perform(batch)
        }
        for (operation, result) in zip(batch, results) {
          do {
            let receipt = try result.get()
            // The same again is answered the same.
            if receipt.seq > 0, Int.random(in: 0..<8, using: &random) == 0 {
              let again = try await ledger.store.perform(operation)
              #expect(again.isReplay && again.outcome == receipt.outcome && again.seq == receipt.seq)
            }
          } catch {
            Issue.record("seed \(seed) round \(round): \(error) to \(operation)")
          }
        }
        if Int.random(in: 0..<50, using: &random) == 0 {
          _ = try await ledger.store.prune(before: ledger.now.advanced(byMilliseconds: -1_000_000))
        }
      }
      let report = try await ledger.store.read { try LedgerVerifier.verify($0, full: true) }
      #expect(report.isSound, "seed \(seed): \(report.rules.compactMap(\.problem))")
    }
  }

  /// Makes the next request up.
  private struct Script {
    let ledger: LedgerUnderTest
    private var calls: [(account: String, id: String)] = []
    private var made = 0

    init(_ ledger: LedgerUnderTest) { self.ledger = ledger }

    mutating func next(_ random: inout SplitMix) throws -> LedgerOperation {
      let name = ["a", "b", "c", "d", "e", "nobody"].randomElement(using: &random) ?? "a"
      let currency: Currency = (name == "d") == (Int.random(in: 0..<20, using: &random) > 0) ? .usd : .eur
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<26:
        made += 1
        calls.append((name, "call-\(made)"))
        return try ledger.authorisation(
          name, "call-\(made)", snapshot(currency, &random), seconds: Int64.random(in: 1...400, using: &random),
          maximumSeconds: Int64.random(in: 1...2000, using: &random),
          country: [1, 46, 358].randomElement(using: &random), emergency: Int.random(in: 0..<25, using: &random) == 0)
      case 26..<80:
        guard let call = calls.suffix(12).randomElement(using: &random) else {
          return try topup(name, currency, &random)
        }
        return ledger.call(call.account, call.id, phase(&random))
      case 80..<86: return try topup(name, currency, &random)
      case 86..<95: return try movement(name, currency, &random)
      default: return administration(name, &random)
      }
    }

    private func phase(_ random: inout SplitMix) -> CallOperation.Phase {
      let carriers = (0..<Int.random(in: 0...2, using: &random)).map { index in
        let amount = Int64.random(in: 0...60_000, using: &random)
        return CarrierCharge(
          trunk: TrunkName(unchecked: "t\(index)"), amount: MicroUnits(amount),
          overrun: MicroUnits(.random(in: 0...amount, using: &random)))
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3: return .answer
      case 3..<7:
        return .extend(
          number: Int64.random(in: 1...6, using: &random), seconds: Int64.random(in: -5...300, using: &random))
      case 7..<9:
        return .settle(
          milliseconds: Int64.random(in: -1000...400_000, using: &random), reason: "hungUp", carriers: carriers)
      default: return .void(reason: "cancelled", carriers: carriers)
      }
    }

    private func topup(_ name: String, _ currency: Currency, _ random: inout SplitMix) throws -> LedgerOperation {
      try ledger.movement(
        name, .topup(method: RequestKey(unchecked: "card")),
        DecimalText.format(Int64.random(in: -10...900_000, using: &random), scale: 6), currency)
    }

    private func movement(_ name: String, _ currency: Currency, _ random: inout SplitMix) throws -> LedgerOperation {
      let other = AccountName(unchecked: ["a", "b", "d", "e"].randomElement(using: &random) ?? "a")
      let seq = Int64.random(in: 1...600, using: &random)
      let kind: MoneyMovement.Kind =
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .opening
        case 1..<4: .refund(of: seq)
        case 4: .chargeback(of: seq)
        case 5..<7: .adjust(force: Bool.random(using: &random))
        default: .transfer(to: other)
        }
      let amount = Int64.random(in: -300_000...300_000, using: &random)
      return try ledger.movement(
        name, kind, Bool.random(using: &random) ? nil : DecimalText.format(amount, scale: 6), currency)
    }

    private func administration(_ name: String, _ random: inout SplitMix) -> LedgerOperation {
      func some(_ range: ClosedRange<Int64>) -> Int64? {
        Bool.random(using: &random) ? nil : Int64.random(in: range, using: &random)
      }
      let change: AccountAdministration.Change
      switch Int.random(in: 0..<20, using: &random) {
      case 0: change = .close
      case 1..<4: change = .lock
      case 4..<12: change = .unlock
      case 12..<16:
        change = .setCaps(
          AccountCaps(
            concurrentCalls: some(0...4), callsPerSecond: some(0...3),
            perCall: some(0...900_000).map { MicroUnits($0) },
            perDay: some(0...2_000_000).map { MicroUnits($0) },
            highestRate: some(0...9_000_000_000).map { NanoUnits($0) },
            countries: Bool.random(using: &random) ? nil : [1, 46]))
      case 16..<18: change = .setCreditLimit(MicroUnits(.random(in: 0...2_000_000, using: &random)))
      default:
        change = .setZone(["UTC", "Europe/Stockholm", "Pacific/Auckland"].randomElement(using: &random) ?? "UTC")
      }
      return ledger.operation(
        .administer(AccountAdministration(account: AccountName(unchecked: name), key: ledger.newKey(), change)))
    }

    /// Any tariff that can be made, in up to three time classes around now.
    private func snapshot(_ currency: Currency, _ random: inout SplitMix) throws -> RateSnapshot {
      let splits = Bool.random(using: &random)
      let first = try tariff(&random, tiers: splits ? 1 : Int.random(in: 1...2, using: &random))
      var segments = [RateSnapshot.Segment(from: .distantPast, timeClass: "standard", tariff: first)]
      var from = ledger.now
      for index in 0..<Int.random(in: 0...2, using: &random) {
        from = from.advanced(byMilliseconds: Int64.random(in: 1...200_000, using: &random))
        let tariff =
          splits
          ? try Tariff(
            tiers: [
              .init(
                fromSecond: 0, ratePerMinute: NanoUnits(.random(in: 0...3_000_000_000, using: &random)),
                increment: first.tiers[0].increment)
            ], initial: first.initial, fee: first.fee, minimumCharge: first.minimumCharge, grace: first.grace,
            freeSeconds: first.freeSeconds, maximumCost: first.maximumCost,
            maximumCostStrategy: first.maximumCostStrategy, secondsLimit: first.secondsLimit,
            tolerance: first.tolerance, rounding: first.rounding)
          : try self.tariff(&random, tiers: 1)
        segments.append(.init(from: from, timeClass: "class-\(index)", tariff: tariff))
      }
      return try RateSnapshot(
        deck: "random@1", prefix: "46", destination: "Anywhere", currency: currency, segments: segments,
        boundaryPolicy: splits ? .split : .atAnswer)
    }

    private func tariff(_ random: inout SplitMix, tiers count: Int) throws -> Tariff {
      let initial = Int64.random(in: 0...90, using: &random)
      let increment = Int64.random(in: 1...60, using: &random)
      let fee = NanoUnits(Bool.random(using: &random) ? 0 : Int64.random(in: 0...80_000_000, using: &random))
      let minimum = NanoUnits(Bool.random(using: &random) ? 0 : Int64.random(in: 0...150_000_000, using: &random))
      var tiers = [
        Tariff.Tier(
          fromSecond: 0, ratePerMinute: NanoUnits(.random(in: 0...3_000_000_000, using: &random)), increment: increment)
      ]
      if count > 1 {
        tiers.append(
          Tariff.Tier(
            fromSecond: initial + increment * Int64.random(in: 1...9, using: &random),
            ratePerMinute: NanoUnits(.random(in: 0...3_000_000_000, using: &random)),
            increment: Int64.random(in: 1...30, using: &random)))
      }
      return try Tariff(
        tiers: tiers, initial: initial, fee: fee, minimumCharge: minimum,
        grace: Bool.random(using: &random) ? 0 : Int64.random(in: 0...30, using: &random),
        freeSeconds: Bool.random(using: &random) ? 0 : Int64.random(in: 0...40, using: &random),
        maximumCost: Bool.random(using: &random)
          ? nil : max(fee, minimum) + NanoUnits(.random(in: 0...900_000_000, using: &random)),
        maximumCostStrategy: Bool.random(using: &random) ? .free : .disconnect,
        secondsLimit: Int64.random(in: 1...3000, using: &random), tolerance: Int64.random(in: 0...999, using: &random),
        rounding: Bool.random(using: &random) ? .up : .halfEven)
    }
  }
}
