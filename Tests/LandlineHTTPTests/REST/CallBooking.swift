import CallModel
import LedgerCore

extension RESTKit {
  private static let node = NodeID(unchecked: "gw-1")

  /// Books a call of so many seconds at six hundredths a minute, begun at an instant.
  func bookCall(_ id: String, _ account: String, seconds: Int64, at instant: Instant) async throws {
    _ = try await ledger.registerNode(RESTKit.node, at: instant)
    let epoch = try await ledger.read { try $0.nodes().last?.epoch ?? 1 }
    let rating = CallOperation.Authorisation.Rating.rated(try RESTKit.snapshot)
    for phase: CallOperation.Phase in [
      .authorise(.init(destination: "+46701234567", country: 46, rating: rating, seconds: 600)), .answer,
      .settle(milliseconds: seconds * 1000, reason: "hungUp", carriers: []),
    ] {
      _ = try await ledger.perform(
        LedgerOperation(
          .call(
            CallOperation(
              account: AccountName(unchecked: account), call: CallID(unchecked: id),
              origin: .init(node: RESTKit.node, epoch: epoch), phase)), at: instant, actor: "gw-1"))
    }
  }

  static var snapshot: RateSnapshot {
    get throws {
      try RateSnapshot(
        deck: "retail@1", prefix: "46", destination: "Sweden mobile", currency: .eur,
        tariff: Tariff(ratePerMinute: 60_000_000, initial: 60, increment: 1, fee: 1500))
    }
  }
}
