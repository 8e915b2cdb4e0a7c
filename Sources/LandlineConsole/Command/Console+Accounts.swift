import CallModel
import LedgerCore

/// Commands that make and change accounts.
extension Console {
  package struct AccountCreation: Sendable {
    package var name: String
    package var currency: String
    package var kind: String
    package var creditLimit: String?
    package var plan: String?
    package var zone: String
    package var caps: CapOptions

    package init(
      name: String, currency: String, kind: String, creditLimit: String?, plan: String?, zone: String, caps: CapOptions
    ) {
      self.name = name
      self.currency = currency
      self.kind = kind
      self.creditLimit = creditLimit
      self.plan = plan
      self.zone = zone
      self.caps = caps
    }
  }

  package func accountCreate(_ request: AccountCreation, _ options: WriteOptions) async throws -> Answer {
    let name = try Arguments.name(request.name, "NAME", as: AccountName.self)
    let currency = try Arguments.currency(request.currency)
    guard let kind = AccountKind(rawValue: request.kind), kind.isCustomer else {
      throw ConsoleError.usage(
        "account.kind", "account kind: \"\(request.kind)\" is none", at: "--kind", fix: "prepaid or postpaid")
    }
    let limit = try request.creditLimit.map { try Arguments.limit($0, "--credit-limit") } ?? 0
    guard kind == .postpaid || limit == 0 else {
      throw ConsoleError.usage(
        "account.creditLimit", "a prepaid account has no credit limit", at: "--credit-limit", fix: "--kind postpaid")
    }
    let zone = try Arguments.value("--zone") { () throws(InvalidValue) in try CivilZone(request.zone) }
    let plan = try request.plan.map { try planName($0, "--plan") } ?? ""
    let caps = try request.caps.applied(to: AccountCaps())
    let change = AccountAdministration.Change.create(
      kind: kind, currency: currency, creditLimit: limit, plan: plan, caps: caps, zone: zone.identifier)
    if options.isDryRun, try !exists(databasePath()) {
      // There is no ledger that could refuse, and none is made.
      let (key, _) = try options.requestKey()
      return changed(
        name.text, "create", key, LedgerReceipt(seq: 1, isReplay: false, outcome: .changed), options)
    }
    if !plan.isEmpty { try await checkPlan(plan, currency: currency) }
    var answer = try await administer(name, change, "create", options, create: true)
    if settings.format == .table, !options.isDryRun {
      answer.notes.append("next: landline topup \(name) 10")
    }
    return answer
  }

  package func accountClose(_ name: String, _ options: WriteOptions) async throws -> Answer {
    let name = try Arguments.name(name, "ACCOUNT", as: AccountName.self)
    let account = try reading { try LedgerLookup($0).customer(name.text) }
    try confirm("close \(name), which has \(try account.credits(account.posted))", options)
    return try await administer(name, .close, "close", options)
  }

  package func accountLock(_ name: String, reason: String?, _ options: WriteOptions) async throws -> Answer {
    let reason = try reason.map { try Arguments.free($0, "--reason") }
    return try await administer(
      try Arguments.name(name, "ACCOUNT"), .lock, "lock", options, reason: reason)
  }

  package func accountUnlock(_ name: String, _ options: WriteOptions) async throws -> Answer {
    try await administer(try Arguments.name(name, "ACCOUNT"), .unlock, "unlock", options)
  }

  /// - Parameter plan: the name of a rate plan, or `none`.
  package func accountSetPlan(_ name: String, plan: String, _ options: WriteOptions) async throws -> Answer {
    let name = try Arguments.name(name, "ACCOUNT", as: AccountName.self)
    let plan = plan == "none" ? "" : try planName(plan, "PLAN")
    if !plan.isEmpty {
      let account = try reading { try LedgerLookup($0).customer(name.text) }
      try await checkPlan(plan, currency: account.currency)
    }
    return try await administer(name, .setPlan(plan), "set-plan", options)
  }

  package func accountSetZone(_ name: String, zone: String, _ options: WriteOptions) async throws -> Answer {
    let name = try Arguments.name(name, "ACCOUNT", as: AccountName.self)
    let zone = try Arguments.value("ZONE") { () throws(InvalidValue) in try CivilZone(zone) }
    return try await administer(name, .setZone(zone.identifier), "set-zone", options)
  }

  package func accountSetCap(
    _ name: String, _ caps: CapOptions, creditLimit: String?, _ options: WriteOptions
  ) async throws -> Answer {
    let name = try Arguments.name(name, "ACCOUNT", as: AccountName.self)
    guard !caps.isEmpty || creditLimit != nil else {
      throw ConsoleError.usage(
        "cap.none", "no cap is named", fix: "an option such as --concurrent 10 or --per-day none")
    }
    let limit = try creditLimit.map { try Arguments.limit($0, "--credit-limit") }
    if caps.isEmpty, let limit {
      return try await administer(name, .setCreditLimit(limit), "set-credit-limit", options)
    }
    _ = try caps.applied(to: AccountCaps())
    let account = try reading { try LedgerLookup($0).customer(name.text) }
    let change = AccountAdministration.Change.setCaps(try caps.applied(to: account.caps))
    guard let limit else { return try await administer(name, change, "set-cap", options) }
    // Two changes, two keys: the second is made from the first, so that a repeat repeats both.
    let (key, isGenerated) = try options.requestKey()
    var first = options
    first.key = key.text
    var second = options
    second.key = "\(key).credit"
    _ = try Arguments.name(second.key ?? "", "--key", as: RequestKey.self)
    _ = try await administer(name, .setCreditLimit(limit), "set-credit-limit", second)
    if isGenerated, !options.isDryRun { try remark("key", key.text) }
    return try await administer(name, change, "set-cap", first)
  }

  /// The name of a plan is a name like others in the ledger.
  func planName(_ text: String, _ argument: String) throws -> String {
    do throws(InvalidValue) {
      return try RequestKey(validating: text).text
    } catch {
      throw ConsoleError(
        InvalidValue(
          kind: "plan name", rule: error.rule, offset: error.offset, problem: error.problem, accepted: error.accepted),
        in: argument)
    }
  }

  private func administer(
    _ name: AccountName, _ change: AccountAdministration.Change, _ word: String, _ options: WriteOptions,
    create: Bool = false, reason: String? = nil
  ) async throws -> Answer {
    if let key = options.key { _ = try Arguments.name(key, "--key", as: RequestKey.self) }
    return try await write(options, create: create) { write in
      if !create { _ = try await customer(name.text, "ACCOUNT", in: write.store) }
      let receipt = try await send(
        .administer(AccountAdministration(account: name, key: write.key, change, reason: reason)), write)
      return changed(name.text, word, write.key, receipt, options)
    }
  }

  private func changed(
    _ name: String, _ word: String, _ key: RequestKey, _ receipt: LedgerReceipt, _ options: WriteOptions
  ) -> Answer {
    let listing = Listing(
      [
        Column("seq"), Column("account"), Column("change"), Column("key"), Column("replayed", for: .machines),
        Column("dry_run", for: .machines),
      ],
      rows: [
        [
          .integer(receipt.seq), .text(name), .text(word), .text(key.text), .flag(receipt.isReplay),
          .flag(options.isDryRun),
        ]
      ])
    return noted(Answer(row: listing), receipt, options)
  }
}
