public import CallModel
public import LedgerCore
public import LedgerSQLite
import RoutingCore

/// Overlapping calls through a real ledger and real rates, in virtual time: what a gateway would ask of them, without
/// a gateway.
///
/// Each call is priced by the account's plan, held, perhaps answered, extended before its grant runs dry, and settled or
/// voided. One seed gives one course of events.
public struct CallRehearsal {
  /// Whose calls are made, how many, and when. Times are virtual.
  public struct Options: Sendable {
    /// Most calls of one rehearsal; more are taken as this many.
    public static let maximumCalls = 100_000

    /// Pays for all calls; it must exist and have a rate plan.
    public var account: AccountName
    /// Below 0 is taken as 0, above ``maximumCalls`` as that.
    public var calls = 200
    /// Decides the numbers called, when calls start, how long they ring and last, and which are answered.
    public var seed: UInt64 = 1
    /// The first call's instant.
    public var start: Instant
    /// Seconds within which all calls start: short, so that they overlap.
    public var window: Int64 = 60
    /// Calls in a hundred that ring and are never answered.
    public var unansweredPercent = 0

    /// 200 calls within a minute, all of them answered unless the ledger refuses, with seed 1.
    public init(account: AccountName, start: Instant) {
      self.account = account
      self.start = start
    }
  }

  /// What became of the calls: each was refused, not answered or settled.
  public struct Report: Hashable, Sendable {
    /// Calls that the ledger was asked to authorise.
    public var calls = 0
    /// Calls that were not authorised, by reason.
    public var refused: [LedgerRefusal: Int] = [:]
    /// Calls that rang and were voided, for which nothing was charged.
    public var unanswered = 0
    /// Calls that were answered and charged, those cut for credit included.
    public var settled = 0
    /// Times that a call was granted more before its grant ran dry.
    public var extensions = 0
    /// Calls cut at the end of their grant because no more credit was to be had.
    public var cutForCredit = 0
    /// Most calls with an open hold at the same time, ringing or answered.
    public var mostAtOnce = 0
    /// Seconds that settled calls were charged for, as their tariffs round them up.
    public var billedSeconds: Int64 = 0
    /// What settled calls cost together, in the account's currency.
    public var charged: Credits
    /// Virtual instant of the last event; the start where there was no call.
    public var end: Instant
  }

  /// Why no call could be made; thrown before anything is written to the ledger.
  public enum Failure: Error, CustomStringConvertible {
    case unknownAccount(AccountName)
    case noPlan(AccountName)
    case emptyPlan(String)

    /// One line, with the command that helps where there is one.
    public var description: String {
      switch self {
      case .unknownAccount(let name): "there is no account \(name)"
      case .noPlan(let name): "account \(name) has no rate plan: landline account set-plan \(name) PLAN"
      case .emptyPlan(let name): "plan \(name) prices nothing now: activate a deck"
      }
    }
  }

  private enum Step {
    case authorise
    case answer
    case extend
    case hangUp
    case giveUp
  }

  private struct Event {
    var at: Instant
    var call: Int
    var step: Step
  }

  private struct Call {
    var id: CallID
    var number: NumberDigits
    /// Milliseconds of ringing, and of talk if it is answered.
    var ring: Int64
    var talk: Int64
    var isAnswered: Bool
    var answeredAt: Instant?
    var granted: Int64 = 0
    var isFinal = false
    var extensions: Int64 = 0
  }

  private let store: any LedgerStore
  private let options: Options
  private let plan: RatePlan
  private let denyRanges: DenyRanges
  private let currency: Currency
  private var calls: [Call] = []
  private var events: [Event] = []
  private var origin: CallOperation.Origin
  private var report: Report
  private var open = 0

  /// Seconds before the end of a grant at which the next is asked for.
  private static let guardSeconds: Int64 = 5
  /// Numbers tried until one can be called.
  private static let maximumDraws = 50

  /// - Throws: ``Failure``, ``LedgerUnavailable``, ``RateStoreRefusal``.
  public static func run(store: any LedgerStore, rates: SQLiteRateStore, _ options: Options) async throws -> Report {
    let name = options.account
    guard let account = try await store.read({ try $0.customer(named: name.text) }) else {
      throw Failure.unknownAccount(name)
    }
    guard !account.plan.isEmpty else { throw Failure.noPlan(name) }
    guard let plan = try rates.ratePlan(account.plan, at: options.start) else { throw Failure.emptyPlan(account.plan) }
    let ranges = try rates.denyRanges()
    let node = try await store.registerNode(NodeID(unchecked: "rehearsal"), at: options.start)
    var rehearsal = CallRehearsal(
      store: store, options: options, plan: plan,
      denyRanges: try DenyRanges(ranges.map { (prefix: $0.prefix, ruling: $0.ruling) }), currency: account.currency,
      origin: CallOperation.Origin(node: node.id, epoch: node.epoch))
    return try await rehearsal.run()
  }

  private init(
    store: any LedgerStore, options: Options, plan: RatePlan, denyRanges: DenyRanges, currency: Currency,
    origin: CallOperation.Origin
  ) {
    self.store = store
    self.options = options
    self.plan = plan
    self.denyRanges = denyRanges
    self.currency = currency
    self.origin = origin
    report = Report(charged: .zero(currency), end: options.start)
    var generator = SeededGenerator(seed: options.seed)
    let decks = plan.entries.map { $0.index.deck.rows }
    for index in 0..<min(max(options.calls, 0), Options.maximumCalls) {
      guard let number = priced(decks, &generator) else { continue }
      calls.append(
        Call(
          id: CallID(unchecked: "rehearsal-\(options.seed)-\(origin.epoch)-\(index + 1)"), number: number,
          ring: generator.number(500...20_000), talk: generator.number(1000...300_000),
          isAnswered: generator.number(0...99) >= Int64(options.unansweredPercent)))
      let offset = generator.number(0...min(max(options.window, 0), 86_400) * 1000)
      events.append(
        Event(at: options.start.advanced(byMilliseconds: offset), call: calls.count - 1, step: .authorise))
    }
  }

