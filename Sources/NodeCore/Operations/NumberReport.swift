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
