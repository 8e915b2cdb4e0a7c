import CallModel
import Foundation
import LandlineWire
import MediaCore
import NIOCore
import SDPCore
import SIPCore
import SecureTransport

/// All calls of a far end; made and used on its loop only.
final class FarEndCalls: SIPNodeDelegate {
  /// The leg by which a caller stands at its bridge, alone.
  static let leg = LegID.far

  private let eventLoop: any EventLoop
  private let timing: FarEnd.Timing
  private let prompts: PromptLibrary
  private var node: SIPNode?
  private var media: MediaLoop?
  private var calls: [CallHandle: FarEndCall] = [:]
  private var bridges: [MediaBridge.Identifier: CallHandle] = [:]
  private var lastBridge: UInt64 = 0
  /// Of calls of our own, until their bridges are closed: a recording ends after its call.
  private var reports: [MediaBridge.Identifier: FarEndReport] = [:]
  private var lastPlaced: UInt64 = 0
  private var random = SecureRandomNumberGenerator()

  init(on eventLoop: any EventLoop, timing: FarEnd.Timing, prompts: PromptLibrary) {
    self.eventLoop = eventLoop
    self.timing = timing
    self.prompts = prompts
  }

  var count: Int { calls.count }

  func begin(_ node: SIPNode, _ media: MediaLoop) {
    self.node = node
    self.media = media
  }

  /// Hangs up every call; none is taken any more.
  func end() {
    for handle in Array(calls.keys) { node?.execute(.hangUp(handle, HangUp())) }
    // Those of which nothing was told have no dialog any more.
    for call in Array(calls.values) { release(call) }
    node = nil
    media = nil
  }

  // MARK: What the agent tells

  func node(_ node: SIPNode, met problem: TransportProblem) {}

  func node(_ node: SIPNode, happened event: UserAgentEvent) {
    switch event {
    case .incoming(let handle, let call): arrived(handle, call)
    case .established(let handle, let answer):
      guard let call = calls[handle] else { return }
      call.isEstablished = true
      if let placed = call.placed { answered(call, placed, answer.body) } else { acknowledged(call) }
    case .progress(let handle, let progress):
      guard let call = calls[handle], let placed = call.placed else { return }
      let hasSound = adopt(progress.body, call)
      placed.report.send(.progress(status: progress.status, phrase: progress.phrase, hasSound: hasSound))
    case .offered(let handle, let exchange, let body): offered(handle, exchange, body)
    case .answered(let handle, _, let body):
      // Our offer went out in the 200 of an INVITE that had none.
      guard let call = calls[handle], let description = try? SessionDescription(parsing: body.bytes),
        let plan = try? call.media?.exchange.accept(description)
      else { return }
      _ = media?.apply(.plan(Self.leg, plan), to: call.bridge)
      acknowledged(call)
    case .offerRefused(let handle, _, _): calls[handle]?.media?.exchange.withdrawOffer()
    case .ended(let handle, let end): if let call = calls[handle] { release(call, end) }
    case .trying, .info, .transferRequested, .transferProgress, .queryAnswered, .registration, .phoneBindings: break
    }
  }

  /// The ACK came; with an offer of ours in the 200, both it and the answer that it bears are waited for.
  private func acknowledged(_ call: FarEndCall) {
    guard call.wait == .acknowledgement, call.isEstablished, call.media?.exchange.isOfferPending == false else {
      return
    }
    advance(call)
  }

  private func arrived(_ handle: CallHandle, _ incoming: IncomingCall) {
    guard let node, calls.count < FarEnd.maximumCalls else {
      self.node?.execute(
        .reject(handle, Rejection(503, retryAfterSeconds: FarEnd.retryAfterSeconds, headers: incoming.headers)))
      return
    }
    guard incoming.target.scheme == .sip || incoming.target.scheme == .sips else {
      node.execute(.reject(handle, Rejection(416, headers: incoming.headers)))
      return
    }
    lastBridge += 1
    let call = FarEndCall(
      handle, MediaBridge.Identifier(rawValue: lastBridge), incoming,
      FarEndScript(user: incoming.target.user, timing: timing))
    calls[handle] = call
    bridges[call.bridge] = handle
    proceed(call)
  }

