import CallModel
import LandlineNode
import LedgerCore
import NodeCore

extension RESTService {
  private static let rowMembers: [RESTRoute.Member] = [
    .init(
      name: "application", kind: .text,
      description: "Whose users are called: its name or key; the environment's only one by default."),
    .init(name: "account", kind: .text, description: "Who pays for the calls; the application's account by default."),
    .init(name: "active", kind: .flag, description: "Whether calls are taken, true by default."),
    .init(
      name: "targets", kind: .objects(schema: "NumberTarget", InboundNumber.maximumTargets),
      description: "Tried one after the other."),
    .init(
      name: "no_answer", kind: .integer,
      description: "What the trunk is told when nobody took the call: 408, 480 (the default), 486 or 503."),
    .init(name: "channels", kind: .integer, description: "Most calls at a time; no limit of its own by default."),
    .init(name: "answer_first", kind: .flag, description: "Whether calls are answered before anybody takes them."),
    .init(name: "refuse_anonymous", kind: .flag, description: "Whether callers that withhold their number get 433."),
    .init(
      name: "blocked", kind: .list(InboundNumber.maximumBlockedCallers),
      description: "Callers that are turned away: numbers, or beginnings of numbers, such as +4670."),
    .init(
      name: "record", kind: .text,
      description: "Calls are recorded from their answer on, as opus or wav; they are not by default."),
    .init(
      name: "record_announced", kind: .flag,
      description: "Whether a voice says to both sides that they are recorded; so by default."),
    .init(
      name: "record_tone", kind: .flag,
      description: "Whether both sides hear a short tone every 15 seconds meanwhile; not by default."),
  ]

  private static let targetMembers: [RESTRoute.Member] = [
    .init(name: "kind", kind: .text, isRequired: true, description: "user, phone, sip or conference"),
    .init(
      name: "target", kind: .text, isRequired: true, description: "bob, +46701234567, sip:front@pbx.example.com, weekly"
    ),
    .init(name: "ring_seconds", kind: .integer, description: "how long it rings"),
    .init(
      name: "on", kind: .list(InboundNumber.Outcome.allCases.count),
      description: "ends that lead to the next target"),
  ]

  var numberRoutes: [RESTRoute] {
    let routes = [
      RESTRoute(
        method: "GET", path: "/v1/numbers", id: "listNumbers",
        summary: "Numbers that trunks bring calls to, ascending", query: RESTService.pageParameters,
        success: .json(200, "NumberPage"), problems: [.cursorInvalid], handle: listNumbers),
      RESTRoute(
        method: "GET", path: "/v1/numbers/{number}", id: "getNumber", summary: "One number, and where its calls lead",
        success: .json(200, "Number"), problems: [.numberUnknown], handle: showNumber),
      RESTRoute(
        method: "PUT", path: "/v1/numbers/{number}", id: "setNumber",
        summary: "Make a number, or put another row in its place; what is left out has its default", access: .operators,
        body: RESTService.rowMembers, success: .json(200, "Number"),
        problems: [.parameterInvalid, .numberConfigured, .numberTaken, .numbersFull], handle: setNumber),
      RESTRoute(
        method: "DELETE", path: "/v1/numbers/{number}", id: "removeNumber",
        summary: "Remove a number: its calls are no longer ours", access: .operators, success: .nothing(204),
        problems: [.numberUnknown, .numberConfigured, .numberTaken], handle: removeNumber),
    ]
    return placeInboundCall == nil ? routes : routes + [inboundCallRoute]
  }

