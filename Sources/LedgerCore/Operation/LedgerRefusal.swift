public import CallModel

/// Why the ledger said no. The order of the cases is the precedence: when several apply, the first is the answer.
public enum LedgerRefusal: String, Hashable, Sendable, CaseIterable {
  /// No account has that name.
  case unknownAccount
  /// The account name is taken.
  case accountExists
  /// The system does not know the time zone.
  case unknownZone
  /// The key was used before with other content; nothing changed.
  case conflict
  /// No hold is known for the call.
  case unknownCall
  /// No transfer has that number, or it cannot be reversed.
  case unknownTransfer
  /// The hold was settled or voided before; the first outcome stands.
  case alreadyResolved
  /// The node was declared dead, or restarted, since it authorised the call.
  case staleEpoch
  /// The call was never answered: void it instead.
  case notAnswered
  /// Zero, negative where a positive amount is needed, or past the largest magnitude.
  case amountOutOfRange
  /// More than may be brought in or corrected at once.
  case amountTooLarge
  case currencyMismatch
  /// The account is closing or closed.
  case accountClosed
  case accountLocked
  /// The account's balance is below its floor: top it up first.
  case belowFloor
  case destinationBlocked
  case noRate
  case noProfitableRoute
  case countryNotAllowed
  /// Dearer than the account's highest rate.
  case rateTooHigh
  /// More new calls in this second than the account may start.
  case rateCap
  case concurrencyCap
  /// The call has reached the longest duration allowed.
  case durationCap
  /// The call would cost more than one call of this account may.
  case callCap
  /// The day's calls would cost more than the account's calls of one day may.
  case dailyCap
  case insufficientCredit
  /// The operator's own account on the other side of the movement, such as `assets:payments:card`, would pass the largest
  /// magnitude; nothing is wrong with the customer's account.
  case counterAccountFull

  /// What the app of a refused call is told; `nil` where no call is concerned. The catalogue holds status and remedies.
  public var callRefusal: CallRefusal? {
    switch self {
    case .currencyMismatch: .currencyMismatch
    case .accountClosed: .accountClosed
    case .accountLocked: .accountLocked
    case .destinationBlocked: .destinationBlocked
    case .noRate: .noRate
    case .noProfitableRoute: .noProfitableRoute
    case .countryNotAllowed: .countryNotAllowed
    case .rateTooHigh: .rateTooHigh
    case .rateCap: .rateCap
    case .concurrencyCap: .concurrencyCap
    case .durationCap: .durationCap
    case .callCap: .callCap
    case .dailyCap: .dailyCap
    case .insufficientCredit: .insufficientCredit
    case .unknownAccount: .unknownAccount
    case .accountExists, .unknownZone, .conflict, .unknownCall, .unknownTransfer, .alreadyResolved,
      .staleEpoch, .notAnswered, .amountOutOfRange, .amountTooLarge, .belowFloor, .counterAccountFull:
      nil
    }
  }

  /// One sentence for people: what stopped the request.
  public var explanation: String {
    switch self {
    case .unknownAccount: "no account has that name"
    case .accountExists: "an account of that name exists already"
    case .unknownZone: "the time zone is not known to this system"
    case .conflict: "the key was used before with other content; nothing was changed"
    case .unknownCall: "no hold is known for that call"
    case .unknownTransfer: "no transfer of that account has that number, or it cannot be reversed"
    case .alreadyResolved: "the call was settled or voided before; the first outcome stands"
    case .staleEpoch: "the node was declared dead or restarted since; its calls have been taken over"
    case .notAnswered: "the call was never answered, so it has no cost; void it instead"
    case .amountOutOfRange: "the amount is zero, negative or larger than the ledger can hold"
    case .amountTooLarge: "the amount is larger than may be booked at once"
    case .currencyMismatch: "the currencies differ, and nothing is ever converted implicitly"
    case .accountClosed: "the account is closing or closed"
    case .accountLocked: "the account is locked"
    case .belowFloor: "the balance is below what the account may owe; top it up first"
    case .destinationBlocked: "the destination is in a blocked range"
    case .noRate: "no rate deck of the account's plan prices this destination"
    case .noProfitableRoute: "every route costs more than the call would earn"
    case .countryNotAllowed: "the account may not call that country"
    case .rateTooHigh: "the destination is dearer than the account's highest rate"
    case .rateCap: "the account has started as many calls in this second as it may"
    case .concurrencyCap: "the account has as many calls open as it may"
    case .durationCap: "the call has reached the longest duration allowed"
    case .callCap: "the call would cost more than one call of the account may"
    case .dailyCap: "the account's calls have cost as much today as they may"
    case .insufficientCredit: "the available credit does not cover it"
    case .counterAccountFull:
      "the operator's own account on the other side of the books is full in this currency; the customer's account is not"
    }
  }

  /// Whether the answer is kept under the request's key. The others follow from rows that cannot change back.
  var isSticky: Bool {
    switch self {
    case .unknownAccount, .accountExists, .unknownZone, .conflict, .unknownCall, .unknownTransfer, .alreadyResolved,
      .staleEpoch, .notAnswered:
      false
    default: true
    }
  }
}
