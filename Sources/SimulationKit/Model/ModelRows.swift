import CallModel
import LedgerCore

/// What the model remembers of one customer.
struct ModelAccount {
  let currency: Currency
  let kind: AccountKind
  var posted = MicroUnits.zero
  var held = MicroUnits.zero
  var floor: MicroUnits
  var status = AccountStatus.open
  var caps: AccountCaps
  var zone: String
  var openCalls: Int64 = 0
  /// The clock second of the newest call, and the calls in it.
  var second: Int64 = 0
  var callsInSecond: Int64 = 0

  var available: MicroUnits { posted - held - floor }
}

struct ModelCallKey: Hashable {
  let account: String
  let call: String
}

struct ModelDayKey: Hashable {
  let account: String
  let day: Int64
}

struct ModelDay: Hashable {
  var spent = MicroUnits.zero
  var held = MicroUnits.zero
}

/// What the model remembers of one call.
struct ModelHold {
  var amount: MicroUnits
  var seconds: Int64
  var extensions: Int64 = 0
  let maximumSeconds: Int64
  let origin: CallOperation.Origin
  let snapshot: RateSnapshot
  let isEmergency: Bool
  var day: Int64
  let authorisedAt: Instant
  var answeredAt: Instant?
  var answeredUptime: Int64?
  var end: End?

  struct End {
    let outcome: LedgerOutcome
    let at: Instant
    let isRecovery: Bool
  }
}

/// A transfer that a refund or a chargeback may name.
struct ModelTransfer {
  let isCharge: Bool
  /// The customer who was charged, or who topped up.
  let customer: String
  /// The operator's account on the other side.
  let other: String
  let amount: MicroUnits
  var reversed = MicroUnits.zero
}

struct ModelRecord {
  let content: ModelContent
  let outcome: LedgerOutcome
  let seq: Int64
  let at: Instant
}

/// What has to be equal in a repeat.
enum ModelContent: Hashable {
  case change(AccountAdministration.Change)
  case move(MoneyMovement.Kind, Credits?)
  case authorise(String)
  case answer
  case extend(Int64, Int64)
  case settle(Int64, [CarrierCharge])
  case void([CarrierCharge])
  case recover

  init(_ operation: LedgerOperation) {
    switch operation.request {
    case .administer(let administration): self = .change(administration.change)
    case .move(let movement): self = .move(movement.kind, movement.amount)
    case .call(let call):
      switch call.phase {
      case .authorise(let authorisation): self = .authorise(authorisation.destination)
      case .answer: self = .answer
      case .extend(let number, let seconds): self = .extend(number, seconds)
      case .settle(let milliseconds, _, let carriers): self = .settle(milliseconds, carriers)
      case .void(_, let carriers): self = .void(carriers)
      case .recover: self = .recover
      }
    }
  }
}

/// One life of a node as the model saw it.
struct ModelLife {
  let epoch: Int64
  var lastBeat: Instant
  /// Of the last beat; `nil` before the first.
  var uptime: Int64?
  /// `nil` for a life that only marks the one before as dead.
  var leaseUntil: Instant?
}

/// A posting that the model expects.
struct ModelPosting {
  enum Reason {
    case topup, adjust, transfer
    case refund(Int64)
    case chargeback(Int64)
  }
  let reason: Reason
  let debit: String
  let credit: String
  let amount: MicroUnits
  let locks: Bool
}

/// What the answer to an operation must be.
enum Expectation {
  case replay(ModelRecord)
  /// A refusal that leaves no trace.
  case unrecorded(LedgerRefusal, LedgerOutcome?)
  /// An answer known to the letter.
  case recorded(LedgerOutcome)
  case posted(ModelPosting)
  case settled(milliseconds: Int64, billedSeconds: Int64, cost: MicroUnits)
  /// A grant whose size may lie between bounds, at a price that the size decides.
  case granted(seconds: ClosedRange<Int64>, budget: MicroUnits, base: MicroUnits, answeredAt: Instant?, maximum: Int64)

  /// Whether the answer is kept under the operation's key.
  var isNewRecord: Bool {
    switch self {
    case .replay, .unrecorded: false
    case .recorded, .posted, .settled, .granted: true
    }
  }
}

/// The ledger said something that the model rules out.
struct Contradiction: Error {
  let account: String?
  let detail: String

  init(_ account: String?, _ detail: String) {
    self.account = account
    self.detail = detail
  }
}
