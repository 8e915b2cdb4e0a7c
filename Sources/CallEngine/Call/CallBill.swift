import AppProtocol
import CallModel
import LedgerCore

/// The money of one leg: one hold, its extensions, and one end.
///
/// ```
/// authorising ──granted──▶ held ──answer──▶ answered ──▶ ending ──receipt──▶ closed
///      │ refused             └──────void──────────────────▶ ▲                  ▲
///      └─────────────────────────────────────────────────────────────────────┘
/// ```
struct CallBill {
  enum Phase: Equatable {
    /// `mustVoid`: the call is over; what is granted later is given back at once, for this reason.
    case authorising(mustVoid: String?)
    case held
    case answered(at: MonotonicInstant)
    /// The last operation is out; its receipt tells the cost.
    case ending
    case closed
  }

  /// What an answer of the ledger means for the call.
  enum Verdict: Equatable {
    case nothing
    case granted
    case refused(CallRefusal)
    case extended
    case notExtended
    case closed
  }

  /// Before the same question is asked again when the ledger was away.
  static let retryMilliseconds: Int64 = 1_000

  let call: CallID
  let environment: String
  let account: AccountName
  let origin: CallOperation.Origin
  let authorisation: CallOperation.Authorisation
  let currency: Currency

  private(set) var phase = Phase.authorising(mustVoid: nil)
  /// Seconds from the answer that are paid for.
  private(set) var grantedSeconds: Int64 = 0
  /// What is held.
  private(set) var heldMicro = MicroUnits.zero
  /// The ledger said that no further second can be had as things stand.
  private(set) var isFinal = false
  /// Why the last question for more was refused.
  private(set) var refusal: LedgerRefusal?
  /// Whether the last question found no ledger.
  private(set) var isLedgerAway = false
  private(set) var costMicro: MicroUnits?
  private(set) var billedSeconds: Int64 = 0
  private(set) var isAnswerConfirmed = false
  private(set) var wasGranted = false
  /// What the measured duration was; 0 without an answer.
  private(set) var durationMilliseconds: Int64 = 0
  /// The app knows that the credit ends.
  var hasWarned = false

  private var extensions: Int64 = 0
  private var isAsking = false
  private var asksAgain = false
  private var retryAt: MonotonicInstant?
  private let guardMilliseconds: Int64
  private let grantSeconds: Int64
  /// Where the call counts among what may be done within an hour.
  private var velocity: VelocityCounter.Mark?
  /// What is counted there.
  private var countedMicro = MicroUnits.zero
  /// The rule that stands against another grant, or against the first.
  private(set) var reachedRule: VelocityRule?
  /// Whether no ledger hears of the leg: it costs nothing, and the ledger has no account that it could stand in.
  private let isUnbooked: Bool

  /// - Parameter isGivenAway: whether nobody has to pay.
  init(
    call: CallID, payer: Payer, origin: CallOperation.Origin, _ authorisation: CallOperation.Authorisation,
    isGivenAway: Bool = false, velocity: VelocityCounter.Mark? = nil, limits: EngineConfiguration.Limits
  ) {
    self.call = call
    self.velocity = velocity
    environment = payer.environment
    account = payer.account
    currency = payer.currency
    self.origin = origin
    self.authorisation = authorisation
    guardMilliseconds = limits.guardMilliseconds
    grantSeconds = limits.grantSeconds
    isUnbooked = isGivenAway && !payer.isInLedger
    if isUnbooked {
      phase = .held
      grantedSeconds = authorisation.maximumSeconds
      isFinal = true
    }
  }

  private func send(_ step: LedgerStep, _ phase: CallOperation.Phase, _ context: EngineContext) {
    guard !isUnbooked else { return }
    context.emit(
      .ledger(environment: environment, step, CallOperation(account: account, call: call, origin: origin, phase)))
  }

  // MARK: What the call does

  func authorise(_ context: EngineContext) { send(.authorise, .authorise(authorisation), context) }

  mutating func answer(_ context: EngineContext) {
    guard case .held = phase else { return }
    phase = .answered(at: context.now)
    send(.answer, .answer, context)
  }

  /// Asks for the next grant when it is time to, or when told that things have changed.
  mutating func ask(_ context: EngineContext) {
    // A rule that stands against another grant stands to the call's end.
    guard case .answered = phase, !isAtMaximum, reachedRule == nil else { return }
    guard !isAsking else {
      asksAgain = true
      return
    }
    // A question that found no ledger is repeated as it was; one that was refused stays refused under its number.
    if !isLedgerAway { extensions += 1 }
    isAsking = true
    retryAt = nil
    send(.extend(extensions), .extend(number: extensions, seconds: grantSeconds), context)
  }

