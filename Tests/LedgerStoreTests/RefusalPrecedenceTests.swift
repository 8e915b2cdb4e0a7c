import CallModel
import LedgerCore
import Testing

/// When several refusals apply, the first in the order of `LedgerRefusal` is the answer.
@Suite("Precedence of refusals")
struct RefusalPrecedenceTests {
  /// Refusals that cannot apply at the same time.
  private static let exclusive: [Set<LedgerRefusal>] = [
    [.conflict, .alreadyResolved],
    [.accountClosed, .accountLocked],
    [.currencyMismatch, .destinationBlocked, .noRate, .noProfitableRoute],
    // Without a rate there is no price to compare.
    [.destinationBlocked, .rateTooHigh], [.noRate, .rateTooHigh], [.noProfitableRoute, .rateTooHigh],
    [.destinationBlocked, .callCap], [.noRate, .callCap], [.noProfitableRoute, .callCap],
    [.destinationBlocked, .dailyCap], [.noRate, .dailyCap], [.noProfitableRoute, .dailyCap],
    [.destinationBlocked, .insufficientCredit], [.noRate, .insufficientCredit],
    [.noProfitableRoute, .insufficientCredit],
  ]

  private static func pairs(_ refusals: [LedgerRefusal]) -> [Set<LedgerRefusal>] {
    refusals.indices.flatMap { first in
      refusals.indices.dropFirst(first + 1).map { [refusals[first], refusals[$0]] }
    }
    .filter { pair in !exclusive.contains { $0.isSuperset(of: pair) } }
  }

  static let authorising: [Set<LedgerRefusal>] = pairs([
    .conflict, .alreadyResolved, .staleEpoch, .currencyMismatch, .accountClosed, .accountLocked, .destinationBlocked,
    .noRate, .noProfitableRoute, .countryNotAllowed, .rateTooHigh, .rateCap, .concurrencyCap, .callCap, .dailyCap,
    .insufficientCredit,
  ])
  static let extending: [Set<LedgerRefusal>] = pairs([
    .conflict, .alreadyResolved, .staleEpoch, .accountClosed, .accountLocked, .durationCap, .callCap, .dailyCap,
    .insufficientCredit,
  ])

  private static func first(_ refusals: Set<LedgerRefusal>) -> LedgerRefusal? {
    LedgerRefusal.allCases.first { refusals.contains($0) }
  }

