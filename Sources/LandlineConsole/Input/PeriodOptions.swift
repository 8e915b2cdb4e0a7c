import CallModel

/// `--from`, `--to` and `--month`: a half-open stretch of time.
package struct PeriodOptions: Sendable {
  package var from: String?
  package var to: String?
  package var month: String?

  package init(from: String? = nil, to: String? = nil, month: String? = nil) {
    self.from = from
    self.to = to
    self.month = month
  }

  func period(now: Instant, zone: CivilZone) throws -> Period {
    if let month {
      guard from == nil, to == nil else {
        throw ConsoleError.usage(
          "period.options", "a month and a range exclude each other", at: "--month",
          fix: "--month, or --from and --to")
      }
      return try Period(month: month, zone: zone)
    }
    var period = Period(from: nil, to: nil)
    if let from {
      period.from = try Arguments.value("--from") { () throws(InvalidValue) in
        try InstantText.parse(from, now: now, zone: zone)
      }
    }
    if let to {
      period.to = try Arguments.value("--to") { () throws(InvalidValue) in
        try InstantText.parse(to, now: now, zone: zone)
      }
    }
    if let from = period.from, let to = period.to, to <= from {
      throw ConsoleError.usage(
        "period.order", "the range ends before it starts: \(from) to \(to)", at: "--to",
        fix: "an end after the start; the end itself is not included")
    }
    return period
  }
}

/// From an instant to just before another; `nil` is open.
struct Period: Hashable, Sendable {
  var from: Instant?
  var to: Instant?

  init(from: Instant?, to: Instant?) {
    self.from = from
    self.to = to
  }

  /// A local month by its text: `2026-11`.
  init(month: String, zone: CivilZone) throws {
    let first = try Arguments.value("--month") { () throws(InvalidValue) in
      switch month {
      case _ where month.utf8.count == 7: try InstantText.month(month)
      default:
        throw InvalidValue(
          kind: "month", rule: "time.format", offset: nil, problem: "not a month", accepted: "a month such as 2026-11")
      }
    }
    self.init(month: first, zone: zone)
  }

  init(month first: CivilDate, zone: CivilZone) {
    self.init(from: zone.startOfDay(first), to: zone.startOfDay(first.firstOfNextMonth))
  }

  func contains(_ instant: Instant) -> Bool {
    (from.map { $0 <= instant } ?? true) && (to.map { instant < $0 } ?? true)
  }
}
