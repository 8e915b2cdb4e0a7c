public import CallModel

/// Named windows of the local week, such as peak and weekend; whatever no window covers is ``standardName``.
///
/// The text form is `peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 00:00-24:00`. A name may stand several times; windows
/// must not overlap; a window whose end is not after its start runs into the next day. Times are local in ``zone``.
public struct TimeClasses: Hashable, Sendable {
  /// The class of every minute that no window covers. Index 0 in ``names``.
  public static let standardName = "standard"
  /// Named classes beside the standard one.
  public static let maximumClasses = 7
  /// Most windows in one text form.
  public static let maximumWindows = 64
  /// Most bytes of the text form.
  public static let maximumTextBytes = 2048
  /// Most bytes of a class's name: lower-case letters, digits and hyphens.
  public static let maximumNameBytes = 32
  /// Changes of class in any 24 hours of the week. Keeps every horizon of a rating within the segments of a snapshot.
  public static let maximumChangesADay = 7

  /// The class in force from a minute of the local week on.
  struct Change: Hashable, Sendable {
    let minute: Int
    let timeClass: Int
  }

  static let minutesAWeek = 10_080
  static let minutesADay = 1440

  /// Whose local time the windows are in, daylight saving included.
  public let zone: CivilZone
  /// `standard` first, then the named classes in the order of their first appearance.
  public let names: [String]
  /// Ascending by minute, the first at minute 0; neighbours differ in class.
  let changes: [Change]
  /// The text form, normalised; empty when there is no window.
  public let text: String

  /// No window: every minute is `standard`.
  public static func none(_ zone: CivilZone) -> TimeClasses {
    TimeClasses(
      zone: zone, names: [standardName], changes: [Change(minute: 0, timeClass: 0)], text: "")
  }

  private init(zone: CivilZone, names: [String], changes: [Change], text: String) {
    self.zone = zone
    self.names = names
    self.changes = changes
    self.text = text
  }

  /// Reads the text form.
  /// - Throws: ``InvalidValue`` with rules `classes.length`, `classes.form`, `classes.name`, `classes.day`,
  ///   `classes.time`, `classes.overlap`, `classes.count`, `classes.changes`; the offset is that of the part at fault.
  public init(parsing text: some StringProtocol, zone: CivilZone) throws(InvalidValue) {
    func refuse(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "time classes", rule: "classes.\(rule)", offset: offset, problem: problem,
        accepted: "windows such as peak=Mon-Fri 08:00-20:00; weekend=Sat-Sun 00:00-24:00")
    }
    let whole = String(text)
    guard whole.utf8.count <= TimeClasses.maximumTextBytes else {
      throw refuse("length", nil, "more than \(TimeClasses.maximumTextBytes) bytes")
    }
    var names = [TimeClasses.standardName]
    var week = [UInt8](repeating: 0, count: TimeClasses.minutesAWeek)
    var normalised: [String] = []
    var offset = 0
    for part in whole.split(separator: ";", omittingEmptySubsequences: false) {
      defer { offset += part.utf8.count + 1 }
      let item = TimeClasses.trimmed(part)
      if item.isEmpty { continue }
      guard normalised.count < TimeClasses.maximumWindows else {
        throw refuse("count", offset, "more than \(TimeClasses.maximumWindows) windows")
      }
      let halves = item.split(separator: "=", omittingEmptySubsequences: false)
      guard halves.count == 2 else { throw refuse("form", offset, "a window is written name=days times") }
      let name = TimeClasses.trimmed(halves[0])
      guard TimeClasses.isName(name), name != TimeClasses.standardName else {
        throw refuse(
          "name", offset,
          "a class name is 1 to \(TimeClasses.maximumNameBytes) of a-z, 0-9 and -, and not \(TimeClasses.standardName)")
      }
      let words = halves[1].split(separator: " ")
      guard words.count == 2 else { throw refuse("form", offset, "a window is written name=days times") }
      let days = words[0].split(separator: "-", omittingEmptySubsequences: false)
      guard (1...2).contains(days.count), let firstDay = TimeClasses.day(days[0]),
        let lastDay = TimeClasses.day(days[days.count - 1])
      else { throw refuse("day", offset, "the days are not known") }
      let times = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard times.count == 2, let start = TimeClasses.minute(times[0]), let end = TimeClasses.minute(times[1]),
        start < TimeClasses.minutesADay, end != start, end > 0
      else { throw refuse("time", offset, "the times are not two different times of the day") }
      let index: Int
      if let known = names.firstIndex(of: name) {
        index = known
      } else {
        guard names.count <= TimeClasses.maximumClasses else {
          throw refuse("count", offset, "more than \(TimeClasses.maximumClasses) classes")
        }
        index = names.count
        names.append(name)
      }
      let length = end > start ? end - start : end + TimeClasses.minutesADay - start
      let dayCount = (lastDay - firstDay + 7) % 7 + 1
      for day in 0..<dayCount {
        let first = (firstDay + day) % 7 * TimeClasses.minutesADay + start
        for minute in first..<first + length {
          let place = minute % TimeClasses.minutesAWeek
          guard week[place] == 0 else { throw refuse("overlap", offset, "the window overlaps an earlier one") }
          week[place] = UInt8(index)
        }
      }
      let dayText =
        days.count == 1
        ? TimeClasses.dayNames[firstDay] : "\(TimeClasses.dayNames[firstDay])-\(TimeClasses.dayNames[lastDay])"
      normalised.append("\(name)=\(dayText) \(TimeClasses.clock(start))-\(TimeClasses.clock(end))")
    }
    var changes = [Change(minute: 0, timeClass: Int(week[0]))]
    for minute in 1..<TimeClasses.minutesAWeek where week[minute] != week[minute - 1] {
      changes.append(Change(minute: minute, timeClass: Int(week[minute])))
    }
    // The start of the week is a change only where Sunday's last minute has another class.
    var minutes = changes.dropFirst().map(\.minute)
    if week[0] != week[TimeClasses.minutesAWeek - 1] { minutes.insert(0, at: 0) }
    let doubled = minutes + minutes.map { $0 + TimeClasses.minutesAWeek }
    for (index, minute) in doubled.enumerated() {
      let ahead = index + TimeClasses.maximumChangesADay
      guard ahead >= doubled.count || doubled[ahead] - minute > TimeClasses.minutesADay else {
        throw refuse("changes", nil, "more than \(TimeClasses.maximumChangesADay) changes of class in 24 hours")
      }
    }
    self.init(zone: zone, names: names, changes: changes, text: normalised.joined(separator: "; "))
  }

  /// Index in ``names``; `nil` for a name that is not defined here.
  public func index(of name: some StringProtocol) -> Int? { names.firstIndex { $0 == name } }

  /// Bit n is set when class n occurs in the week.
  var reachable: UInt8 { changes.reduce(0) { $0 | 1 << UInt8($1.timeClass) } }
}

