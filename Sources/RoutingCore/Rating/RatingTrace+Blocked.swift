extension RatingTrace {
  /// Which numbers a blocked one is among, for whoever dialled it: `premium-rate numbers that begin +44909 are blocked`;
  /// `nil` where no range blocks it.
  public var blockedNumbers: String? {
    guard case .failure(.destinationBlocked(let reason)) = outcome else { return nil }
    var prefix: NumberDigits?
    for step in steps {
      switch step {
      case .denyRanges(let denied?, .denied(_)?): prefix = denied
      case .specialRate(let range) where reason != .deck: prefix = range.prefix
      case .prefix(let blocked, _, .blocked): prefix = blocked
      default: break
      }
    }
    return prefix.map { "\(reason.numbers) that begin +\($0) are blocked" }
  }
}

extension DestinationBlock {
  fileprivate var numbers: String {
    switch self {
    case .premium: "premium-rate numbers"
    case .sharedCost: "shared-cost numbers"
    case .universalAccess: "universal access numbers"
    case .pager: "pager numbers"
    case .voicemail: "voicemail numbers"
    case .satellite: "satellite numbers"
    case .internationalNetwork: "numbers of international networks"
    case .revenueShare: "revenue-share numbers"
    case .other, .deck: "numbers"
    }
  }
}
