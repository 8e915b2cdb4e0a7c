import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore

extension RESTService {
  static let textSchema = JSONValue.members([("type", .string("string"))])

  var callRoutes: [RESTRoute] {
    let operations = operations
    return [
      RESTRoute(
        method: "GET", path: "/v1/calls", id: "listCalls", summary: "Records of calls that are over, newest first",
        query: RESTService.pageParameters + RESTService.periodParameters + [
          .init(name: "account", description: "Only of this account.", schema: RESTService.textSchema),
          .init(
            name: "destination", description: "Only to destinations that begin so.", schema: RESTService.textSchema),
          .init(
            name: "cause", description: "Only calls that ended so.",
            schema: .members([
              ("type", .string("string")), ("enum", .array(CallEndCause.allCases.map { .string($0.rawValue) })),
            ])),
        ], success: .json(200, "CallPage"), problems: [.cursorInvalid, .storeUnavailable], handle: RESTService.listCalls
      ),
      RESTRoute(
        method: "POST", path: "/v1/calls", id: "placeCall", summary: "Call one destination and join it with another",
        repeating: .keyRequired,
        body: [
          .init(name: "account", kind: .text, description: "who pays; an application's own by default"),
          .init(
            name: "first", kind: .destination, isRequired: true,
            description: "{\"kind\": …, \"target\": …}, called first"),
          .init(
            name: "second", kind: .destination, isRequired: true, description: "called when the first has answered"),
          .init(name: "caller_number", kind: .text, description: "E.164 number to show"),
          .init(name: "headers", kind: .texts, description: "custom headers of both legs"),
        ], success: .json(201, "PlacedCall"),
        problems: [
          .accountUnknown, .memberInvalid, ProblemCode(CallFailureCode.number.details),
          ProblemCode(CallFailureCode.funds.details), ProblemCode(CallFailureCode.congestion.details),
        ]
      ) { call in
        let (principal, _) = try call.environment()
        guard let account = try call.name("account", as: AccountName.self) ?? call.ownAccount else {
          throw Problem(
            .memberMissing, "account is missing", fix: "name of the account that pays",
            members: [("member", .string("account"))])
        }
        guard call.mayUse(account) else { throw Problem(.unknownAccount) }
        let order = OriginateOrder(
          environment: principal.environment, account: account, first: try call.destination("first"),
          second: try call.destination("second"), callerNumber: try call.text("caller_number"),
          headers: try call.texts("headers"))
        return try await placed(order)
      },
      RESTRoute(
        method: "GET", path: "/v1/calls/{id}", id: "getCall", summary: "One call, live or over",
        success: .json(200, "Call"), problems: [.callUnknown, .storeUnavailable]
      ) { call in
        let (principal, stores) = try call.environment()
        let id = try RESTService.callID(call)
        if let live = await operations.liveCall(id), RESTService.maySee(live, call, principal) {
          return .json(200, RESTTrees.call(live))
        }
        let record: CallRecord?
        do {
          record = try await stores.records.record(id)
        } catch {
          throw Problem(.storeUnavailable, "the store of call records is away")
        }
        guard let record, RESTService.maySee(record.call, call, principal) else {
          throw Problem(.callUnknown, "no call has that id")
        }
        return .json(200, RESTTrees.record(record))
      },
      RESTRoute(
        method: "GET", path: "/v1/live-calls", id: "listLiveCalls", summary: "Calls that are up, oldest first",
        query: [
          .init(
            name: "watch",
            description: "true for a stream without end, one call a line: first those that are up, then every change.",
            schema: .members([("type", .string("boolean"))]))
        ], success: .json(200, "LiveCalls"), otherTypes: [LiveCallStream.mediaType], problems: [.parameterInvalid]
      ) { call in
        let (principal, _) = try call.environment()
        switch call.query["watch"] {
        case nil, "false": break
        case "true":
          return await LiveCallStream.answer(operations, principal.environment, until: call.sessionEndsAt) {
            RESTService.maySee($0, call, principal)
          }
        default: throw RESTCall.invalidParameter("watch", "neither true nor false", fix: "watch=true")
        }
        let calls = await operations.liveCalls(environment: principal.environment)
          .filter { RESTService.maySee($0, call, principal) }
        return .json(200, .members([("calls", .array(calls.map { RESTTrees.call($0) }))]))
      },
      RESTRoute(
        method: "DELETE", path: "/v1/live-calls/{id}", id: "hangUpCall", summary: "End a live call",
        query: [
          .init(
            name: "cause",
            description:
              "What trunks are told, a cause of ITU-T Q.850: 16, a normal end, by default; 17 is busy, 21 rejected.",
            schema: .members([
              ("type", .string("integer")), ("minimum", .integer(Int64(HangUpCause.range.lowerBound))),
              ("maximum", .integer(Int64(HangUpCause.range.upperBound))),
            ]))
        ], success: .nothing(204), problems: [.callUnknown, .parameterInvalid]
      ) { call in
        let live = try await liveCall(call)
        let cause = call.query["cause"].map { Int($0) } ?? HangUpCause.normal
        guard let cause, HangUpCause.range.contains(cause) else {
          throw RESTCall.invalidParameter(
            "cause", "no cause of Q.850", fix: "\(HangUpCause.range.lowerBound) to \(HangUpCause.range.upperBound)")
        }
        guard let principal = call.principal, await operations.hangUp(live.id, by: principal.actor, cause: cause) else {
          throw RESTService.unknownLiveCall
        }
        return .nothing
      },
      RESTRoute(
        method: "PATCH", path: "/v1/live-calls/{id}", id: "changeCall",
        summary:
          "Mute a side of a call that is up, whatever its app says, or have it wait with a quiet tone; or take that back",
        body: [
          RESTService.side("Which side."),
          .init(name: "muted", kind: .flag, description: "Whether nobody hears it; as it was by default."),
          .init(name: "on_hold", kind: .flag, description: "Whether it waits; as it was by default."),
        ], success: .json(200, "Call"), problems: RESTService.orderProblems
      ) { call in
        let side = try RESTService.side(call)
        if let isOn = try call.flag("muted") { try await order(.mute(side, isOn), call) }
        if let isOn = try call.flag("on_hold") { try await order(.hold(side, isOn), call) }
        return .json(200, RESTTrees.call(try await liveCall(call)))
      },
      RESTRoute(
        method: "POST", path: "/v1/live-calls/{id}/keys", id: "pressKeys",
        summary: "Press keys towards a side of a call that is up", repeating: .keyRequired,
        body: [
          RESTService.side("Who is to hear them."),
          .init(name: "digits", kind: .text, isRequired: true, description: "0-9, *, #, A-D"),
        ], success: .nothing(204), problems: RESTService.orderProblems
      ) { call in
        try await order(.press(try RESTService.side(call), try call.required("digits")), call)
        return .nothing
      },
      RESTRoute(
        method: "POST", path: "/v1/live-calls/{id}/transfer", id: "transferCall",
        summary:
          "Put a side of a call that is up through to somebody else; where nobody answers there, it talks with the other again",
        repeating: .keyRequired,
        body: [
          RESTService.side("Who leaves the call when they answer."),
          .init(name: "kind", kind: .text, isRequired: true, description: "phone, sip or user"),
          .init(
            name: "target", kind: .text, isRequired: true, description: "A number in E.164, an address or a user's id."),
        ], success: .nothing(204), problems: RESTService.orderProblems
      ) { call in
        let kinds: [Destination.Kind] = [.phone, .sip, .user]
        guard let kind = Destination.Kind(rawValue: try call.required("kind")), kinds.contains(kind) else {
          throw RESTBody.invalid("kind", "no call is put through to one of this kind", fix: "phone, sip or user")
        }
        let target = TransferOrder(kind: kind, target: try call.required("target"))
        try await order(.transfer(try RESTService.side(call), target), call)
        return .nothing
      },
      RESTRoute(
        method: "POST", path: "/v1/live-calls/{id}/participants", id: "addToCall",
        summary:
          "Call somebody who talks with the two of a call that is up once they answer, by a call of their own that ends with it",
        repeating: .keyRequired, body: RESTService.participantMembers(payer: "the call's own account"),
        success: .json(201, "PlacedCall"),
        problems: [.callUnknown, ProblemCode(CallFailureCode.transfer.details)] + RESTService.participantProblems
      ) { call in
        let live = try await liveCall(call)
        let account = try call.name("account", as: AccountName.self) ?? live.account
        guard call.mayUse(account) else { throw Problem(.unknownAccount) }
        var order = OriginateOrder(
          environment: live.environment, account: account, guestOf: live.id, try RESTService.participant(call),
          callerNumber: try call.text("caller_number"), headers: try call.texts("headers"))
        order.application = live.application
        order.beginsMuted = try call.flag("muted") ?? false
        return try await placed(order)
      },
    ]
  }

