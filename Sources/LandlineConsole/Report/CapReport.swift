import CallModel
import LedgerCore

/// The limits of one account and how far they are used.
enum CapReport {
  static let columns = [
    Column("cap_concurrent", title: "concurrent calls", .number),
    Column("cap_per_second", title: "calls a second", .number),
    Column("cap_per_call", title: "cost of a call", .amount),
    Column("cap_per_day", title: "cost of a day", .amount),
    Column("cap_highest_rate", title: "highest rate a minute", .rate),
    Column("cap_countries", title: "countries"),
  ]

  static func cells(_ account: LedgerAccount) throws -> [Cell] {
    let caps = account.caps
    return [
      .integer(optional: caps.concurrentCalls), .integer(optional: caps.callsPerSecond),
      try caps.perCall.map { .amount(try account.credits($0)) } ?? .absent,
      try caps.perDay.map { .amount(try account.credits($0)) } ?? .absent, .rate(optional: caps.highestRate),
      caps.countries.map { .list(names($0)) } ?? .absent,
    ]
  }

  private static func names(_ codes: [Int]) -> [String] {
    codes == CountryCallingCode.countries ? [CapOptions.anyCountry] : codes.map { String($0) }
  }

  static func show(_ reading: any LedgerReading, _ name: String, now: Instant) throws -> Answer {
    let account = try LedgerLookup(reading).customer(name)
    let zone = try CivilZone(account.zone)
    let day = zone.dayNumber(at: now)
    let counter = try reading.counters(of: account.id).first { $0.day == day }
    let spent = counter?.spent ?? 0
    let held = counter?.held ?? 0
    let left = account.caps.perDay.map { max(0, $0 - spent - held) }
    let listing = Listing(
      [Column("account"), Column("currency")] + columns + [
        Column("open_calls", title: "open calls", .number), Column("day", title: "day (\(account.zone))"),
        Column("day_spent", title: "spent that day", .amount), Column("day_held", title: "held that day", .amount),
        Column("day_left", title: "left that day", .amount),
      ],
      rows: [
        [.text(account.displayName), .text("\(account.currency)")] + (try cells(account)) + [
          .integer(account.openHolds), .text("\(CivilDate(dayNumber: day))"), .amount(try account.credits(spent)),
          .amount(try account.credits(held)), try left.map { .amount(try account.credits($0)) } ?? .absent,
        ]
      ])
    return Answer(record: listing, asOf: try reading.head())
  }
}
