import AppProtocol
import CallEngine
import CallModel
import Testing

@Suite("Test numbers")
struct TestNumberTests {
  @Test("+46000000000 says that the call is connected, then ends it; no trunk, no credit, a record")
  func plain() throws {
    let bench = try Bench()
    bench.caller.payer = try Scene.payer(nil)
    bench.plain.credit = 0
    let call = try #require(bench.place("+46000000000"))
    bench.pass(milliseconds: 50)
    #expect(bench.engine.call(call)?.state == .answered)
    #expect(bench.count("media say near connected") == 0, "nobody hears it yet")
    bench.secured(call)
    #expect(bench.ladder().suffix(2) == ["app established", "media say near connected"])
    bench.pass(milliseconds: 2500)
    bench.feed(.media(call, .playEnded(.near, finished: true)))
    #expect(bench.ladder().suffix(4) == ["media close", "ledger settle 2500", "app ended hungUp", "record"])
    #expect(bench.summary(of: call)?.costMicro == 0)
    #expect(bench.invites.isEmpty)
    #expect(bench.engine.isIdle)
  }

  @Test("Without an account in the ledger: free numbers work and no ledger is asked; all else is gw.account")
  func missingAccount() throws {
    var configuration = try Scene.configuration()
    configuration.environments[0].sipHosts.reachesAny = true
    let bench = try Bench(configuration)
    bench.caller.payer = .missing(Scene.account, environment: "production")
    let call = try #require(bench.place("+46000000000"))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    bench.pass(milliseconds: 2500)
    bench.feed(.media(call, .playEnded(.near, finished: true)))
    #expect(bench.ladder().suffix(3) == ["media close", "app ended hungUp", "record"])
    #expect(bench.ladder().allSatisfy { !$0.hasPrefix("ledger") })
    let summary = try #require(bench.summary(of: call))
    #expect(summary.costMicro == 0 && summary.durationMilliseconds == 2500 && summary.billedSeconds == 3)
    for (target, kind) in [("+46711234567", Destination.Kind.phone), ("bob@example.com", .sip)] {
      #expect(bench.place(target, kind: kind) == nil)
      #expect(bench.lastRefusal?.code == .account)
      #expect(bench.lastRefusal?.refusal == .unknownAccount)
    }
    #expect(bench.place("112") != nil, "nobody is kept from help")
    #expect(bench.ladder().allSatisfy { !$0.hasPrefix("ledger") })
  }

  struct Failing: Sendable {
    let number: String
    let milliseconds: Int64
    let cause: CallEndCause
    let code: CallFailureCode
    let status: Int
    let rings: Bool
  }

  @Test(
    "fail when and as their numbers say",
    arguments: [
      Failing(number: "+4600000000030", milliseconds: 0, cause: .denied, code: .declined, status: 603, rings: false),
      Failing(
        number: "+4600000000031", milliseconds: 7_500, cause: .denied, code: .declined, status: 603, rings: false),
      Failing(
        number: "+4600000000040", milliseconds: 45_000, cause: .noAnswer, code: .noAnswer, status: 408, rings: true),
      Failing(number: "+4600000000050", milliseconds: 0, cause: .error, code: .congestion, status: 503, rings: false),
      Failing(
        number: "+4600000000051", milliseconds: 7_500, cause: .error, code: .congestion, status: 503, rings: false),
    ])
  func failures(_ failing: Failing) throws {
    let bench = try Bench()
    let call = try #require(bench.place(failing.number))
    if failing.milliseconds > 0 {
      bench.pass(milliseconds: failing.milliseconds - 1)
      #expect(bench.summary(of: call) == nil)
    }
    bench.pass(milliseconds: failing.milliseconds > 0 ? 1 : 0)
    let summary = try #require(bench.summary(of: call))
    #expect(summary.cause == failing.cause)
    #expect(summary.failure?.code == failing.code)
    #expect(summary.failure?.sipStatus == failing.status)
    #expect((summary.progressedAt != nil) == (failing.milliseconds > 0), "what refuses at once never alerted")
    #expect(summary.costMicro == 0)
    #expect((bench.count("media ring near") == 1) == failing.rings)
    #expect(bench.count("ledger void") == 1)
    #expect(bench.engine.isIdle)
  }

  @Test("prompt as often as their last digit says")
  func prompts() throws {
    let bench = try Bench()
    let call = try #require(bench.place("+460000000003"))
    bench.secured(call)
    bench.pass(milliseconds: 7_500)
    #expect(bench.ladder().last == "media say near connected+connected+connected")
  }

  @Test("play for two minutes, announcement after announcement")
  func twoMinutes() throws {
    let bench = try Bench()
    let call = try #require(bench.place("+4600000000010"))
    bench.secured(call)
    bench.pass(milliseconds: 7_500)
    bench.pass(milliseconds: 119_999)
    #expect(bench.summary(of: call) == nil)
    bench.feed(.media(call, .playEnded(.near, finished: true)))
    #expect(bench.count("media say near connected") == 2)
    bench.pass(milliseconds: 1)
    #expect(bench.summary(of: call)?.cause == .hungUp)
    #expect(bench.summary(of: call)?.durationMilliseconds == 120_000)
  }

  @Test("repeat until 0 is pressed, at most ten times", arguments: [true, false])
  func untilDigit(_ byKeys: Bool) throws {
    let bench = try Bench()
    let call = try #require(bench.place("+4600000000020"))
    bench.secured(call)
    bench.pass(milliseconds: 7_500)
    if byKeys {
      bench.feed(.media(call, .digit(.near, "1", milliseconds: 100)))
      #expect(bench.summary(of: call) == nil)
      bench.feed(.media(call, .digit(.near, "0", milliseconds: 100)))
    } else {
      for _ in 0..<10 { bench.feed(.media(call, .playEnded(.near, finished: true))) }
      #expect(bench.count("media say near pressZero") == 10)
    }
    #expect(bench.summary(of: call)?.cause == .hungUp)
  }

  @Test("end at once when the caller hangs up in the progress phase")
  func canceled() throws {
    let bench = try Bench()
    let call = try #require(bench.place("+460000000002"))
    bench.pass(milliseconds: 1000)
    bench.request(.hangUp(call))
    #expect(bench.summary(of: call)?.cause == .canceled)
    #expect(bench.engine.nextDeadline == nil)
  }
}
