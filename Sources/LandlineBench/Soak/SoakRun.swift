import AppProtocol
import CallModel
import NIOCore
import SDPCore

/// Both ends of every call of a soak, on one event loop.
final class SoakRun {
  /// How a call shall end.
  enum Ending: String, CaseIterable {
    case app, farEnd, both

    static func draw() -> Ending { allCases.randomElement() ?? .app }
  }

  final class Call {
    let number: String
    let plan: SoakPlan
    let session: Int
    let ending = Ending.draw()
    var id: CallID?
    var media: HandshakeLeg?
    var isSecured = false
    var isAccepted = false
    var isFarEndUp = false
    /// Somebody has been told to end it.
    var isEnding = false
    var endDue = Double.infinity
    var nextOperation = Double.infinity
    var nextSound = Double.infinity
    /// The app's offer that waits for its answer.
    var offered: RequestNumber?
    var isHeldByApp = false
    var isHeldByFarEnd = false
    var bridgedAt: Double?
    /// Of the far end, once it is over there.
    var soundAtFarEnd: Int?

    init(number: String, plan: SoakPlan, session: Int) {
      self.number = number
      self.plan = plan
      self.session = session
    }

    var isBridged: Bool { isSecured && isAccepted && isFarEndUp && !isEnding }
  }

  struct Load: Sendable {
    /// Bridged calls at a time, two legs each.
    var calls: Int
    /// Seconds between two packets of one leg.
    var soundInterval: Double
    /// Mean seconds between two operations of one call.
    var operationInterval: Double
    /// Seconds that an answered call goes on.
    var life: ClosedRange<Double>
    /// Most calls that are placed in a second.
    var rate: Int
    /// Mean seconds between two losses of a connection, all sessions together.
    var dropInterval: Double
  }

  private static let step = TimeAmount.milliseconds(50)
  /// Calls that are being set up at a time.
  private static let maximumSetUps = 60
  /// Seconds that the caller lets a phone ring that nobody answers.
  private static let patience = 1.0...5.0
  /// Seconds without sound after which a call counts as dumb.
  private static let dumbSeconds = 15.0

  let load: Load
  private let loop: any EventLoop
  private let sessions: [SoakSession]
  private let trunk: SoakTrunk
  private let media: HandshakeSide
  private(set) var found = SoakFindings()
  private var calls: [String: Call] = [:]
  private var byID: [CallID: String] = [:]
  /// Calls that wait for `placed`, by session and request.
  private var asked: [[UInt64: String]]
  /// Offers that wait for their answer.
  private var offers: [[UInt64: String]]
  private var lastNumber = 0
  private var credit = 0.0
  private var isStopping = false
  private var isOver = false
  private var nextDrop: Double
  private var lastStep: Double

  init(_ load: Load, sessions: [SoakSession], trunk: SoakTrunk, media: HandshakeSide, on loop: any EventLoop) {
    self.load = load
    self.sessions = sessions
    self.trunk = trunk
    self.media = media
    self.loop = loop
    asked = Array(repeating: [:], count: sessions.count)
    offers = asked
    lastStep = ProcessClock.monotonicSeconds()
    nextDrop = lastStep + load.dropInterval
    for (index, session) in sessions.enumerated() {
      session.happened = { [weak self] in self?.told(index, $0) }
    }
    trunk.told = { [weak self] in self?.told($0, $1) }
  }

  /// Begins to place calls.
  func start() { step() }

  /// Places none any more and ends those that are there, at the pace at which they began: five hundred ends at once are
  /// another test, and more than a gateway under a sanitizer settles before it tells of them.
  func stop() { isStopping = true }

  /// Nothing happens any more.
  func finish() {
    isOver = true
    for call in calls.values {
      found.fail("never ended")
      call.media?.close()
    }
    for session in sessions { found.count("connection lost and taken up again", session.drops) }
  }

  var live: Int { calls.count }
  /// Answered calls with keys, sound and both ends.
  var bridged: Int { calls.values.count { $0.isBridged } }
  /// Legs of apps with keys, and legs of the far end that are answered.
  var legs: Int { calls.values.count { $0.isSecured } + trunk.legsUp }

  // MARK: Time

