import CallModel

/// An OPTIONS of ours outside of calls: along its paths, with one answer to challenges.
final class Query {
  private let id: QueryID
  private let plan: OutgoingQuery
  private let context: UserAgentContext
  private let callID: String
  private let tag: String
  private var sequence: UInt32 = 0
  private var route: PathList
  private var challenge: ChallengedRequest
  private var request: OutgoingRequest?
  private var transaction: TransactionID?
  private var sentAt: MonotonicInstant
  private var path: SIPPath?
  private var deadline: MonotonicInstant?
  private(set) var isFinished = false

  init(_ plan: OutgoingQuery, id: QueryID, context: UserAgentContext) {
    self.id = id
    self.plan = plan
    self.context = context
    callID = context.identifiers.token()
    tag = context.identifiers.token()
    sentAt = context.now
    route = PathList(plan.paths, maximum: context.limits.paths)
    challenge = ChallengedRequest(plan.account, maximum: context.limits.challenges)
  }

  /// When the next path is tried though this one may still answer.
  var nextDeadline: MonotonicInstant? { isFinished ? nil : deadline }

  func start() {
    guard let current = route.current else {
      guard route.wantsLocation, (plan.routes.first ?? plan.target).host != nil else {
        return finish(nil, .transport)
      }
      return context.locate(plan.routes.first ?? plan.target, for: .query(id))
    }
    sequence += 1
    var from = plan.from
    from.parameters.removeAll { $0.name == "tag" }
    from.parameters.append(SIPParameter("tag", tag))
    var request = OutgoingRequest(
      .options, uri: plan.target, routes: plan.routes.map { NameAddress($0) }, from: from,
      to: NameAddress(plan.target), callID: callID, cseq: sequence,
      contact: context.contact(user: plan.from.uri.user, scheme: plan.target.scheme, for: current),
      fields: DialogFields.field("Accept", DialogFields.sessionDescriptionType))
    request.fields += challenge.credentials(for: request, context.identifiers)
    self.request = request
    path = current
    sentAt = context.now
    let patience = context.limits.firstResponseMilliseconds
    deadline =
      patience < TransactionLayer.giveUpAfter && route.hasMore
      ? context.now.advanced(byMilliseconds: max(1, patience)) : nil
    transaction = context.send(request, to: current, for: .query(id))
  }

  func located(_ paths: [SIPPath]) {
    guard route.wantsLocation, !isFinished else { return }
    route.located(paths)
    guard route.current != nil else { return finish(nil, .transport) }
    start()
  }

  func receive(_ response: SIPMessage, of transaction: TransactionID, from path: SIPPath) {
    guard transaction == self.transaction, let status = response.status, status >= 200 else { return }
    if status == 401 || status == 407, let request, challenge.answer(response, to: request, context.identifiers) {
      return start()
    }
    if status == 503, route.advance() { return start() }
    self.path = path
    finish(response, nil)
  }

  func failed(_ transaction: TransactionID, _ failure: TransactionFailure) {
    // A path that was left behind.
    guard transaction == self.transaction else { return }
    if route.advance() { return start() }
    finish(nil, failure)
  }

  func advance() {
    guard let deadline, deadline <= context.now, !isFinished else { return }
    self.deadline = nil
    if route.advance() { start() }
  }

  private func finish(_ response: SIPMessage?, _ failure: TransactionFailure?) {
    isFinished = true
    var phrase = ""
    if case .response(_, let text)? = response?.startLine { phrase = text }
    context.emit(
      .queryAnswered(
        id,
        QueryOutcome(
          status: response?.status, phrase: phrase, allow: response?.tokens("Allow")?.tokens ?? [], failure: failure,
          roundTripMilliseconds: context.now.milliseconds(since: sentAt), path: path,
          wasChallenged: challenge.rounds > 0)))
  }
}
