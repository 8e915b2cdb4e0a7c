import CallModel
package import LandlineNode
import Logging
import NodeCore

extension RESTService {
  /// Tells the steps of a test of one trunk of an environment; `nil` for a trunk that cannot be tested.
  package typealias TrunkTestStart =
    @Sendable (_ name: String, _ order: TrunkTestOrder, _ tell: @escaping @Sendable (TrunkTestStep) -> Void)
    async throws
    -> TrunkTestStep.Outcome?

  var trunkRoutes: [RESTRoute] {
    let listing = RESTRoute(
      method: "GET", path: "/v1/trunks", id: "listTrunks", summary: "How the trunks do", access: .operators,
      success: .json(200, "Trunks"), handle: listTrunks)
    guard testTrunk != nil else { return [listing] }
    return [
      listing,
      RESTRoute(
        method: "POST", path: "/v1/trunks/{name}/test", id: "testTrunk",
        summary: "Look at a trunk, from its name to its answers: one step a line, the verdict last", access: .operators,
        body: [
          .init(
            name: "number", kind: .text,
            description: "Call this number too: a real call, which ends after two seconds of sound."),
          .init(name: "caller", kind: .text, description: "The number that calls; one of the trunk's own by default."),
        ], success: .text(200, RESTService.linesType), problems: [.trunkUnknown, .trunkTestRunning],
        handle: startTrunkTest),
    ]
  }

  static let linesType = "application/x-ndjson"

  private var listTrunks: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let trunks = await operations.trunks().filter { $0.environments.contains(principal.environment) }
      return .json(200, .members([("trunks", .array(trunks.map(RESTService.trunkTree)))]))
    }
  }

  private static func trunkTree(_ trunk: TrunkReport) -> JSONValue {
    let figures = trunk.figures
    let failures = figures.failures.map { failure -> JSONValue in
      .members([
        ("code", .string(failure.code.rawValue)),
        ("sip_status", .integer(optional: failure.sipStatus.map { Int64($0) })),
        ("count", .integer(Int64(failure.count))), ("last_at", .string("\(failure.lastAt)")),
      ])
    }
    return .members([
      ("name", .string(trunk.name)), ("uri", .string(trunk.uri)), ("standing", .string(trunk.standing)),
      ("explanation", .string(trunk.explanation)), ("live_calls", .integer(Int64(trunk.liveCalls))),
      ("maximum_calls", .integer(optional: trunk.maximumCalls.map { Int64($0) })),
      ("attempts", .integer(Int64(figures.attempts))), ("answered", .integer(Int64(figures.answered))),
      ("answer_ratio", figures.answerRatio.map { .number($0) } ?? .null),
      ("average_duration_seconds", figures.averageDurationSeconds.map { .number($0) } ?? .null),
      ("window_seconds", .integer(TrunkFigures.windowSeconds)), ("failures", .array(failures)),
      ("options_ms", trunk.optionsMilliseconds.map { .number($0) } ?? .null),
      ("hours", .array(figures.hours.map(hourTree))),
    ])
  }

  private static func hourTree(_ hour: TrunkFigures.Hour) -> JSONValue {
    .members([
      ("starts_at", .string("\(hour.startsAt)")), ("attempts", .integer(Int64(hour.attempts))),
      ("answered", .integer(Int64(hour.answered))), ("answer_ratio", hour.answerRatio.map { .number($0) } ?? .null),
      ("options_sent", .integer(Int64(hour.pings))), ("options_answered", .integer(Int64(hour.pingAnswers))),
      ("options_mean_ms", hour.meanOptionsMilliseconds.map { .number($0) } ?? .null),
      ("options_worst_ms", hour.worstOptionsMilliseconds.map { .number($0) } ?? .null),
    ])
  }

  private var startTrunkTest: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let name = call.path["name"] ?? ""
      let numbers = (number: try call.body.text("number"), caller: try call.body.text("caller"))
      guard let testTrunk,
        await operations.trunks().contains(where: {
          $0.name == name && $0.environments.contains(principal.environment)
        })
      else { throw Problem(.trunkUnknown, "no trunk of this environment has that name") }
      let order: TrunkTestOrder
      do throws(InvalidValue) {
        order = try TrunkTestOrder(number: numbers.number, caller: numbers.caller)
      } catch {
        throw RESTBody.invalid(error.kind, error.problem, fix: error.accepted)
      }
      guard trunkTests.begin(name) else {
        throw Problem(.trunkTestRunning, "the trunk is being tested, or too many others are")
      }
      let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
      let (logger, tests) = (logger, trunkTests)
      // Goes on to its end when the reader leaves: what it has opened is closed there.
      Task {
        defer { tests.end(name) }
        do {
          let worst = try await testTrunk(name, order) { continuation.yield(RESTService.line($0)) }
          let outcome = worst ?? .skipped
          continuation.yield(RESTService.line([("done", .boolean(true)), ("outcome", .string(outcome.rawValue))]))
        } catch {
          logger.error(
            "a trunk could not be tested", metadata: ["trunk": "\(name)", "error": "\(ErrorText.text(error))"])
          let step = TrunkTestStep(
            step: "test", outcome: .failed, text: "The test itself failed.", fix: "the gateway's log says why",
            milliseconds: 0)
          continuation.yield(RESTService.line(step))
          continuation.yield(RESTService.line([("done", .boolean(true)), ("outcome", .string("failed"))]))
        }
        continuation.finish()
      }
      var answer = RESTAnswer(status: 200, mediaType: RESTService.linesType, body: [])
      answer.lines = lines
      return answer
    }
  }

  private static func line(_ step: TrunkTestStep) -> [UInt8] {
    line([
      ("step", .string(step.step)), ("outcome", .string(step.outcome.rawValue)), ("text", .string(step.text)),
      ("fix", .string(optional: step.fix)), ("milliseconds", .integer(step.milliseconds)),
    ])
  }

  static func line(_ members: [(String, JSONValue)]) -> [UInt8] { JSONValue.members(members).bytes + [0x0A] }
}