  private func step() {
    guard !isOver else { return }
    let now = ProcessClock.monotonicSeconds()
    credit = min(credit + (now - lastStep) * Double(load.rate), Double(load.rate) / 5 + 1)
    lastStep = now
    var setUps = 0
    var bridged = 0
    for call in calls.values {
      if call.isBridged { bridged += 1 } else if !call.isEnding { setUps += 1 }
    }
    // Some of those that are being set up are busy, or nobody answers.
    let most = min(Self.maximumSetUps, load.calls - bridged + max(2, load.calls / 16))
    while !isStopping, credit >= 1, setUps < most {
      guard place() else { break }
      credit -= 1
      setUps += 1
    }
    for call in calls.values { advance(call, now) }
    if isStopping {
      for call in calls.values.filter({ !$0.isEnding }).prefix(Int(credit)) {
        end(call, by: .app)
        credit -= 1
      }
    }
    if now >= nextDrop, !isStopping {
      nextDrop = now + load.dropInterval * Double.random(in: 0.5...1.5)
      sessions.randomElement()?.drop()
    }
    loop.assumeIsolated().scheduleTask(in: Self.step) { [weak self] in self?.step() }
  }

  private func advance(_ call: Call, _ now: Double) {
    if now >= call.nextSound {
      call.nextSound = now + load.soundInterval
      call.media?.sendSound()
      trunk.sendSound(call.number)
    }
    guard !call.isEnding else { return }
    if now >= call.endDue {
      end(call, by: call.isAccepted ? call.ending : .app)
    } else if now >= call.nextOperation, call.isBridged {
      call.nextOperation = now + load.operationInterval * Double.random(in: 0.5...1.5)
      operate(call)
    }
  }

  // MARK: What apps and the far end do

  private func place() -> Bool {
    guard let index = sessions.indices.filter({ sessions[$0].isReady }).randomElement() else { return false }
    lastNumber += 1
    let plan = SoakPlan.draw()
    let number = plan.number(lastNumber)
    let call = Call(number: number, plan: plan, session: index)
    calls[number] = call
    media.open { [weak self] event in
      self?.told(number, event)
    } ready: { [weak self] leg in
      guard let self, calls[number] === call, !isStopping else {
        self?.calls[number] = nil
        return leg.close()
      }
      call.media = leg
      let request = PlaceCall(kind: .phone, target: number, offer: leg.offer)
      guard let sent = sessions[index].send(.call(request)) else { return forget(call) }
      asked[index][sent.value] = number
      found.count("placed")
    }
    return true
  }

  private func end(_ call: Call, by ending: Ending) {
    call.isEnding = true
    let name = call.isAccepted ? "hung up by \(ending.rawValue)" : "cancelled"
    if ending != .app { trunk.hangUp(call.number) }
    if ending != .farEnd, let id = call.id { _ = sessions[call.session].send(.hangUp(id)) }
    found.count(name)
  }

  private func operate(_ call: Call) {
    guard let id = call.id else { return }
    let session = sessions[call.session]
    switch Int.random(in: 0..<7) {
    case 0:
      guard session.send(.sendDigits(id, "1#5")) != nil else { return }
      found.count("digits")
    case 1:
      guard session.send(.mute(id, Bool.random())) != nil else { return }
      found.count("mute")
    case 2:
      guard session.send(.report(id, ClientStatistics(figures: ["jitter": 0.01, "packetsLost": 0]))) != nil else {
        return
      }
      found.count("report")
    case 3, 4:
      guard call.offered == nil, let offer = call.media?.change(to: call.isHeldByApp ? .sendAndReceive : .sendOnly)
      else {
        return
      }
      call.isHeldByApp.toggle()
      self.offer(call, id, offer, call.isHeldByApp ? "hold by the app" : "back from hold by the app")
    case 5:
      guard call.offered == nil, let offer = call.media?.restart() else { return }
      self.offer(call, id, offer, "ICE restart")
    default:
      guard trunk.hold(call.number, !call.isHeldByFarEnd) else { return }
      call.isHeldByFarEnd.toggle()
      found.count(call.isHeldByFarEnd ? "hold by the far end" : "back from hold by the far end")
    }
  }

  private func offer(_ call: Call, _ id: CallID, _ text: String, _ name: String) {
    guard let request = sessions[call.session].send(.offer(id, text)) else {
      call.media?.withdrawOffer()
      return
    }
    call.offered = request
    offers[call.session][request.value] = call.number
    found.count(name)
  }

  private func forget(_ call: Call) {
    call.media?.close()
    call.media = nil
    if let id = call.id { byID[id] = nil }
    calls[call.number] = nil
  }

  // MARK: What they are told

  private func told(_ session: Int, _ effect: AppSessionClientEffect) {
    switch effect {
    case .event(let event): told(session, event)
    case .lost(let id, _):
      guard let call = byID[id].flatMap({ calls[$0] }) else { return }
      found.fail("lost with its session")
      trunk.hangUp(call.number)
      forget(call)
    default: break
    }
  }

