public import CallModel

/// Where the desk phones are kept that operators made, beside those of the configuration: of a password only what answers
/// can be checked with. What was accepted is durable.
public protocol DeskPhoneStore: Sendable {
  /// All rows of an environment, ascending by name.
  func deskPhones(environment: String) async throws -> [DeskPhone]
  /// Makes a row, or replaces the one of the same name.
  /// - Throws: ``InvalidValue`` with rule `phone.table` where the environment has ``DeskPhone/maximumPhones`` already.
  func keep(_ phone: DeskPhone, environment: String) async throws
  /// - Returns: `false` where there is no such row.
  func removeDeskPhone(_ name: String, environment: String) async throws -> Bool
}
