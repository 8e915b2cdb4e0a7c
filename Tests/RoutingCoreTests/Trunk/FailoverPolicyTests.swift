import CallModel
import RoutingCore
import Testing

@Suite("What follows a failed attempt")
struct FailoverPolicyTests {
  typealias Rule = FailoverDecision.Rule

  /// Every status from 300 to 699, by range; the last row that holds a status counts.
  static let statuses: [(ClosedRange<Int>, Rule)] = [
    (300...399, .redirected),
    (400...499, .trunkRefusesForm),
    (401...403, .trunkRefusesUs), (407...407, .trunkRefusesUs),
    (404...404, .badDestination),
    (408...408, .noResponse),
    (410...410, .userDecided), (433...433, .userDecided), (480...480, .userDecided), (484...487, .userDecided),
    (500...599, .noCapacity),
    (501...501, .trunkRefusesForm), (505...505, .trunkRefusesForm), (513...513, .trunkRefusesForm),
    (555...555, .trunkRefusesForm), (580...580, .trunkRefusesForm),
    (600...699, .userDecided),
  ]

  static let next: Set<Rule> = [.trunkRefusesUs, .trunkRefusesForm, .noCapacity, .noResponse]

  @Test("Every status from 300 to 699, before and after ringing, has its verdict")
  func everyStatus() throws {
    for status in 300...699 {
      let rule = try #require(FailoverPolicyTests.statuses.last { $0.0.contains(status) }).1
      #expect(FailoverPolicy.rule(forStatus: status) == rule, "\(status)")
      for progress in AttemptProgress.allCases {
        let decision = FailoverPolicy.standard.decision(
          after: .response(CallFailureEvidence(status: status)), progress: progress, attempts: 1)
        let expected =
          switch progress {
          case .none: FailoverPolicyTests.next.contains(rule)
          case .rang, .earlyMedia: [500, 502, 503, 504].contains(status)
          case .answered: false
          }
        #expect(decision.triesNextTrunk == expected, "\(status) \(progress)")
      }
    }
  }

  @Test(
    "People who said no are not rung through another trunk",
    arguments: [
      404, 410, 480, 484, 485, 486, 487, 600, 603, 604, 606, 607, 608, 302,
    ])
  func stops(status: Int) {
    let decision = FailoverPolicy.standard.decision(
      after: .response(CallFailureEvidence(status: status)), progress: .none, attempts: 1)
    #expect(!decision.triesNextTrunk)
  }

  @Test(
    "A trunk that is the problem is left for the next",
    arguments: [
      400, 401, 402, 403, 407, 408, 415, 420, 482, 483, 488, 500, 501, 502, 503, 504, 580,
    ])
  func goesOn(status: Int) {
    let decision = FailoverPolicy.standard.decision(
      after: .response(CallFailureEvidence(status: status)), progress: .none, attempts: 1)
    #expect(decision.triesNextTrunk)
  }

  /// Every Q.850 cause that decides; all others say nothing.
  static let causes: [Int: Rule] = {
    var table: [Int: Rule] = [1: .badDestination]
    for cause in [2, 3, 8, 9, 25, 34, 38, 39, 40, 41, 42, 43, 44, 46, 47, 49, 91, 102] { table[cause] = .noCapacity }
    for cause in [5, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 54, 55, 87, 88] { table[cause] = .userDecided }
    for cause in [29, 50, 52, 53, 57] { table[cause] = .trunkRefusesUs }
    for cause in [58, 62, 63, 65, 66, 69, 70, 79] { table[cause] = .trunkRefusesForm }
    return table
  }()