// MARK: - Instants

extension TimeClasses {
  /// A class that begins at an instant.
  public struct Boundary: Hashable, Sendable {
    /// Until the next boundary the class stays the same.
    public let from: Instant
    /// Index in ``TimeClasses/names``.
    public let timeClass: Int

    /// `timeClass` is an index in ``TimeClasses/names``.
    public init(from: Instant, timeClass: Int) {
      self.from = from
      self.timeClass = timeClass
    }
  }

  /// Index in ``names`` of the class in force at `instant`.
  public func timeClass(at instant: Instant) -> Int {
    changes.count == 1 ? changes[0].timeClass : timeClass(atMinute: zone.minuteOfWeek(at: instant))
  }

  private func timeClass(atMinute minute: Int) -> Int {
    var found = changes[0].timeClass
    for change in changes where change.minute <= minute { found = change.timeClass }
    return found
  }

  /// The class at `start` and every change of class after it and before `end`, in ascending order.
  ///
  /// Changes of the zone's offset are found to the second, so a window keeps its local times across them; a repeated
  /// local hour has its classes twice, a skipped one never.
  /// - Parameter end: at most eight days after `start`; later changes are not listed.
  public func boundaries(from start: Instant, until end: Instant) -> [Boundary] {
    var result = [Boundary(from: start, timeClass: timeClass(at: start))]
    guard changes.count > 1 else { return result }
    let last = min(end, start.advanced(byMilliseconds: 8 * 86_400_000))
    var current = start
    var timeClass = result[0].timeClass
    while current < last {
      let candidate = current.advanced(byMilliseconds: millisecondsToNextChange(after: current))
      let next: Instant
      if zone.offsetSeconds(at: candidate) == zone.offsetSeconds(at: current) {
        next = candidate
      } else {
        next = min(candidate, offsetChange(after: current, until: candidate))
      }
      // Only an instant at the end of the representable range cannot move on.
      guard next > current, next < last else { break }
      current = next
      let found = self.timeClass(at: current)
      if found != timeClass {
        timeClass = found
        result.append(Boundary(from: current, timeClass: found))
      }
    }
    return result
  }

  /// With the offset at `instant` kept: milliseconds until the next change of the weekly table.
  private func millisecondsToNextChange(after instant: Instant) -> Int64 {
    let minute = zone.minuteOfWeek(at: instant)
    let following = changes.first { $0.minute > minute }?.minute ?? TimeClasses.minutesAWeek
    let offset = zone.offsetSeconds(at: instant)
    let inMinute = floorRemainder(
      floorRemainder(instant.milliseconds, 60_000) + floorRemainder(offset, 60) * 1000, 60_000)
    return Int64(following - minute) * 60_000 - inMinute
  }

  /// The first instant, to the second, with another offset than at `low`; the offset at `high` differs.
  private func offsetChange(after low: Instant, until high: Instant) -> Instant {
    let before = zone.offsetSeconds(at: low)
    var low = floorQuotient(low.milliseconds, 1000)
    var high = floorQuotient(high.milliseconds, 1000) + 1
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if zone.offsetSeconds(at: Instant(seconds: middle)) == before { low = middle } else { high = middle }
    }
    return Instant(seconds: high)
  }

  private func floorQuotient(_ value: Int64, _ divisor: Int64) -> Int64 {
    (value - floorRemainder(value, divisor)) / divisor
  }

  private func floorRemainder(_ value: Int64, _ divisor: Int64) -> Int64 {
    let remainder = value % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}

// MARK: - Text

extension TimeClasses {
  private static let dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  private static func day(_ text: Substring) -> Int? {
    dayNames.firstIndex { $0.lowercased() == text.lowercased() }
  }

  private static func minute(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
    else { return nil }
    return hour * 60 + minute
  }

  private static func clock(_ minute: Int) -> String {
    let hour = minute / 60
    let rest = minute % 60
    return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumNameBytes
      && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  private static func trimmed(_ text: Substring) -> String {
    var rest = text
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
