import CallEngine
import CallModel
import LandlineNode
import LedgerCore
import NodeCore

extension RESTService {
  static let conferenceQuery: [RESTRoute.Parameter] = [
    .init(
      name: "application",
      description: "Whose conference it is, by the application's name or key; the environment's only one by default.",
      schema: .members([("type", .string("string"))]))
  ]

  var conferenceRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/conferences", id: "listConferences",
        summary: "Conferences that somebody is in, by application and id, with all who take part",
        success: .json(200, "Conferences"), handle: listConferences),
      RESTRoute(
        method: "GET", path: "/v1/conferences/{id}", id: "getConference",
        summary: "One conference and all who take part",
        query: RESTService.conferenceQuery, success: .json(200, "Conference"),
        problems: [.parameterInvalid, .conferenceUnknown], handle: showConference),
      RESTRoute(
        method: "PATCH", path: "/v1/conferences/{id}", id: "changeConference",
        summary:
          "Lock a conference, so that apps and callers are refused and only REST adds somebody, turn its tones off, or say what becomes of keys; or take that back",
        query: RESTService.conferenceQuery,
        body: [
          .init(name: "locked", kind: .flag, description: "Whether it is locked from now on; as it was by default."),
          .init(
            name: "tones", kind: .flag,
            description: "Whether a tone says that somebody comes in or leaves; as it was by default."),
          .init(
            name: "keys", kind: .text,
            description:
              "What becomes of keys that are pressed in it: ignore, forward (to all others) or detect (they stand with the participant); as it was by default."
          ),
        ],
        success: .json(200, "Conference"), problems: [.parameterInvalid, .memberInvalid, .conferenceUnknown],
        handle: changeConference),
      RESTRoute(
        method: "DELETE", path: "/v1/conferences/{id}", id: "endConference",
        summary: "End a conference: the calls of all who take part, or are to", query: RESTService.conferenceQuery,
        success: .nothing(204), problems: [.parameterInvalid, .conferenceUnknown], handle: endConference),
      RESTRoute(
        method: "POST", path: "/v1/conferences/{id}/participants", id: "addParticipant",
        summary: "Call somebody who takes part once they answer; the conference begins with them where nobody is in it",
        repeating: .keyRequired, query: RESTService.conferenceQuery,
        body: RESTService.participantMembers(payer: "the application's own"), success: .json(201, "PlacedCall"),
        problems: [.parameterInvalid] + RESTService.participantProblems, handle: addParticipant),
      RESTRoute(
        method: "PATCH", path: "/v1/conferences/{id}/{participant}", id: "changeParticipant",
        summary: "Mute a participant, whatever its app says, or have it hear nothing; or take that back",
        query: RESTService.conferenceQuery,
        body: [
          .init(name: "muted", kind: .flag, description: "Whether nobody hears it; as it was by default."),
          .init(name: "deaf", kind: .flag, description: "Whether it hears nobody; as it was by default."),
        ], success: .json(200, "Participant"),
        problems: [.parameterInvalid, .conferenceUnknown, .participantUnknown], handle: changeParticipant),
      RESTRoute(
        method: "DELETE", path: "/v1/conferences/{id}/{participant}", id: "kickParticipant",
        summary: "Take a participant out: its call ends with gw.kicked, the conference goes on",
        query: RESTService.conferenceQuery, success: .nothing(204),
        problems: [.parameterInvalid, .conferenceUnknown, .participantUnknown], handle: kickParticipant),
    ]
  }

  // MARK: - Handlers

  private var listConferences: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let known = phones.applications(principal.environment)
      let rooms = await operations.conferences(environment: principal.environment).filter { room in
        guard let application = known.first(where: { $0.key == room.key.application }) else {
          return call.ownAccount == nil
        }
        return call.mayUse(application.account)
      }
      return .json(200, .members([("conferences", .array(rooms.map { conferenceTree($0) }))]))
    }
  }

  private var showConference: RESTRoute.Handler {
    { call in .json(200, conferenceTree(try await conference(call))) }
  }

  private var changeConference: RESTRoute.Handler {
    { call in
      if let isLocked = try call.flag("locked") { try await order(.lock(isLocked), call) }
      if let isOn = try call.flag("tones") { try await order(.tones(isOn), call) }
      if let text = try call.text("keys") {
        guard let keys = RoomKeys(rawValue: text) else {
          let accepted = RoomKeys.allCases.map(\.rawValue).joined(separator: ", ")
          throw RESTBody.invalid("keys", "nothing that becomes of keys", fix: accepted)
        }
        try await order(.keys(keys), call)
      }
      return .json(200, conferenceTree(try await conference(call)))
    }
  }

  private var endConference: RESTRoute.Handler {
    { call in
      try await order(.end, call)
      return .nothing
    }
  }

  private var addParticipant: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let (room, application) = try roomKey(call)
      let other = try RESTService.participant(call)
      let account = try call.name("account", as: AccountName.self) ?? application.account
      guard call.mayUse(account) else { throw Problem(.unknownAccount) }
      var order = OriginateOrder(
        environment: principal.environment, account: account, first: (.conference, room.conference.text), second: other,
        callerNumber: try call.text("caller_number"), headers: try call.texts("headers"))
      order.application = application.key
      order.beginsMuted = try call.flag("muted") ?? false
      return try await placed(order)
    }
  }

  private var changeParticipant: RESTRoute.Handler {
    { call in
      let number = try await participant(call, in: try await conference(call)).number
      if let isOn = try call.flag("muted") { try await order(.silence(participant: number, isOn), call) }
      if let isOn = try call.flag("deaf") { try await order(.deafen(participant: number, isOn), call) }
      let room = try await conference(call)
      return .json(200, RESTTrees.participant(try await participant(call, in: room), leads: room.leads))
    }
  }

  private var kickParticipant: RESTRoute.Handler {
    { call in
      let number = try await participant(call, in: try await conference(call)).number
      try await order(.kick(participant: number), call)
      return .nothing
    }
  }

  // MARK: - Who is added

  /// What says who is called, into a conference or a call.
  static func participantMembers(payer: String) -> [RESTRoute.Member] {
    [
      .init(name: "kind", kind: .text, isRequired: true, description: "phone, sip or user"),
      .init(
        name: "target", kind: .text, isRequired: true,
        description: "A number in E.164, an address, or the id of a user of the application."),
      .init(name: "account", kind: .text, description: "Who pays; \(payer) by default."),
      .init(name: "caller_number", kind: .text, description: "E.164 number to show."),
      .init(name: "headers", kind: .texts, description: "Custom headers of the call."),
      .init(name: "muted", kind: .flag, description: "Whether nobody hears them until they are unmuted."),
    ]
  }

  static let participantProblems: [ProblemCode] = [
    .accountUnknown, .memberInvalid, ProblemCode(CallFailureCode.roomFull.details),
    ProblemCode(CallFailureCode.number.details), ProblemCode(CallFailureCode.funds.details),
    ProblemCode(CallFailureCode.congestion.details),
  ]

  /// Who is called.
  static func participant(_ call: RESTCall) throws -> (kind: Destination.Kind, target: String) {
    let kinds: [Destination.Kind] = [.phone, .sip, .user]
    guard let kind = Destination.Kind(rawValue: try call.required("kind")), kinds.contains(kind) else {
      throw RESTBody.invalid("kind", "nobody of this kind can be added", fix: "phone, sip or user")
    }
    return (kind, try call.required("target"))
  }

  func placed(_ order: OriginateOrder) async throws -> RESTAnswer {
    switch await operations.originate(order) {
    case .success(let id):
      return .json(201, .members([("id", .string(id.text))]), headers: [("Location", "/v1/calls/\(id)")])
    case .failure(let failure): throw Problem(failure)
    }
  }

  // MARK: - Which one

  /// The conference that the path and the query name, which may not be there.
  func roomKey(_ call: RESTCall) throws -> (key: RoomKey, application: AppCredentials) {
    let (principal, _) = try call.environment()
    let known = phones.applications(principal.environment).filter { call.mayUse($0.account) }
    let name = call.query["application"]
    guard
      let application = name == nil && known.count == 1
        ? known.first : known.first(where: { $0.name == name || $0.key == name })
    else {
      throw RESTCall.invalidParameter(
        "application", name == nil ? "is missing: there are several" : "there is no application of this name or key",
        fix: known.isEmpty ? "none" : known.map(\.name).joined(separator: ", "))
    }
    do throws(InvalidValue) {
      let conference = try ConferenceID(call.path["id"] ?? "")
      return (
        RoomKey(environment: principal.environment, application: application.key, conference: conference), application
      )
    } catch {
      throw RESTCall.invalidParameter("id", error.problem, fix: error.accepted)
    }
  }

  func conference(_ call: RESTCall) async throws -> RoomReport {
    let key = try roomKey(call).key
    guard let room = await operations.conferences(environment: key.environment).first(where: { $0.key == key }) else {
      throw RESTService.unknownConference
    }
    return room
  }

  func order(_ order: RoomOrder, _ call: RESTCall) async throws {
    guard let principal = call.principal else { throw RESTService.unknownConference }
    switch await operations.conference(try roomKey(call).key, order, by: principal.actor) {
    case .done: return
    case .unknown: throw RESTService.unknownConference
    case .refused(let failure): throw Problem(failure)
    }
  }

  private func participant(_ call: RESTCall, in room: RoomReport) async throws -> RoomReport.Participant {
    guard let number = Int(call.path["participant"] ?? ""),
      let participant = room.participants.first(where: { $0.number == number })
    else { throw Problem(.participantUnknown, "nobody in the conference has this number") }
    return participant
  }

  static var unknownConference: Problem { Problem(.conferenceUnknown, "nobody is in a conference of that id") }

  func conferenceTree(_ room: RoomReport) -> JSONValue {
    let application = phones.applications(room.key.environment).first { $0.key == room.key.application }
    return .members([
      ("id", .string(room.key.conference.text)), ("application", .string(application?.name ?? room.key.application)),
      ("application_key", .string(room.key.application)), ("account", .string(optional: application?.account.text)),
      ("since", RESTTrees.instant(room.since)), ("locked", .boolean(room.isLocked)), ("tones", .boolean(room.hasTones)),
      ("keys", .string(room.keys.rawValue)),
      ("recording", RESTTrees.running(room.recording)),
      ("participants", .array(room.participants.map { RESTTrees.participant($0, leads: room.leads) })),
    ])
  }
}

extension RESTTrees {
  fileprivate static func participant(_ participant: RoomReport.Participant, leads: Int?) -> JSONValue {
    .members([
      ("participant", .integer(Int64(participant.number))), ("call", .string(participant.call.text)),
      ("from", caller(participant.from)), ("since", instant(participant.since)),
      ("muted", .boolean(participant.isSilenced)), ("self_muted", .boolean(participant.isMuted)),
      ("deaf", .boolean(participant.isDeaf)), ("speaking", .boolean(participant.isSpeaking)),
      ("leads", .boolean(participant.number == leads)),
      ("level_dbov", .integer(optional: participant.quality?.level.map { Int64($0) })),
      ("quality", participant.quality.map { direction($0.sound) } ?? .null),
      ("round_trip_ms", participant.quality?.roundTrip.map { .number($0) } ?? .null),
      ("keys", .string(participant.keys)),
    ])
  }
}
