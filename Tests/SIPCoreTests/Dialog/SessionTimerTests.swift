import CallModel
import SIPCore
import TestVectors
import Testing

/// RFC 4028 in both roles.
@Suite struct SessionTimerTests {
  private static func seconds(_ value: Double) -> MonotonicInstant {
    MonotonicInstant(milliseconds: Int64(value * 1000))
  }

  /// As a client that asked for 1800 s; the row is the 2xx, then who refreshes and when what is due.
  @Test(arguments: [
    (SessionTimerHeaders(interval: 1800, refresher: .uac), 1800 as UInt32, true, 900.0, SessionTimer.Action.refresh),
    (SessionTimerHeaders(interval: 1800, refresher: .uas), 1800, false, 1768, .expire),
    (SessionTimerHeaders(interval: 90, refresher: .uas), 90, false, 60, .expire),
    (SessionTimerHeaders(interval: 600), 600, true, 300, .refresh),
    // Without a timer at the peer we refresh alone.
    (SessionTimerHeaders(), 1800, true, 900, .refresh),
    // Less than anybody may ask for counts as the least.
    (SessionTimerHeaders(interval: 0, refresher: .uac), 90, true, 45, .refresh),
    (SessionTimerHeaders(interval: .max, refresher: .uas), 86_400, false, 86_368, .expire),
  ])
  func `what a 2xx decides`(
    _ response: SessionTimerHeaders, _ interval: UInt32, _ here: Bool, _ due: Double, _ action: SessionTimer.Action
  ) {
    var timer = SessionTimer(.standard)
    #expect(timer.request() == SessionTimerHeaders(interval: 1800, supportsTimer: true))
    timer.accepted(response, at: .zero)
    #expect(timer.interval == interval)
    #expect(timer.refreshesHere == here)
    #expect(timer.nextDeadline == Self.seconds(due))
    #expect(timer.advance(to: Self.seconds(due - 0.001)) == nil)
    #expect(timer.advance(to: Self.seconds(due)) == action)
    #expect(timer.advance(to: Self.seconds(due)) == nil)
  }

  /// As a server with a policy of 1800 s, at least 90: the request, then the verdict.
  @Test(arguments: [
    (
      SessionTimerHeaders(interval: 1800, supportsTimer: true),
      SessionTimer.Verdict.accept(.init(interval: 1800, refresher: .uas, requiresTimer: true))
    ),
    (
      SessionTimerHeaders(interval: 1800, refresher: .uac, supportsTimer: true),
      .accept(.init(interval: 1800, refresher: .uac, requiresTimer: true))
    ),
    (
      SessionTimerHeaders(interval: 1800, refresher: .uas, supportsTimer: true),
      .accept(.init(interval: 1800, refresher: .uas, requiresTimer: true))
    ),
    (SessionTimerHeaders(interval: 30, supportsTimer: true), .intervalTooSmall(minimum: 90)),
    (SessionTimerHeaders(interval: 0, supportsTimer: true), .intervalTooSmall(minimum: 90)),
    // Cannot understand a 422: raised for it.
    (SessionTimerHeaders(interval: 30), .accept(.init(interval: 90, refresher: .uas))),
    (SessionTimerHeaders(interval: 120, minimum: 300, supportsTimer: true), .intervalTooSmall(minimum: 300)),
    (
      SessionTimerHeaders(interval: 7200, supportsTimer: true),
      .accept(.init(interval: 1800, refresher: .uas, requiresTimer: true))
    ),
    (
      SessionTimerHeaders(interval: 7200, minimum: 3600, supportsTimer: true),
      .accept(.init(interval: 3600, refresher: .uas, requiresTimer: true))
    ),
    (SessionTimerHeaders(supportsTimer: true), .accept(.init(interval: 1800, refresher: .uas, requiresTimer: true))),
    (SessionTimerHeaders(), .accept(.init(interval: 1800, refresher: .uas))),
  ])
  func `what a request gets`(_ request: SessionTimerHeaders, _ verdict: SessionTimer.Verdict) {
    var timer = SessionTimer(.standard)
    #expect(timer.judge(request) == verdict)
  }

  @Test func `without a policy of ours only the peer's wish starts a timer`() {
    var timer = SessionTimer(SessionTimerPolicy(interval: nil))
    #expect(timer.request() == SessionTimerHeaders(supportsTimer: true))
    timer.accepted(SessionTimerHeaders(), at: .zero)
    #expect(timer.nextDeadline == nil)
    #expect(timer.judge(SessionTimerHeaders(supportsTimer: true)) == .accept(SessionTimerHeaders()))
    guard case .accept(let answer) = timer.judge(SessionTimerHeaders(interval: 600, supportsTimer: true)) else {
      Issue.record("refused")
      return
    }
    timer.answered(answer, at: .zero)
    #expect(timer.nextDeadline == Self.seconds(300))
    timer.answered(SessionTimerHeaders(), at: Self.seconds(10))
    #expect(timer.nextDeadline == nil)
  }

