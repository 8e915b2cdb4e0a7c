public import CallModel

/// One keyed request to the ledger. Repeating it, with the same key and content, gives the first answer again.
public struct LedgerOperation: Hashable, Sendable {
  /// Most bytes of ``actor``, and of the reason with which a call ends; what is longer is cut.
  public static let maximumActorBytes = 64
  /// Most bytes of a text for people: the reason of a change, the detail of a transfer; what is longer is cut.
  public static let maximumDetailBytes = 200
  /// Longest name of a rate plan; what is longer names no plan.
  public static let maximumPlanBytes = 128

  /// What is asked for; together with its key it decides what a repeat must have equal.
  public var request: Request
  /// Now, by the clock of whoever asks.
  public var at: Instant
  /// Milliseconds that the asking node's monotonic clock shows: durations are taken from it, since a wall clock may be
  /// set. `nil` from whoever has no life signs.
  public var uptime: Int64?
  /// Who asks, for the record: `cli:alice`, `node:gw-1`.
  public var actor: String

  /// An `actor` of more than ``maximumActorBytes`` is cut; `uptime` is in milliseconds.
  public init(_ request: Request, at: Instant, uptime: Int64? = nil, actor: String) {
    self.request = request
    self.at = at
    self.uptime = uptime
    self.actor = LedgerOperation.cut(actor, to: LedgerOperation.maximumActorBytes)
  }

  /// The text, or as many of its first bytes as a record holds.
  static func cut(_ text: String, to limit: Int) -> String {
    text.utf8.count <= limit ? text : String(decoding: text.utf8.prefix(limit), as: UTF8.self)
  }

  /// The three families of requests, each with an account and a key of its own.
  public enum Request: Hashable, Sendable {
    case administer(AccountAdministration)
    case move(MoneyMovement)
    case call(CallOperation)
  }
}

/// A change of an account itself.
public struct AccountAdministration: Hashable, Sendable {
  /// What is done to the account; all but `create` need one that exists.
  public enum Change: Hashable, Sendable {
    /// - Parameter creditLimit: what a postpaid account may owe.
    case create(
      kind: AccountKind, currency: Currency, creditLimit: MicroUnits, plan: String, caps: AccountCaps, zone: String)
    case close
    case lock
    case unlock
    case setPlan(String)
    case setCaps(AccountCaps)
    case setCreditLimit(MicroUnits)
    case setZone(String)
  }

  /// The customer's account that is created or changed.
  public var account: AccountName
  /// Chosen by whoever asks: the same key on the same account stands for the same change.
  public var key: RequestKey
  /// What to do; it must be equal in a repeat.
  public var change: Change
  /// Why, for whoever reads it later; at most ``LedgerOperation/maximumDetailBytes``. It is no part of what a repeat must
  /// have equal.
  public var reason: String?

  /// A `reason` of more than ``LedgerOperation/maximumDetailBytes`` is cut.
  public init(account: AccountName, key: RequestKey, _ change: Change, reason: String? = nil) {
    self.account = account
    self.key = key
    self.change = change
    self.reason = reason.map { LedgerOperation.cut($0, to: LedgerOperation.maximumDetailBytes) }
  }
}

/// Money that moves outside a call.
public struct MoneyMovement: Hashable, Sendable {
  /// Why money moves; it decides the other account of the transfer and the sign of the amount.
  public enum Kind: Hashable, Sendable {
    /// A balance brought over from another system: from `equity:opening`.
    case opening
    /// Money that came in.
    case topup(method: RequestKey)
    /// Undoes a call's charge or pays a top-up back, wholly (`nil` amount) or in part.
    case refund(of: Int64)
    /// A correction; a negative amount takes credit away, beyond what is held only with `force`, which locks the account.
    case adjust(force: Bool)
    case transfer(to: AccountName)
    /// The payer's bank took a top-up back: may pass the floor, and locks the account.
    case chargeback(of: Int64)
  }