  private var listNumbers: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let limit = try call.limit()
      var after: UInt64 = 0
      if let cursor = call.query["cursor"] {
        guard let numbers = RESTCursor.read(cursor, "numbers", count: 1), let number = UInt64(exactly: numbers[0])
        else {
          throw Problem(.cursorInvalid, "the cursor cannot be read")
        }
        after = number
      }
      let rows = await operations.numbers(environment: principal.environment).filter {
        call.mayUse($0.row.account) && $0.row.number.value > after
      }
      let page = rows.prefix(limit)
      let next =
        rows.count > limit ? page.last.map { RESTCursor.write("numbers", [Int64($0.row.number.value)]) } : nil
      return .json(
        200,
        .members([
          ("numbers", .array(page.map { numberTree($0, principal.environment) })), ("next", .string(optional: next)),
        ]), headers: RESTService.link(call, next))
    }
  }

  private var showNumber: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      guard let number = try? E164Number(call.path["number"] ?? ""),
        let report = await self.report(number, principal.environment), call.mayUse(report.row.account)
      else { throw RESTService.unknownNumber }
      return .json(200, numberTree(report, principal.environment))
    }
  }

  private var setNumber: RESTRoute.Handler {
    { call in
      let (principal, stores) = try call.environment()
      let number: E164Number
      do throws(InvalidValue) {
        number = try InboundNumber.reachable(call.path["number"] ?? "")
      } catch {
        throw RESTCall.invalidParameter("number", error.problem, fix: error.accepted)
      }
      let row = try await row(number, call, principal.environment, stores)
      let change: RowChange
      do {
        change = try await operations.setNumber(row, environment: principal.environment, by: principal.actor)
      } catch let refusal as InvalidValue where refusal.rule == "inbound.table" {
        throw Problem(.numbersFull, refusal.problem)
      }
      try RESTService.check(change, number)
      guard let report = await self.report(number, principal.environment) else { throw RESTService.unknownNumber }
      return .json(200, numberTree(report, principal.environment))
    }
  }

  private var removeNumber: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      guard let number = try? E164Number(call.path["number"] ?? "") else { throw RESTService.unknownNumber }
      try RESTService.check(
        try await operations.removeNumber(number, environment: principal.environment, by: principal.actor), number)
      return .nothing
    }
  }

  // MARK: - Rows

  private func report(_ number: E164Number, _ environment: String) async -> NumberReport? {
    await operations.numbers(environment: environment).first { $0.row.number == number }
  }

  private static var unknownNumber: Problem { Problem(.numberUnknown, "the environment has no such number") }

  private static func check(_ change: RowChange, _ number: E164Number) throws {
    switch change {
    case .made, .replaced, .removed: return
    case .unknown: throw unknownNumber
    case .configured(let environment):
      throw Problem(.numberConfigured, "it stands at \(place(number, environment)) in the gateway's configuration")
    case .taken(let environment): throw Problem(.numberTaken, "it belongs to environment \(environment)")
    }
  }

  private static func place(_ number: E164Number, _ environment: String) -> String {
    "environments.\(environment).numbers.\(number)"
  }

  private func row(
    _ number: E164Number, _ call: RESTCall, _ environment: String, _ stores: EnvironmentStores
  ) async throws -> InboundNumber {
    let body = call.body
    let application = try application(body, environment)
    let targets = try (body.objects("targets", atMost: InboundNumber.maximumTargets, RESTService.targetMembers) ?? [])
      .map { try RESTService.target($0, application) }
    let owned = targets.lazy.map(\.destination.kind).first { $0 == .user || $0 == .conference }
    if application == nil, let owned {
      throw Problem(
        .memberMissing, "application is missing: a \(owned.rawValue) is the target, and nothing says whose",
        fix: "the name of an application", members: [("member", .string("application"))])
    }
    guard let account = try call.name("account", as: AccountName.self) ?? application?.account else {
      throw Problem(
        .memberMissing, "account is missing: nobody pays", fix: "the name of the account that pays",
        members: [("member", .string("account"))])
    }
    guard try await stores.ledger.read({ try $0.customer(named: account.text) }) != nil else {
      throw RESTBody.invalid("account", "there is no account \(account)", fix: "GET /v1/accounts")
    }
    let status = try body.integer("no_answer") ?? 480
    guard InboundNumber.noAnswerStatuses.contains(Int(clamping: status)) else {
      throw RESTBody.invalid("no_answer", "not a status for a call that nobody took", fix: "408, 480, 486 or 503")
    }
    let channels = try body.integer("channels")
    if let channels, !(1...Int64(InboundNumber.maximumChannels)).contains(channels) {
      throw RESTBody.invalid("channels", "out of range", fix: "1 to \(InboundNumber.maximumChannels)")
    }
    let blocked = try (body.list("blocked", atMost: InboundNumber.maximumBlockedCallers) ?? []).enumerated().map {
      index, text in
      try RESTBody.value("blocked[\(index)]") { () throws(InvalidValue) in try InboundNumber.blockedCaller(text) }
    }
    let row = InboundNumber(
      number, application: application?.key, account: account, isActive: try body.flag("active") ?? true,
      targets: targets, noAnswerStatus: Int(status), channels: channels.map { Int($0) },
      answersFirst: try body.flag("answer_first") ?? false,
      callers: InboundNumber.Callers(
        refusesAnonymous: try body.flag("refuse_anonymous") ?? false, blocked: blocked),
      recording: try RESTService.recordingRule(body))
    try RESTBody.value("targets") { () throws(InvalidValue) in try row.check() }
    return row
  }

  private static func recordingRule(_ body: RESTBody) throws -> RecordingOptions? {
    guard let text = try body.text("record") else { return nil }
    guard let format = RecordingFormat(rawValue: text) else {
      throw RESTBody.invalid("record", "no format of recordings", fix: RESTService.formats)
    }
    return RecordingOptions(
      format, isAnnounced: try body.flag("record_announced") ?? true,
      hasTone: try body.flag("record_tone") ?? false)
  }

  /// By name or key; without one the only one there is.
  func application(_ body: RESTBody, _ environment: String) throws -> AppCredentials? {
    let known = phones.applications(environment)
    guard let name = try body.text("application") else { return known.count == 1 ? known[0] : nil }
    if let found = known.first(where: { $0.name == name || $0.key == name }) { return found }
    let nearest = Spelling.nearest(to: name, among: known.map(\.name)).map { "did you mean \($0)?" }
    throw RESTBody.invalid(
      "application", "there is no application of this name or key",
      fix: nearest ?? (known.isEmpty ? nil : known.map(\.name).joined(separator: ", ")))
  }

  private static func target(_ body: RESTBody, _ application: AppCredentials?) throws -> InboundNumber.Target {
    let words = InboundNumber.Target.kinds.map(\.rawValue)
    guard let kind = Destination.Kind(rawValue: try body.required("kind")), words.contains(kind.rawValue) else {
      throw RESTBody.invalid(body.path + "kind", "not a kind of target", fix: words.joined(separator: ", "))
    }
    let text = try body.required("target")
    let destination = try RESTBody.value(body.path + "target") { () throws(InvalidValue) in
      try Destination(kind, text, userRules: application?.userRules ?? .standard, emergencyCodes: [])
    }
    let seconds = try body.integer("ring_seconds") ?? Int64(InboundNumber.Target.standardRingSeconds)
    let range = InboundNumber.Target.ringSeconds
    guard range.contains(Int(clamping: seconds)) else {
      throw RESTBody.invalid(
        body.path + "ring_seconds", "out of range", fix: "\(range.lowerBound) to \(range.upperBound)")
    }
    var target = InboundNumber.Target(destination, ringSeconds: Int(seconds))
    let outcomes = InboundNumber.Outcome.allCases
    if let words = try body.list("on", atMost: outcomes.count) {
      target.leadsOn = Set(
        try words.enumerated().map { index, word in
          guard let outcome = InboundNumber.Outcome(rawValue: word) else {
            throw RESTBody.invalid(
              "\(body.path)on[\(index)]", "not an end of a call",
              fix: outcomes.map(\.rawValue).joined(separator: ", "))
          }
          return outcome
        })
    }
    return target
  }

  private func numberTree(_ report: NumberReport, _ environment: String) -> JSONValue {
    let row = report.row
    let application = row.application.map { key in
      phones.applications(environment).first { $0.key == key }?.name ?? key
    }
    let targets = row.targets.map { target -> JSONValue in
      .members([
        ("kind", .string(target.destination.kind.rawValue)), ("target", .string(target.destination.text)),
        ("ring_seconds", .integer(Int64(target.ringSeconds))),
        (
          "on",
          .array(
            InboundNumber.Outcome.allCases.filter { target.leadsOn.contains($0) }.map { .string($0.rawValue) })
        ),
      ])
    }
    return .members([
      ("number", .string("\(row.number)")), ("application", .string(optional: application)),
      ("application_key", .string(optional: row.application)), ("account", .string(row.account.text)),
      ("active", .boolean(row.isActive)), ("targets", .array(targets)),
      ("no_answer", .integer(Int64(row.noAnswerStatus))),
      ("channels", .integer(optional: row.channels.map { Int64($0) })), ("answer_first", .boolean(row.answersFirst)),
      ("refuse_anonymous", .boolean(row.callers.refusesAnonymous)),
      ("blocked", .array(row.callers.blocked.map { .string($0) })),
      ("record", .string(optional: row.recording?.format.rawValue)),
      ("record_announced", row.recording.map { .boolean($0.isAnnounced) } ?? .null),
      ("record_tone", row.recording.map { .boolean($0.hasTone) } ?? .null),
      ("configured_at", report.isConfigured ? .string(RESTService.place(row.number, environment)) : .null),
      ("live_calls", .integer(Int64(report.liveCalls))),
    ])
  }
}
