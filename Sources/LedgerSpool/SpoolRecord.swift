package import CallModel
package import LedgerCore

/// An operation as one line of the spool. Only what ends or dates a call is spooled: an authorisation that the ledger
/// could not record must be refused, never promised.
package struct SpoolRecord: Codable, Equatable {
  enum Phase: String, Codable {
    case answer, settle, void
  }

  struct Carrier: Codable, Equatable {
    var trunk: String
    var amount: MicroUnits
    var overrun: MicroUnits
  }

  var account: String
  var call: String
  var node: String
  var epoch: Int64
  var at: Int64
  /// Absent from lines of before.
  var uptime: Int64?
  var actor: String
  var phase: Phase
  var milliseconds: Int64?
  var reason: String?
  var carriers: [Carrier]?

  /// `nil` for operations that must not wait in a spool.
  package init?(_ operation: LedgerOperation) {
    guard case .call(let call) = operation.request else { return nil }
    account = call.account.text
    self.call = call.call.text
    node = call.origin.node.text
    epoch = call.origin.epoch
    at = operation.at.milliseconds
    uptime = operation.uptime
    actor = operation.actor
    func records(_ carriers: [CarrierCharge]) -> [Carrier] {
      carriers.map { Carrier(trunk: $0.trunk.text, amount: $0.amount, overrun: $0.overrun) }
    }
    switch call.phase {
    case .answer: phase = .answer
    case .settle(let milliseconds, let reason, let carriers):
      phase = .settle
      self.milliseconds = milliseconds
      self.reason = reason
      self.carriers = records(carriers)
    case .void(let reason, let carriers):
      phase = .void
      self.reason = reason
      self.carriers = records(carriers)
    case .authorise, .extend, .recover: return nil
    }
  }

  /// - Throws: ``InvalidValue`` when a name in the line is not one.
  package func operation() throws(InvalidValue) -> LedgerOperation {
    var charges: [CarrierCharge] = []
    for carrier in carriers ?? [] {
      charges.append(
        CarrierCharge(trunk: try TrunkName(validating: carrier.trunk), amount: carrier.amount, overrun: carrier.overrun)
      )
    }
    let phase: CallOperation.Phase =
      switch self.phase {
      case .answer: .answer
      case .settle: .settle(milliseconds: milliseconds ?? 0, reason: reason ?? "", carriers: charges)
      case .void: .void(reason: reason ?? "", carriers: charges)
      }
    return LedgerOperation(
      .call(
        CallOperation(
          account: try AccountName(validating: account), call: try CallID(validating: call),
          origin: CallOperation.Origin(node: try NodeID(validating: node), epoch: epoch), phase)),
      at: Instant(milliseconds: at), uptime: uptime, actor: actor)
  }
}
