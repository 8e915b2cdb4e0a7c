import CallModel
import RoutingCore
import SIPCore

/// Whether a call may go on where a 3xx response sends it (RFC 3261 section 8.1.3.4): only where the caller could have
/// called as well, in the country that it called, and for no more than what is held for the call. The caller pays for what
/// it dialled.
struct RedirectionJudge: Sendable {
  let payer: Payer
  let terms: CallTerms
  let environment: EngineConfiguration.Environment
  /// Hosts that lead to the environment's trunks.
  let trunkHosts: Set<SIPHost>
  /// Hosts of trunks that it may not use.
  let foreignTrunkHosts: Set<SIPHost>
  /// When the price of the new destination is looked up.
  let time: Instant

  /// How long calls are whose prices are compared, in seconds: prices differ in their fees, their first seconds, their
  /// steps and their caps.
  private static let comparedSeconds: [Int64] = [1, 60, 600, Tariff.maximumSeconds]

  /// Parameters that lead a request elsewhere than its URI says (RFC 3261 section 19.1.1, RFC 4694).
  private static let redirectingParameters: Set<String> = ["maddr", "rn", "cic"]

  init?(_ terms: CallTerms, payer: Payer, _ context: EngineContext) {
    guard let environment = context.environment(of: payer) else { return nil }
    self.payer = payer
    self.terms = terms
    self.environment = environment
    let names = environment.trunks + environment.emergencyTrunks
    trunkHosts = Set(names.compactMap { context.trunks[$0]?.uri.host })
    foreignTrunkHosts = Set(context.trunks.values.compactMap(\.uri.host)).subtracting(trunkHosts)
    time = context.clock
  }

  func allows(_ target: SIPURI) -> Bool {
    guard !target.parameters.contains(where: { RedirectionJudge.redirectingParameters.contains($0.name.lowercased()) })
    else { return false }
    guard let host = target.host, !trunkHosts.contains(host) else { return allowsAtTrunk(target.user ?? "") }
    guard !foreignTrunkHosts.contains(host), environment.sipHosts.allows(host) else { return false }
    return costsNoMore(environment.addressRate(for: payer))
  }

  /// A number of the telephone network; `tel:` names no host, and goes where the call went.
  private func allowsAtTrunk(_ user: String) -> Bool {
    // A carrier that sends an emergency call elsewhere knows why.
    if terms.isEmergency { return true }
    // What stands behind a semicolon may name another number for the way (RFC 4694): only the bare number has a price.
    guard let number = try? E164Number(user.hasPrefix("+") ? user : "+" + user) else { return false }
    guard number.country == terms.country, let plan = payer.plan,
      let digits = try? NumberDigits(number.digits)
    else { return false }
    return costsNoMore(
      try? Rating.quote(digits, plan: plan, account: payer.currency, denyRanges: payer.denyRanges, at: time))
  }

  private func costsNoMore(_ other: RateSnapshot?) -> Bool {
    guard let held = terms.snapshot, let other else { return false }
    return RedirectionJudge.comparedSeconds.allSatisfy {
      other.coveringCost(seconds: $0, answeredAt: nil) <= held.coveringCost(seconds: $0, answeredAt: nil)
    }
  }
}
