import CallModel
import LedgerCore

/// Holds: credit reserved for calls, and how those calls ended.
enum HoldReport {
  static let columns = [
    Column("seq", .number), Column("account"), Column("call"), Column("state"), Column("destination"),
    Column("granted_seconds", title: "granted s", .number), Column("amount", title: "held", .amount),
    Column("currency"),
    Column("node"), Column("epoch", .number), Column("authorised_at", title: "authorised"),
    Column("answered_at", title: "answered", for: .machines), Column("resolved_at", title: "resolved", for: .machines),
    Column("duration_ms", title: "duration ms", .number, for: .machines), Column("cost", .amount), Column("reason"),
    Column("prefix", for: .machines), Column("deck", for: .machines),
    Column("rate", title: "rate a minute", .rate, for: .machines),
  ]

  static func listing(_ holds: [Hold], account: (Int64) throws -> LedgerAccount) throws -> Listing {
    var listing = Listing(columns)
    for hold in holds {
      let account = try account(hold.account)
      listing.rows.append([
        .integer(hold.seq), .text(account.displayName), .text(hold.call.text), .text(hold.state.rawValue),
        .text(hold.destination), .integer(hold.grantedSeconds), .amount(try account.credits(hold.amount)),
        .text("\(account.currency)"), .text(hold.node.text), .integer(hold.epoch), .instant(hold.authorisedAt),
        .instant(optional: hold.answeredAt), .instant(optional: hold.resolvedAt), .integer(optional: hold.duration),
        try hold.cost.map { .amount(try account.credits($0)) } ?? .absent, .text(optional: hold.reason),
        .text(hold.snapshot.prefix), .text(hold.snapshot.deck),
        .rate(hold.snapshot.segment(at: hold.answeredAt ?? .distantPast).tariff.tiers[0].ratePerMinute),
      ])
    }
    return listing
  }

  static func list(
    _ reading: any LedgerReading, account: String?, node: String?, includesEnded: Bool, page: PageOptions
  ) throws -> Answer {
    var lookup = LedgerLookup(reading)
    let holds = try reading.holds(
      HoldFilter(
        account: try account.map { try lookup.customer($0, "--account").id },
        node: try node.map { try Arguments.name($0, "--node") }, openOnly: !includesEnded, after: page.after ?? 0,
        limit: page.limit))
    let listing = try listing(holds) { try lookup.account(id: $0) }
    var answer = Answer("holds", listing, asOf: try reading.head())
    answer.members.append(
      ("next_after", holds.count == page.limit ? holds.last.map { .integer($0.seq) } ?? .null : .null))
    return answer
  }

  static func show(_ reading: any LedgerReading, call text: String, account name: String?) throws -> Answer {
    var lookup = LedgerLookup(reading)
    let call = try Arguments.name(text, "CALL", as: CallID.self)
    var found: Hold?
    if let name {
      found = try reading.hold(account: try lookup.customer(name, "--account").id, call: call)
    } else {
      for account in try reading.allAccounts() where account.kind.isCustomer && found == nil {
        found = try reading.hold(account: account.id, call: call)
      }
    }
    guard let hold = found else {
      throw ConsoleError(
        .notFound, code: LedgerRefusal.unknownCall.rawValue, LedgerRefusal.unknownCall.explanation, at: text,
        fix: "landline hold list --all")
    }
    let account = try lookup.account(id: hold.account)
    var record = try listing([hold]) { try lookup.account(id: $0) }
    for index in record.columns.indices { record.columns[index].audience = .everyone }
    var grants = Listing([
      Column("number", title: "grant", .number), Column("at", title: "time"),
      Column("granted_seconds", title: "granted s", .number), Column("amount", title: "held", .amount),
    ])
    for grant in try reading.grants(ofHold: hold.seq) {
      grants.rows.append([
        .integer(grant.number), .instant(grant.at), .integer(grant.grantedSeconds),
        .amount(try account.credits(grant.amount)),
      ])
    }
    var answer = Answer(record: record, asOf: try reading.head())
    answer.blocks += [.line(""), .listing(grants)]
    answer.members.append(("grants", .array(grants.json)))
    return answer
  }
}