  /// The customer's account that the money reaches or leaves; for ``Kind/transfer(to:)`` the one that pays.
  public var account: AccountName
  /// Chosen by whoever asks: the same key on the same account stands for the same movement.
  public var key: RequestKey
  /// What is undone or paid, and by which way; it must be equal in a repeat.
  public var kind: Kind
  /// `nil` stands for all that is left of the transfer being undone.
  public var amount: Credits?
  /// For people, in the account's history; cut to ``LedgerOperation/maximumDetailBytes`` when it is booked.
  public var detail: String
  /// What may be brought in or corrected at once. It is no part of what a repeat must have equal: what was
  /// answered under another limit stays answered.
  public var largest: MicroUnits

  /// The largest opening balance, top-up or correction where nothing else is set: far above any payment, far
  /// below what an account of the books can hold.
  public static let standardLargest: MicroUnits = 1_000_000_000_000_000

  /// - Parameter largest: without it, all that the ledger can hold.
  public init(
    account: AccountName, key: RequestKey, _ kind: Kind, amount: Credits?, detail: String = "",
    largest: MicroUnits = Credits.maximumMicros
  ) {
    self.account = account
    self.key = key
    self.kind = kind
    self.amount = amount
    self.detail = detail
    self.largest = largest
  }
}

/// A step in the billing life of one call. Keyed by the call and the phase; an extension also by its number.
public struct CallOperation: Hashable, Sendable {
  /// The gateway that runs the call, with its fencing token.
  public struct Origin: Hashable, Sendable {
    /// The gateway that runs the call; it must have registered with the ledger.
    public var node: NodeID
    /// Fencing token from the node's registration, ``LedgerNode/epoch``: an older one is refused as stale.
    public var epoch: Int64

    /// Both come from the ``LedgerNode`` that ``LedgerStore/registerNode(_:at:)`` returned.
    public init(node: NodeID, epoch: Int64) {
      self.node = node
      self.epoch = epoch
    }
  }

  /// What the first grant of a call is decided by.
  public struct Authorisation: Hashable, Sendable {
    /// Longest call by default, in seconds.
    public static let defaultMaximumSeconds: Int64 = 14_400
    /// The longest SIP address that is accepted anywhere; what is longer is cut for the record.
    public static let maximumDestinationBytes = 255
    /// First grant by default, in seconds.
    public static let defaultSeconds: Int64 = 60

    /// What rating said of the destination before the ledger was asked.
    public enum Rating: Hashable, Sendable {
      case rated(RateSnapshot)
      /// No price: the refusal is recorded, so that a retry hears the same.
      case refused(LedgerRefusal)
    }

    /// As dialled, such as `+46701234567` or a SIP address; cut to ``maximumDestinationBytes``.
    public var destination: String
    /// ``E164Number/country``; `nil` for anything but a phone number.
    public var country: Int?
    /// The price that the hold freezes, or why there is none.
    public var rating: Rating
    /// Seconds that the first grant shall cover, at least 1; less is granted where credit or a cap is short.
    public var seconds: Int64
    /// Longest call in seconds, at least 1; the tariff's own limit may end it sooner.
    public var maximumSeconds: Int64
    /// Never refused for credit, caps, or a lock.
    public var isEmergency: Bool
    /// The call that this one was transferred from; `nil` for a call of its own.
    public var linkedCall: CallID?
    /// Countries that an account without a list of its own may call; `nil` for every one.
    public var defaultCountries: [Int]?

    /// Times in seconds; a destination of more than ``maximumDestinationBytes`` is cut, all else is checked by the
    /// ledger.
    public init(
      destination: String, country: Int?, rating: Rating, seconds: Int64 = Authorisation.defaultSeconds,
      maximumSeconds: Int64 = Authorisation.defaultMaximumSeconds, isEmergency: Bool = false,
      linkedCall: CallID? = nil, defaultCountries: [Int]? = nil
    ) {
      self.destination = LedgerOperation.cut(destination, to: Authorisation.maximumDestinationBytes)
      self.country = country
      self.rating = rating
      self.seconds = seconds
      self.maximumSeconds = maximumSeconds
      self.isEmergency = isEmergency
      self.linkedCall = linkedCall
      self.defaultCountries = defaultCountries
    }
  }

