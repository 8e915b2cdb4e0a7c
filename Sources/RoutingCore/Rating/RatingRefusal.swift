public import CallModel

/// Why a call has no price.
public enum RatingRefusal: Error, Hashable, Sendable {
  /// No deck of the plan has a row in force for the number.
  case noRate
  /// The number is in a range that may not be called.
  case destinationBlocked(DestinationBlock)
  /// The account's currency and the plan's are not the same; amounts are never converted.
  case currencyMismatch(plan: Currency, account: Currency)
  /// No route is left whose cost, with the margin, is covered by the price.
  case noProfitableRoute
  /// The price cannot be frozen, for instance because a multiplier takes it out of its range.
  case unpriceable(InvalidValue)

  /// Stable name: `noRate`, `destinationBlocked`, `currencyMismatch`, `noProfitableRoute`, `unpriceable`.
  public var name: String {
    switch self {
    case .noRate: "noRate"
    case .destinationBlocked: "destinationBlocked"
    case .currencyMismatch: "currencyMismatch"
    case .noProfitableRoute: "noProfitableRoute"
    case .unpriceable: "unpriceable"
    }
  }
}

extension RatingRefusal: CustomStringConvertible {
  /// ``name``, a colon, and what it means for this call: `noRate: no deck of the plan has a price for the number`.
  public var description: String {
    switch self {
    case .noRate: "noRate: no deck of the plan has a price for the number"
    case .destinationBlocked(let block): "destinationBlocked: the destination may not be called (\(block.rawValue))"
    case .currencyMismatch(let plan, let account): "currencyMismatch: the plan is in \(plan), the account in \(account)"
    case .noProfitableRoute: "noProfitableRoute: every route costs more than the price covers"
    case .unpriceable(let problem): "unpriceable: \(problem)"
    }
  }
}

/// Why a destination may not be called.
public enum DestinationBlock: String, Hashable, Sendable, CaseIterable {
  /// Whoever is called earns by it.
  case premium
  case sharedCost = "shared-cost"
  /// One number for all sites of a company, often dearer than where they are.
  case universalAccess = "universal-access"
  case pager
  case voicemail
  case satellite
  /// A network of no country, such as those of +882 and +883.
  case internationalNetwork = "international-network"
  case revenueShare = "revenue-share"
  case other
  /// A row of a deck has the flag `blocked`.
  case deck
}
