import CallModel
import RoutingCore
import Testing

@Suite struct TimeClassesTests {
  private static let stockholm = try? CivilZone("Europe/Stockholm")

  @Test func theClassAtAnInstantFollowsTheLocalWeek() throws {
    let zone = try #require(Self.stockholm)
    let classes = try TimeClasses(
      parsing: "peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 00:00-24:00; night=mon 22:00-02:00", zone: zone)
    #expect(classes.names == ["standard", "peak", "weekend", "night"])
    #expect(classes.text == "peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 00:00-24:00; night=Mon 22:00-02:00")
    // 2026-11-23 is a Monday; Stockholm is an hour ahead of UTC.
    for (day, hour, minute, name) in [
      ("2026-11-23", 6, 59, "standard"), ("2026-11-23", 7, 0, "peak"), ("2026-11-23", 18, 59, "peak"),
      ("2026-11-23", 19, 0, "standard"), ("2026-11-23", 21, 0, "night"), ("2026-11-24", 0, 59, "night"),
      ("2026-11-24", 1, 0, "standard"), ("2026-11-20", 23, 0, "weekend"), ("2026-11-22", 22, 59, "weekend"),
      ("2026-11-22", 23, 0, "standard"),
    ] as [(String, Int64, Int64, String)] {
      let instant = try DeckFixture.instant(day, hour: hour, minute: minute)
      #expect(classes.names[classes.timeClass(at: instant)] == name, "\(instant)")
    }
    #expect(try TimeClasses(parsing: classes.text, zone: zone) == classes)
  }

  @Test(arguments: [
    ("peak", "classes.form"), ("peak=Mon", "classes.form"), ("standard=Mon 00:00-01:00", "classes.name"),
    ("Peak=Mon 00:00-01:00", "classes.name"), ("peak=Moo 00:00-01:00", "classes.day"),
    ("peak=Mon-Tue-Wed 00:00-01:00", "classes.day"), ("peak=Mon 00:00-25:00", "classes.time"),
    ("peak=Mon 1:00-02:00", "classes.time"), ("peak=Mon 02:00-02:00", "classes.time"),
    ("peak=Mon 24:00-02:00", "classes.time"), ("a=Mon 01:00-03:00; b=Mon 02:00-04:00", "classes.overlap"),
    ("a=Sun 23:00-02:00; b=Mon 01:00-04:00", "classes.overlap"),
    (
      "a=Mon 01:00-02:00;b=Mon 03:00-04:00;c=Mon 05:00-06:00;d=Mon 07:00-08:00", "classes.changes"
    ),
    (
      "a=Mon 01:00-02:00;b=Tue 01:00-02:00;c=Wed 01:00-02:00;d=Thu 01:00-02:00;e=Fri 01:00-02:00;"
        + "f=Sat 01:00-02:00;g=Sun 01:00-02:00;h=Sun 03:00-04:00", "classes.count"
    ),
  ])
  func badTextIsRefused(text: String, rule: String) throws {
    let error = #expect(throws: InvalidValue.self) { try TimeClasses(parsing: text, zone: .utc) }
    #expect(error?.rule == rule)
  }

  @Test func boundariesAgreeWithEveryMinute() throws {
    let zone = try #require(Self.stockholm)
    let classes = try TimeClasses(
      parsing: "early=Sun 02:30-03:30; peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 04:00-24:00", zone: zone)
    // Clocks go forward on 2026-03-29 and back on 2026-10-25; odd starts test the alignment.
    for day in ["2026-03-28", "2026-03-29", "2026-10-24", "2026-10-25", "2026-06-12"] {
      for offset in [0, 1, 59_999, 3_600_500] as [Int64] {
        let start = try DeckFixture.instant(day).advanced(byMilliseconds: offset)
        let end = start.advanced(byMilliseconds: 50 * 3_600_000)
        var wanted = [TimeClasses.Boundary]()
        var instant = start
        while instant < end {
          let timeClass = classes.timeClass(at: instant)
          if wanted.last?.timeClass != timeClass { wanted.append(.init(from: instant, timeClass: timeClass)) }
          instant = Instant(milliseconds: (instant.milliseconds / 60_000 + 1) * 60_000)
        }
        #expect(classes.boundaries(from: start, until: end) == wanted, "\(start)")
      }
    }
  }

  @Test func extremeInstantsEnd() throws {
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: .utc)
    _ = classes.boundaries(from: Instant(milliseconds: .max - 5), until: .distantFuture)
    _ = classes.boundaries(from: .distantFuture, until: .distantFuture)
    #expect(TimeClasses.none(.utc).boundaries(from: .distantPast, until: .distantFuture).count == 1)
  }
}
