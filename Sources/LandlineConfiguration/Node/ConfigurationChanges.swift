/// What differs between two configurations, in words for an operator: `log.level: info, now debug`.
public struct ConfigurationChanges: Hashable, Sendable {
  /// Holds from the reload on.
  public var live: [String] = []
  /// Holds only once the gateway is started anew.
  public var needsRestart: [String] = []

  /// No difference.
  public init() {}

  /// Whether both configurations say the same.
  public var isEmpty: Bool { live.isEmpty && needsRestart.isEmpty }
}
