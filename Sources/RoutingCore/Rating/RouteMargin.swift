public import CallModel

/// The least that a route must earn: what it costs, with a margin, must not exceed what the customer pays.
public struct RouteMargin: Hashable, Sendable {
  /// Duration by which both sides are compared, in seconds.
  public static let comparedSeconds: Int64 = 60

  /// What must be left of the price.
  public let fixed: MicroUnits
  /// Basis points of the buy cost that must be left beside ``fixed``.
  public let basisPoints: Int64

  /// - Throws: ``InvalidValue`` with rule `margin.range` for a negative or an excessive margin.
  public init(fixed: MicroUnits = 0, basisPoints: Int64 = 0) throws(InvalidValue) {
    guard (.zero...Credits.maximumMicros / 4).contains(fixed), (0...RatePlan.maximumMultiplier).contains(basisPoints)
    else {
      throw InvalidValue(
        kind: "margin", rule: "margin.range", offset: nil, problem: "the margin is out of range",
        accepted: "0 or more micro-units and 0 to \(RatePlan.maximumMultiplier) basis points")
    }
    self.fixed = fixed
    self.basisPoints = basisPoints
  }

  /// Whether a route that costs `buy` may carry a call sold at `sell`: both are costs of ``comparedSeconds`` in one
  /// currency.
  public func allows(buy: MicroUnits, sell: MicroUnits) -> Bool {
    guard buy >= .zero else { return false }
    let (product, overflow) = buy.count.multipliedReportingOverflow(by: basisPoints)
    guard !overflow else { return false }
    let (withShare, shareOverflow) = buy.count.addingReportingOverflow(
      product / 10_000 + (product % 10_000 > 0 ? 1 : 0))
    let (needed, fixedOverflow) = withShare.addingReportingOverflow(fixed.count)
    return !shareOverflow && !fixedOverflow && needed <= sell.count
  }

  /// The routes that earn enough, in their order.
  /// - Parameters:
  ///   - answeredAt: instant whose time classes both sides are compared in.
  ///   - buy: the frozen buy price of a route.
  /// - Throws: ``RatingRefusal/currencyMismatch(plan:account:)`` when a route is bought in another currency than the
  ///   call is sold in, ``RatingRefusal/noProfitableRoute`` when none remains.
  public func profitable<Route>(
    _ routes: [Route], sell: RateSnapshot, at answeredAt: Instant, buy: (Route) -> RateSnapshot
  ) throws(RatingRefusal) -> [Route] {
    let sellCost = sell.cost(milliseconds: RouteMargin.comparedSeconds * 1000, answeredAt: answeredAt)
    var kept: [Route] = []
    for route in routes {
      let bought = buy(route)
      guard bought.currency == sell.currency else {
        throw .currencyMismatch(plan: bought.currency, account: sell.currency)
      }
      let cost = bought.cost(milliseconds: RouteMargin.comparedSeconds * 1000, answeredAt: answeredAt)
      if allows(buy: cost, sell: sellCost) { kept.append(route) }
    }
    guard !kept.isEmpty else { throw .noProfitableRoute }
    return kept
  }
}
