/// What the options common to all commands say.
package struct ConsoleSettings: Sendable {
  package enum Color: String, Sendable, CaseIterable {
    case auto, always, never
  }

  package enum Format: String, Sendable, CaseIterable {
    case table, json, csv, ndjson
  }

  /// `--database`.
  package var database: String?
  package var format: Format
  /// Amounts in tables rounded to the decimals of their currency.
  package var isHuman: Bool
  package var color: Color
  /// `--tz`: the zone of times in tables and of dates in options; `nil` for UTC.
  package var timeZone: String?

  package init(
    database: String? = nil, format: Format = .table, isHuman: Bool = false, color: Color = .auto,
    timeZone: String? = nil
  ) {
    self.database = database
    self.format = format
    self.isHuman = isHuman
    self.color = color
    self.timeZone = timeZone
  }
}