  /// The caller holds, resumes, changes codec, or asks for an offer of ours.
  private func offered(_ handle: CallHandle, _ exchange: ExchangeID, _ body: MessageBody?) {
    guard let call = calls[handle], var held = call.media else {
      node?.execute(.refuse(exchange, status: 488, warning: nil))
      return
    }
    do {
      guard let body else {
        let offer = try held.exchange.offer(from: held.local)
        call.media = held
        node?.execute(.answer(exchange, MessageBody(sessionDescription: Array(offer.text.utf8))))
        return
      }
      let (answer, plan) = try held.exchange.answer(SessionDescription(parsing: body.bytes), from: held.local)
      call.media = held
      _ = media?.apply(.plan(Self.leg, plan), to: call.bridge)
      node?.execute(.answer(exchange, MessageBody(sessionDescription: Array(answer.text.utf8))))
    } catch {
      node?.execute(.refuse(exchange, status: Self.rejection(error).status, warning: Self.rejection(error).warning))
    }
  }

  // MARK: Steps

  /// The present step is done.
  private func advance(_ call: FarEndCall) {
    call.finishStep()
    proceed(call)
  }

  /// Carries out steps until one waits for something, or none is left.
  private func proceed(_ call: FarEndCall) {
    while calls[call.handle] === call, call.wait == .nothing, let step = call.step { perform(step, call) }
  }

  private func perform(_ step: FarEndScript.Step, _ call: FarEndCall) {
    switch step {
    case .ring:
      call.finishStep()
      node?.execute(.ring(call.handle, status: 180, body: nil, headers: call.headers))
    case .wait(let milliseconds):
      call.wait = .timer
      call.timer = after(milliseconds, call) { $0.advance($1) }
    case .earlyMedia:
      guard let description = call.media?.description else { return openMedia(call) }
      call.finishStep()
      node?.execute(.ring(call.handle, status: 183, body: description, headers: call.headers))
    case .answer:
      guard let description = call.media?.description else { return openMedia(call) }
      call.isAnswered = true
      call.wait = .acknowledgement
      call.limit = after(timing.maximumCallMilliseconds, call) { $0.hangUp($1) }
      node?.execute(.accept(call.handle, body: description, headers: call.headers))
    case .say(let prompt, let waits):
      call.wait = waits ? .prompt : .nothing
      if !waits { call.finishStep() }
      _ = media?.apply(.play(Self.leg, [prompt], from: prompts), to: call.bridge)
    case .echo(let dropping):
      call.finishStep()
      _ = media?.apply(.echo(Self.leg, dropping: dropping), to: call.bridge)
    case .reject(let rejection): reject(call, rejection)
    case .hangUp: hangUp(call)
    }
  }

  private func reject(_ call: FarEndCall, _ rejection: Rejection) {
    guard !call.isAnswered else { return hangUp(call) }
    var rejection = rejection
    rejection.headers = call.headers
    release(call)
    node?.execute(.reject(call.handle, rejection))
  }

  func hangUp(_ call: FarEndCall) {
    release(call)
    node?.execute(.hangUp(call.handle, HangUp()))
  }

