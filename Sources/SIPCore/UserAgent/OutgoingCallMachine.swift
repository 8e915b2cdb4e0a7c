import CallModel

/// A call that we place: its INVITE, tried along paths, challenges and redirections, the early dialogs of its forks, and
/// the dialog that wins (RFC 3261 section 13.2).
///
/// ```
/// locating ──▶ calling ──▶ up ──▶ over
///    │            │ ▲ next path, challenge, 422, 420, 3xx
///    │            ▼
///    └──────▶ cancelling ──▶ over
/// ```
/// It stays for 64 × T1 after the first 2xx, for the 2xx of other forks: each of them is acknowledged and ended
/// (RFC 3261 section 13.2.2.4). Then the session goes on alone.
final class OutgoingCallMachine: CallMachine {
  private enum State {
    /// The question where the next hop lives is open.
    case locating
    case calling(TransactionID)
    /// CANCEL is on its way, or waits for a provisional response.
    case cancelling(TransactionID)
    case up(DialogSession)
    case over
  }

  /// Why a call is cancelled.
  private enum Cancellation {
    case local(HangUp)
    case noAnswer
    case failure(CallFailure)
  }

  /// An early dialog of one fork.
  private struct Fork {
    let session: DialogSession
    var provisionals: ReliableProvisionalReceiver
    /// The last session description that came, reliable or not.
    var description: MessageBody?
    /// Whether offer and answer are complete: one of them came in a reliable response.
    var isNegotiated = false
  }

  /// An offer of the peer that waits for the layer above.
  private struct PendingOffer {
    let exchange: ExchangeID
    /// The reliable provisional response it came in, whose PRACK takes the answer; `nil` where it came in the 2xx: then
    /// the answer goes in the ACK, through the session.
    let response: SIPMessage?
  }

  /// 64 × T1: how long other forks may answer, an INVITE without any answer lives, and an answer of ours is awaited.
  private static let windowMilliseconds: Int64 = 32_000

  let call: CallHandle
  private let context: UserAgentContext
  private let plan: OutgoingCall
  private let callID: String
  private let localTag: String
  private var sequence: UInt32 = 0
  private var state = State.locating
  private(set) var hasEnded = false

  // What the next INVITE is made of.
  private var redirection: Redirection
  private var route: PathList
  private var challenge: ChallengedRequest
  private var timer: SessionTimer
  private var sessionIntervals = 0
  /// Option tags that a 420 told to leave out.
  private var refusedOptions: Set<String> = []
  private var lastFailure: SIPMessage?

  // What came of the INVITE.
  private var invite: OutgoingRequest?
  /// The UDP paths in whose place a stream was tried.
  private var triedStreams: Set<SIPPath> = []
  private var forks: [String: Fork] = [:]
  /// The highest CSeq number of requests in forks that are closed: a late 2xx may open their dialogs again.
  private var forkSequence: UInt32 = 0
  private var hasTried = false
  private var hasProvisional = false
  private var hasRung = false
  /// The last response to an INVITE of this call that could not be read.
  private var unreadable: UnreadableResponse?
  private var cancellation: Cancellation?
  private var pendingOffer: PendingOffer?
  /// INVITEs that were given up for the next path and not answered finally.
  private var abandoned: Set<TransactionID> = []
  /// Dialogs that lost or came too late, by the tag of the peer.
  private var dismissed: [String: DialogSession] = [:]

  // What is due.
  /// Of the question where the next hop lives.
  private var locationDeadline: MonotonicInstant?
  /// From the first provisional response to an INVITE on: nothing rings before something answers.
  private var ringDeadline: MonotonicInstant?
  private var responseDeadline: MonotonicInstant?
  private var answerDeadline: MonotonicInstant?
  private var windowEnd: MonotonicInstant?

  init(_ plan: OutgoingCall, call: CallHandle, context: UserAgentContext) {
    self.call = call
    self.context = context
    self.plan = plan
    callID = plan.callID ?? context.identifiers.token()
    localTag = context.identifiers.token()
    redirection = Redirection(
      plan.target, maximum: plan.maximumRedirections, targets: context.limits.redirectionTargets,
      allows: plan.allowsRedirection)
    route = PathList(plan.paths, maximum: context.limits.paths)
    challenge = ChallengedRequest(plan.account, maximum: context.limits.challenges)
    timer = SessionTimer(plan.sessionTimer)
  }

