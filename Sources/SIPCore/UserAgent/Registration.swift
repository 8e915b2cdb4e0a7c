import CallModel

/// A registration of ours: what ``RegistrationMachine`` wants sent goes along the registrar's paths.
final class Registration {
  private let id: QueryID
  private let plan: OutgoingRegistration
  private let context: UserAgentContext
  private var route: PathList
  private var machine: RegistrationMachine?
  /// The REGISTER under way.
  private var request: OutgoingRequest?
  private var transaction: TransactionID?
  /// When the registrar is looked for again after it could not be found.
  private var retryAt: MonotonicInstant?
  /// When the next path is tried though this one may still answer.
  private var deadline: MonotonicInstant?
  private var isLocating = false
  private(set) var isFinished = false

  init(_ plan: OutgoingRegistration, id: QueryID, context: UserAgentContext) {
    self.plan = plan
    self.id = id
    self.context = context
    route = PathList(plan.paths, maximum: context.limits.paths)
  }

  var nextDeadline: MonotonicInstant? {
    isFinished ? nil : [machine?.nextDeadline, retryAt, deadline].compactMap { $0 }.min()
  }

  func start() {
    guard route.current == nil else { return begin() }
    guard route.wantsLocation, (plan.routes.first ?? plan.registrar).host != nil else { return giveUp() }
    locate()
  }

  private func locate() {
    isLocating = true
    context.locate(plan.routes.first ?? plan.registrar, for: .registration(id))
  }

  func located(_ paths: [SIPPath]) {
    guard isLocating, !isFinished else { return }
    isLocating = false
    route.located(paths)
    guard route.current != nil else {
      guard request == nil else { return failRequest() }
      let delay = RegistrationLimits.standard.firstRetryMilliseconds
      retryAt = context.now.advanced(byMilliseconds: delay)
      return context.emit(
        .registration(
          id,
          .retrying(
            RegistrationFailure(kind: .unreachable, status: nil, phrase: ""), afterMilliseconds: delay)))
    }
    if request != nil { return send() }
    begin()
  }

  private func begin() {
    guard machine == nil else { return }
    guard let current = route.current,
      let contact = context.contact(user: plan.contactUser, scheme: plan.registrar.scheme, for: current)
    else { return giveUp() }
    // A registrar whose address cannot be written is the configuration's fault.
    guard var machine = try? RegistrationMachine(plan, contact: contact, identifiers: context.identifiers) else {
      return giveUp()
    }
    let actions = machine.start()
    self.machine = machine
    perform(actions)
  }

  /// Nothing that time could mend.
  private func giveUp() {
    isFinished = true
    context.emit(
      .registration(id, .failed(RegistrationFailure(kind: .unreachable, status: nil, phrase: ""))))
  }

  func stop() {
    guard machine != nil else {
      isFinished = true
      return context.emit(.registration(id, .unregistered))
    }
    perform(machine?.stop() ?? [])
  }

  func receive(_ response: SIPMessage, of transaction: TransactionID) {
    guard transaction == self.transaction, let answer = RegistrationResponse(response), answer.status >= 200 else {
      return
    }
    deadline = nil
    if answer.status == 503, route.advance() { return send() }
    request = nil
    perform(machine?.respond(answer, to: response.cseq.number, at: context.now) ?? [])
  }

  func failed(_ transaction: TransactionID) {
    guard transaction == self.transaction else { return }
    deadline = nil
    if route.advance() { return send() }
    failRequest()
  }

  private func failRequest() {
    guard let request else { return }
    self.request = nil
    // The next try begins with the first path, or looks anew where the registrar lives.
    route = PathList(plan.paths, maximum: context.limits.paths)
    perform(machine?.fail(request.cseq, at: context.now) ?? [])
  }

  func advance() {
    let now = context.now
    if let retryAt, retryAt <= now {
      self.retryAt = nil
      return locate()
    }
    if let deadline, deadline <= now {
      self.deadline = nil
      if route.advance() { return send() }
    }
    perform(machine?.advance(to: now) ?? [])
  }

  private func perform(_ actions: [RegistrationMachine.Action]) {
    for action in actions {
      switch action {
      case .report(let state): context.emit(.registration(id, state))
      case .send(let request):
        self.request = request
        send()
      }
    }
    if machine?.isOver == true, request == nil { isFinished = true }
  }

  private func send() {
    guard var request else { return }
    guard let current = route.current else { return locate() }
    if let contact = context.contact(user: plan.contactUser, scheme: plan.registrar.scheme, for: current) {
      request.contact = contact
    }
    let patience = context.limits.firstResponseMilliseconds
    deadline =
      patience < TransactionLayer.giveUpAfter && route.hasMore
      ? context.now.advanced(byMilliseconds: max(1, patience)) : nil
    transaction = context.send(request, to: current, for: .registration(id))
  }
}
