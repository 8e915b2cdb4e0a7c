import CallModel
import LedgerCore
import NodeCore
import RoutingCore

extension RESTService {
  private static let noteMember = RESTRoute.Member(
    name: "note", kind: .text, description: "for people, at most \(LedgerOperation.maximumDetailBytes) bytes")
  private static let amountMember = RESTRoute.Member(
    name: "amount", kind: .amount, isRequired: true, description: "a decimal text such as \"12.50\"")

  var moneyRoutes: [RESTRoute] {
    [
      movement(
        "topups", "topUp", "Book money that came in",
        [
          RESTService.amountMember,
          .init(name: "method", kind: .text, isRequired: true, description: "how it was paid, such as card"),
          RESTService.noteMember,
        ]
      ) { call, account in
        (
          .topup(method: try call.name("method", as: RequestKey.self) ?? RequestKey(unchecked: "other")),
          try call.positive("amount", account.currency)
        )
      },
      movement(
        "refunds", "refund", "Undo a charge, or pay a top-up back",
        [
          .init(name: "transfer", kind: .integer, isRequired: true, description: "seq of the transfer to undo"),
          .init(name: "amount", kind: .amount, description: "all that is left of it by default"),
          RESTService.noteMember,
        ]
      ) { call, account in
        guard let seq = try call.integer("transfer"), seq > 0 else {
          throw RESTCall.invalid("transfer", "not the number of a transfer", fix: "seq of an entry of the history")
        }
        return (.refund(of: seq), try call.positive("amount", account.currency))
      },
      movement(
        "adjustments", "adjust", "Correct a balance",
        [
          .init(name: "amount", kind: .amount, isRequired: true, description: "negative to take credit away"),
          .init(name: "reason", kind: .text, isRequired: true, description: "for people"),
          .init(name: "force", kind: .flag, description: "also below the limit; locks the account then"),
        ], noteName: "reason"
      ) { call, account in
        let amount = try call.amount("amount", account.currency)
        guard amount.map({ $0.micros != 0 }) ?? false else {
          throw RESTCall.invalid("amount", "zero moves nothing", fix: "an amount such as 12.50 or -12.50")
        }
        guard try !call.required("reason").isEmpty else {
          throw RESTCall.invalid("reason", "a correction needs a reason", fix: "\"duplicate top-up of 3 May\"")
        }
        return (.adjust(force: try call.flag("force") ?? false), amount)
      },
      movement(
        "transfers", "transfer", "Move credit to another account",
        [
          .init(name: "to", kind: .text, isRequired: true, description: "name of the account that receives"),
          RESTService.amountMember, RESTService.noteMember,
        ]
      ) { call, account in
        let to = try call.name("to", as: AccountName.self) ?? AccountName(unchecked: "")
        guard to.text != account.name else {
          throw RESTCall.invalid("to", "both accounts are the same", fix: "another account")
        }
        return (.transfer(to: to), try call.positive("amount", account.currency))
      },
    ]
  }

  private func movement(
    _ path: String, _ id: String, _ summary: String, _ members: [RESTRoute.Member], noteName: String = "note",
    _ plan: @escaping @Sendable (RESTCall, LedgerAccount) throws -> (MoneyMovement.Kind, Credits?)
  ) -> RESTRoute {
    RESTRoute(
      method: "POST", path: "/v1/accounts/{name}/\(path)", id: id, summary: summary, access: .operators,
      repeating: .keyRequired, backing: .ledger, body: members, success: .json(201, "Movement"),
      problems: [
        .accountUnknown, ProblemCode(.unknownTransfer), ProblemCode(.insufficientCredit),
        ProblemCode(.amountOutOfRange), ProblemCode(.amountTooLarge), ProblemCode(.counterAccountFull),
        ProblemCode(.currencyMismatch), ProblemCode(.accountClosed),
      ]
    ) { call in
      let (principal, stores) = try call.environment()
      let name = try call.account()
      guard let account = try await stores.ledger.read({ try $0.customer(named: name.text) }) else {
        throw Problem(.unknownAccount)
      }
      let (kind, amount) = try plan(call, account)
      let receipt = try await stores.ledger.perform(
        LedgerOperation(
          .move(
            MoneyMovement(
              account: name, key: call.key, kind, amount: amount, detail: try call.note(noteName),
              largest: stores.largestAmountMicros)),
          at: call.now, actor: principal.actor))
      if let refusal = receipt.refusal { throw Problem(refusal) }
      guard case .posted(let seq, let moved, let balance) = receipt.outcome else {
        throw Problem(.internalFault, "the ledger gave an answer to another question")
      }
      return .json(
        201,
        .members(
          [
            ("seq", .integer(seq)), ("account", .string(name.text)), ("kind", .string(id == "topUp" ? "topup" : id)),
            ("currency", .string("\(account.currency)")),
          ] + RESTTrees.money("amount", moved) + RESTTrees.money("balance", balance)
            + [("key", .string(call.key.text))]))
    }
  }

  // MARK: - History

