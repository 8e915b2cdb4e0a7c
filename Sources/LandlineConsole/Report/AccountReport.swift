import CallModel
import LedgerCore

/// Accounts and their settings.
enum AccountReport {
  static let columns = [
    Column("account"), Column("kind"), Column("currency"), Column("status"), Column("posted", .amount),
    Column("held", .amount), Column("available", .amount),
    Column("credit_limit", title: "credit limit", .amount, for: .machines),
    Column("open_calls", title: "open calls", .number),
    Column("plan"), Column("zone"), Column("created_at", title: "created", for: .machines),
    Column("chart", for: .machines),
  ]

  static func row(_ account: LedgerAccount) throws -> [Cell] {
    let isCustomer = account.kind.isCustomer
    return [
      .text(account.displayName), .text(account.kind.rawValue), .text("\(account.currency)"),
      .text(account.status.rawValue), .amount(try account.credits(account.posted)),
      .amount(try account.credits(account.held)),
      isCustomer ? .amount(try account.credits(account.available)) : .absent,
      isCustomer ? .amount(try account.credits(-account.floor)) : .absent, .integer(account.openHolds),
      account.plan.isEmpty ? .absent : .text(account.plan), .text(account.zone), .instant(account.createdAt),
      .text(account.journalName),
    ]
  }

  static func list(_ reading: any LedgerReading, includesOperator: Bool) throws -> Answer {
    let accounts = try reading.allAccounts().filter { includesOperator || $0.kind.isCustomer }
    return Answer(
      "accounts", Listing(columns, rows: try accounts.map(row)), asOf: try reading.head())
  }

  static func show(_ reading: any LedgerReading, _ name: String) throws -> Answer {
    let account = try LedgerLookup(reading).customer(name)
    let lock = try reading.lock(of: account)
    var listing = Listing(
      columns + CapReport.columns + [
        Column("lock_reason", title: "locked because"), Column("locked_by", title: "locked by"),
        Column("locked_at", title: "locked at"),
      ],
      rows: [
        try row(account) + CapReport.cells(account) + [
          .text(optional: lock?.reason), .text(optional: lock?.actor), lock.map { .instant($0.at) } ?? .absent,
        ]
      ])
    for index in listing.columns.indices where listing.columns[index].audience == .machines {
      listing.columns[index].audience = .everyone
    }
    return Answer(record: listing, asOf: try reading.head())
  }
}