  private func told(_ session: Int, _ event: AppEvent) {
    switch event {
    case .placed(let request, let id, let answer):
      guard let call = asked[session].removeValue(forKey: request.value).flatMap({ calls[$0] }) else { return }
      call.id = id
      byID[id] = call.number
      if call.plan == .rings { call.endDue = ProcessClock.monotonicSeconds() + Double.random(in: Self.patience) }
      if isStopping {
        call.isEnding = true
        _ = sessions[session].send(.hangUp(id))
      } else if let problem = call.media?.accept(answer: answer) {
        found.fail(problem)
        end(call, by: .app)
      }
    case .refused(let request, let failure): refused(session, request, failure)
    case .answered(let request, _, let answer):
      guard let call = offers[session].removeValue(forKey: request.value).flatMap({ calls[$0] }),
        call.offered == request
      else { return }
      call.offered = nil
      if let problem = call.media?.accept(answer: answer) { found.fail(problem) }
    case .accepted(let id, _):
      guard let call = byID[id].flatMap({ calls[$0] }) else { return }
      call.isAccepted = true
      if call.plan != .answers { found.fail("answered though it should not be") }
      bridge(call)
    case .offered(let id, let offer):
      guard let call = byID[id].flatMap({ calls[$0] }) else { return }
      if let answer = call.media?.answer(offer) { _ = sessions[session].send(.answer(id, answer)) }
    case .ended(let id, let summary):
      guard let call = byID[id].flatMap({ calls[$0] }) else { return }
      ended(call, summary)
    default: break
    }
  }

  private func refused(_ session: Int, _ request: RequestNumber, _ failure: CallFailure) {
    if let call = asked[session].removeValue(forKey: request.value).flatMap({ calls[$0] }) {
      // A gateway that is slowed down twentyfold may say that it has enough to do.
      if failure.code == .congestion {
        found.count("refused: congestion")
      } else {
        found.fail("refused: \(failure.code.rawValue)")
      }
      forget(call)
    } else if let call = offers[session].removeValue(forKey: request.value).flatMap({ calls[$0] }) {
      call.offered = nil
      call.media?.withdrawOffer()
      found.count("offer refused: it crossed another, or the end")
    }
  }

  private func told(_ number: String, _ event: HandshakeLeg.Event) {
    guard let call = calls[number] else { return }
    switch event {
    case .secured:
      call.isSecured = true
      bridge(call)
    case .failed(let why):
      if !call.isEnding {
        found.fail(why)
        end(call, by: .app)
      }
      if call.id == nil { forget(call) }
    }
  }

  private func told(_ number: String, _ event: SoakTrunk.Event) {
    guard let call = calls[number] else { return }
    switch event {
    case .established:
      call.isFarEndUp = true
      bridge(call)
    case .ended(let soundReceived):
      call.soundAtFarEnd = soundReceived
      call.isFarEndUp = false
    }
  }

  private func bridge(_ call: Call) {
    guard call.isBridged, call.bridgedAt == nil else { return }
    let now = ProcessClock.monotonicSeconds()
    call.bridgedAt = now
    call.endDue = now + Double.random(in: load.life)
    call.nextOperation = now + load.operationInterval * Double.random(in: 0...1)
    call.nextSound = now + load.soundInterval * Double.random(in: 0...1)
    found.count("bridged")
  }

  private func ended(_ call: Call, _ summary: CallSummary) {
    judgeSound(call)
    let isExpected = call.isEnding || call.plan == .busy && summary.failure?.code == .busy
    if !isExpected {
      found.fail("ended by itself: \(summary.failure?.code.rawValue ?? summary.cause.rawValue)")
      trunk.hangUp(call.number)
    }
    if call.plan == .busy { found.count("busy") }
    switch (summary.answeredAt, summary.costMicro) {
    case (nil, 0?): break
    case (_?, let cost?) where cost > 0: found.costMicro += cost
    case (_, nil): found.fail("not settled")
    default: found.fail("billed \(summary.costMicro ?? 0) though \(summary.answeredAt == nil ? "not " : "")answered")
    }
    found.ended += 1
    forget(call)
  }

  /// Sound has gone both ways, unless the call was too short or on hold.
  private func judgeSound(_ call: Call) {
    guard let since = call.bridgedAt, let media = call.media,
      let farEnd = call.soundAtFarEnd ?? trunk.leg(call.number)?.soundReceived
    else { return }
    found.soundToFarEnd += farEnd
    found.soundToApps += media.soundReceived
    let now = ProcessClock.monotonicSeconds()
    guard now - since > Self.dumbSeconds + load.soundInterval, !call.isHeldByApp, !call.isHeldByFarEnd else { return }
    if farEnd == 0 { found.fail("no sound reached the far end") }
    if media.soundReceived == 0 { found.fail("no sound reached the app") }
  }
}