  /// A call of a process that died, to be ended by ``release(_:)``.
  init?(_ leg: AbandonedLeg, call: CallHandle, context: UserAgentContext) {
    guard let plan = OutgoingCall(leg), let tag = leg.invite.from.tag else { return nil }
    self.call = call
    self.context = context
    self.plan = plan
    callID = leg.invite.callID
    localTag = tag
    sequence = leg.invite.cseq.number
    redirection = Redirection(plan.target, maximum: 0, targets: 0)
    route = PathList(plan.paths, maximum: 1)
    challenge = ChallengedRequest(plan.account, maximum: context.limits.challenges)
    timer = SessionTimer(plan.sessionTimer)
  }

  /// Of the INVITE: 2xx responses that no transaction takes are led here by it.
  var identifier: String { callID }

  var nextDeadline: MonotonicInstant? {
    var next = EarliestDeadline()
    next.add(locationDeadline)
    next.add(ringDeadline)
    next.add(responseDeadline)
    next.add(answerDeadline)
    next.add(windowEnd)
    if case .up(let session) = state { next.add(session.nextDeadline) }
    for fork in forks.values { next.add(fork.session.nextDeadline) }
    for session in dismissed.values { next.add(session.nextDeadline) }
    return next.time
  }

  var isFinished: Bool {
    guard hasEnded, hasSettled else { return false }
    if case .up(let session) = state { return session.isFinished }
    return true
  }

  var successor: (any CallMachine)? {
    guard case .up(let session) = state, hasSettled, pendingOffer == nil else { return nil }
    return session
  }

  /// One input has one sequence of effects: no order that a process chooses by chance.
  private var forksInOrder: [Fork] { forks.sorted { $0.key < $1.key }.map(\.value) }
  private var dismissedInOrder: [DialogSession] { dismissed.sorted { $0.key < $1.key }.map(\.value) }

  private var hasSettled: Bool { windowEnd == nil && abandoned.isEmpty && dismissed.isEmpty }

  // MARK: - Sending the INVITE

  func start() {
    proceed()
  }

  /// Ends what a process that died has left: BYE where the peer had answered, CANCEL where it may still ring. A 2xx that
  /// crosses the CANCEL is acknowledged and ended as always.
  func release(_ leg: AbandonedLeg) {
    invite = OutgoingRequest(sent: leg.invite)
    forkSequence = min(sequence, UInt32(Int32.max) - AbandonedLeg.sequenceGap) + AbandonedLeg.sequenceGap
    if let answer = leg.answer {
      dismiss(answer, from: leg.path)
    } else if let invite, let via = leg.invite.vias.first,
      let transaction = context.adopt(invite, via: via, to: leg.path, for: .call(call))
    {
      state = .calling(transaction)
      return cancel(.local(HangUp()))
    }
    end(CallEnd(cause: .local, wasEstablished: leg.answer != nil))
  }

  /// Sends the INVITE on the path at hand, or asks where it lives.
  private func proceed() {
    ringDeadline = nil
    guard let current = route.current else {
      guard route.wantsLocation, let uri = nextHop, uri.host != nil else { return failUnreached() }
      state = .locating
      locationDeadline = context.now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
      return context.locate(uri, for: .call(call))
    }
    guard sequence < UInt32(Int32.max) else { return failUnreached() }
    sequence += 1
    guard let contact = context.contact(user: contactUser, scheme: redirection.current.scheme, for: current) else {
      return next(after: .transport)
    }
    var request = OutgoingRequest(
      .invite, uri: redirection.current, routes: plan.routes.map { NameAddress($0) }, from: from,
      to: NameAddress(plan.target), callID: callID, cseq: sequence, contact: contact,
      maxForwards: plan.maximumForwards, fields: fields, body: plan.offer)
    let credentials = challenge.credentials(for: request, context.identifiers)
    request.fields += credentials
    guard let transaction = context.send(request, to: current, for: .call(call), unlessLargerThanDatagram: true) else {
      // Too large for UDP: a stream to the same host first, and UDP where that one fails (RFC 3261 section 18.1.1).
      if let stream = route.stream(to: current) ?? context.stream(insteadOf: current), !triedStreams.contains(current) {
        triedStreams.insert(current)
        route.insert(stream)
        challenge.keep()
        sequence -= 1
        return proceed()
      }
      sent(request, context.send(request, to: current, for: .call(call)), on: current)
      return
    }
    sent(request, transaction, on: current)
  }

