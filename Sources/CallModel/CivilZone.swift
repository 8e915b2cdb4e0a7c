import Foundation

/// A time zone by its IANA name: turns instants into local days and minutes and back.
///
/// Only the offset at an instant is asked of the system's zone data; an instant has exactly one, so a repeated or
/// skipped local hour is never ambiguous in this direction.
public struct CivilZone: Hashable, Sendable, CustomStringConvertible {
  /// The name as it was given; `UTC`, `Etc/UTC` and `Z` all become `UTC`.
  public let identifier: String
  private let zone: TimeZone

  /// Needs no zone data of the system: its offset is always 0.
  public static let utc = CivilZone(identifier: "UTC", zone: .gmt)

  /// - Throws: ``InvalidValue`` with rule `zone.name` when the system does not know the name.
  public init(_ identifier: some StringProtocol) throws(InvalidValue) {
    let name = String(identifier)
    if name == "UTC" || name == "Etc/UTC" || name == "Z" {
      self = .utc
      return
    }
    guard name.utf8.count <= 64, let zone = TimeZone(identifier: name) else {
      throw InvalidValue(
        kind: "time zone", rule: "zone.name", offset: nil, problem: "the name is not known",
        accepted: "an IANA name such as UTC or Europe/Stockholm")
    }
    self.init(identifier: name, zone: zone)
  }

  private init(identifier: String, zone: TimeZone) {
    self.identifier = identifier
    self.zone = zone
  }

  /// Seconds east of UTC at `instant`.
  public func offsetSeconds(at instant: Instant) -> Int64 {
    if identifier == "UTC" { return 0 }
    // A fraction before 1970 belongs to the second below it, as in `localSeconds`.
    let seconds = floorDivide(instant.milliseconds, 1000)
    return Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
  }

  /// Days since 1970-01-01 on the local calendar.
  public func dayNumber(at instant: Instant) -> Int64 {
    floorDivide(localSeconds(at: instant), 86_400)
  }

  /// Minute of the local week, 0 on Monday 00:00 to 10,079 on Sunday 23:59.
  public func minuteOfWeek(at instant: Instant) -> Int {
    let minutes = floorDivide(localSeconds(at: instant), 60)
    // 1970-01-01 was a Thursday: three days after a Monday.
    let shifted = minutes + 3 * 1440
    return Int(shifted - floorDivide(shifted, 10_080) * 10_080)
  }

  /// The first instant of a local day. Where midnight is skipped by a clock change, the first instant after the gap.
  public func startOfDay(_ date: CivilDate) -> Instant {
    let localMidnight = date.dayNumber * 86_400
    // Try the offsets on both sides of the day's start; the earliest instant that already carries the date wins.
    var best: Instant?
    for probe in [localMidnight - 86_400, localMidnight, localMidnight + 86_400] {
      let offset = offsetSeconds(at: Instant(seconds: probe))
      let candidate = Instant(seconds: localMidnight - offset)
      if dayNumber(at: candidate) == date.dayNumber, best.map({ candidate < $0 }) ?? true { best = candidate }
    }
    return best ?? Instant(seconds: localMidnight - offsetSeconds(at: Instant(seconds: localMidnight)))
  }

  /// The date on the local calendar.
  public func date(at instant: Instant) -> CivilDate { CivilDate(dayNumber: dayNumber(at: instant)) }

  private func localSeconds(at instant: Instant) -> Int64 {
    floorDivide(instant.milliseconds, 1000) + offsetSeconds(at: instant)
  }

  private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The ``identifier``, which ``init(_:)`` reads back.
  public var description: String { identifier }
}
