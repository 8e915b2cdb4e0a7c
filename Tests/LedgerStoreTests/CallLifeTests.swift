import CallModel
import LedgerCore
import Testing

@Suite("The billing life of a call")
struct CallLifeTests {
  @Test("a call is held, answered, extended and settled once", arguments: StoreKind.all)
  func wholeLife(_ kind: StoreKind) async throws {
    let ledger = try await LedgerUnderTest(kind)
    try await ledger.create("acme", credit: "1")
    let granted = try await ledger.authorise("acme", "c1")
    #expect(granted.outcome == .granted(seconds: 60, amount: 60_000, isFinal: false))
    #expect(try await ledger.balance("acme") == .init(posted: 1_000_000, held: 60_000))
    ledger.advance(seconds: 5)
    #expect(try await ledger.answer("acme", "c1").outcome == .answered)
    ledger.advance(seconds: 55)
    let more = try await ledger.extend("acme", "c1", 1)
    #expect(more.outcome == .granted(seconds: 120, amount: 120_000, isFinal: false))
    ledger.advance(milliseconds: 8412)
    let settled = try await ledger.settle("acme", "c1", milliseconds: 63_412)
    guard case .settled(63_412, 64, 64_000, let transfer?) = settled.outcome else {
      Issue.record("settled as \(settled.outcome)")
      return
    }
    #expect(transfer > 0)
    #expect(try await ledger.balance("acme") == .init(posted: 936_000, held: 0))
    #expect(try await ledger.operatorBalance(ChartOfAccounts.revenue) == 64_000)
    try await ledger.finish()
  }
}