  private func sent(_ request: OutgoingRequest, _ transaction: TransactionID, on way: SIPPath) {
    invite = request
    hasProvisional = false
    state = .calling(transaction)
    let patience = plan.firstResponseMilliseconds ?? context.limits.firstResponseMilliseconds
    responseDeadline =
      patience < OutgoingCallMachine.windowMilliseconds && (route.hasMore || plan.firstResponseMilliseconds != nil)
      ? context.now.advanced(byMilliseconds: max(1, patience)) : nil
  }

  private var nextHop: SIPURI? { plan.routes.first ?? redirection.current }

  private var from: NameAddress {
    var from = plan.identity.from
    from.parameters.removeAll { $0.name == "tag" }
    from.parameters.append(SIPParameter("tag", localTag))
    return from
  }

  /// A Contact must not tell what From hides.
  private var contactUser: String? {
    let hides = plan.identity.privacy.contains { $0 != "none" }
    return hides ? nil : plan.identity.from.uri.user
  }

  private var fields: [OutgoingField] {
    var fields: [OutgoingField] = []
    fields.reserveCapacity(12)
    for address in plan.identity.asserted.prefix(2) {
      fields += (try? OutgoingField.address("P-Asserted-Identity", address)).map { [$0] } ?? []
    }
    if let preferred = plan.identity.preferred {
      fields += (try? OutgoingField.address("P-Preferred-Identity", preferred)).map { [$0] } ?? []
    }
    if let diversion = plan.identity.diversion {
      fields += (try? OutgoingField.address("Diversion", diversion)).map { [$0] } ?? []
    }
    if !plan.identity.privacy.isEmpty {
      fields += DialogFields.field("Privacy", plan.identity.privacy.joined(separator: ";"))
    }
    fields += DialogFields.allow(transfer: plan.allowsTransfer)
    fields += DialogFields.field("Accept", DialogFields.sessionDescriptionType)
    var supported: [String] = []
    if !refusedOptions.contains("timer") {
      supported.append("timer")
      fields += timer.request().fields
    }
    if plan.reliability != .off, !refusedOptions.contains("100rel") {
      if plan.reliability == .required {
        fields += DialogFields.field("Require", "100rel")
      } else {
        supported.append("100rel")
      }
    }
    if let replaces = plan.replaces {
      fields += DialogFields.field("Replaces", replaces) + DialogFields.field("Require", "replaces")
    }
    if !supported.isEmpty { fields += DialogFields.field("Supported", supported.joined(separator: ", ")) }
    for identity in plan.identities { fields += DialogFields.field("Identity", identity) }
    fields += DialogFields.custom(plan.headers)
    return fields
  }

  /// The question where the next hop lives has its answer.
  func located(_ paths: [SIPPath]) {
    guard case .locating = state, !hasEnded else { return }
    locationDeadline = nil
    route.located(plan.reachesInternalHosts ? paths : paths.filter { !$0.remote.host.isInternal })
    guard route.current != nil else { return next(after: .transport) }
    proceed()
  }

  /// The next path, or the next redirection target, or the end.
  private func next(after failure: TransactionFailure) {
    responseDeadline = nil
    if route.advance() { return proceed() }
    if redirect() { return }
    failUnreached()
  }

  private func failUnreached() {
    if let lastFailure { return fail(with: lastFailure) }
    if let unreadable, !hasProvisional || unreadable.status >= 200 { return fail(with: unreadable) }
    end(
      CallEnd(
        cause: .failed, failure: CallFailure(.transport, leg: .trunk, correlationID: callID), wasEstablished: false))
  }

