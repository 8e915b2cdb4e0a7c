import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import PeerKit

extension GatewayRunning {
  /// Checks the money of a call that was answered: price, account, hold and record say the same.
  /// - Returns: a few words for the table.
  func charged(_ end: PythonEvent, _ call: String, _ payer: GatewayPayer) async throws -> String {
    guard let duration = end.number("duration_ms"), let billed = end.number("billed_seconds"),
      let cost = end.number("cost_micro")
    else { throw PeerFailure("duration, seconds and cost are told: \(end)") }
    let seconds = GatewayRate.seconds(milliseconds: Int64(duration))
    let price = GatewayRate.cost(seconds: seconds)
    try require(Int64(billed) == seconds, "\(seconds) s are billed of \(duration) ms, not \(billed)")
    try require(Int64(cost) == price.count, "\(price) micro-units for \(seconds) s, not \(cost)")
    let account = try await self.account(payer)
    try require(account.posted == payer.credit - price, "\(payer.credit) less \(price), not \(account.posted)")
    try require(account.held == 0 && account.openHolds == 0, "nothing is held: \(account.held)")
    let hold = try await self.hold(call, of: payer)
    try require(hold?.state == .settled && hold?.cost == price, "the hold is settled at \(price)")
    try require(hold?.duration == Int64(duration), "the ledger counts \(duration) ms")
    let record = try await self.record(call, in: payer.environment)
    try require(record.summary.costMicro == price, "the record says \(price)")
    return "\(Int(duration)) ms, \(seconds) s billed, \(price) micro"
  }

  /// Checks that a call cost nothing and left no hold.
  func uncharged(_ call: String?, _ payer: GatewayPayer) async throws {
    let account = try await self.account(payer)
    try require(account.posted == payer.credit && account.held == 0, "nothing is charged or held: \(account)")
    if let call {
      let hold = try await self.hold(call, of: payer)
      try require(hold?.state.isOpen != true, "no open hold: \(String(describing: hold?.state))")
    }
  }
}
