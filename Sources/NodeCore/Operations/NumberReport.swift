public import CallModel

/// A number that trunks bring calls to, as it is now.
public struct NumberReport: Hashable, Sendable {
  public var row: InboundNumber
  /// Whether it stands in the configuration, so that it can only be changed there.
  public var isConfigured: Bool
  /// Calls to it that are being reached or are up.
  public var liveCalls: Int

  public init(row: InboundNumber, isConfigured: Bool, liveCalls: Int) {
    self.row = row
    self.isConfigured = isConfigured
    self.liveCalls = liveCalls
  }
}

/// What became of a change of the number table.
public enum NumberChange: Hashable, Sendable {
  case made
  case replaced
  case removed
  /// Nothing was there, so nothing changed.
  case unknown
  /// Nothing changed: the number stands in the configuration, of the environment that is named.
  case configured(environment: String)
  /// Nothing changed: the number belongs to the environment that is named.
  case taken(environment: String)
}