  // MARK: - Responses

  /// A response to the INVITE.
  func receive(_ response: SIPMessage, of transaction: TransactionID, from way: SIPPath) {
    guard let status = response.status else { return }
    switch state {
    case .calling(transaction):
      if status < 200 { return receive(provisional: response, from: way) }
      responseDeadline = nil
      if status < 300 { return receive(success: response, from: way) }
      receive(failure: response, status: status)
    case .cancelling(transaction):
      if status < 200 { return }
      if status < 300 { dismiss(response, from: way) }
      endCancelled(with: status < 300 ? nil : response, crossedAnswer: status < 300)
    case .locating, .calling, .cancelling, .up, .over:
      // A path that was given up answers after all: CANCEL was asked for and waits for a provisional response.
      guard status >= 200, abandoned.remove(transaction) != nil, status < 300 else { return }
      dismiss(response, from: way)
    }
  }

  private func receive(provisional response: SIPMessage, from way: SIPPath) {
    responseDeadline = nil
    let isFirstRing = !hasRung && response.status == 180
    // A trunk that was long in reaching the phone does not take that from the time it may ring.
    if !hasProvisional || isFirstRing {
      hasProvisional = true
      ringDeadline = context.now.advanced(byMilliseconds: max(1, plan.ringTimeoutMilliseconds))
    }
    if !hasTried {
      hasTried = true
      context.emit(.trying(call))
    }
    guard case .response(let status, let phrase) = response.startLine, status > 100 else { return }
    if status == 180 { hasRung = true }
    let tag = response.to.tag
    if let tag, forks[tag] == nil, forks.count < context.limits.forks {
      forks[tag] = makeFork(response, tag, from: way)
    }
    let sequence = response.value("RSeq").flatMap { try? RSeq(parsing: $0) }
    let isReliable =
      response.tokens("Require")?.contains("100rel") == true && plan.reliability != .off && sequence != nil
    let body = response.sessionDescription
    if isReliable, let sequence {
      // Without a dialog there is nothing to send PRACK in; the fork is past the limit.
      guard let tag, forks[tag] != nil else { return }
      switch forks[tag]?.provisionals.receive(sequence) {
      case .acknowledge: break
      case .duplicate, .gap, nil: return
      }
      if plan.offer == nil, let body, forks[tag]?.isNegotiated == false, pendingOffer == nil {
        let exchange = context.nextExchange(for: call)
        pendingOffer = PendingOffer(exchange: exchange, response: response)
        answerDeadline = context.now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
        report(status, phrase, response, body: nil, isReliable: true)
        return context.emit(.offered(call, exchange, body))
      }
      if body != nil { forks[tag]?.isNegotiated = true }
      forks[tag]?.session.prack(for: response, answer: nil)
    }
    if let tag, let body { forks[tag]?.description = body }
    // Without an offer of ours a description that is not reliable is no answer to anything.
    report(status, phrase, response, body: plan.offer == nil ? nil : body, isReliable: isReliable)
  }

  private func report(_ status: Int, _ phrase: String, _ response: SIPMessage, body: MessageBody?, isReliable: Bool) {
    // 199 says that one fork is over (RFC 6228); the call goes on.
    guard status != 199 else { return }
    context.emit(
      .progress(
        call,
        Progress(
          status: status, phrase: phrase, body: body, headers: CustomHeaders(of: response), isReliable: isReliable)))
  }

