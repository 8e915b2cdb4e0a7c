import CallModel
import RoutingCore
import Testing

@Suite("Numbers that are free before any deck is asked")
struct FreeNumberTests {
  @Test(
    "test numbers and emergency codes are told by their digits alone",
    arguments: [
      ("+46000000000", FreeNumber.test), ("46000000000", .test), ("+460000000002", .test), ("+4600000000051", .test),
      ("112", .emergency),
    ])
  func free(_ text: String, _ kind: FreeNumber) {
    #expect(FreeNumber(dialled: text) == kind)
  }

  @Test(
    "everything else is priced",
    arguments: [
      "+46701234567", "+112", "+460000000001", "+4600000000", "+46 000000000", "1120", "", "+", "112 ", "911", "000",
    ])
  func priced(_ text: String) {
    #expect(FreeNumber(dialled: text) == nil)
  }

  @Test("3.3 row 54: an emergency call has a zero price; row 41: a test number at most fifteen seconds for nothing")
  func snapshots() throws {
    let emergency = try Rating.explainFree(NumberDigits("112"), as: .emergency, account: .eur)
    #expect(emergency.steps == [.free(.emergency)])
    #expect(try emergency.outcome.get().cost(milliseconds: 3_600_000, answeredAt: Instant(seconds: 0)) == 0)
    let test = try Rating.explainFree(NumberDigits("46000000000"), as: .test, account: .eur).outcome.get()
    #expect(test.cost(milliseconds: 10_000, answeredAt: Instant(seconds: 0)) == 0)
    #expect(test.secondsLimit == 15)
  }
}
