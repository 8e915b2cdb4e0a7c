import CallModel
import LedgerCore

/// Rate plans.
extension Console {
  /// - Throws: ``ConsoleError`` when the plan is not known or prices calls in another currency.
  func checkPlan(_ name: String, currency: Currency) async throws {
  }
}