  private func receive(success response: SIPMessage, from way: SIPPath) {
    let tag = response.to.tag ?? ""
    responseDeadline = nil
    ringDeadline = nil
    hasTried = true
    // The dialogs of other forks are over with the first 2xx for us, and each may still bring one of its own.
    let fork = forks.removeValue(forKey: tag)
    closeForks()
    if let fork { forkSequence = max(forkSequence, fork.session.dialog.localSequence) }
    windowEnd = context.now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
    abandonPendingOffer()
    challenge.accept(response)
    guard !response.contacts.isEmpty else { return refuse(response, fork: fork, from: way) }
    let early = fork.flatMap { $0.session.isLive ? $0.session : nil }
    let session = early ?? makeSession(response, tag, from: way, isEarly: true)
    session.dialog.path = follow(way)
    let headers = CustomHeaders(of: response)
    let connected = response.values("P-Asserted-Identity").lazy.compactMap { try? NameAddress(parsing: $0) }.first
    if plan.offer == nil, fork?.isNegotiated != true {
      guard let offer = response.sessionDescription else { return refuse(response, fork: fork, from: way) }
      let exchange = context.nextExchange(for: call)
      state = .up(session)
      session.onEnd = nil
      session.confirm(withOffer: response, exchange: exchange, credentials: challenge.sent)
      context.emit(.established(call, Answer(body: nil, headers: headers, connectedIdentity: connected)))
      pendingOffer = PendingOffer(exchange: exchange, response: nil)
      answerDeadline = context.now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
      return context.emit(.offered(call, exchange, offer))
    }
    let answer = plan.offer == nil ? nil : self.answer(in: response, fork)
    guard plan.offer == nil || answer != nil else { return refuse(response, fork: fork, from: way) }
    state = .up(session)
    session.onEnd = nil
    session.confirm(with: response, ackBody: nil, credentials: challenge.sent)
    context.emit(.established(call, Answer(body: answer, headers: headers, connectedIdentity: connected)))
  }

  /// The description of the 2xx counts. Some peers leave out what they sent in a provisional response before; one that
  /// was acknowledged and comes again says nothing of what UPDATE has changed since (RFC 6337 section 3.1.1).
  private func answer(in response: SIPMessage, _ fork: Fork?) -> MessageBody? {
    let repeated = response.sessionDescription ?? fork?.description
    guard let fork, fork.isNegotiated, let current = fork.session.remoteDescription, current != fork.description
    else { return repeated }
    return current
  }

  /// The name that a certificate must carry stays with its address.
  private func follow(_ way: SIPPath) -> SIPPath {
    var way = way
    if way.serverName == nil, way.remote == route.current?.remote { way.serverName = route.current?.serverName }
    return way
  }

  /// A 2xx that cannot be used: acknowledged, ended, and the call has failed.
  private func refuse(_ response: SIPMessage, fork: Fork?, from way: SIPPath) {
    fork?.session.abandon()
    dismiss(response, from: way)
    guard case .response(let status, let phrase) = response.startLine else { return }
    end(
      CallEnd(
        cause: .failed,
        failure: CallFailure(
          .protocolBroken, sipStatus: status, phrase: phrase, leg: .trunk, correlationID: callID),
        headers: CustomHeaders(of: response), wasEstablished: false))
  }

  /// An offer in a provisional response whose INVITE has its final response waits for nothing any more.
  private func abandonPendingOffer() {
    if let pendingOffer { _ = context.closeExchange(pendingOffer.exchange) }
    pendingOffer = nil
    answerDeadline = nil
  }

  private func receive(failure response: SIPMessage, status: Int) {
    closeForks()
    abandonPendingOffer()
    switch status {
    case 401, 407:
      if let invite, challenge.answer(response, to: invite, context.identifiers) { return proceed() }
    case 420:
      let refused = (response.tokens("Unsupported")?.tokens ?? []).map { $0.lowercased() }
      let removable = refused.filter { option in
        !refusedOptions.contains(option) && (option == "timer" || option == "100rel" && plan.reliability != .required)
      }
      // Once: a peer that refuses another option each time would keep us busy.
      if refusedOptions.isEmpty, !removable.isEmpty {
        refusedOptions.formUnion(removable)
        return proceed()
      }
    case 422:
      let minimum = response.value("Min-SE").flatMap { try? MinSE(parsing: $0) }?.seconds
      if sessionIntervals < context.limits.sessionIntervals, timer.refused(minimum: minimum) {
        sessionIntervals += 1
        return proceed()
      }
    case 503:
      lastFailure = response
      if route.advance() { return proceed() }
    case 300...399:
      lastFailure = response
      if redirection.add(response.contacts), redirect() { return }
      return fail(with: response)
    default: break
    }
    lastFailure = response
    // RFC 3261 section 8.1.3.4: the next target on a failure of this one, but 6xx speaks for all.
    if status < 600, status != 401, status != 407, redirect() { return }
    fail(with: response)
  }

