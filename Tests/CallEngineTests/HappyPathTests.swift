import AppProtocol
import CallEngine
import CallModel
import SIPCore
import Testing

@Suite("A call from an app to a phone")
struct HappyPathTests {
  @Test("goes from the request to the record, in order")
  func ladder() throws {
    let bench = try Bench()
    let call = try #require(bench.place(headers: [.init(name: "x-order", value: "7")]))
    #expect(
      bench.ladder() == [
        "prepare", "ledger authorise", "app placed", "media plan near sendrecv", "app price", "sip INVITE",
      ])
    #expect(bench.invites[0].call.headers["x-order"] == "7")
    #expect(bench.invites[0].call.target.user == Scene.phone)
    #expect(bench.invites[0].call.identity.from.uri.user == Scene.ours)
    var start = bench.effects.count
    bench.trying()
    #expect(bench.ladder(since: start) == [], "a 100 says nothing of the other side's device")
    try bench.progress(180)
    #expect(bench.ladder(since: start) == ["app progressing", "app ringing", "media ring near"])
    bench.secured(call)
    start = bench.effects.count
    try bench.answer()
    #expect(
      bench.ladder(since: start) == [
        "media plan far sendrecv", "ledger answer", "media stop near", "app accepted", "app established",
      ])
    #expect(bench.engine.call(call)?.state == .established)
    bench.pass(seconds: 10)
    start = bench.effects.count
    bench.request(.hangUp(call))
    #expect(
      bench.ladder(since: start) == [
        "app done", "sip hangUp", "media close", "ledger settle 10000", "app ended hungUp", "record",
      ])
    let summary = try #require(bench.summary(of: call))
    #expect(summary.costMicro == 60_000)
    #expect(summary.billedSeconds == 60)
    #expect(summary.durationMilliseconds == 10_000)
    #expect(bench.engine.isIdle)
    #expect(bench.engine.nextDeadline == nil)
  }
}