  @Test func `422 raises what is asked for, within reason`() {
    var timer = SessionTimer(SessionTimerPolicy(interval: 90))
    for useless: UInt32? in [nil, 30, 90, 86_401, .max] {
      #expect(timer.refused(minimum: useless) == false, "\(useless ?? 0)")
    }
    #expect(timer.refused(minimum: 600) == true)
    #expect(timer.request() == SessionTimerHeaders(interval: 600, minimum: 600, supportsTimer: true))
    // The same again is no progress.
    #expect(timer.refused(minimum: 600) == false)
    #expect(timer.request().fields.map { "\($0.name): \($0.value)" } == ["Session-Expires: 600", "Min-SE: 600"])
  }

  @Test func `a refresh restarts the interval and names the one who refreshes`() {
    var timer = SessionTimer(.standard)
    timer.accepted(SessionTimerHeaders(interval: 1800, refresher: .uac), at: .zero)
    #expect(timer.advance(to: Self.seconds(900)) == .refresh)
    #expect(timer.request().refresher == .uac)
    timer.accepted(SessionTimerHeaders(interval: 1800, refresher: .uac), at: Self.seconds(901))
    #expect(timer.nextDeadline == Self.seconds(1801))
    // The peer's re-INVITE counts as well, and may take over.
    guard case .accept(let answer) = timer.judge(.init(interval: 1800, refresher: .uac, supportsTimer: true)) else {
      Issue.record("refused")
      return
    }
    timer.answered(answer, at: Self.seconds(1000))
    #expect(timer.nextDeadline == Self.seconds(2768))
    #expect(timer.request().refresher == .uas)
  }

  /// The status of a failed refresh at 45 of 90 s, then what it means and what is due when.
  @Test(arguments: [
    (nil as Int?, SessionTimer.RefreshFailure.sessionEnded, nil as Double?),
    (408, .sessionEnded, nil), (481, .sessionEnded, nil),
    (500, .triedAgain, 54), (488, .triedAgain, 54), (491, .triedAgain, 54),
  ])
  func `a refresh that fails`(_ status: Int?, _ failure: SessionTimer.RefreshFailure, _ due: Double?) {
    var timer = SessionTimer(SessionTimerPolicy(interval: 90))
    timer.accepted(SessionTimerHeaders(), at: .zero)
    #expect(timer.advance(to: Self.seconds(45)) == .refresh)
    #expect(timer.refreshFailed(status: status, at: Self.seconds(45)) == failure)
    #expect(timer.nextDeadline == due.map(Self.seconds))
    guard due != nil else { return }
    #expect(timer.advance(to: Self.seconds(54)) == .refresh)
    #expect(timer.advance(to: Self.seconds(60)) == .expire)
    #expect(timer.nextDeadline == nil)
  }

  /// The list of behaviours, each row by its name; what is parsed there is parsed elsewhere.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func `each row of the list`() throws {
    var names: [String] = []
    for row in try TestVectors.table("sip-rules/session-timer.tsv") {
      let name = try #require(row["case"])
      names.append(name)
      var timer = SessionTimer(.standard)
      switch name {
      case "t03":
        timer.accepted(SessionTimerHeaders(), at: .zero)
        #expect(timer.refreshesHere)
      case "t04":
        var short = SessionTimer(SessionTimerPolicy(interval: 90))
        #expect(short.request().interval == 90)
        #expect(short.refused(minimum: 600) == true)
        #expect(short.request().interval == 600)
        #expect(short.request().minimum == 600)
      case "t06":
        #expect(timer.judge(.init(interval: 30)) == .accept(.init(interval: 90, refresher: .uas)))
      case "t08":
        guard case .accept(let answer) = timer.judge(.init(interval: 1800, supportsTimer: true)) else {
          Issue.record("refused")
          continue
        }
        #expect(answer.refresher != nil)
        #expect(answer.requiresTimer)
      case "t09":
        timer.accepted(.init(interval: 1800, refresher: .uac), at: .zero)
        #expect(timer.advance(to: Self.seconds(900)) == .refresh)
        timer.accepted(.init(interval: 1800, refresher: .uac), at: Self.seconds(900))
        #expect(timer.advance(to: Self.seconds(1799)) == nil)
        #expect(timer.nextDeadline == Self.seconds(1800))
      case "t12":
        timer.accepted(.init(interval: 1800, refresher: .uac), at: .zero)
        #expect(timer.advance(to: Self.seconds(900)) == .refresh)
        #expect(timer.refreshFailed(status: 491, at: Self.seconds(900)) == .triedAgain)
      case "t13":
        timer.accepted(.init(interval: 1800, refresher: .uas), at: .zero)
        #expect(timer.advance(to: Self.seconds(1768)) == .expire)
      case "t14":
        #expect(
          timer.judge(.init(interval: 120, minimum: 300, supportsTimer: true)) == .intervalTooSmall(minimum: 300))
      case "t15": break  // A value that is no number never gets here.
      default: Issue.record("a row that this test does not know: \(name)")
      }
    }
    #expect(names.count == 9)
  }
}
