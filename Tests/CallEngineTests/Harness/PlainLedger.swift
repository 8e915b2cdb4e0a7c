import CallModel
import LedgerCore

/// A ledger in a few lines, for tests that are not about money: it grants what is asked until its credit is used up.
struct PlainLedger {
  /// Micro-units left.
  var credit: MicroUnits = 1_000_000_000
  private var holds: [CallID: (hold: Hold, answered: Bool)] = [:]
  /// Ends that were performed, by call.
  private(set) var ends: [CallID: Int] = [:]
  private(set) var granted: Set<CallID> = []

  struct Hold {
    var snapshot: RateSnapshot
    var seconds: Int64
    var amount: MicroUnits
    var maximum: Int64
  }

  mutating func perform(_ operation: CallOperation) -> LedgerReceipt {
    func receipt(_ outcome: LedgerOutcome) -> LedgerReceipt {
      LedgerReceipt(seq: 1, isReplay: false, outcome: outcome)
    }
    switch operation.phase {
    case .authorise(let request):
      guard case .rated(let snapshot) = request.rating else {
        if case .refused(let refusal) = request.rating { return receipt(.refused(refusal)) }
        return receipt(.refused(.noRate))
      }
      let longest = min(request.maximumSeconds, snapshot.secondsLimit)
      let seconds = min(
        min(request.seconds, longest), snapshot.secondsBought(by: credit, answeredAt: nil, limit: longest))
      guard seconds > 0 else { return receipt(.refused(.insufficientCredit)) }
      let amount = snapshot.coveringCost(seconds: seconds, answeredAt: nil)
      credit -= amount
      holds[operation.call] = (Hold(snapshot: snapshot, seconds: seconds, amount: amount, maximum: longest), false)
      granted.insert(operation.call)
      return receipt(.granted(seconds: seconds, amount: amount, isFinal: seconds >= longest))
    case .answer:
      guard holds[operation.call] != nil else { return receipt(.refused(.unknownCall)) }
      holds[operation.call]?.answered = true
      return receipt(.answered)
    case .extend(_, let seconds):
      guard var hold = holds[operation.call]?.hold else { return receipt(.refused(.unknownCall)) }
      guard hold.seconds < hold.maximum else { return receipt(.refused(.durationCap)) }
      let wanted = min(hold.maximum, hold.seconds + seconds)
      let bought = min(
        wanted, hold.snapshot.secondsBought(by: hold.amount + credit, answeredAt: nil, limit: hold.maximum))
      guard bought > hold.seconds else { return receipt(.refused(.insufficientCredit)) }
      let amount = hold.snapshot.coveringCost(seconds: bought, answeredAt: nil)
      credit -= amount - hold.amount
      hold.amount = amount
      hold.seconds = bought
      holds[operation.call]?.hold = hold
      return receipt(.granted(seconds: bought, amount: amount, isFinal: bought >= hold.maximum))
    case .settle(let milliseconds, _, _):
      ends[operation.call, default: 0] += 1
      guard let (hold, isAnswered) = holds.removeValue(forKey: operation.call) else {
        return receipt(.refused(.unknownCall))
      }
      guard isAnswered else { return receipt(.refused(.notAnswered)) }
      let cost = hold.snapshot.cost(milliseconds: milliseconds, answeredAt: .distantPast)
      credit += hold.amount - cost
      return receipt(
        .settled(
          milliseconds: milliseconds,
          billedSeconds: hold.snapshot.billedSeconds(milliseconds: milliseconds, answeredAt: .distantPast),
          cost: cost, transfer: cost > 0 ? 1 : nil))
    case .void:
      ends[operation.call, default: 0] += 1
      guard let (hold, _) = holds.removeValue(forKey: operation.call) else {
        return receipt(.refused(.unknownCall))
      }
      credit += hold.amount
      return receipt(.voided)
    case .recover: return receipt(.refused(.unknownCall))
    }
  }

  var openHolds: Int { holds.count }
}