  /// Gives the hold back, or charges what was used until `end`; once, whatever follows.
  mutating func end(_ reason: String, at end: MonotonicInstant, _ context: EngineContext) {
    switch phase {
    case .authorising(mustVoid: nil): phase = .authorising(mustVoid: reason)
    case .held where isUnbooked: close(milliseconds: 0)
    case .answered(let answeredAt) where isUnbooked: close(milliseconds: end.milliseconds(since: answeredAt))
    case .held:
      phase = .ending
      send(.end, .void(reason: reason, carriers: []), context)
    case .answered(let answeredAt):
      phase = .ending
      durationMilliseconds = min(max(end.milliseconds(since: answeredAt), 0), grantedSeconds * 1000)
      // Without its answer a hold cannot be charged: the same key again does no harm.
      if !isAnswerConfirmed { send(.answer, .answer, context) }
      send(.end, .settle(milliseconds: durationMilliseconds, reason: reason, carriers: []), context)
    case .authorising, .ending, .closed: break
    }
  }

  /// The end of a leg that is in no ledger.
  private mutating func close(milliseconds: Int64) {
    phase = .closed
    durationMilliseconds = min(max(milliseconds, 0), grantedSeconds * 1000)
    billedSeconds = (durationMilliseconds + 999) / 1000
    costMicro = .zero
  }

  /// Nobody waits any longer: what is still unknown is given back unseen.
  mutating func giveUp(_ context: EngineContext) {
    if case .authorising(let reason?) = phase {
      send(.end, .void(reason: reason, carriers: []), context)
    }
    phase = .closed
  }

  // MARK: What the ledger says

  mutating func received(
    _ step: LedgerStep, _ result: Result<LedgerReceipt, LedgerUnavailable>, _ context: EngineContext
  ) -> Verdict {
    switch (step, phase) {
    case (.authorise, .authorising(let mustVoid)): return authorised(result, mustVoid: mustVoid, context)
    case (.answer, .answered), (.answer, .ending): return answered(result, context)
    case (.extend(let number), .answered(let answeredAt)):
      return extended(number, result, answeredAt: answeredAt, context)
    case (.end, .ending):
      phase = .closed
      if case .success(let receipt) = result { closed(with: receipt.resolved ?? receipt.outcome, context) }
      return .closed
    // An answer that crossed the end of what was asked.
    case (.authorise, .held), (.authorise, .answered), (.authorise, .ending), (.authorise, .closed),
      (.answer, .authorising), (.answer, .held), (.answer, .closed), (.extend, .authorising), (.extend, .held),
      (.extend, .ending), (.extend, .closed), (.end, .authorising), (.end, .held), (.end, .answered), (.end, .closed):
      return .nothing
    }
  }

  private mutating func authorised(
    _ result: Result<LedgerReceipt, LedgerUnavailable>, mustVoid: String?, _ context: EngineContext
  ) -> Verdict {
    switch result {
    case .failure:
      // The hold may have been made all the same.
      uncount(context)
      phase = .ending
      send(.end, .void(reason: CallRefusal.billingUnavailable.rawValue, carriers: []), context)
      return mustVoid == nil ? .refused(.billingUnavailable) : .nothing
    case .success(let receipt):
      switch receipt.outcome {
      case .granted(let seconds, let amount, let isFinal):
        wasGranted = true
        phase = .held
        grantedSeconds = seconds
        heldMicro = amount
        self.isFinal = isFinal
        if let mustVoid {
          end(mustVoid, at: context.now, context)
          return .nothing
        }
        guard count(amount, context) else {
          uncount(context)
          end(CallRefusal.hourlyCap.rawValue, at: context.now, context)
          return .refused(.hourlyCap)
        }
        return .granted
      case .refused(let refusal):
        phase = .closed
        costMicro = .zero
        uncount(context)
        if refusal.callRefusal == nil { context.log(.error, call, "authorise refused: \(refusal.explanation)") }
        return mustVoid == nil ? .refused(refusal.callRefusal ?? .billingUnavailable) : .closed
      case .changed, .posted, .answered, .settled, .voided:
        phase = .closed
        context.log(.error, call, "the ledger answered an authorisation with \(receipt.outcome.text)")
        return mustVoid == nil ? .refused(.billingUnavailable) : .closed
      }
    }
  }

  private mutating func answered(
    _ result: Result<LedgerReceipt, LedgerUnavailable>, _ context: EngineContext
  ) -> Verdict {
    switch result {
    case .success(let receipt):
      isAnswerConfirmed = receipt.refusal == nil
      if let refusal = receipt.refusal { context.log(.error, call, "answer refused: \(refusal.explanation)") }
    case .failure:
      if case .answered = phase {
        retryAt = context.now.advanced(byMilliseconds: CallBill.retryMilliseconds)
      }
    }
    return .nothing
  }

