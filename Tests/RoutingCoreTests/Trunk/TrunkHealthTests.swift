import CallModel
import RoutingCore
import Testing

@Suite("Health of a trunk")
struct TrunkHealthTests {
  static func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: seconds * 1000) }

  static var quiet: TrunkHealth.Policy {
    var policy = TrunkHealth.Policy()
    policy.intervalMilliseconds = 0
    return policy
  }

  /// Sends the ping that is due and reports its outcome at once.
  func ping(_ health: inout TrunkHealth, _ outcome: TrunkHealth.Outcome, at seconds: Int64) -> [TrunkHealth.Action] {
    var actions: [TrunkHealth.Action] = []
    health.advance(to: TrunkHealthTests.at(seconds), into: &actions)
    #expect(actions.contains(.ping), "no ping was due at \(seconds) s")
    #expect(health.nextDeadline == nil)
    actions = []
    health.pingEnded(outcome, at: TrunkHealthTests.at(seconds), into: &actions)
    return actions
  }

  func expectPing(
    _ health: inout TrunkHealth, _ outcome: TrunkHealth.Outcome, at seconds: Int64, gives expected: [TrunkHealth.Action]
  ) {
    let actions = ping(&health, outcome, at: seconds)
    #expect(actions == expected, "at \(seconds) s")
  }

  @Test(
    "Whoever answers is alive",
    arguments: [
      (200, true), (401, true), (403, true), (404, true), (405, true), (407, true), (481, true), (483, true),
      (486, true),
      (500, true), (501, true), (503, true), (603, true), (408, false), (502, false), (504, false),
    ])
  func statuses(status: Int, isAlive: Bool) {
    var health = TrunkHealth(at: .zero)
    for attempt in 0..<3 {
      _ = ping(&health, .answered(status: status, retryAfterSeconds: nil), at: Int64(attempt) * 30)
    }
    #expect((health.standing == .up) == isAlive)
  }

  @Test("Three silences in a row take it down, two pings bring it back")
  func downAndUp() {
    var health = TrunkHealth(at: .zero)
    #expect(health.nextDeadline == .zero)
    expectPing(&health, .timedOut, at: 0, gives: [])
    // Trouble makes the pings come faster.
    #expect(health.nextDeadline == TrunkHealthTests.at(5))
    expectPing(&health, .timedOut, at: 5, gives: [])
    expectPing(&health, .answered(status: 200, retryAfterSeconds: nil), at: 10, gives: [])
    #expect(health.nextDeadline == TrunkHealthTests.at(40))
    expectPing(&health, .timedOut, at: 40, gives: [])
    expectPing(&health, .transportFailed, at: 45, gives: [])
    #expect(health.refusal(at: TrunkHealthTests.at(45)) == nil)
    let since = TrunkHealthTests.at(50)
    expectPing(&health, .timedOut, at: 50, gives: [.changed(.down(since: since, .silent))])
    #expect(
      health.refusal(at: TrunkHealthTests.at(62))?.explanation(at: TrunkHealthTests.at(62))
        == "down for 12 s: no answer")
    expectPing(&health, .timedOut, at: 55, gives: [])
    #expect(health.standing == .down(since: since, .silent))
    let back = TrunkHealthTests.at(60)
    expectPing(
      &health, .answered(status: 200, retryAfterSeconds: nil), at: 60, gives: [.changed(.probing(since: back))])
    expectPing(&health, .answered(status: 404, retryAfterSeconds: nil), at: 65, gives: [.changed(.up)])
    #expect(health.nextDeadline == TrunkHealthTests.at(95))
  }

  @Test("A call that heard nothing in the time it had takes the trunk down at once")
  func unheard() throws {
    var health = TrunkHealth(TrunkHealthTests.quiet, at: .zero)
    var actions: [TrunkHealth.Action] = []
    let admission = try health.admit(at: .zero).get()
    health.callEnded(admission, .unheard, at: TrunkHealthTests.at(2), into: &actions)
    #expect(actions == [.changed(.down(since: TrunkHealthTests.at(2), .silent))])
    // It comes back as any other.
    health.advance(to: TrunkHealthTests.at(32), into: &actions)
    #expect(health.standing == .probing(since: TrunkHealthTests.at(32)))
    let trial = try health.admit(at: TrunkHealthTests.at(33)).get()
    health.callEnded(trial, .answered(status: 180, retryAfterSeconds: nil), at: TrunkHealthTests.at(33), into: &actions)
    #expect(health.standing == .up)
  }

  @Test("On trial one call goes through at a time, and decides")
  func trial() throws {
    for (outcome, standing) in [
      (TrunkHealth.Outcome.answered(status: 486, retryAfterSeconds: nil), TrunkHealth.Standing.up),
      (.answered(status: 180, retryAfterSeconds: nil), .up),
      (.timedOut, .down(since: TrunkHealthTests.at(40), .silent)),
      (.transportFailed, .down(since: TrunkHealthTests.at(40), .transport)),
      (.abandoned, .probing(since: TrunkHealthTests.at(31))),
    ] {
      var health = TrunkHealth(TrunkHealthTests.quiet, at: .zero)
      var actions: [TrunkHealth.Action] = []
      for _ in 0..<3 {
        let admission = try health.admit(at: .zero).get()
        #expect(!admission.isTrial)
        health.callEnded(admission, .timedOut, at: TrunkHealthTests.at(1), into: &actions)
      }
      #expect(actions == [.changed(.down(since: TrunkHealthTests.at(1), .silent))])
      #expect(health.nextDeadline == TrunkHealthTests.at(31))
      actions = []
      health.advance(to: TrunkHealthTests.at(30), into: &actions)
      #expect(actions == [])
      health.advance(to: TrunkHealthTests.at(31), into: &actions)
      #expect(actions == [.changed(.probing(since: TrunkHealthTests.at(31)))])
      let admission = try health.admit(at: TrunkHealthTests.at(32)).get()
      #expect(admission.isTrial)
      let second = health.admit(at: TrunkHealthTests.at(32))
      #expect(second == .failure(.trialUnderWay))
      health.callEnded(admission, outcome, at: TrunkHealthTests.at(40), into: &actions)
      #expect(health.standing == standing)
      // An abandoned trial leaves room for the next one.
      if case .probing = standing { #expect(health.refusal(at: TrunkHealthTests.at(40)) == nil) }
    }
  }

  @Test("A call that left before the outage says nothing of the trunk since")
  func lateNews() throws {
    var health = TrunkHealth(TrunkHealthTests.quiet, at: .zero)
    var actions: [TrunkHealth.Action] = []
    let early = try health.admit(at: .zero).get()
    for _ in 0..<3 {
      health.callEnded(try health.admit(at: .zero).get(), .transportFailed, at: TrunkHealthTests.at(1), into: &actions)
    }
    actions = []
    health.callEnded(early, .answered(status: 200, retryAfterSeconds: nil), at: TrunkHealthTests.at(2), into: &actions)
    #expect(health.standing == .down(since: TrunkHealthTests.at(1), .transport))
    health.advance(to: TrunkHealthTests.at(31), into: &actions)
    // A silence from before cannot end the trial either.
    health.callEnded(early, .timedOut, at: TrunkHealthTests.at(32), into: &actions)
    #expect(health.standing == .probing(since: TrunkHealthTests.at(31)))
  }

  @Test(
    "503 with Retry-After keeps calls away, within bounds",
    arguments: [
      (30, 30), (0, 0), (-5, 0), (100_000, 600),
    ])
  func rest(seconds: Int, expected: Int64) throws {
    var health = TrunkHealth(TrunkHealthTests.quiet, at: .zero)
    var actions: [TrunkHealth.Action] = []
    let admission = try health.admit(at: .zero).get()
    health.callEnded(admission, .answered(status: 503, retryAfterSeconds: seconds), at: .zero, into: &actions)
    #expect(health.standing == .up)
    if expected > 0 {
      let before = MonotonicInstant(milliseconds: expected * 1000 - 1)
      #expect(health.refusal(at: before) == .resting(until: TrunkHealthTests.at(expected)))
      #expect(health.refusal(at: before)?.explanation(at: .zero) == "asked for no calls for another \(expected) s")
    }
    #expect(health.refusal(at: TrunkHealthTests.at(expected)) == nil)
  }

  @Test("503 to a call without Retry-After asks for nothing; to a ping it means ten seconds")
  func plain503() throws {
    var health = TrunkHealth(at: .zero)
    var actions: [TrunkHealth.Action] = []
    let admission = try health.admit(at: .zero).get()
    health.callEnded(admission, .answered(status: 503, retryAfterSeconds: nil), at: .zero, into: &actions)
    #expect(health.refusal(at: .zero) == nil)
    _ = ping(&health, .answered(status: 503, retryAfterSeconds: nil), at: 30)
    #expect(health.refusal(at: TrunkHealthTests.at(31)) == .resting(until: TrunkHealthTests.at(40)))
    #expect(health.refusal(at: TrunkHealthTests.at(40)) == nil)
  }

  @Test("Failing calls bring the next ping forward, answered ones put it off")
  func pingsAndCalls() throws {
    var health = TrunkHealth(at: .zero)
    var actions: [TrunkHealth.Action] = []
    _ = ping(&health, .answered(status: 200, retryAfterSeconds: nil), at: 0)
    #expect(health.nextDeadline == TrunkHealthTests.at(30))
    health.callEnded(try health.admit(at: .zero).get(), .timedOut, at: TrunkHealthTests.at(10), into: &actions)
    #expect(health.nextDeadline == TrunkHealthTests.at(15))
    health.callEnded(try health.admit(at: .zero).get(), .timedOut, at: TrunkHealthTests.at(12), into: &actions)
    #expect(health.nextDeadline == TrunkHealthTests.at(15))
    health.callEnded(
      try health.admit(at: .zero).get(), .answered(status: 200, retryAfterSeconds: nil), at: TrunkHealthTests.at(14),
      into: &actions)
    #expect(health.nextDeadline == TrunkHealthTests.at(44))
    // A ping that nobody sent has no outcome.
    health.pingEnded(.timedOut, at: TrunkHealthTests.at(15), into: &actions)
    #expect(health.nextDeadline == TrunkHealthTests.at(44))
    #expect(actions == [])
  }
}