  /// Goes on with the next target of a redirection, where one is left.
  private func redirect() -> Bool {
    guard redirection.advance() else { return false }
    // An outbound proxy, and whoever knows where telephone numbers live, is where it was.
    let keepsPaths = !plan.routes.isEmpty || redirection.current.host == nil
    route = PathList(keepsPaths ? plan.paths : [], maximum: context.limits.paths)
    // Credentials are for the peer that the call was placed with: whoever it names could collect them.
    if !keepsPaths { challenge = ChallengedRequest(nil, maximum: 0) }
    proceed()
    return true
  }

  private func fail(with response: SIPMessage, hasRingTimerFired: Bool = false) {
    guard case .response(let status, let phrase) = response.startLine else { return }
    let evidence = CallFailureEvidence(
      status: status, phrase: phrase, reasonFields: response.values("Reason"),
      retryAfterField: response.value("Retry-After"), callInfoFields: response.values("Call-Info").prefix(8),
      hasRung: hasRung, hasRingTimerFired: hasRingTimerFired)
    let failure = CallFailure(
      evidence, warning: WarningHeader(fields: response.values("Warning")).summary, trunk: nil, correlationID: callID)
    end(
      CallEnd(
        cause: .failed, failure: failure, reasons: response.reasons, headers: CustomHeaders(of: response),
        wasEstablished: false))
  }

  /// A response to the INVITE could not be read. It changes nothing but what is told if none comes that can be.
  func receive(unreadable response: UnreadableResponse) {
    switch state {
    case .calling, .cancelling: unreadable = response
    case .locating, .up, .over: break
    }
  }

  private func fail(with response: UnreadableResponse) {
    end(
      CallEnd(
        cause: .failed,
        failure: CallFailure(.protocolBroken, warning: response.warning, leg: .trunk, correlationID: callID),
        wasEstablished: false))
  }

  func receive(lateSuccess response: SIPMessage, from way: SIPPath) {
    let tag = response.to.tag ?? ""
    if case .up(let session) = state, session.dialog.id.remoteTag == tag {
      return session.repeatedSuccess(response)
    }
    dismiss(response, from: way)
  }

  func failed(_ transaction: TransactionID, _ failure: TransactionFailure) {
    if abandoned.remove(transaction) != nil { return }
    switch state {
    case .calling(transaction):
      // A call that rings is not placed again elsewhere.
      guard !hasProvisional else { return failUnreached() }
      next(after: failure)
    case .cancelling(transaction): endCancelled(with: nil)
    case .up(let session): session.failed(transaction, failure)
    case .locating, .calling, .cancelling, .over: break
    }
  }

  // MARK: - Dialogs

  private func makeSession(
    _ response: SIPMessage, _ tag: String, from way: SIPPath, isEarly: Bool, silently: Bool = false
  ) -> DialogSession {
    let contact = invite?.contact ?? plan.identity.from
    var dialog = Dialog(
      id: DialogID(callID: callID, localTag: localTag, remoteTag: tag), local: response.from, remote: response.to,
      remoteTarget: response.contacts.first?.uri ?? redirection.current,
      routeSet: response.recordRoutes.reversed(), contact: contact, localSequence: max(sequence, forkSequence),
      remoteSequence: nil,
      path: follow(way), isEarly: isEarly)
    dialog.alternatives = route.hosts
    var policy = plan.sessionTimer
    if let interval = timer.request().interval { policy.interval = interval }
    var offers = OfferAnswerState()
    _ = offers.send(.invite, description: plan.offer != nil)
    let settings = DialogSettings(
      digest: challenge.client, sessionTimer: policy, allowsTransfer: plan.allowsTransfer,
      offers: offers, localDescription: plan.offer)
    let session = DialogSession(
      dialog: dialog, call: call, isCaller: true, context: silently ? SilencedContext(context) : context,
      settings: settings)
    // The end of a fork is not the end of the call; the dialog that wins is told to report it.
    session.onEnd = { _ in }
    return session
  }

