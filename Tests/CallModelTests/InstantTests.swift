import CallModel
import Testing

@Suite("Instants and dates")
struct InstantTests {
  @Test(
    "prints RFC 3339 in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (86_399_999, "1970-01-01T23:59:59.999Z"), (86_400_000, "1970-01-02T00:00:00.000Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_795_239_004_118, "2026-11-21T05:30:04.118Z"),
      (4_102_444_800_000, "2100-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (-2_203_891_200_001, "1900-02-28T23:59:59.999Z"),
    ] as [(Int64, String)])
  func prints(_ milliseconds: Int64, _ text: String) {
    #expect(Instant(milliseconds: milliseconds).description == text)
  }

  @Test("saturates instead of wrapping")
  func saturation() {
    let cases: [(Instant, Int64, Instant)] = [
      (Instant(milliseconds: 5), 7, Instant(milliseconds: 12)), (.distantFuture, 1, .distantFuture),
      (.distantPast, -1, .distantPast), (.distantFuture, .max, .distantFuture), (.distantPast, .min, .distantPast),
      (.distantFuture, -1, Instant(milliseconds: .max - 1)), (.distantPast, .max, Instant(milliseconds: -1)),
    ]
    for (start, delta, end) in cases { #expect(start.advanced(byMilliseconds: delta) == end, "\(start) \(delta)") }
    #expect(Instant.distantFuture.milliseconds(since: .distantPast) == .max)
    #expect(Instant.distantPast.milliseconds(since: .distantFuture) == .min)
    #expect(Instant(milliseconds: 7).milliseconds(since: Instant(milliseconds: 9)) == -2)
    #expect(Instant(seconds: .max) == .distantFuture)
    #expect(Instant(seconds: .min) == .distantPast)
    #expect(Instant(seconds: -3) == Instant(milliseconds: -3000))
    #expect(Instant.distantPast < Instant(milliseconds: 0))
    #expect(Instant.distantPast.description.hasSuffix("Z"))
    #expect(Instant.distantFuture.description.hasSuffix("Z"))
  }

  @Test("every day from 1600 to 2400 follows the one before")
  func days() throws {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var (year, month, day): (Int64, Int, Int) = (1600, 1, 1)
    let first = try #require(CivilDate(year: 1600, month: 1, day: 1)).dayNumber
    #expect(first == -135_140)
    var number = first
    while year <= 2400 {
      let date = CivilDate(dayNumber: number)
      guard date.year == year, date.month == month, date.day == day, date.dayNumber == number,
        CivilDate(year: year, month: month, day: day) == date
      else {
        Issue.record("day \(number) is \(date), expected \(year)-\(month)-\(day)")
        return
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let length = lengths[month - 1] + (month == 2 && isLeap ? 1 : 0)
      day += 1
      if day > length { (day, month) = (1, month + 1) }
      if month > 12 { (month, year) = (1, year + 1) }
      number += 1
    }
  }

  @Test("days that do not exist are nil")
  func absentDays() {
    let absent: [(Int64, Int, Int)] = [
      (2026, 2, 29), (2024, 2, 30), (1900, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1),
      (2026, 1, 0),
      (2026, 1, 32), (0, 1, 1), (10_000, 1, 1), (-1, 1, 1), (.max, 1, 1), (.min, 1, 1), (2026, .max, .max),
    ]
    for (year, month, day) in absent {
      #expect(CivilDate(year: year, month: month, day: day) == nil, "\(year)-\(month)-\(day)")
    }
    for (year, month, day) in [(2024, 2, 29), (2000, 2, 29), (1, 1, 1), (9999, 12, 31)] as [(Int64, Int, Int)] {
      #expect(CivilDate(year: year, month: month, day: day) != nil, "\(year)-\(month)-\(day)")
    }
  }

  @Test(
    "the first of the next month",
    arguments: [("2026-01-31", "2026-02-01"), ("2026-12-01", "2027-01-01"), ("2024-02-29", "2024-03-01")])
  func months(_ text: String, _ next: String) throws {
    let parts = text.split(separator: "-").compactMap { Int64($0) }
    let date = try #require(CivilDate(year: parts[0], month: Int(parts[1]), day: Int(parts[2])))
    #expect(date.description == text)
    #expect(date.firstOfNextMonth.description == next)
    #expect(date < date.firstOfNextMonth)
  }

  @Test("day numbers at the end of their range do not trap", arguments: [Int64.max, Int64.min, Int64.max - 719_467])
  func extremeDays(_ number: Int64) {
    #expect(!CivilDate(dayNumber: number).description.isEmpty)
  }
}
