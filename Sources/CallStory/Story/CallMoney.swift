/// What a call had to do with the ledger, read once for its story. Amounts are micro-units.
public struct CallMoney: Codable, Hashable, Sendable {
  public var account: String
  /// ISO 4217.
  public var currency: String
  /// Of the account, now.
  public var balanceMicro: Int64
  public var availableMicro: Int64
  /// The prefix and the name of the destination that the price is of; `nil` for a free call.
  public var destination: String?
  /// Price of a minute in billionths of a unit.
  public var ratePerMinuteNano: Int64?
  public var connectionFeeMicro: Int64?
  public var initialSeconds: Int64?
  public var incrementSeconds: Int64?
  /// Deck and version, where known.
  public var deck: String?
  /// Largest hold of the call.
  public var reservedMicro: Int64?
  /// `open`, `settled`, `voided`; `nil` where nothing was held.
  public var holdState: String?
  public var chargedMicro: Int64?
  public var billedSeconds: Int64?
  public var transfers: [Transfer]

  /// One transfer with its two entries.
  public struct Transfer: Codable, Hashable, Sendable {
    public var id: String
    /// Unix milliseconds.
    public var at: Int64
    public var kind: String
    public var debit: Posting
    public var credit: Posting

    public init(id: String, at: Int64, kind: String, debit: Posting, credit: Posting) {
      self.id = id
      self.at = at
      self.kind = kind
      self.debit = debit
      self.credit = credit
    }
  }

  public struct Posting: Codable, Hashable, Sendable {
    /// As the journal names it: `liabilities:prepaid:anna`.
    public var account: String
    public var amountMicro: Int64
    public var balanceMicro: Int64

    public init(account: String, amountMicro: Int64, balanceMicro: Int64) {
      self.account = account
      self.amountMicro = amountMicro
      self.balanceMicro = balanceMicro
    }
  }

  public init(account: String, currency: String, balanceMicro: Int64, availableMicro: Int64) {
    self.account = account
    self.currency = currency
    self.balanceMicro = balanceMicro
    self.availableMicro = availableMicro
    transfers = []
  }
}