  private func makeFork(_ response: SIPMessage, _ tag: String, from way: SIPPath) -> Fork {
    let session = makeSession(response, tag, from: way, isEarly: true)
    return Fork(session: session, provisionals: ReliableProvisionalReceiver(invite: sequence))
  }

  private func closeForks() {
    for fork in forksInOrder {
      forkSequence = max(forkSequence, fork.session.dialog.localSequence)
      fork.session.abandon()
    }
    forks.removeAll()
  }

  /// Acknowledges a 2xx that nobody waits for and ends its dialog; once for each fork, the ACK every time.
  private func dismiss(_ response: SIPMessage, from way: SIPPath) {
    let tag = response.to.tag ?? ""
    if let session = dismissed[tag] { return session.repeatedSuccess(response) }
    guard dismissed.count < context.limits.forks else { return }
    context.counters.dialogsDismissed += 1
    let session = makeSession(response, tag, from: way, isEarly: true, silently: true)
    dismissed[tag] = session
    windowEnd = windowEnd ?? context.now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
    session.confirm(with: response, ackBody: nil, credentials: challenge.sent)
    session.hangUp(HangUp())
  }

  private func session(_ tag: String) -> DialogSession? {
    if case .up(let session) = state, session.dialog.id.remoteTag == tag { return session }
    return forks[tag]?.session ?? dismissed[tag]
  }

