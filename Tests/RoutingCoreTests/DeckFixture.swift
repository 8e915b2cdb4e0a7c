import CallModel
import RoutingCore

/// Short ways to decks in tests.
enum DeckFixture {
  static func read(
    _ text: String, currency: Currency? = .eur, zone: CivilZone = .utc, timeClasses: TimeClasses? = nil,
    chunk: Int = .max, name: String = "deck"
  ) throws -> RateDeck {
    let settings = try DeckSettings(
      name: name, version: "1", currency: currency, zone: zone, timeClasses: timeClasses)
    return try read(Array(text.utf8), settings: settings, chunk: chunk)
  }

  static func read(_ bytes: [UInt8], settings: DeckSettings, chunk: Int = .max) throws(DeckRefusal) -> RateDeck {
    var reader = DeckReader(settings: settings)
    bytes.withUnsafeBytes { all in
      var start = 0
      while start < all.count {
        let end = start + min(chunk, all.count - start)
        reader.feed(UnsafeRawBufferPointer(rebasing: all[start..<end]))
        start = end
      }
    }
    return try reader.finish()
  }

  /// The refusal of a text that must be refused.
  static func refusal(
    _ text: String, currency: Currency? = .eur, timeClasses: TimeClasses? = nil
  ) throws -> DeckRefusal? {
    do {
      _ = try read(text, currency: currency, timeClasses: timeClasses)
      return nil
    } catch let refusal as DeckRefusal {
      return refusal
    }
  }

  static func index(_ text: String, timeClasses: TimeClasses? = nil, name: String = "deck") throws -> RateIndex {
    RateIndex(try read(text, timeClasses: timeClasses, name: name), at: .distantPast)
  }

  static func plan(_ text: String, timeClasses: TimeClasses? = nil) throws -> RatePlan {
    try RatePlan(name: "plan", [RatePlan.Entry(try index(text, timeClasses: timeClasses))])
  }

  static func instant(_ date: String, hour: Int64 = 0, minute: Int64 = 0) throws -> Instant {
    let parts = date.split(separator: "-").compactMap { Int64($0) }
    guard parts.count == 3, let day = CivilDate(year: parts[0], month: Int(parts[1]), day: Int(parts[2])) else {
      return .distantPast
    }
    return Instant(seconds: day.dayNumber * 86_400 + hour * 3600 + minute * 60)
  }
}
