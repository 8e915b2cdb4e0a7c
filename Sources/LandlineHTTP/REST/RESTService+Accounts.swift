import CallModel
import LedgerCore
import NodeCore

extension RESTService {
  static let pageParameters: [RESTRoute.Parameter] = [
    .init(
      name: "limit", description: "Rows of a page, \(RESTCall.defaultLimit) by default.",
      schema: .members([
        ("type", .string("integer")), ("minimum", .integer(1)), ("maximum", .integer(Int64(RESTCall.maximumLimit))),
      ])),
    .init(
      name: "cursor", description: "The member next of the page before.",
      schema: .members([("type", .string("string"))])),
  ]

  static let periodParameters: [RESTRoute.Parameter] = [
    .init(
      name: "from", description: "Only from this instant on.",
      schema: .members([("type", .string("string")), ("format", .string("date-time"))])),
    .init(
      name: "to", description: "Only before this instant.",
      schema: .members([("type", .string("string")), ("format", .string("date-time"))])),
  ]

  var accountRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/accounts", id: "listAccounts", summary: "Customers' accounts with their balances",
        query: RESTService.pageParameters, success: .json(200, "AccountPage"), problems: [.cursorInvalid],
        handle: RESTService.listAccounts),
      RESTRoute(
        method: "POST", path: "/v1/accounts", id: "createAccount", summary: "Make an account", access: .operators,
        repeating: .keyOptional, backing: .ledger,
        body: [
          .init(name: "name", kind: .text, isRequired: true, description: "1 to 64 letters, digits and . _ - @ +"),
          .init(name: "currency", kind: .text, isRequired: true, description: "ISO 4217, such as EUR"),
          .init(name: "kind", kind: .text, description: "prepaid, the default, or postpaid"),
          .init(name: "credit_limit", kind: .amount, description: "what a postpaid account may owe"),
          .init(name: "plan", kind: .text, description: "name of a rate plan"),
          .init(name: "zone", kind: .text, description: "IANA zone of the account's days, UTC by default"),
        ], success: .json(201, "AccountChange"), problems: [ProblemCode(.accountExists), ProblemCode(.unknownZone)],
        handle: RESTService.createAccount),
      RESTRoute(
        method: "GET", path: "/v1/accounts/{name}", id: "getAccount", summary: "One account with its balance",
        success: .json(200, "Account"), problems: [.accountUnknown], handle: RESTService.showAccount),
      RESTRoute(
        method: "GET", path: "/v1/accounts/{name}/history", id: "listHistory",
        summary: "Entries of an account, newest first",
        query: RESTService.pageParameters + RESTService.periodParameters,
        success: .json(200, "HistoryPage"), problems: [.accountUnknown, .cursorInvalid], handle: RESTService.history),
      change(
        "lock", "Refuse new calls of an account", .lock,
        body: [.init(name: "reason", kind: .text, description: "for whoever looks at the account later")]),
      change("unlock", "Let a locked account call again", .unlock),
      change("close", "Close an account for good", .close),
    ]
  }

  private func change(
    _ word: String, _ summary: String, _ change: AccountAdministration.Change, body: [RESTRoute.Member] = []
  ) -> RESTRoute {
    RESTRoute(
      method: "POST", path: "/v1/accounts/{name}/\(word)", id: "\(word)Account", summary: summary, access: .operators,
      repeating: .keyOptional, backing: .ledger, body: body, success: .json(200, "AccountChange"),
      problems: [.accountUnknown, ProblemCode(.accountClosed)]
    ) { call in
      let reason = body.isEmpty ? "" : try call.body.note("reason")
      return try await RESTService.administer(
        call, try call.account(), change, word, status: 200, reason: reason.isEmpty ? nil : reason)
    }
  }

  private static let listAccounts: RESTRoute.Handler = { call in
    let (_, stores) = try call.environment()
    let limit = try call.limit()
    var after: Int64 = 0
    if let cursor = call.query["cursor"] {
      guard let numbers = RESTCursor.read(cursor, "accounts", count: 1) else {
        throw Problem(.cursorInvalid, "the cursor cannot be read")
      }
      after = numbers[0]
    }
    if let own = call.ownAccount {
      let found = try await stores.ledger.read { reading in
        try reading.customer(named: own.text).map { ($0, try reading.lock(of: $0)?.reason) }
      }
      let accounts = try found.map { [try accountTree($0.0, lockReason: $0.1)] } ?? []
      return .json(200, .members([("accounts", .array(accounts)), ("next", .null)]))
    }
    let start = after
    let accounts = try await stores.ledger.read { reading in
      var found: [(LedgerAccount, String?)] = []
      var after = start
      // The operator's own accounts lie between; one row more tells whether there is a next page.
      while found.count <= limit {
        let page = try reading.accounts(after: after, limit: limit + 1)
        found += try page.filter { $0.kind.isCustomer }.map { ($0, try reading.lock(of: $0)?.reason) }
        guard let last = page.last, page.count == limit + 1 else { break }
        after = last.id
      }
      return Array(found.prefix(limit + 1))
    }
    let page = accounts.prefix(limit)
    let next = accounts.count > limit ? page.last.map { RESTCursor.write("accounts", [$0.0.id]) } : nil
    return .json(
      200,
      .members([
        ("accounts", .array(try page.map { try accountTree($0.0, lockReason: $0.1) })),
        ("next", .string(optional: next)),
      ]),
      headers: link(call, next))
  }

  private static let showAccount: RESTRoute.Handler = { call in
    let (_, stores) = try call.environment()
    let name = try call.account()
    let found = try await stores.ledger.read { reading in
      try reading.customer(named: name.text).map { ($0, try reading.lock(of: $0)?.reason) }
    }
    guard let (account, reason) = found else { throw Problem(.unknownAccount) }
    return .json(200, try accountTree(account, lockReason: reason))
  }

  /// RFC 8288, for the page after this one.
  static func link(_ call: RESTCall, _ next: String?) -> [(String, String)] {
    guard let next else { return [] }
    let kept = (call.request.query ?? "").split(separator: "&").filter { !$0.hasPrefix("cursor=") }
    return [("Link", "<\(call.request.path)?\((kept + ["cursor=\(next)"]).joined(separator: "&"))>; rel=\"next\"")]
  }

  static func accountTree(_ account: LedgerAccount, lockReason: String?) throws -> JSONValue {
    .members(
      [
        ("account", .string(account.name)), ("kind", .string(account.kind.rawValue)),
        ("currency", .string("\(account.currency)")), ("status", .string(account.status.rawValue)),
        ("lock_reason", .string(optional: lockReason)),
      ] + RESTTrees.money("posted", account.posted) + RESTTrees.money("held", account.held)
        + RESTTrees.money("available", account.available)
        + RESTTrees.money("credit_limit", account.floor == .min ? .max : -account.floor) + [
          ("open_calls", .integer(account.openHolds)), ("plan", account.plan.isEmpty ? .null : .string(account.plan)),
          ("zone", .string(account.zone)), ("created_at", .string("\(account.createdAt)")),
        ])
  }

  private static let createAccount: RESTRoute.Handler = { call in
    let name = AccountName(unchecked: try call.name("name", as: AccountName.self)?.text ?? "")
    let code = try call.required("currency")
    let currency = try RESTCall.value("currency") { () throws(InvalidValue) in try Currency(code) }
    let kindText = try call.text("kind") ?? AccountKind.prepaid.rawValue
    guard let kind = AccountKind(rawValue: kindText), kind.isCustomer else {
      throw RESTCall.invalid("kind", "not a kind of account", fix: "prepaid or postpaid")
    }
    let limit = try call.amount("credit_limit", currency)?.micros ?? 0
    guard limit >= 0, kind == .postpaid || limit == 0 else {
      throw RESTCall.invalid(
        "credit_limit", limit < 0 ? "a limit is not negative" : "a prepaid account has none",
        fix: "\"kind\": \"postpaid\"")
    }
    let plan = try call.name("plan", as: RequestKey.self)?.text ?? ""
    let zoneText = try call.text("zone") ?? "UTC"
    let zone = try RESTCall.value("zone") { () throws(InvalidValue) in try CivilZone(zoneText) }
    return try await administer(
      call, name,
      .create(
        kind: kind, currency: currency, creditLimit: limit, plan: plan, caps: AccountCaps(), zone: zone.identifier),
      "create", status: 201, headers: [("Location", "/v1/accounts/\(name)")])
  }

  private static func administer(
    _ call: RESTCall, _ account: AccountName, _ change: AccountAdministration.Change, _ word: String, status: Int,
    headers: [(String, String)] = [], reason: String? = nil
  ) async throws -> RESTAnswer {
    let (principal, stores) = try call.environment()
    let receipt = try await stores.ledger.perform(
      LedgerOperation(
        .administer(AccountAdministration(account: account, key: call.key, change, reason: reason)), at: call.now,
        actor: principal.actor))
    if let refusal = receipt.refusal { throw Problem(refusal) }
    return .json(
      status,
      .members([
        ("seq", .integer(receipt.seq)), ("account", .string(account.text)), ("change", .string(word)),
        ("key", .string(call.key.text)),
      ]), headers: headers)
  }
}
