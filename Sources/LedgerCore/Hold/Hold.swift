public import CallModel

/// Where a hold is in its life; it is resolved exactly once.
///
/// ```
///              ┌────void────▶ voided
/// authorised ──┤
///              └─answer─▶ answered ──settle──▶ settled
/// ```
/// A void also ends an answered hold whose caller hung up before the answer arrived (CANCEL crossing 200, RFC 3261 9.1).
public enum HoldState: String, Hashable, Sendable, CaseIterable {
  case authorised, answered, settled, voided

  /// Whether credit is still reserved: the call is authorised or answered, and has not ended.
  public var isOpen: Bool { self == .authorised || self == .answered }
}

/// Credit reserved for one call, and afterwards the record of how the call ended.
public struct Hold: Hashable, Sendable {
  /// ``LedgerAccount/id`` of the customer who pays.
  public var account: Int64
  /// Unique inside the account: a call has one hold, however often it is extended.
  public var call: CallID
  /// Sequence number of the authorisation.
  public var seq: Int64
  /// Changed by the phases of the call; settled and voided holds never change again.
  public var state: HoldState
  /// What is reserved; after the end, what had been reserved last.
  public var amount: MicroUnits
  /// Seconds from the answer that `amount` covers.
  public var grantedSeconds: Int64
  /// Extensions granted so far.
  public var extensions: Int64
  /// The longest that the call may be granted in all, in seconds.
  public var maximumSeconds: Int64
  /// The gateway that authorised the call, the only one that may go on with it.
  public var node: NodeID
  /// The life of that gateway, ``LedgerNode/epoch``; once it is over, recovery ends the call.
  public var epoch: Int64
  /// As dialled: `+46701234567` or a SIP address.
  public var destination: String
  /// The hold was made whatever the credit, the caps or a lock said, and costs nothing.
  public var isEmergency: Bool
  /// The price as frozen at the authorisation; later rates do not change it.
  public var snapshot: RateSnapshot
  /// The call that this one was transferred from.
  public var linkedCall: CallID?
  /// Local day whose counter carries this hold: the day of its last grant.
  public var day: Int64
  /// Booking time of the authorisation; never earlier than the record before.
  public var authorisedAt: Instant
  /// When the far end answered, but never before ``authorisedAt``; `nil` until then.
  public var answeredAt: Instant?
  /// ``LedgerOperation/uptime`` of the answer.
  public var answeredUptime: Int64?
  /// Booking time of the end; `nil` while the hold is open.
  public var resolvedAt: Instant?
  /// Milliseconds from answer to end on the monotonic clock, at most what was granted.
  public var duration: Int64?
  /// What was charged.
  public var cost: MicroUnits?
  /// The `call` transfer; `nil` while open and for calls that cost nothing.
  public var transfer: Int64?
  /// Why the call ended, as the gateway says it: `hungUp`, `noCredit`, `recovered`.
  public var reason: String?

  /// Grants in seconds, `duration` in milliseconds; what has a default is unknown before the
  /// answer or the end.
  public init(
    account: Int64, call: CallID, seq: Int64, state: HoldState, amount: MicroUnits, grantedSeconds: Int64,
    extensions: Int64,
    maximumSeconds: Int64, node: NodeID, epoch: Int64, destination: String, isEmergency: Bool, snapshot: RateSnapshot,
    linkedCall: CallID?, day: Int64, authorisedAt: Instant, answeredAt: Instant? = nil, answeredUptime: Int64? = nil,
    resolvedAt: Instant? = nil, duration: Int64? = nil, cost: MicroUnits? = nil, transfer: Int64? = nil,
    reason: String? = nil
  ) {
    self.account = account
    self.call = call
    self.seq = seq
    self.state = state
    self.amount = amount
    self.grantedSeconds = grantedSeconds
    self.extensions = extensions
    self.maximumSeconds = maximumSeconds
    self.node = node
    self.epoch = epoch
    self.destination = destination
    self.isEmergency = isEmergency
    self.snapshot = snapshot
    self.linkedCall = linkedCall
    self.day = day
    self.authorisedAt = authorisedAt
    self.answeredAt = answeredAt
    self.answeredUptime = answeredUptime
    self.resolvedAt = resolvedAt
    self.duration = duration
    self.cost = cost
    self.transfer = transfer
    self.reason = reason
  }

  /// What a call of `milliseconds` costs under the snapshot: never more than the hold, whatever was measured.
  public func settlement(milliseconds: Int64) -> (duration: Int64, cost: MicroUnits, billedSeconds: Int64) {
    let duration = min(max(milliseconds, 0), Int64(clamping: Int128(grantedSeconds) * 1000))
    let start = answeredAt ?? authorisedAt
    return (
      duration, snapshot.cost(milliseconds: duration, answeredAt: start),
      snapshot.billedSeconds(milliseconds: duration, answeredAt: start)
    )
  }
}

extension Hold {
  /// What the charge of a call of `milliseconds` says to people: number, duration, what was billed.
  func chargeDetail(milliseconds: Int64) -> String {
    let settlement = settlement(milliseconds: milliseconds)
    return "\(destination) \(DecimalText.format(settlement.duration, scale: 3))s billed \(settlement.billedSeconds)s"
  }
}

/// One step in the growth of a hold: kept as long as the hold, so that the available balance at a past instant can be
/// told. Voided holds are pruned with their steps (``LedgerStore/prune(before:)``).
public struct HoldGrant: Hashable, Sendable {
  /// ``Hold/seq``.
  public var hold: Int64
  /// 0 for the authorisation, then 1, 2, ….
  public var number: Int64
  /// Booking time of the step.
  public var at: Instant
  /// Seconds from the answer that the hold covers from this step on, in all.
  public var grantedSeconds: Int64
  /// What the hold reserves from this step on, in all.
  public var amount: MicroUnits

  /// `grantedSeconds` and `amount` are totals, not what the step added.
  public init(hold: Int64, number: Int64, at: Instant, grantedSeconds: Int64, amount: MicroUnits) {
    self.hold = hold
    self.number = number
    self.at = at
    self.grantedSeconds = grantedSeconds
    self.amount = amount
  }
}

/// What a carrier will bill for one attempt of a call, in the call's currency.
public struct CarrierCharge: Hashable, Sendable {
  /// Charges that the end of one call may carry; with more it is refused as out of range.
  public static let maximumPerCall = 16
  /// Most that one charge may be, in any currency: far above the price of any call.
  public static let maximumAmount: MicroUnits = 100_000_000_000_000

  /// Whose liability account takes the charge: ``ChartOfAccounts/carrier(_:)``.
  public let trunk: TrunkName
  /// What is owed to the carrier in all.
  public let amount: MicroUnits
  /// The part of ``amount`` for time past the customer's last grant; booked as the operator's overrun.
  public let overrun: MicroUnits

  /// The ledger refuses negative amounts, and an `overrun` above `amount`.
  public init(trunk: TrunkName, amount: MicroUnits, overrun: MicroUnits = 0) {
    self.trunk = trunk
    self.amount = amount
    self.overrun = overrun
  }
}
