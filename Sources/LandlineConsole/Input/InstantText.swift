import CallModel

/// Instants and dates as people type them.
enum InstantText {
  static let accepted = "RFC 3339 such as 2026-11-21T05:30:00Z, or 2026-11, 2026-11-21, now, today, yesterday, -7d"
  /// Days or hours that a relative date may go back.
  static let furthest: Int64 = 36_500

  /// A point in time: RFC 3339 (section 5.6), or the start of a local month or day.
  /// - Throws: ``InvalidValue`` with rule `time.format` or `time.calendar`.
  static func parse(_ text: String, now: Instant, zone: CivilZone) throws(InvalidValue) -> Instant {
    let today = zone.date(at: now)
    func day(_ offset: Int64) -> Instant { zone.startOfDay(CivilDate(dayNumber: today.dayNumber + offset)) }
    switch text {
    case "now": return now
    case "today": return day(0)
    case "yesterday": return day(-1)
    case "tomorrow": return day(1)
    default: break
    }
    if text.first == "-", let unit = text.last, unit == "d" || unit == "h" {
      guard let count = Int64(text.dropFirst().dropLast()), (0...furthest).contains(count) else {
        throw refusal("format", nil, "-Nd or -Nh takes a whole number from 0 to \(furthest)")
      }
      return unit == "d" ? day(-count) : now.advanced(byMilliseconds: -count * 3_600_000)
    }
    if text.utf8.count == 7 { return zone.startOfDay(try month(text)) }
    if text.utf8.count == 10 { return zone.startOfDay(try date(text)) }
    return try parse(text)
  }

  /// `2026-11`: the first day of the month.
  static func month(_ text: String) throws(InvalidValue) -> CivilDate {
    var reader = Reader(text)
    let year = try reader.number(4)
    try reader.expect("-")
    let month = try reader.number(2)
    try reader.end()
    guard let date = CivilDate(year: year, month: Int(month), day: 1) else {
      throw refusal("calendar", nil, "there is no such month")
    }
    return date
  }

  /// `2026-11-21`.
  static func date(_ text: String) throws(InvalidValue) -> CivilDate {
    var reader = Reader(text)
    let date = try reader.date()
    try reader.end()
    return date
  }

  /// RFC 3339 with an offset; a fraction finer than a millisecond is cut.
  static func parse(_ text: String) throws(InvalidValue) -> Instant {
    var reader = Reader(text)
    let date = try reader.date()
    try reader.expect("T", "t", " ")
    let hour = try reader.number(2)
    try reader.expect(":")
    let minute = try reader.number(2)
    try reader.expect(":")
    let second = try reader.number(2)
    guard hour < 24, minute < 60, second < 60 else {
      throw refusal("calendar", 11, "there is no such time of day")
    }
    let milliseconds = try reader.fraction()
    let offset = try reader.offset()
    try reader.end()
    let seconds = date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second - offset
    return Instant(milliseconds: seconds * 1000 + milliseconds)
  }

  private static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(kind: "time", rule: "time.\(rule)", offset: offset, problem: problem, accepted: accepted)
  }

  /// Walks over the bytes of a text.
  private struct Reader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func unexpected() -> InvalidValue {
      let what = next.map { "\(InvalidValue.name(of: $0)) cannot stand here" }
      return InstantText.refusal(
        "format", index, what ?? (bytes.isEmpty ? "nothing is there" : "the text ends too early"))
    }

    mutating func number(_ digits: Int) throws(InvalidValue) -> Int64 {
      var value: Int64 = 0
      for _ in 0..<digits {
        guard let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { throw unexpected() }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        index += 1
      }
      return value
    }

    mutating func expect(_ characters: Unicode.Scalar...) throws(InvalidValue) {
      guard let byte = next, characters.contains(Unicode.Scalar(byte)) else { throw unexpected() }
      index += 1
    }

    mutating func date() throws(InvalidValue) -> CivilDate {
      let year = try number(4)
      try expect("-")
      let month = try number(2)
      try expect("-")
      let day = try number(2)
      guard let date = CivilDate(year: year, month: Int(month), day: Int(day)) else {
        throw InstantText.refusal("calendar", nil, "there is no such day")
      }
      return date
    }

    mutating func fraction() throws(InvalidValue) -> Int64 {
      guard next == UInt8(ascii: ".") else { return 0 }
      index += 1
      var value: Int64 = 0
      var digits = 0
      while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        if digits < 3 { value = value * 10 + Int64(byte - UInt8(ascii: "0")) }
        digits += 1
        index += 1
      }
      guard digits > 0 else { throw unexpected() }
      for _ in min(digits, 3)..<3 { value *= 10 }
      return value
    }

    mutating func offset() throws(InvalidValue) -> Int64 {
      switch next {
      case UInt8(ascii: "Z"), UInt8(ascii: "z"):
        index += 1
        return 0
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        let sign: Int64 = next == UInt8(ascii: "-") ? -1 : 1
        index += 1
        let hours = try number(2)
        try expect(":")
        let minutes = try number(2)
        guard hours < 24, minutes < 60 else {
          throw InstantText.refusal("calendar", index - 5, "there is no such offset")
        }
        return sign * (hours * 3600 + minutes * 60)
      default: throw unexpected()
      }
    }

    func end() throws(InvalidValue) {
      guard index == bytes.count else { throw unexpected() }
    }
  }
}
