public import CallModel

/// What a call had to do with the ledger, read once for its story.
public struct CallMoney: Codable, Hashable, Sendable {
  /// Name of the customer's account, without the journal's prefix.
  public var account: String
  /// ISO 4217.
  public var currency: String
  /// Of the account, now.
  public var balanceMicro: MicroUnits
  /// What a new hold may take now: the balance less what is held and less the floor.
  public var availableMicro: MicroUnits
  /// The prefix and the name of the destination that the price is of; `nil` for a free call.
  public var destination: String?
  /// Price of a minute in billionths of a unit.
  public var ratePerMinuteNano: NanoUnits?
  /// Charged once a call, besides the rate; `nil` where no price is known.
  public var connectionFeeMicro: MicroUnits?
  /// Seconds billed at once when the call is answered; 0 to bill by the increment from the start.
  public var initialSeconds: Int64?
  /// Billing step after ``initialSeconds``, of the price's first tier.
  public var incrementSeconds: Int64?
  /// Deck and version, where known.
  public var deck: String?
  /// Largest hold of the call.
  public var reservedMicro: MicroUnits?
  /// `open`, `settled`, `voided`; `nil` where nothing was held.
  public var holdState: String?
  /// `nil` before the hold is settled.
  public var chargedMicro: MicroUnits?
  /// From the call's record; `nil` while it is up.
  public var billedSeconds: Int64?
  /// The charge first, then refunds and corrections of the call; empty where nothing was charged.
  public var transfers: [Transfer]

  /// One transfer with its two entries.
  public struct Transfer: Codable, Hashable, Sendable {
    /// The transfer's number in the ledger.
    public var id: String
    /// Unix milliseconds.
    public var at: Int64
    /// `call`, `refund`, `adjust` or another of the ledger's kinds.
    public var kind: String
    /// On the account that the amount leaves.
    public var debit: Posting
    /// On the account that the amount reaches.
    public var credit: Posting

    public init(id: String, at: Int64, kind: String, debit: Posting, credit: Posting) {
      self.id = id
      self.at = at
      self.kind = kind
      self.debit = debit
      self.credit = credit
    }
  }

  /// One entry of a transfer.
  public struct Posting: Codable, Hashable, Sendable {
    /// As the journal names it: `liabilities:prepaid:anna`.
    public var account: String
    /// Negative on the debit side, positive on the credit side.
    public var amountMicro: MicroUnits
    /// Of the account after this entry.
    public var balanceMicro: MicroUnits

    public init(account: String, amountMicro: MicroUnits, balanceMicro: MicroUnits) {
      self.account = account
      self.amountMicro = amountMicro
      self.balanceMicro = balanceMicro
    }
  }

  /// No price, hold or transfer yet; those are set one by one.
  public init(account: String, currency: String, balanceMicro: MicroUnits, availableMicro: MicroUnits) {
    self.account = account
    self.currency = currency
    self.balanceMicro = balanceMicro
    self.availableMicro = availableMicro
    transfers = []
  }
}
