public import CallModel

/// Where the numbers are kept that operators made, beside those of the configuration. What was accepted is durable.
public protocol InboundNumberStore: Sendable {
  /// All rows of an environment, ascending by number.
  func numbers(environment: String) async throws -> [InboundNumber]
  /// Makes a row, or replaces the one of the same number.
  /// - Throws: ``InvalidValue`` with rule `inbound.table` where the environment has
  ///   ``InboundNumber/maximumNumbers`` already, and the rules of ``InboundNumber/check()``.
  func keep(_ number: InboundNumber, environment: String) async throws
  /// - Returns: `false` where there is no such row.
  func remove(_ number: E164Number, environment: String) async throws -> Bool
}