  @Test("of two refusals of an authorisation the earlier one answers", arguments: StoreKind.all)
  func authorise(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      for (index, refusals) in Self.authorising.enumerated() {
        let name = "acme-\(index)"
        try await ledger.create(name, credit: "1")
        if refusals.contains(.conflict) {
          let other = CallOperation.Authorisation(destination: "+4612", country: 46, rating: .refused(.noRate))
          _ = try await ledger.store.perform(ledger.call(name, "c", .authorise(other)))
        }
        if refusals.contains(.alreadyResolved) {
          try await ledger.authorise(name, "c")
          ledger.advance(seconds: 2)
          try await ledger.void(name, "c")
          _ = try await ledger.store.prune(before: ledger.now)
        }
        try await ledger.arrange(name, refusals, credit: "-1")
        let rating: CallOperation.Authorisation.Rating =
          if let refusal = refusals.first(where: { [.destinationBlocked, .noRate, .noProfitableRoute].contains($0) }) {
            .refused(refusal)
          } else {
            .rated(try LedgerUnderTest.snapshot(currency: refusals.contains(.currencyMismatch) ? .usd : .eur))
          }
        let receipt = try await ledger.store.perform(
          ledger.call(
            name, "c", .authorise(.init(destination: "+46701234567", country: 46, rating: rating)),
            epoch: refusals.contains(.staleEpoch) ? ledger.epoch - 1 : nil))
        #expect(receipt.refusal == Self.first(refusals), "\(refusals)")
      }
      #expect(Self.authorising.count > 80)
    }
  }

  @Test("of two refusals of an extension the earlier one answers", arguments: StoreKind.all)
  func extend(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      for (index, refusals) in Self.extending.enumerated() {
        let name = "acme-\(index)"
        try await ledger.create(name, credit: "1")
        try await ledger.authorise(name, "c", maximumSeconds: refusals.contains(.durationCap) ? 60 : 600)
        try await ledger.answer(name, "c")
        if refusals.contains(.conflict) { try await ledger.extend(name, "c", 1, by: 1) }
        let left = try await ledger.balance(name).available
        if refusals.contains(.alreadyResolved) {
          // Another call keeps a closing account from being closed, and the credit in use.
          try await ledger.authorise(name, "other")
          try await ledger.void(name, "c")
        }
        try await ledger.arrange(name, refusals, credit: "-\(left.decimal)")
        let receipt = try await ledger.store.perform(
          ledger.call(
            name, "c", .extend(number: 1, seconds: 60), epoch: refusals.contains(.staleEpoch) ? ledger.epoch - 1 : nil))
        #expect(receipt.refusal == Self.first(refusals), "\(refusals)")
      }
      #expect(Self.extending.count > 30)
    }
  }

  @Test("an account or a call that is not there is told before the node's epoch", arguments: StoreKind.all)
  func unknownFirst(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("acme", credit: "1")
      let stale = ledger.epoch - 1
      for phase in [CallOperation.Phase.answer, .extend(number: 1, seconds: 1), .void(reason: "x", carriers: [])] {
        #expect(try await ledger.store.perform(ledger.call("acme", "c", phase, epoch: stale)).refusal == .unknownCall)
        #expect(try await ledger.store.perform(ledger.call("no", "c", phase, epoch: stale)).refusal == .unknownAccount)
      }
    }
  }

  @Test("of two refusals of a movement the earlier one answers", arguments: StoreKind.all)
  func movements(_ kind: StoreKind) async throws {
    try await LedgerUnderTest.run(kind) { ledger in
      try await ledger.create("open", credit: "1")
      try await ledger.create("dollar", currency: .usd)
      try await ledger.create("closed")
      try await ledger.administer("closed", .close)
      try await ledger.create("locked")
      try await ledger.administer("locked", .lock)
      let card = MoneyMovement.Kind.topup(method: RequestKey(unchecked: "card"))
      func to(_ name: String) -> MoneyMovement.Kind { .transfer(to: AccountName(unchecked: name)) }
      let rows: [(String, MoneyMovement.Kind, String, Currency, LedgerRefusal)] = [
        ("open", card, "0", .usd, .amountOutOfRange), ("open", card, "-1", .usd, .amountOutOfRange),
        ("closed", card, "1", .usd, .currencyMismatch), ("closed", .adjust(force: false), "0", .usd, .amountOutOfRange),
        ("closed", .adjust(force: false), "-1", .eur, .accountClosed),
        ("open", to("nobody"), "-1", .usd, .unknownAccount), ("open", to("open"), "1", .usd, .amountOutOfRange),
        ("open", to("dollar"), "0", .eur, .amountOutOfRange), ("closed", to("dollar"), "1", .eur, .currencyMismatch),
        ("locked", to("closed"), "1", .eur, .accountClosed), ("locked", to("open"), "1", .eur, .accountLocked),
        ("open", .refund(of: 99_999), "0", .usd, .unknownTransfer),
      ]
      for (name, kind, amount, currency, refusal) in rows {
        #expect(try await ledger.move(name, kind, amount, currency).refusal == refusal, "\(name) \(kind) \(amount)")
      }
    }
  }
}

extension LedgerUnderTest {
  /// Brings an account, and the node, into a state to which the refusals apply.
  fileprivate func arrange(_ name: String, _ refusals: Set<LedgerRefusal>, credit: String) async throws {
    if refusals.contains(.insufficientCredit) { try await move(name, .adjust(force: true), credit) }
    try await administer(
      name,
      .setCaps(
        AccountCaps(
          concurrentCalls: refusals.contains(.concurrencyCap) ? 0 : nil,
          callsPerSecond: refusals.contains(.rateCap) ? 0 : nil, perCall: refusals.contains(.callCap) ? 59_999 : nil,
          perDay: refusals.contains(.dailyCap) ? 59_999 : nil,
          highestRate: refusals.contains(.rateTooHigh) ? 59_999_999 : nil,
          countries: refusals.contains(.countryNotAllowed) ? [1, 44] : nil)))
    if refusals.contains(.accountClosed) { try await administer(name, .close) }
    if refusals.contains(.accountLocked) { try await administer(name, .lock) }
    if refusals.contains(.staleEpoch) { try await restartNode() }
  }
}
