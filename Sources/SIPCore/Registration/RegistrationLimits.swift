/// Times and counts of ``RegistrationMachine``.
package struct RegistrationLimits: Hashable, Sendable {
  /// Wait after the first failure; twice as long after each further one.
  package var firstRetryMilliseconds: Int64 = 30_000
  package var longestRetryMilliseconds: Int64 = 1_800_000
  /// A Retry-After is taken at its word between these.
  package var leastRetryAfterSeconds = 10
  package var longestRetryAfterSeconds = 3_600
  /// Shortest time between two refreshes, whatever the registrar grants.
  package var leastRefreshMilliseconds: Int64 = 5_000
  /// Longest registration taken at its word, and the most that a Min-Expires may ask for.
  package var longestExpires: UInt32 = 86_400
  /// Times that one REGISTER is sent again for 423.
  package var intervals = 2

  package init() {}

  package static let standard = RegistrationLimits()
}