  @Test("A cause decides beside a general status, and only there")
  func everyCause() {
    for cause in 0...127 {
      #expect(FailoverPolicy.rule(forCause: cause) == FailoverPolicyTests.causes[cause], "cause \(cause)")
      for status in 300...699 {
        let evidence = CallFailureEvidence(
          status: status, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: cause)])
        let decision = FailoverPolicy.standard.decision(after: .response(evidence), progress: .none, attempts: 1)
        let isGeneral = [400, 403, 404, 408, 480, 500, 502, 503, 504].contains(status)
        let byCause = isGeneral ? FailoverPolicyTests.causes[cause] : nil
        let expected = byCause ?? FailoverPolicy.rule(forStatus: status)
        if decision.rule != expected { Issue.record("\(status) cause \(cause): \(decision.rule), not \(expected)") }
      }
    }
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let end: AttemptEnd
    var progress = AttemptProgress.none
    var attempts = 1
    let next: Bool
    let rule: Rule
    var rest: Int? = nil
    var testDescription: String { name }
  }

  static func response(
    _ status: Int, cause: Int? = nil, retryAfter: Int? = nil, rung: Bool = false, cancelled: Bool = false,
    ringTimer: Bool = false
  ) -> AttemptEnd {
    .response(
      CallFailureEvidence(
        status: status, reasons: cause.map { [CallFailure.Reason(protocolName: "Q.850", cause: $0)] } ?? [],
        retryAfterSeconds: retryAfter, hasRung: rung, wasCancelledByCaller: cancelled, hasRingTimerFired: ringTimer))
  }

  @Test(
    "What else is known turns the verdict",
    arguments: [
      Case(name: "busy said in a 503", end: response(503, cause: 17), next: false, rule: .userDecided),
      Case(name: "congestion said in a 480", end: response(480, cause: 34), next: true, rule: .noCapacity),
      Case(name: "no route said in a 404", end: response(404, cause: 3), next: true, rule: .noCapacity),
      Case(name: "486 with a congestion cause", end: response(486, cause: 34), next: false, rule: .userDecided),
      Case(name: "480 with a time to come back", end: response(480, retryAfter: 5), next: true, rule: .noCapacity),
      Case(
        name: "503 with Retry-After", end: response(503, retryAfter: 30), next: true, rule: .noCapacity, rest: 30),
      Case(
        name: "503 after ringing", end: response(503, retryAfter: 7), progress: .rang, next: true, rule: .noCapacity,
        rest: 7),
      Case(
        name: "busy in a 503 after ringing", end: response(503, cause: 17), progress: .rang, next: false,
        rule: .userDecided),
      Case(name: "403 after ringing", end: response(403), progress: .rang, next: false, rule: .alreadyHeard),
      Case(name: "488 after early media", end: response(488), progress: .earlyMedia, next: false, rule: .alreadyHeard),
      Case(name: "rung by the evidence alone", end: response(408, rung: true), next: false, rule: .alreadyHeard),
      Case(name: "silence", end: .timedOut, next: true, rule: .noResponse),
      Case(name: "no connection", end: .transportFailed, next: true, rule: .noResponse),
      Case(
        name: "connection broke while it rang", end: .transportFailed, progress: .rang, next: false, rule: .alreadyHeard
      ),
      Case(name: "answered", end: .transportFailed, progress: .answered, next: false, rule: .answered),
      Case(name: "503 to CANCEL's call", end: response(503, cancelled: true), next: false, rule: .callerGaveUp),
      Case(name: "ring time over", end: response(487, ringTimer: true), next: false, rule: .callerGaveUp),
      Case(
        name: "last attempt", end: response(503, retryAfter: 2), attempts: 4, next: false, rule: .attemptsUsed, rest: 2),
      Case(name: "busy at the last attempt", end: response(486), attempts: 4, next: false, rule: .userDecided),
      Case(name: "no SIP status at all", end: response(0), next: true, rule: .trunkRefusesForm),
    ])
  func context(row: Case) {
    let decision = FailoverPolicy.standard.decision(after: row.end, progress: row.progress, attempts: row.attempts)
    #expect(decision.triesNextTrunk == row.next)
    #expect(decision.rule == row.rule)
    #expect(decision.restSeconds == row.rest)
  }

  @Test("A trunk that says 404 for no route can be told so")
  func notFound() {
    var policy = FailoverPolicy()
    policy.triesNextTrunkOnNotFound = true
    let end = FailoverPolicyTests.response(404)
    #expect(policy.decision(after: end, progress: .none, attempts: 1).triesNextTrunk)
    #expect(!policy.decision(after: end, progress: .rang, attempts: 1).triesNextTrunk)
    #expect(
      !policy.decision(after: FailoverPolicyTests.response(404, cause: 28), progress: .none, attempts: 1).triesNextTrunk
    )
  }
}
