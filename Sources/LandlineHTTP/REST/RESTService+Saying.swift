import CallEngine
import CallModel
import NodeCore

extension RESTService {
  private static let wordMembers: [RESTRoute.Member] = [
    .init(name: "text", kind: .text, description: "What a voice says, at most 500 characters."),
    .init(
      name: "sound", kind: .text, description: "In its place: a file of the environment's folder, without its ending."),
  ]
  private static let sides = CallSide.allCases.map(\.rawValue).joined(separator: " or ")
  private static let problems: [ProblemCode] = [
    .memberInvalid, .memberMissing, .soundUnknown, .soundFailed, ProblemCode(CallFailureCode.saying.details),
  ]

  var sayingRoutes: [RESTRoute] {
    let (ofCall, ofRoom) = ("/v1/live-calls/{id}/say", "/v1/conferences/{id}/say")
    return [
      RESTRoute(
        method: "POST", path: ofCall, id: "sayInCall",
        summary: "Have something said to sides of a call that is up: in place of the other side, or beneath the talk",
        repeating: .keyRequired,
        body: RESTService.wordMembers + [
          .init(name: "side", kind: .text, description: "\(RESTService.sides); both by default."),
          .init(
            name: "beneath", kind: .flag,
            description: "Both hear it together with each other's words; false by default. With both sides alone."),
        ], success: .json(200, "Said"), problems: [.callUnknown] + RESTService.problems
      ) { call in
        let live = try await liveCall(call)
        let sides = try RESTService.sides(try call.text("side"))
        guard try call.flag("beneath") ?? false else {
          return try await say(in: .call(live.id, environment: live.environment, sides), call)
        }
        guard sides == Set(CallSide.allCases) else {
          throw RESTBody.invalid("side", "stands beside beneath, which both sides hear", fix: "leave it out")
        }
        return try await say(in: .beneath(live.id, environment: live.environment), call)
      },
      RESTRoute(
        method: "DELETE", path: ofCall, id: "stopSayingInCall",
        summary: "End what is said to both sides of a call; they hear each other again", success: .nothing(204),
        problems: [.callUnknown, ProblemCode(CallFailureCode.saying.details)]
      ) { call in
        try await order(.stopSaying(Set(CallSide.allCases)), call)
        return .nothing
      },
      RESTRoute(
        method: "POST", path: ofRoom, id: "sayInConference",
        summary: "Have something said to all who are in a conference, together with what they say",
        repeating: .keyRequired, query: RESTService.conferenceQuery, body: RESTService.wordMembers,
        success: .json(200, "Said"), problems: [.parameterInvalid, .conferenceUnknown] + RESTService.problems
      ) { call in try await say(in: .conference(try roomKey(call).key), call) },
      RESTRoute(
        method: "DELETE", path: ofRoom, id: "stopSayingInConference",
        summary: "End what is said to all who are in a conference", query: RESTService.conferenceQuery,
        success: .nothing(204),
        problems: [.parameterInvalid, .conferenceUnknown, ProblemCode(CallFailureCode.saying.details)]
      ) { call in
        try await order(.stopSaying, call)
        return .nothing
      },
    ]
  }

  private static func sides(_ text: String?) throws -> Set<CallSide> {
    guard let text else { return Set(CallSide.allCases) }
    guard let side = CallSide(rawValue: text) else { throw RESTBody.invalid("side", "no side of a call", fix: sides) }
    return [side]
  }

  private func say(in place: SayingPlace, _ call: RESTCall) async throws -> RESTAnswer {
    guard let principal = call.principal else { throw RESTService.unknownConference }
    let words = try words(call)
    let member = if case .text = words { "text" } else { "sound" }
    switch await operations.say(words, in: place, by: principal.actor) {
    case .said(let milliseconds): return .json(200, .members([("duration_ms", .integer(milliseconds))]))
    case .unknown: throw RESTService.unknownConference
    case .refused(let failure): throw Problem(failure)
    case .unusable(let problem):
      switch problem.kind {
      case .invalid: throw RESTBody.invalid(member, problem.problem, fix: problem.fix)
      case .missing: throw Problem(.soundUnknown, problem.problem, fix: problem.fix)
      // Paths are the operator's, who finds them in the log.
      case .failed: throw Problem(.soundFailed, "it cannot be read or spoken")
      case .busy: throw Problem(.soundFailed, problem.problem)
      }
    }
  }

  private func words(_ call: RESTCall) throws -> SpokenWords {
    switch (try call.text("text"), try call.text("sound")) {
    case (let text?, nil): return .text(text)
    case (nil, let sound?): return .sound(sound)
    case (_?, _?): throw RESTBody.invalid("sound", "stands beside a text", fix: "one of the two")
    case (nil, nil):
      throw Problem(
        .memberMissing, "text is missing, or sound", fix: "\"text\": \"…\"", members: [("member", .string("text"))])
    }
  }
}