  func receive(_ request: SIPMessage, _ transaction: TransactionID, from way: SIPPath) {
    guard let session = session(request.from.tag ?? "") else {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    session.receive(request, transaction, from: way)
    settle()
  }

  func receive(acknowledgement: SIPMessage, from way: SIPPath) {
    session(acknowledgement.from.tag ?? "")?.receive(acknowledgement: acknowledgement, from: way)
    settle()
  }

  func receive(_ response: SIPMessage, of transaction: TransactionID, in dialog: DialogID, from way: SIPPath) {
    session(dialog.remoteTag)?.receive(response, of: transaction, from: way)
    settle()
  }

  /// The outcome of a request inside one of the dialogs.
  func failed(_ transaction: TransactionID, _ failure: TransactionFailure, in dialog: DialogID) {
    session(dialog.remoteTag)?.failed(transaction, failure)
    settle()
  }

  /// Takes over what became of the sessions.
  private func settle() {
    guard case .up(let session) = state, session.hasEnded else { return }
    hasEnded = true
    abandonPendingOffer()
    ringDeadline = nil
  }

  // MARK: - Commands

  func handle(_ command: UserAgentCommand) {
    guard !hasEnded else { return }
    if case .up(let session) = state {
      session.handle(command)
      return settle()
    }
    switch command {
    case .hangUp(_, let hangUp): cancel(.local(hangUp))
    case .offer(_, let exchange, _):
      // UPDATE needs one early dialog whose first exchange is complete (RFC 3311 section 5.1).
      if forks.count == 1, let fork = forks.first?.value, fork.isNegotiated {
        fork.session.handle(command)
      } else {
        context.emit(.offerRefused(call, exchange, status: 491))
      }
    default: break
    }
  }

  private func cancel(_ cause: Cancellation) {
    guard cancellation == nil else { return }
    cancellation = cause
    locationDeadline = nil
    ringDeadline = nil
    responseDeadline = nil
    abandonPendingOffer()
    guard case .calling(let transaction) = state else { return endCancelled(with: nil) }
    state = .cancelling(transaction)
    closeForks()
    let reasons: [CallFailure.Reason] =
      switch cause {
      case .local(let hangUp): hangUp.reasons
      case .noAnswer: [CallFailure.Reason(protocolName: "Q.850", cause: 19)]
      case .failure(let failure): [CallFailure.Reason(protocolName: "SIP", cause: failure.sipStatus)]
      }
    context.cancel(transaction, reasons: OutgoingField.reason(reasons))
  }

  private func endCancelled(with response: SIPMessage?, crossedAnswer: Bool = false) {
    switch cancellation {
    case .noAnswer:
      // It was answered, or refused, in words that could not be read: not by nobody.
      if let unreadable, unreadable.status >= 200 { return fail(with: unreadable) }
      if let response { return fail(with: response, hasRingTimerFired: true) }
      end(
        CallEnd(
          cause: .failed, failure: CallFailure(.noAnswer, leg: .trunk, correlationID: callID), wasEstablished: false,
          crossedAnswer: crossedAnswer))
    case .failure(let failure):
      end(CallEnd(cause: .failed, failure: failure, wasEstablished: false, crossedAnswer: crossedAnswer))
    case .local, nil:
      end(
        CallEnd(
          cause: .local, reasons: response?.reasons ?? [],
          headers: response.map { CustomHeaders(of: $0) } ?? CustomHeaders(),
          wasEstablished: false, crossedAnswer: crossedAnswer))
    }
  }

  func answer(_ exchange: ExchangeID, _ body: MessageBody) {
    if let pending = pendingOffer, pending.exchange == exchange {
      pendingOffer = nil
      answerDeadline = nil
      if let response = pending.response {
        let tag = response.to.tag ?? ""
        forks[tag]?.isNegotiated = true
        forks[tag]?.session.prack(for: response, answer: body)
        return
      }
    }
    if case .up(let session) = state {
      session.answer(exchange, body)
    } else {
      for fork in forksInOrder { fork.session.answer(exchange, body) }
    }
    settle()
  }

  func refuse(_ exchange: ExchangeID, status: Int, warning: String?) {
    if let pending = pendingOffer, pending.exchange == exchange {
      return refusePending(pending, status: status, warning: warning)
    }
    if case .up(let session) = state {
      session.refuse(exchange, status: status, warning: warning)
    } else {
      for fork in forksInOrder { fork.session.refuse(exchange, status: status, warning: warning) }
    }
    settle()
  }

  /// An offer to an INVITE without one cannot be refused but by the end of the call (RFC 3261 section 13.2.2.4).
  private func refusePending(_ pending: PendingOffer, status: Int, warning: String?) {
    pendingOffer = nil
    answerDeadline = nil
    let failure = CallFailure(.media, sipStatus: status, warning: warning, leg: .trunk, correlationID: callID)
    if case .up(let session) = state {
      session.fail(failure, bye: true)
      return settle()
    }
    cancel(.failure(failure))
  }

  // MARK: - Time

  func advance() {
    let now = context.now
    func isDue(_ deadline: MonotonicInstant?) -> Bool { deadline.map { $0 <= now } ?? false }
    if case .up(let session) = state, isDue(session.nextDeadline) { session.advance() }
    for fork in forksInOrder where isDue(fork.session.nextDeadline) { fork.session.advance() }
    for session in dismissedInOrder where isDue(session.nextDeadline) { session.advance() }
    if isDue(responseDeadline), case .calling(let transaction) = state {
      abandoned.insert(transaction)
      context.cancel(transaction, reasons: [])
      windowEnd = now.advanced(byMilliseconds: OutgoingCallMachine.windowMilliseconds)
      next(after: .timeout)
    }
    if isDue(locationDeadline) {
      locationDeadline = nil
      failUnreached()
    }
    if isDue(ringDeadline) {
      ringDeadline = nil
      cancel(.noAnswer)
    }
    if isDue(answerDeadline), let pending = pendingOffer {
      _ = context.closeExchange(pending.exchange)
      refusePending(pending, status: 488, warning: nil)
    }
    if isDue(windowEnd) { closeWindow() }
    settle()
  }

  private func closeWindow() {
    windowEnd = nil
    // Their CANCEL was sent or has nothing to follow: the transaction layer ends them by itself.
    abandoned.removeAll()
    for session in dismissedInOrder { session.abandon() }
    dismissed.removeAll()
  }

  private func end(_ end: CallEnd) {
    guard !hasEnded else { return }
    hasEnded = true
    closeForks()
    pendingOffer = nil
    locationDeadline = nil
    ringDeadline = nil
    responseDeadline = nil
    answerDeadline = nil
    switch state {
    case .up: break
    case .locating, .calling, .cancelling, .over: state = .over
    }
    context.emit(.ended(call, end))
  }
}
