import CallModel
import CallStory
import Foundation
import LandlineHTTP
import LedgerCore
import NodeCore
import PeerKit

/// One gateway, one trunk for each row, and the peers behind them.
struct ExplainStage: Sendable {
  let gateway: GatewayRunning
  let apps: ExplainApps
  /// Of rows, by rule.
  let addresses: [String: String]

  static let payers: [GatewayPayer] = [
    rich, .short(seconds: 3), .poor, .trial,
    payer(11, "locked", change: .lock), payer(12, "closed", credit: 0, change: .close),
    payer(13, "capped", caps: caps { $0.highestRate = 1_000_000 }),
    payer(14, "homely", caps: caps { $0.countries = [47] }),
    payer(15, "single", caps: caps { $0.concurrentCalls = 1 }), nobody,
  ]

  /// An application whose account was never made.
  private static let nobody: GatewayPayer = {
    var payer = ExplainStage.payer(16, "nobody", credit: 0)
    payer.isInLedger = false
    return payer
  }()

  /// For many calls at a time, each with a hold.
  static let rich: GatewayPayer = {
    var payer = GatewayPayer.main
    payer.credit = 1_000_000_000
    return payer
  }()

  private static func payer(
    _ number: Int, _ name: String, credit: MicroUnits = 10_000_000, caps: AccountCaps = AccountCaps(),
    change: AccountAdministration.Change? = nil
  ) -> GatewayPayer {
    var payer = GatewayPayer(name: name, key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e\(number)", credit: credit)
    payer.caps = caps
    payer.change = change
    return payer
  }

  private static func caps(_ change: (inout AccountCaps) -> Void) -> AccountCaps {
    var caps = AccountCaps()
    change(&caps)
    return caps
  }

  // MARK: What rows do

  static let number = "+46700000001"

  /// A number at the trunk of a row.
  func target(_ rule: String, _ number: String = number) throws -> String {
    guard let address = addresses[rule] else { throw PeerFailure("\(rule) has no trunk") }
    return "\(number)@\(address)"
  }

  /// Calls over the row's own trunk.
  func placed(
    _ rule: String, at other: String? = nil, session: String? = nil, _ values: [String: any Sendable] = [:]
  ) async throws -> String {
    // One session may ask so often only.
    let session = session ?? (values["sound"] == nil ? "main" : "talk")
    return try await apps.placed(rule, to: try target(other ?? rule), kind: "sip", session: session, values)
  }

  /// Calls over the row's own trunk and waits for the end.
  func ended(_ rule: String, session: String? = nil, _ values: [String: any Sendable] = [:]) async throws
    -> ExplainRow.Outcome
  {
    let id = try await placed(rule, session: session, values)
    // A trunk that says nothing at all is borne for 32 s (RFC 3261 section 17.1.1.2).
    try await apps.told(rule, "ended", within: 45)
    return .call(id)
  }

  /// Calls with sound, and talks for a while.
  func talked(
    _ rule: String, at other: String? = nil, for seconds: Double = 3.5, sound: String = "talking",
    session: String? = nil, _ body: @Sendable () async throws -> Void = {}
  ) async throws -> ExplainRow.Outcome {
    let id = try await placed(rule, at: other, session: session, ["sound": sound])
    try await apps.told(rule, "established")
    try await body()
    try await figures(id, after: seconds)
    try apps.hangUp(rule)
    try await apps.told(rule, "ended")
    return .call(id)
  }

  /// Waits until the gateway has measured so many seconds of the far side's sound.
  func figures(_ call: String, after seconds: Double) async throws {
    _ = try await Deadline(seconds: seconds + 20).first("\(seconds) s of figures", everyMilliseconds: 100) {
      () -> Bool? in
      let trace = await gateway.operations.trace(of: CallID(unchecked: call))
      let known = trace?.seconds.filter { $0.side == .far }.count ?? 0
      return Double(known) >= seconds ? true : nil
    }
  }

  // MARK: Stories

  /// What is found of an outcome, the likeliest first.
  func findings(_ outcome: ExplainRow.Outcome) async throws -> [CallStory.Finding] {
    switch outcome {
    case .refused(let failure): return CallRule.findings(in: CallEvidence(refusal: failure))
    case .call(let id, let environment):
      let reader = StoryReader(try gateway.stores(environment))
      let sources = try await Deadline(seconds: 40).first("record and trace of \(id)", everyMilliseconds: 100) {
        () -> CallStorySources? in
        let sources = try await reader.sources(of: CallID(unchecked: id))
        return sources?.record == nil || sources?.trace == nil ? nil : sources
      }
      return CallStory.tell(sources).findings
    }
  }
}
