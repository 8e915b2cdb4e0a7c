import CallModel
import LandlineNode
import NodeCore

extension RESTService {
  private static let deskPhoneMembers: [RESTRoute.Member] = [
    .init(name: "user", kind: .text, isRequired: true, description: "Whose device it is."),
    .init(
      name: "application", kind: .text,
      description: "The user's application, its name or key; the environment's only one by default."),
    .init(
      name: "country", kind: .integer,
      description: "Country calling code of numbers that are dialled without one; none by default."),
    .init(
      name: "password", kind: .text,
      description: "What it registers with; one is made where a new desk phone has none here."),
    .init(name: "new_password", kind: .flag, description: "Make another password, and show it once."),
  ]

  var deskPhoneRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/desk-phones", id: "listDeskPhones",
        summary: "Desk phones, ascending by name, and where each is registered", query: RESTService.pageParameters,
        success: .json(200, "DeskPhonePage"), problems: [.cursorInvalid], handle: listDeskPhones),
      RESTRoute(
        method: "GET", path: "/v1/desk-phones/{name}", id: "getDeskPhone",
        summary: "One desk phone, and where it is registered", success: .json(200, "DeskPhone"),
        problems: [.deskPhoneUnknown], handle: showDeskPhone),
      RESTRoute(
        method: "PUT", path: "/v1/desk-phones/{name}", id: "setDeskPhone",
        summary:
          "Make a desk phone, or put another row in its place; a password that is made stands in this answer alone",
        access: .operators, body: RESTService.deskPhoneMembers, success: .json(200, "DeskPhone"),
        problems: [.parameterInvalid, .deskPhoneConfigured, .deskPhoneTaken, .deskPhonesFull], handle: setDeskPhone),
      RESTRoute(
        method: "DELETE", path: "/v1/desk-phones/{name}", id: "removeDeskPhone",
        summary: "Remove a desk phone: it is registered no longer, and its calls are refused", access: .operators,
        success: .nothing(204), problems: [.deskPhoneUnknown, .deskPhoneConfigured, .deskPhoneTaken],
        handle: removeDeskPhone),
    ]
  }

  private var listDeskPhones: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let limit = try call.limit()
      var after = ""
      if let cursor = call.query["cursor"] {
        guard let name = RESTCursor.readName(cursor, "desk-phones") else {
          throw Problem(.cursorInvalid, "the cursor cannot be read")
        }
        after = name
      }
      let rows = await operations.deskPhones(environment: principal.environment).filter {
        mayUse(call, $0) && $0.row.name > after
      }
      let page = rows.prefix(limit)
      let next = rows.count > limit ? page.last.map { RESTCursor.write("desk-phones", after: $0.row.name) } : nil
      return .json(
        200,
        .members([
          ("desk_phones", .array(page.map { deskPhoneTree($0, principal.environment) })),
          ("next", .string(optional: next)),
        ]), headers: RESTService.link(call, next))
    }
  }

  private var showDeskPhone: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      guard let report = await report(call.path["name"] ?? "", principal.environment), mayUse(call, report) else {
        throw RESTService.unknownDeskPhone
      }
      return .json(200, deskPhoneTree(report, principal.environment))
    }
  }

  private var setDeskPhone: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let name: String
      do throws(InvalidValue) {
        name = try DeskPhone.name(call.path["name"] ?? "")
      } catch {
        throw RESTCall.invalidParameter("name", error.problem, fix: error.accepted)
      }
      let order = try await order(name, call, principal.environment)
      do {
        try RESTService.check(
          try await operations.setDeskPhone(order.row, environment: principal.environment, by: principal.actor), name)
      } catch let refusal as InvalidValue where refusal.rule == "phone.table" {
        throw Problem(.deskPhonesFull, refusal.problem)
      }
      guard let report = await report(name, principal.environment) else { throw RESTService.unknownDeskPhone }
      return .json(200, deskPhoneTree(report, principal.environment, password: order.made))
    }
  }

  private var removeDeskPhone: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let name = call.path["name"] ?? ""
      try RESTService.check(
        try await operations.removeDeskPhone(name, environment: principal.environment, by: principal.actor), name)
      return .nothing
    }
  }

  // MARK: - Rows

  private func report(_ name: String, _ environment: String) async -> DeskPhoneReport? {
    await operations.deskPhones(environment: environment).first { $0.row.name == name }
  }

  private func mayUse(_ call: RESTCall, _ report: DeskPhoneReport) -> Bool {
    guard let environment = call.principal?.environment else { return false }
    let application = phones.applications(environment).first { $0.key == report.row.application }
    // Whose application is gone belongs to nobody but operators.
    return application.map { call.mayUse($0.account) } ?? (call.ownAccount == nil)
  }

  private static var unknownDeskPhone: Problem { Problem(.deskPhoneUnknown, "the environment has no such desk phone") }

  private static func check(_ change: RowChange, _ name: String) throws {
    switch change {
    case .made, .replaced, .removed: return
    case .unknown: throw unknownDeskPhone
    case .configured(let environment):
      throw Problem(.deskPhoneConfigured, "it stands at \(place(name, environment)) in the gateway's configuration")
    case .taken(let environment): throw Problem(.deskPhoneTaken, "it belongs to environment \(environment)")
    }
  }

  private static func place(_ name: String, _ environment: String) -> String {
    "environments.\(environment).desk-phones.\(name)"
  }

  /// - Returns: `made` is a password that nobody has seen yet.
  private func order(
    _ name: String, _ call: RESTCall, _ environment: String
  ) async throws -> (row: DeskPhoneOrder, made: String?) {
    let body = call.body
    guard let application = try application(body, environment) else {
      throw Problem(
        .memberMissing, "application is missing: nothing says whose user it is", fix: "the name of an application",
        members: [("member", .string("application"))])
    }
    let text = try body.required("user")
    let user = try RESTBody.value("user") { () throws(InvalidValue) in try UserID(text, rules: application.userRules) }
    let country = try body.integer("country").map { code in
      try RESTBody.value("country") { () throws(InvalidValue) in try DeskPhone.country(Int(clamping: code)) }
    }
    let given = try body.text("password").map { text in
      try RESTBody.value("password") { () throws(InvalidValue) in try DeskPhone.password(text) }
    }
    let wantsNew = try body.flag("new_password") ?? false
    guard given == nil || !wantsNew else {
      throw RESTBody.invalid("new_password", "stands beside a password", fix: "one of both")
    }
    var made: String?
    if given == nil {
      let isNew = await report(name, environment) == nil
      if wantsNew || isNew { made = DeskPhone.newPassword { SecureRandomNumberGenerator().next() } }
    }
    let row = DeskPhoneOrder(
      name: name, application: application.key, user: user, country: country,
      password: given ?? made.map { Redacted($0) })
    return (row, made)
  }

  private func deskPhoneTree(_ report: DeskPhoneReport, _ environment: String, password: String? = nil) -> JSONValue {
    let row = report.row
    let application = phones.applications(environment).first { $0.key == row.application }
    return .members([
      ("name", .string(row.name)), ("user", .string(row.user.text)),
      ("application", .string(application?.name ?? row.application)), ("application_key", .string(row.application)),
      ("account", .string(optional: application?.account.text)),
      ("country", .integer(optional: row.country.map { Int64($0) })),
      (
        "registrations",
        .array(
          report.registrations.map {
            .members([
              ("address", .string($0.address)), ("contact", .string($0.contact)),
              ("expires_in_seconds", .integer($0.expiresInSeconds)), ("user_agent", .string($0.userAgent)),
            ])
          })
      ),
      ("configured_at", report.isConfigured ? .string(RESTService.place(row.name, environment)) : .null),
      ("password", .string(optional: password)),
    ])
  }
}