  private mutating func extended(
    _ number: Int64, _ result: Result<LedgerReceipt, LedgerUnavailable>, answeredAt: MonotonicInstant,
    _ context: EngineContext
  ) -> Verdict {
    guard isAsking, number == extensions else { return .nothing }
    isAsking = false
    switch result {
    case .failure:
      isLedgerAway = true
      retryAt = context.now.advanced(byMilliseconds: CallBill.retryMilliseconds)
      return .nothing
    case .success(let receipt):
      isLedgerAway = false
      var verdict = Verdict.notExtended
      switch receipt.outcome {
      case .granted(let seconds, let amount, let isFinal):
        heldMicro = amount
        // The ledger holds more, but the call ends where its last grant does: the rest is given back with its end.
        guard count(amount - countedMicro, context) else { break }
        grantedSeconds = max(grantedSeconds, seconds)
        self.isFinal = isFinal
        refusal = nil
        verdict = .extended
      case .refused(let refusal): self.refusal = refusal
      case .changed, .posted, .answered, .settled, .voided:
        refusal = .conflict
        context.log(.error, call, "the ledger answered an extension with \(receipt.outcome.text)")
      }
      if asksAgain {
        asksAgain = false
        ask(context)
      }
      return verdict
    }
  }

  /// Counts an amount among what may be spent within an hour.
  /// - Returns: whether the rules have room for it.
  private mutating func count(_ amount: MicroUnits, _ context: EngineContext) -> Bool {
    guard var mark = velocity else { return true }
    reachedRule = context.count(amount, &mark, of: AccountKey(account: account, environment: environment))
    velocity = mark
    if reachedRule == nil { countedMicro += amount }
    return reachedRule == nil
  }

  /// The call was never one.
  private mutating func uncount(_ context: EngineContext) {
    if let velocity { context.velocity.correct(velocity, by: .zero, isRefused: true) }
    velocity = nil
  }

  private mutating func closed(with outcome: LedgerOutcome, _ context: EngineContext) {
    defer {
      if let velocity, let costMicro { context.velocity.correct(velocity, by: costMicro - countedMicro) }
    }
    switch outcome {
    case .settled(_, let billed, let cost, _):
      billedSeconds = billed
      costMicro = cost
    case .voided: costMicro = .zero
    case .refused(.unknownCall) where !wasGranted: costMicro = .zero
    case .refused(let refusal): context.log(.error, call, "the end of the bill was refused: \(refusal.explanation)")
    case .changed, .posted, .granted, .answered:
      context.log(.error, call, "the ledger answered the end of a call with \(outcome.text)")
    }
  }

  // MARK: Times

  var isClosed: Bool { phase == .closed }
  /// Whether its hold is asked for and not granted yet.
  var isAuthorising: Bool {
    if case .authorising = phase { return true }
    return false
  }
  var isAtMaximum: Bool { grantedSeconds >= authorisation.maximumSeconds }
  var isFree: Bool {
    guard case .rated(let snapshot) = authorisation.rating else { return authorisation.isEmergency }
    return authorisation.isEmergency || snapshot.coveringCost(seconds: Tariff.maximumSeconds, answeredAt: nil) == .zero
  }

  var answeredAt: MonotonicInstant? {
    if case .answered(let at) = phase { return at }
    return nil
  }

  /// When the paid seconds are over.
  var cutAt: MonotonicInstant? { answeredAt?.advanced(byMilliseconds: grantedSeconds * 1000) }

  /// When the ledger is to be asked for more, or again for what it did not answer.
  var askAt: MonotonicInstant? {
    guard let cutAt, !isAsking else { return nil }
    if let retryAt { return retryAt }
    guard refusal == nil, reachedRule == nil, !isAtMaximum else { return nil }
    return cutAt.advanced(byMilliseconds: -guardMilliseconds)
  }

  /// What was due at ``askAt``.
  mutating func advance(_ context: EngineContext) {
    if !isAnswerConfirmed, retryAt != nil { send(.answer, .answer, context) }
    let mayAsk = isLedgerAway || cutAt.map { $0.advanced(byMilliseconds: -guardMilliseconds) <= context.now } ?? false
    retryAt = nil
    if mayAsk, refusal == nil { ask(context) }
  }

  /// The account has changed: what was refused may be had now.
  mutating func accountChanged(_ context: EngineContext) {
    guard case .answered = phase, isFinal || refusal != nil || isLedgerAway else { return }
    refusal = nil
    ask(context)
  }

  /// Why a call ends at ``cutAt``.
  var cutReason: CallRefusal {
    if reachedRule != nil { return .hourlyCap }
    if let refusal { return refusal.callRefusal ?? .billingUnavailable }
    if isAtMaximum { return .durationCap }
    if isLedgerAway || isAsking { return .billingUnavailable }
    return .insufficientCredit
  }
}
