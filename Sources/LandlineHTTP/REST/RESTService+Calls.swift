import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore

extension RESTService {
  private static let textSchema = JSONValue.members([("type", .string("string"))])

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
        switch await operations.originate(order) {
        case .success(let id):
          return .json(201, .members([("id", .string(id.text))]), headers: [("Location", "/v1/calls/\(id)")])
        case .failure(let failure): throw Problem(failure)
        }
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
        success: .nothing(204), problems: [.callUnknown]
      ) { call in
        let (principal, _) = try call.environment()
        let id = try RESTService.callID(call)
        guard let live = await operations.liveCall(id), RESTService.maySee(live, call, principal),
          await operations.hangUp(id, by: principal.actor)
        else { throw Problem(.callUnknown, "no live call has that id") }
        return .nothing
      },
    ]
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