  /// Newest first. The ledger reads forward: pages are cut out of its newest rows up to an instant.
  static let history: RESTRoute.Handler = { call in
    let (_, stores) = try call.environment()
    let name = try call.account()
    let limit = try call.limit()
    let (from, to) = (try call.instant("from"), try call.instant("to"))
    var place: (seq: Int64, at: Instant)?
    if let cursor = call.query["cursor"] {
      guard let numbers = RESTCursor.read(cursor, "history", count: 2) else {
        throw Problem(.cursorInvalid, "the cursor cannot be read")
      }
      place = (numbers[0], Instant(milliseconds: numbers[1]))
    }
    let before = place
    let showsOthers = call.ownAccount == nil
    let found = try await stores.ledger.read { reading -> (LedgerAccount, [JSONValue], HistoryLine?)? in
      guard let account = try reading.customer(named: name.text) else { return nil }
      let lines = try page(reading, account, limit: limit + 1, from: from, to: to, before: before)
      var others: [Int64: LedgerAccount] = [:]
      let trees = try lines.prefix(limit).map { try line($0, account, reading, &others, showsOthers: showsOthers) }
      return (account, Array(trees), lines.count > limit ? lines[limit - 1] : nil)
    }
    guard let (account, entries, last) = found else { throw Problem(.unknownAccount) }
    let next = last.map { RESTCursor.write("history", [$0.transfer.seq, $0.transfer.at.milliseconds]) }
    return .json(
      200,
      .members([
        ("account", .string(account.name)), ("currency", .string("\(account.currency)")), ("entries", .array(entries)),
        ("next", .string(optional: next)),
      ]), headers: link(call, next))
  }

  private static func page(
    _ reading: any LedgerReading, _ account: LedgerAccount, limit: Int, from: Instant?, to: Instant?,
    before: (seq: Int64, at: Instant)?
  ) throws -> [HistoryLine] {
    var end = to
    if let before { end = min(to ?? .distantFuture, before.at.advanced(byMilliseconds: 1)) }
    // Several entries may share the instant of the place: as many more are read as are needed to step over them.
    var asked = limit + 1
    while true {
      let rows = try reading.history(
        of: account.id, HistoryRange(from: from, to: end, limit: asked, newest: true))
      let wanted = rows.reversed().filter { row in before.map { row.transfer.seq < $0.seq } ?? true }
      if wanted.count >= limit || rows.count < asked { return Array(wanted.prefix(limit)) }
      asked *= 2
    }
  }

  /// - Parameter showsOthers: whether the balance of the other side's account is told: to operators alone.
  static func line(
    _ line: HistoryLine, _ account: LedgerAccount, _ reading: any LedgerReading,
    _ others: inout [Int64: LedgerAccount], showsOthers: Bool
  ) throws -> JSONValue {
    let (transfer, entry) = (line.transfer, line.entry)
    let booked = try reading.transfer(seq: transfer.seq)
    let otherID = transfer.debit == account.id ? transfer.credit : transfer.debit
    if others[otherID] == nil { others[otherID] = try reading.account(id: otherID) }
    let other = others[otherID]
    let hold = try transfer.call.flatMap { try reading.hold(account: account.id, call: $0) }
    let charge = transfer.kind == .call ? hold : nil
    let postings = [booked?.debit, booked?.credit].compactMap { $0 }.map { posting -> JSONValue in
      let isOwn = posting.account == account.id
      let owner = isOwn ? account : other
      return .members(
        [("account", .string(owner.map { $0.kind.isCustomer ? $0.name : $0.journalName } ?? ""))]
          + RESTTrees.money("amount", posting.amount)
          + RESTTrees.money("balance", isOwn || showsOthers ? posting.balanceAfter : nil))
    }
    let rate = charge?.snapshot.segment(at: charge?.answeredAt ?? .distantPast).tariff.tiers.first?.ratePerMinute
    return .members(
      [
        ("seq", .integer(transfer.seq)), ("time", .string("\(transfer.at)")), ("kind", .string(transfer.kind.rawValue)),
      ] + RESTTrees.money("amount", entry.amount) + RESTTrees.money("balance", entry.balanceAfter) + [
        ("currency", .string("\(account.currency)")),
        ("counterpart", .string(optional: other.map { $0.kind.isCustomer ? $0.name : $0.journalName })),
        ("call", .string(optional: transfer.call?.text)), ("destination", .string(optional: hold?.destination)),
        ("duration_ms", .integer(optional: charge?.duration)),
        (
          "billed_seconds",
          .integer(optional: charge.map { $0.settlement(milliseconds: $0.duration ?? 0).billedSeconds })
        ),
        ("rate", .string(optional: rate.map { $0.decimal })),
        ("rate_nano", .integer(optional: rate?.count)), ("reason", .string(optional: charge?.reason)),
        ("reverses", .integer(optional: transfer.reverses)), ("key", .string(transfer.key)),
        ("actor", .string(transfer.actor)), ("detail", .string(transfer.detail)),
        ("postings", .array(postings)),
      ])
  }
}
