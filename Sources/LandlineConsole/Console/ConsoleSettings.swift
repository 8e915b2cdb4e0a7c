/// What the options common to all commands say.
package struct ConsoleSettings: Sendable {
  package enum Color: String, Sendable, CaseIterable {
    case auto, always, never
  }

  package enum Format: String, Sendable, CaseIterable {
    case table, json, csv, ndjson
  }

  /// Where the command line says that things are.
  package var places: Finder.Flags
  /// Whether it is said on standard error what was found; not where a shell asks for completions.
  package var saysWhatIsFound = true
  package var format: Format
  /// Amounts in tables rounded to the decimals of their currency.
  package var isHuman: Bool
  package var color: Color
  /// `--tz`: the zone of times in tables and of dates in options; `nil` for UTC.
  package var timeZone: String?

  /// For one ledger, whatever else is there.
  package init(database: String) {
    self.init()
    places.database = database
  }

  package init(
    places: Finder.Flags = Finder.Flags(), format: Format = .table, isHuman: Bool = false, color: Color = .auto,
    timeZone: String? = nil
  ) {
    self.places = places
    self.format = format
    self.isHuman = isHuman
    self.color = color
    self.timeZone = timeZone
  }
}
