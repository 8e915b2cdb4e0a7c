/// Why a call is refused, or not extended, before any trunk is asked: the verdicts of routing and of the ledger.
public enum CallRefusal: String, Error, Hashable, Sendable, CaseIterable {
  case insufficientCredit
  case noRate
  case destinationBlocked
  case countryNotAllowed
  case rateTooHigh
  case accountLocked
  case accountClosed
  /// The ledger has no account of that name.
  case unknownAccount
  case concurrencyCap
  case rateCap
  case dailyCap
  case callCap
  case durationCap
  /// A rule of what may be done within an hour.
  case hourlyCap
  case noProfitableRoute
  case billingUnavailable
  case currencyMismatch

  /// The class under which an app is told; several refusals share one, so the refusal itself goes with it.
  public var code: CallFailureCode {
    switch self {
    case .insufficientCredit: .funds
    case .noRate: .rate
    case .destinationBlocked, .countryNotAllowed, .rateTooHigh, .accountLocked, .accountClosed: .policy
    case .concurrencyCap, .rateCap, .dailyCap, .callCap, .durationCap, .hourlyCap: .limit
    case .unknownAccount: .account
    case .noProfitableRoute: .noRoute
    case .billingUnavailable: .billing
    case .currencyMismatch: .currency
    }
  }

  /// Seconds after which asking again may help, where that is known: a ledger that is away is asked again by then.
  public var retryAfterSeconds: Int? { self == .billingUnavailable ? 5 : nil }
}
