/// What became of a change of the table of numbers, or of desk phones.
public enum RowChange: Hashable, Sendable {
  case made
  case replaced
  case removed
  /// Nothing was there, so nothing changed.
  case unknown
  /// Nothing changed: the row stands in the configuration, of the environment that is named.
  case configured(environment: String)
  /// Nothing changed: the number or name belongs to the environment that is named.
  case taken(environment: String)
}
