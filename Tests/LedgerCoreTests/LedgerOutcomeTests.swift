import LedgerCore
import Testing

@Suite("Recorded answers")
struct LedgerOutcomeTests {
  static let outcomes: [LedgerOutcome] =
    [
      .changed, .answered, .voided, .posted(transfer: 1, amount: -5, balance: .max),
      .posted(transfer: .max, amount: .min, balance: .min), .granted(seconds: 60, amount: 0, isFinal: true),
      .granted(seconds: 86_400, amount: .max, isFinal: false),
      .settled(milliseconds: 0, billedSeconds: 0, cost: 0, transfer: nil),
      .settled(milliseconds: 63_412, billedSeconds: 64, cost: 15_467, transfer: 88_104),
    ] + LedgerRefusal.allCases.map { .refused($0) }

  @Test("an answer's text reads back as the answer", arguments: outcomes)
  func roundTrip(_ outcome: LedgerOutcome) {
    #expect(LedgerOutcome(parsing: outcome.text) == outcome)
  }

  @Test("no two answers share a text")
  func distinct() {
    #expect(Set(Self.outcomes.map(\.text)).count == Self.outcomes.count)
  }

  @Test(
    "anything else is not an answer",
    arguments: [
      "", " ", "change", "changed now", "posted 1 2", "posted 1 2 3 4", "posted a b c", "granted 1 2 maybe",
      "granted 1 2", "settled 1 2 3", "settled 1 2 3 x", "settled - 2 3 4", "settled 1 2 3 99999999999999999999",
      "refused", "refused everything", "refused noRate twice", "posted 1 2 9223372036854775808", "voided 1",
    ])
  func refused(_ text: String) {
    #expect(LedgerOutcome(parsing: text) == nil)
  }

  @Test("each refusal has a sentence of its own")
  func refusals() {
    #expect(Set(LedgerRefusal.allCases.map(\.explanation)).count == LedgerRefusal.allCases.count)
    let receipt = LedgerReceipt(seq: 1, isReplay: false, outcome: .refused(.noRate))
    #expect(receipt.refusal == .noRate && LedgerReceipt(seq: 1, isReplay: false, outcome: .voided).refusal == nil)
  }
}
