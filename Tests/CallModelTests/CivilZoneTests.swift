import CallModel
import Testing

@Suite("Time zones")
struct CivilZoneTests {
  /// An instant from `YYYY-MM-DD HH:MM:SS` in UTC.
  static func utc(_ text: String) throws -> Instant {
    let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
    let date = try #require(CivilDate(year: numbers[0], month: Int(numbers[1]), day: Int(numbers[2])))
    return Instant(seconds: date.dayNumber * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
  }

  static func date(_ text: String) throws -> CivilDate {
    let numbers = text.split(separator: "-").compactMap { Int64($0) }
    return try #require(CivilDate(year: numbers[0], month: Int(numbers[1]), day: Int(numbers[2])))
  }

  @Test(
    "offset, local day and minute of the week on both sides of each clock change",
    arguments: [
      // Forward: 02:00 becomes 03:00 on Sunday.
      ("Europe/Stockholm", "2026-03-29 00:59:59", 3600, "2026-03-29", 6 * 1440 + 119),
      ("Europe/Stockholm", "2026-03-29 01:00:00", 7200, "2026-03-29", 6 * 1440 + 180),
      // Back: 03:00 becomes 02:00, the hour is there twice.
      ("Europe/Stockholm", "2026-10-25 00:00:00", 7200, "2026-10-25", 6 * 1440 + 120),
      ("Europe/Stockholm", "2026-10-25 00:59:59", 7200, "2026-10-25", 6 * 1440 + 179),
      ("Europe/Stockholm", "2026-10-25 01:00:00", 3600, "2026-10-25", 6 * 1440 + 120),
      ("America/New_York", "2026-03-08 06:59:59", -18_000, "2026-03-08", 6 * 1440 + 119),
      ("America/New_York", "2026-03-08 07:00:00", -14_400, "2026-03-08", 6 * 1440 + 180),
      ("America/New_York", "2026-11-01 05:59:59", -14_400, "2026-11-01", 6 * 1440 + 119),
      ("America/New_York", "2026-11-01 06:00:00", -18_000, "2026-11-01", 6 * 1440 + 60),
      // Half an hour of daylight saving.
      ("Australia/Lord_Howe", "2026-04-04 14:59:59", 39_600, "2026-04-05", 6 * 1440 + 119),
      ("Australia/Lord_Howe", "2026-04-04 15:00:00", 37_800, "2026-04-05", 6 * 1440 + 90),
      // Midnight skipped, midnight repeated.
      ("America/Sao_Paulo", "2018-11-04 02:59:59", -10_800, "2018-11-03", 5 * 1440 + 1439),
      ("America/Sao_Paulo", "2018-11-04 03:00:00", -7200, "2018-11-04", 6 * 1440 + 60),
      ("America/Sao_Paulo", "2018-02-18 01:59:59", -7200, "2018-02-17", 5 * 1440 + 1439),
      ("America/Sao_Paulo", "2018-02-18 02:00:00", -10_800, "2018-02-17", 5 * 1440 + 1380),
      ("Asia/Kathmandu", "2026-01-04 18:14:59", 20_700, "2026-01-04", 6 * 1440 + 1439),
      ("Asia/Kathmandu", "2026-01-04 18:15:00", 20_700, "2026-01-05", 0),
      ("UTC", "1970-01-01 00:00:00", 0, "1970-01-01", 3 * 1440),
      ("UTC", "1969-12-31 23:59:59", 0, "1969-12-31", 2 * 1440 + 1439),
      ("UTC", "2026-11-23 00:00:00", 0, "2026-11-23", 0),
      ("UTC", "2026-11-22 23:59:59", 0, "2026-11-22", 10_079),
    ] as [(String, String, Int64, String, Int)])
  func changes(_ name: String, _ text: String, _ offset: Int64, _ day: String, _ minute: Int) throws {
    let zone = try CivilZone(name)
    let instant = try Self.utc(text)
    #expect(zone.offsetSeconds(at: instant) == offset)
    #expect(zone.date(at: instant).description == day)
    #expect(zone.minuteOfWeek(at: instant) == minute)
  }

  @Test(
    "the first instant of a local day",
    arguments: [
      ("UTC", "2026-11-21", "2026-11-21 00:00:00"), ("Europe/Stockholm", "2026-01-15", "2026-01-14 23:00:00"),
      ("Europe/Stockholm", "2026-03-29", "2026-03-28 23:00:00"),
      ("Europe/Stockholm", "2026-03-30", "2026-03-29 22:00:00"),
      ("Europe/Stockholm", "2026-10-25", "2026-10-24 22:00:00"),
      ("Europe/Stockholm", "2026-10-26", "2026-10-25 23:00:00"),
      // Midnight does not exist: the day starts at 01:00.
      ("America/Sao_Paulo", "2018-11-04", "2018-11-04 03:00:00"),
      ("America/Sao_Paulo", "2018-11-05", "2018-11-05 02:00:00"),
      // 23:00 to 24:00 comes twice: the day starts after the second.
      ("America/Sao_Paulo", "2018-02-18", "2018-02-18 03:00:00"),
      ("America/Sao_Paulo", "2018-02-17", "2018-02-17 02:00:00"),
      // Midnight comes twice: the first one counts.
      ("America/Havana", "2026-11-01", "2026-11-01 04:00:00"), ("America/Havana", "2026-03-08", "2026-03-08 05:00:00"),
      // 30 December 2011 was left out: what follows it is the first instant after it.
      ("Pacific/Apia", "2011-12-29", "2011-12-29 10:00:00"), ("Pacific/Apia", "2011-12-30", "2011-12-30 10:00:00"),
      ("Pacific/Apia", "2011-12-31", "2011-12-30 10:00:00"),
      ("Pacific/Kiritimati", "2026-11-21", "2026-11-20 10:00:00"),
      ("Asia/Kathmandu", "2026-11-21", "2026-11-20 18:15:00"),
      ("America/St_Johns", "2010-11-07", "2010-11-07 02:30:00"),
    ])
  func starts(_ name: String, _ day: String, _ text: String) throws {
    let zone = try CivilZone(name)
    let start = zone.startOfDay(try Self.date(day))
    let expected = try Self.utc(text)
    #expect(start == expected, "\(start)")
    #expect(zone.dayNumber(at: Instant(milliseconds: start.milliseconds - 1)) < zone.dayNumber(at: start))
  }

  @Test(
    "each day starts where the one before ends",
    arguments: ["Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
  func wholeYear(_ name: String) throws {
    let zone = try CivilZone(name)
    let first = try Self.date("2026-01-01").dayNumber
    for number in first..<first + 366 {
      let start = zone.startOfDay(CivilDate(dayNumber: number))
      #expect(zone.dayNumber(at: start) == number)
      #expect(zone.dayNumber(at: Instant(milliseconds: start.milliseconds - 1)) == number - 1)
      let hours = zone.startOfDay(CivilDate(dayNumber: number + 1)).milliseconds(since: start) / 60_000
      #expect([1380, 1410, 1440, 1470, 1500].contains(hours), "\(CivilDate(dayNumber: number)) has \(hours) minutes")
    }
  }

  @Test("fractions of a second before 1970 belong to the second that holds them")
  func fractions() throws {
    let zone = try CivilZone("Europe/London")
    // British Standard Time was one hour ahead all year in 1970.
    #expect(zone.date(at: Instant(milliseconds: -3_600_001)).description == "1969-12-31")
    #expect(zone.date(at: Instant(milliseconds: -3_600_000)).description == "1970-01-01")
    #expect(zone.minuteOfWeek(at: Instant(milliseconds: -1)) == 3 * 1440 + 59)
  }

  @Test(
    "names that are not known are refused",
    arguments: [
      "", "Europe/Atlantis", "../../etc/passwd", "Europe/Stockholm ", "\u{0}", String(repeating: "a", count: 10_000),
    ])
  func unknown(_ name: String) {
    let error = #expect(throws: InvalidValue.self) { try CivilZone(name) }
    #expect(error?.rule == "zone.name")
  }

  @Test("UTC has one identity", arguments: ["UTC", "Etc/UTC", "Z"])
  func utcNames(_ name: String) throws {
    #expect(try CivilZone(name) == .utc)
    #expect(try CivilZone(name).description == "UTC")
  }

  @Test("the ends of time do not trap", arguments: [Instant.distantPast, .distantFuture, Instant(milliseconds: 0)])
  func extremes(_ instant: Instant) throws {
    for name in ["UTC", "Europe/Stockholm", "Pacific/Apia"] {
      let zone = try CivilZone(name)
      #expect((0..<10_080).contains(zone.minuteOfWeek(at: instant)))
      #expect(abs(zone.offsetSeconds(at: instant)) <= 16 * 3600)
      _ = zone.startOfDay(zone.date(at: instant))
    }
    for number in [Int64.min, .max] { _ = CivilZone.utc.startOfDay(CivilDate(dayNumber: number)) }
  }
}