  /// Where the call is in its billing life; each phase is recorded once, and all ways to end share one key.
  public enum Phase: Hashable, Sendable {
    /// Before any trunk is tried: reserves the first grant.
    case authorise(Authorisation)
    /// 200 OK. The operation's instant is the answer's.
    case answer
    /// Before the grant ends: `number` is 1 for the first extension, `seconds` is by how much it shall grow.
    case extend(number: Int64, seconds: Int64)
    /// - Parameter milliseconds: answer to end on the monotonic clock.
    case settle(milliseconds: Int64, reason: String, carriers: [CarrierCharge])
    case void(reason: String, carriers: [CarrierCharge])
    /// The node that ran the call is dead: settle at its last beat, or void what was never answered.
    case recover
  }

  /// The customer's account that pays for the call.
  public var account: AccountName
  /// The key of the hold, and part of the key of each of the call's operations.
  public var call: CallID
  /// Who asks: only the node, in the life, that authorised a call may go on with it; recovery alone is exempt.
  public var origin: Origin
  /// The step to take, with what it needs.
  public var phase: Phase

  /// Nothing is checked here; the ledger refuses what does not fit the call's hold.
  public init(account: AccountName, call: CallID, origin: Origin, _ phase: Phase) {
    self.account = account
    self.call = call
    self.origin = origin
    self.phase = phase
  }
}

// MARK: - Keys and content

extension LedgerOperation {
  /// The account that the operation names.
  public var account: AccountName {
    switch request {
    case .administer(let administration): administration.account
    case .move(let movement): movement.account
    case .call(let call): call.account
    }
  }

  /// The key inside the account. A person's keys and calls' phases cannot meet: their first letters differ.
  public var key: String {
    switch request {
    case .administer(let administration): "k/\(administration.key)"
    case .move(let movement): "k/\(movement.key)"
    case .call(let call):
      switch call.phase {
      case .authorise: "c/" + call.call.text + "/authorise"
      case .answer: "c/" + call.call.text + "/answer"
      case .extend(let number, _): "c/\(call.call)/extend/\(number)"
      // One key for all ways to end: whichever comes first is the outcome.
      case .settle, .void, .recover: "c/" + call.call.text + "/end"
      }
    }
  }

  /// Everything that must be equal in a repeat, as canonical text. Clocks and actors may differ, and so may the price
  /// of a repeated authorisation: the first answer holds.
  var content: String {
    switch request {
    case .administer(let administration): return administration.change.content
    case .move(let movement):
      let amount = movement.amount.map { "\($0)" } ?? "rest"
      switch movement.kind {
      case .opening: return "opening \(amount)"
      case .topup(let method): return "topup \(method) \(amount)"
      case .refund(let seq): return "refund \(seq) \(amount)"
      case .adjust(let force): return "adjust \(force) \(amount)"
      case .transfer(let to): return "transfer \(to) \(amount)"
      case .chargeback(let seq): return "chargeback \(seq) \(amount)"
      }
    case .call(let call):
      func text(_ carriers: [CarrierCharge]) -> String {
        carriers.map { " \($0.trunk):\($0.amount):\($0.overrun)" }.joined()
      }
      switch call.phase {
      case .authorise(let authorisation): return "authorise " + authorisation.destination
      case .answer: return "answer"
      case .extend(let number, let seconds): return "extend \(number) \(seconds)"
      case .settle(let milliseconds, _, let carriers): return "settle \(milliseconds)\(text(carriers))"
      case .void(_, let carriers): return "void\(text(carriers))"
      case .recover: return "recover"
      }
    }
  }
}

extension AccountAdministration.Change {
  var content: String {
    switch self {
    case .create(let kind, let currency, let creditLimit, let plan, let caps, let zone):
      "create \(kind.rawValue) \(currency) \(creditLimit) \(plan) \(caps.text) \(zone)"
    case .close: "close"
    case .lock: "lock"
    case .unlock: "unlock"
    case .setPlan(let plan): "set-plan \(plan)"
    case .setCaps(let caps): "set-cap \(caps.text)"
    case .setCreditLimit(let limit): "set-credit-limit \(limit)"
    case .setZone(let zone): "set-zone \(zone)"
    }
  }
}
