/// A wall-clock instant: milliseconds since 1970-01-01T00:00:00Z. A label on an event; durations that cost
/// money are measured on a monotonic clock and travel as ``CallDuration``.
public struct Instant: Hashable, Comparable, Sendable {
  /// Since 1970-01-01T00:00:00Z, without leap seconds; negative before.
  public let milliseconds: Int64

  /// Any value is accepted.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  /// Saturates where the milliseconds would not fit.
  public init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    self.milliseconds = overflow ? (seconds > 0 ? .max : .min) : product
  }

  /// Before every other instant: stands for "since ever", such as the start of a price that always held.
  public static let distantPast = Instant(milliseconds: .min)
  /// After every other instant: stands for "without an end".
  public static let distantFuture = Instant(milliseconds: .max)

  /// Saturates instead of wrapping, so that a hostile or broken clock cannot trap.
  public func advanced(byMilliseconds delta: Int64) -> Instant {
    let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
    return overflow ? (delta > 0 ? .distantFuture : .distantPast) : Instant(milliseconds: sum)
  }

  /// Milliseconds from `earlier` to this instant; saturates.
  public func milliseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    return overflow ? (milliseconds > earlier.milliseconds ? .max : .min) : difference
  }

  /// The earlier one first.
  public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
}

extension Instant: CustomStringConvertible {
  /// RFC 3339 in UTC with milliseconds: `2026-11-21T05:30:04.118Z`.
  public var description: String {
    var (days, inDay) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    if inDay < 0 {
      days -= 1
      inDay += 86_400_000
    }
    let date = CivilDate(dayNumber: days)
    func padded(_ value: Int64, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
    let clock =
      "\(padded(inDay / 3_600_000, 2)):\(padded(inDay / 60_000 % 60, 2)):\(padded(inDay / 1000 % 60, 2)).\(padded(inDay % 1000, 3))"
    return "\(date)T\(clock)Z"
  }
}

/// A date of the proleptic Gregorian calendar.
public struct CivilDate: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Largest magnitude of a day number: the days that an ``Instant`` can name.
  public static let maximumDayNumber: Int64 = 106_751_991_168

  /// Astronomical: year 0 comes before year 1, and may be negative.
  public let year: Int64
  /// 1 to 12.
  public let month: Int
  /// 1 to 31.
  public let day: Int

  /// The date that lies `dayNumber` days after 1970-01-01.
  ///
  /// A number past ±``maximumDayNumber`` is taken as the nearest that is not.
  /// Counts in 400-year cycles of 146,097 days that start on 1 March, so that the leap day ends a cycle's year.
  public init(dayNumber: Int64) {
    let dayNumber = min(max(dayNumber, -CivilDate.maximumDayNumber), CivilDate.maximumDayNumber)
    let shifted = dayNumber + 719_468
    let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfCycle = shifted - cycle * 146_097
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
    year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
  }

  /// - Returns: `nil` unless the three name a day that exists.
  public init?(year: Int64, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
    let candidate = CivilDate(dayNumber: CivilDate.dayNumber(year: year, month: month, day: day))
    guard candidate.year == year, candidate.month == month, candidate.day == day else { return nil }
    self = candidate
  }

  /// Days since 1970-01-01.
  public var dayNumber: Int64 { CivilDate.dayNumber(year: year, month: month, day: day) }

  private static func dayNumber(year: Int64, month: Int, day: Int) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let cycle = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfCycle = shiftedYear - cycle * 400
    let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * 146_097 + dayOfCycle - 719_468
  }

  /// The first day of the month after this date's.
  public var firstOfNextMonth: CivilDate {
    CivilDate(
      dayNumber: CivilDate.dayNumber(
        year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1))
  }

  /// `2026-11-21`; a year below 1000 is filled up with zeros.
  public var description: String {
    func padded(_ value: Int64, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
    return "\(padded(year, 4))-\(padded(Int64(month), 2))-\(padded(Int64(day), 2))"
  }

  /// The earlier one first.
  public static func < (left: CivilDate, right: CivilDate) -> Bool { left.dayNumber < right.dayNumber }
}