  private static let orderProblems: [ProblemCode] = [
    .callUnknown, .memberInvalid, ProblemCode(CallFailureCode.transfer.details),
    ProblemCode(CallFailureCode.number.details), ProblemCode(CallFailureCode.limit.details),
  ]

  private static func side(_ description: String) -> RESTRoute.Member {
    .init(
      name: "side", kind: .text, isRequired: true,
      description: "\(description) \(CallSide.allCases.map(\.rawValue).joined(separator: " or "))")
  }

  private static func side(_ call: RESTCall) throws -> CallSide {
    guard let side = CallSide(rawValue: try call.required("side")) else {
      throw RESTBody.invalid(
        "side", "no side of a call", fix: CallSide.allCases.map(\.rawValue).joined(separator: " or "))
    }
    return side
  }

  private static var unknownLiveCall: Problem { Problem(.callUnknown, "no live call has that id") }

  /// The one of the path, where whoever asks may see it.
  func liveCall(_ call: RESTCall) async throws -> CallSnapshot {
    let (principal, _) = try call.environment()
    guard let live = await operations.liveCall(try RESTService.callID(call)), RESTService.maySee(live, call, principal)
    else { throw RESTService.unknownLiveCall }
    return live
  }

  func order(_ order: CallOrder, _ call: RESTCall) async throws {
    let live = try await liveCall(call)
    guard let principal = call.principal else { throw RESTService.unknownLiveCall }
    if let refusal = await operations.order(order, live.id, by: principal.actor) { throw Problem(refusal) }
  }