  private func after(
    _ milliseconds: Int64, _ call: FarEndCall, _ then: @escaping (FarEndCalls, FarEndCall) -> Void
  ) -> Scheduled<Void> {
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [weak self, weak call] in
      guard let self, let call, self.calls[call.handle] === call else { return }
      then(self, call)
    }
  }

  /// Gives back all that a call holds. What of it is still asked for gives back itself: it finds no call.
  /// - Parameter end: what the other side made of it; `nil` where the far end itself ends it.
  private func release(_ call: FarEndCall, _ end: CallEnd? = nil) {
    guard calls.removeValue(forKey: call.handle) != nil else { return }
    bridges[call.bridge] = nil
    call.cancelTimers()
    if let placed = call.placed { ended(call, placed, end) }
    media?.close(call.bridge)
  }

  // MARK: Media

  /// What of the bridges matters here.
  static func isOfInterest(_ event: MediaLoopEvent) -> Bool {
    if event.bridge.rawValue >= FarEndCalls.firstPlaced { return true }
    return switch event.event {
    case .promptEnded, .transport(_, .failed): true
    default: false
    }
  }

  func happened(_ event: MediaLoopEvent) {
    if let report = reports[event.bridge] {
      if case .closed = event.event { reports[event.bridge] = nil }
      report.heard(event.event)
    }
    guard let handle = bridges[event.bridge], let call = calls[handle] else { return }
    switch event.event {
    case .promptEnded where call.wait == .prompt: advance(call)
    case .transport(_, .failed): reject(call, Rejection(500))
    default: break
    }
  }

  /// Ports, then our description, then the bridge; the step that asked for it is tried again afterwards.
  private func openMedia(_ call: FarEndCall) {
    call.wait = .media
    let (bound, eventLoop, handle) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop, call.handle)
    let isTaken = media?.reserveTrunkPorts(for: call.bridge, Self.leg) { result in
      eventLoop.execute { bound.value.reserved(result, handle) }
    }
    if isTaken != true { refuseForWant(call) }
  }

  private func reserved(_ result: Result<TrunkPorts, MediaLoopFailure>, _ handle: CallHandle) {
    guard let call = calls[handle] else { return }
    guard case .success(let ports) = result else { return refuseForWant(call) }
    let local = LocalMedia(
      host: ports.address.host, port: Int(ports.address.port), rtcpPort: ports.controlAddress.map { Int($0.port) },
      keyMaterial: (0..<LocalMedia.keyMaterialLength).map { _ in .random(in: .min...(.max), using: &random) })
    var exchange = OfferAnswer(
      sessionID: random.next(), host: ports.address.host, policy: .trunk([.none, .sdes]))
    do {
      var plan: MediaPlan?
      let text: String
      if let offer = call.offer {
        let (answer, agreed) = try exchange.answer(SessionDescription(parsing: offer.bytes), from: local)
        (text, plan) = (answer.text, agreed)
      } else {
        text = try exchange.offer(from: local).text
      }
      call.media = FarEndCall.Media(
        exchange: exchange, local: local, description: MessageBody(sessionDescription: Array(text.utf8)))
      openBridge(call, ports, plan)
    } catch {
      reject(call, Self.rejection(error))
    }
  }

  private func openBridge(_ call: FarEndCall, _ ports: TrunkPorts, _ plan: MediaPlan?) {
    let leg = MediaLegConfiguration(
      .trunk(.init(port: ports.port, controlPort: ports.control)),
      stream: .init(
        canonicalName: "far-end", unixMicroseconds: Int64(Date().timeIntervalSince1970 * 1_000_000),
        draw: { random.next() }))
    let (bound, eventLoop, handle) = (NIOLoopBound(self, eventLoop: eventLoop), eventLoop, call.handle)
    let isTaken = media?.open(call.bridge, [Self.leg: leg]) { result in
      eventLoop.execute { bound.value.opened(result, handle, plan) }
    }
    if isTaken != true { refuseForWant(call) }
  }

  private func opened(_ result: Result<Void, MediaLoopFailure>, _ handle: CallHandle, _ plan: MediaPlan?) {
    guard let call = calls[handle] else { return }
    guard case .success = result else { return refuseForWant(call) }
    if let plan { _ = media?.apply(.plan(Self.leg, plan), to: call.bridge) }
    call.hasBridge = true
    if let placed = call.placed { return invite(call, placed) }
    call.wait = .nothing
    proceed(call)
  }

  // MARK: Calls of our own

  /// Bridges of calls that the far end places are numbered from here on.
  private static let firstPlaced: UInt64 = 1 << 63

  /// Calls a number of the gateway's.
  /// - Returns: ends the call; `nil` where none can be placed now.
  func place(_ order: InboundCallOrder, at gateway: TransportAddress, _ report: FarEndReport) -> CallHandle? {
    guard node != nil, calls.count < FarEnd.maximumCalls, reports.count < FarEnd.maximumPlacedCalls else { return nil }
    lastPlaced += 1
    let target = SIPURI(scheme: .sip, user: "\(order.number)", host: gateway.host, port: gateway.port)
    let call = FarEndCall(
      placing: FarEndCall.Placed(
        order: order, target: target,
        path: SIPPath(listener: FarEnd.listener, remote: gateway, serverName: nil), report: report),
      CallHandle(lastPlaced), MediaBridge.Identifier(rawValue: FarEndCalls.firstPlaced + lastPlaced),
      FarEndScript([.say(.connected, waits: true), .echo(dropping: 0)]))
    calls[call.handle] = call
    bridges[call.bridge] = call.handle
    reports[call.bridge] = report
    openMedia(call)
    return call.handle
  }

  func hangUp(_ handle: CallHandle) { if let call = calls[handle] { hangUp(call) } }

  /// Ports and bridge are there: the INVITE goes out with our offer.
  private func invite(_ call: FarEndCall, _ placed: FarEndCall.Placed) {
    call.wait = .acknowledgement
    let anonymous = NameAddress(
      SIPURI(scheme: .sip, user: "anonymous", host: .name("anonymous.invalid")), displayName: "Anonymous")
    let from = placed.order.caller.map {
      NameAddress(SIPURI(scheme: .sip, user: "\($0)", host: .ipv4(0x7F00_0001)))
    }
    node?.execute(
      .placeCall(
        call.handle,
        OutgoingCall(
          target: placed.target, paths: [placed.path],
          identity: OutgoingIdentity(from: from ?? anonymous, privacy: from == nil ? ["id"] : []),
          offer: call.media?.description)))
  }

  /// - Returns: whether there was a session description that could be used.
  private func adopt(_ body: MessageBody?, _ call: FarEndCall) -> Bool {
    guard let body, let description = try? SessionDescription(parsing: body.bytes),
      let plan = try? call.media?.exchange.accept(description)
    else { return false }
    _ = media?.apply(.plan(Self.leg, plan), to: call.bridge)
    return true
  }

  private func answered(_ call: FarEndCall, _ placed: FarEndCall.Placed, _ body: MessageBody?) {
    _ = adopt(body, call)
    placed.report.send(.answered)
    if placed.order.records { _ = media?.apply(.record(.file), to: call.bridge) }
    let limit = min(placed.order.talkMilliseconds ?? .max, timing.maximumCallMilliseconds)
    call.limit = after(limit, call) { $0.hangUp($1) }
    call.wait = .nothing
    proceed(call)
  }

  private func ended(_ call: FarEndCall, _ placed: FarEndCall.Placed, _ end: CallEnd?) {
    let cause: CallEndCause =
      if let failure = end?.failure { failure.endCause } else { call.isEstablished ? .hungUp : .canceled }
    placed.report.send(.ended(cause, end?.failure))
    // Without ports there is no bridge that could close.
    if !call.hasBridge {
      placed.report.finish()
      reports[call.bridge] = nil
    }
  }

  /// No ports or no room: the caller may try again.
  private func refuseForWant(_ call: FarEndCall) {
    reject(call, Rejection(503, retryAfterSeconds: FarEnd.retryAfterSeconds))
  }

  /// What an offer is refused with.
  private static func rejection(_ error: any Error) -> Rejection {
    guard let refusal = error as? NegotiationRefusal else { return Rejection(400) }
    var rejection = Rejection(refusal.sipStatus, warning: refusal.warning?.text)
    if let code = refusal.warning?.code { rejection.warningCode = code }
    return rejection
  }
}
