import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SIPCore
import Testing

@Suite("Calls between two destinations")
struct OriginationTests {
  @Test("the first is called, then the second; each has a hold, and either end ends both")
  func ladder() throws {
    let bench = try Bench()
    try bench.originate()
    #expect(
      bench.ladder() == ["prepare", "ledger authorise", "ledger authorise", "originated", "sip INVITE"])
    #expect(bench.invites[0].call.target.user == Scene.phone)
    let calls = bench.asked.map(\.operation.call)
    #expect(calls[1].text == calls[0].text + "-2")
    guard case .authorise(let second) = bench.asked[1].operation.phase else {
      Issue.record("no second authorisation")
      return
    }
    #expect(second.linkedCall == calls[0])
    #expect(second.destination == "+46709999999")
    try bench.progress(180)
    var start = bench.effects.count
    try bench.answer()
    #expect(
      bench.ladder(since: start) == ["media plan near sendrecv", "ledger answer", "sip INVITE", "media ring near"])
    bench.pass(seconds: 10)
    bench.peer = TrunkPeer()
    try bench.progress(180, 1)
    start = bench.effects.count
    try bench.answer(1)
    #expect(bench.ladder(since: start) == ["media plan far sendrecv", "ledger answer", "media stop near"])
    #expect(bench.engine.liveCalls.first?.state == .established)
    bench.pass(seconds: 20)
    start = bench.effects.count
    bench.bye(0)
    #expect(
      bench.ladder(since: start) == [
        "sip hangUp", "media close", "ledger settle 30000", "ledger settle 20000", "record",
      ])
    let record = try #require(bench.records.first)
    #expect(record.summary.costMicro == 120_000)
    #expect(record.summary.durationMilliseconds == 20_000)
    #expect(record.attempts.count == 2)
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }

  @Test("a first destination that does not answer ends it; nothing is charged")
  func firstFails() throws {
    let bench = try Bench()
    try bench.originate()
    bench.fail(486)
    #expect(bench.records.first?.summary.failure?.code == .busy)
    #expect(bench.invites.count == 1)
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }

  @Test("a second destination that does not answer ends it; the first leg is charged")
  func secondFails() throws {
    let bench = try Bench()
    try bench.originate()
    try bench.answer()
    bench.pass(seconds: 5)
    bench.fail(404, 1)
    #expect(bench.ladder().contains("ledger settle 5000"))
    #expect(bench.records.first?.summary.failure?.code == .unallocated)
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }

  @Test("the first hangs up while the second rings")
  func firstHangsUp() throws {
    let bench = try Bench()
    try bench.originate()
    try bench.answer()
    bench.bye(0)
    bench.hungUp(1)
    #expect(bench.count("sip hangUp") == 1)
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }

  @Test("either leg's credit may end it")
  func credit() throws {
    let bench = try Bench()
    bench.plain.credit = 120_000
    try bench.originate()
    try bench.answer()
    bench.pass(seconds: 30)
    bench.peer = TrunkPeer()
    try bench.answer(1)
    bench.pass(seconds: 30)
    #expect(bench.records.first?.summary.failure?.refusal == .insufficientCredit)
    #expect(bench.ladder().contains("ledger settle 60000"))
    #expect(bench.ladder().contains("ledger settle 30000"))
  }

  @Test("is refused as a whole where one hold cannot be had, or a destination is no such")
  func refused() throws {
    let bench = try Bench()
    bench.plain.credit = 60_000
    try bench.originate()
    #expect(bench.ladder().last == "originated gw.funds")
    #expect(bench.plain.credit == 60_000)
    #expect(bench.invites.isEmpty)
    try bench.originate("+46000000000")
    #expect(bench.ladder().last == "originated gw.number")
    bench.feed(.drain)
    try bench.originate()
    #expect(bench.ladder().last == "originated sip.congestion")
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }

  @Test("the second may be a test number")
  func testNumber() throws {
    let bench = try Bench()
    try bench.originate(Scene.phone, "+46000000000")
    try bench.answer()
    bench.pass(seconds: 1)
    #expect(bench.ladder().last == "media say near connected")
    bench.feed(.media(try #require(bench.newest), .playEnded(.near, finished: true)))
    #expect(bench.records.first?.summary.cause == .hungUp)
    #expect(Invariants(bench, isOver: true).problems.isEmpty)
  }
}