  static func callID(_ call: RESTCall) throws -> CallID {
    guard let id = CallID(call.path["id"] ?? "") else { throw Problem(.callUnknown, "no call has that id") }
    return id
  }

  static func maySee(_ snapshot: CallSnapshot, _ call: RESTCall, _ principal: RESTPrincipal) -> Bool {
    snapshot.environment == principal.environment && call.mayUse(snapshot.account)
  }

  private static let listCalls: RESTRoute.Handler = { call in
    let (principal, stores) = try call.environment()
    var query = CallRecordQuery(account: call.ownAccount, limit: try call.limit(), cursor: call.query["cursor"])
    if let text = call.query["account"] {
      guard let account = AccountName(text), call.mayUse(account) else { throw Problem(.unknownAccount) }
      query.account = account
    }
    query.from = try call.instant("from")
    query.to = try call.instant("to")
    query.destination = call.query["destination"]
    if let text = call.query["cause"] {
      guard let cause = CallEndCause(rawValue: text) else {
        throw RESTCall.invalidParameter(
          "cause", "not a cause", fix: CallEndCause.allCases.map { $0.rawValue }.joined(separator: ", "))
      }
      query.cause = cause
    }
    let page: CallRecordPage
    do {
      page = try await stores.records.records(query)
    } catch {
      throw Problem(.storeUnavailable, "the store of call records is away")
    }
    let records = page.records.filter { maySee($0.call, call, principal) }
    return .json(
      200,
      .members([
        ("calls", .array(records.map { RESTTrees.record($0) })), ("next", .string(optional: page.next)),
      ]), headers: link(call, page.next))
  }
}