  /// A number that the plan prices: drawn from the decks' own prefixes, and again when the one drawn is blocked.
  private func priced(_ decks: [RateDeck.Rows], _ generator: inout SeededGenerator) -> NumberDigits? {
    var drawn: NumberDigits?
    for _ in 0..<CallRehearsal.maximumDraws {
      let rows = decks[generator.index(decks.count)]
      var digits = rows[generator.index(rows.count)].prefix.description
      while digits.utf8.count < 11 { digits += String(generator.below(10)) }
      guard let number = try? NumberDigits(digits) else { continue }
      drawn = number
      if (try? Rating.quote(number, plan: plan, account: currency, denyRanges: denyRanges, at: options.start)) != nil {
        return number
      }
    }
    // A plan that blocks nearly everything: let the ledger hear of the refusal.
    return drawn
  }

  private mutating func run() async throws -> Report {
    report.calls = calls.count
    while let next = events.indices.min(by: {
      (events[$0].at, events[$0].call) < (events[$1].at, events[$1].call)
    }) {
      let event = events.remove(at: next)
      report.end = max(report.end, event.at)
      try await perform(event)
    }
    return report
  }

  private func ask(_ call: Call, _ phase: CallOperation.Phase, at: Instant) async throws -> LedgerReceipt {
    try await store.perform(
      LedgerOperation(
        .call(CallOperation(account: options.account, call: call.id, origin: origin, phase)), at: at,
        actor: "rehearsal"))
  }

  private mutating func perform(_ event: Event) async throws {
    var call = calls[event.call]
    defer { calls[event.call] = call }
    func later(_ milliseconds: Int64, _ step: Step) -> Event {
      Event(at: event.at.advanced(byMilliseconds: milliseconds), call: event.call, step: step)
    }
    switch event.step {
    case .authorise:
      let receipt = try await ask(call, .authorise(authorisation(of: call, at: event.at)), at: event.at)
      switch receipt.outcome {
      case .granted(let seconds, _, let isFinal):
        call.granted = seconds
        call.isFinal = isFinal
        open += 1
        report.mostAtOnce = max(report.mostAtOnce, open)
        events.append(later(call.ring, call.isAnswered ? .answer : .giveUp))
      case .refused(let refusal): report.refused[refusal, default: 0] += 1
      case .changed, .posted, .answered, .settled, .voided: throw unexpected(receipt)
      }
    case .answer:
      _ = try await ask(call, .answer, at: event.at)
      call.answeredAt = event.at
      events.append(nextStep(of: call, at: event.at, event.call))
    case .extend:
      call.extensions += 1
      let receipt = try await ask(call, .extend(number: call.extensions, seconds: 60), at: event.at)
      switch receipt.outcome {
      case .granted(let seconds, _, let isFinal):
        report.extensions += 1
        call.granted = seconds
        call.isFinal = isFinal
      case .refused: call.isFinal = true
      case .changed, .posted, .answered, .settled, .voided: throw unexpected(receipt)
      }
      events.append(nextStep(of: call, at: event.at, event.call))
    case .hangUp:
      let talked = call.answeredAt.map { event.at.milliseconds(since: $0) } ?? 0
      let isCut = talked < call.talk
      let receipt = try await ask(
        call, .settle(milliseconds: talked, reason: isCut ? "noCredit" : "hungUp", carriers: []), at: event.at)
      guard case .settled(_, let billed, let cost, _) = receipt.outcome else { throw unexpected(receipt) }
      open -= 1
      report.settled += 1
      report.cutForCredit += isCut ? 1 : 0
      report.billedSeconds += billed
      report.charged = try report.charged.adding(Credits(micros: cost, currency))
    case .giveUp:
      _ = try await ask(call, .void(reason: "noAnswer", carriers: []), at: event.at)
      open -= 1
      report.unanswered += 1
    }
  }

  private func authorisation(of call: Call, at: Instant) -> CallOperation.Authorisation {
    let rating: CallOperation.Authorisation.Rating
    do throws(RatingRefusal) {
      rating = .rated(
        try Rating.quote(call.number, plan: plan, account: currency, denyRanges: denyRanges, at: at))
    } catch {
      switch error {
      case .destinationBlocked: rating = .refused(.destinationBlocked)
      case .noRate, .unpriceable: rating = .refused(.noRate)
      case .currencyMismatch: rating = .refused(.currencyMismatch)
      case .noProfitableRoute: rating = .refused(.noProfitableRoute)
      }
    }
    return CallOperation.Authorisation(destination: "+\(call.number)", country: nil, rating: rating)
  }

  /// The end of the talk, or the moment to ask for more, whichever comes first; a final grant is the end.
  private func nextStep(of call: Call, at now: Instant, _ index: Int) -> Event {
    let answered = call.answeredAt ?? now
    let end = answered.advanced(byMilliseconds: call.talk)
    let deadline = answered.advanced(byMilliseconds: call.granted * 1000)
    if call.isFinal { return Event(at: max(now, min(end, deadline)), call: index, step: .hangUp) }
    let ask = max(now, deadline.advanced(byMilliseconds: -CallRehearsal.guardSeconds * 1000))
    return end <= ask
      ? Event(at: max(now, end), call: index, step: .hangUp) : Event(at: ask, call: index, step: .extend)
  }

  private func unexpected(_ receipt: LedgerReceipt) -> LedgerFault {
    LedgerFault("the ledger answered \(receipt.outcome.text)")
  }
}
