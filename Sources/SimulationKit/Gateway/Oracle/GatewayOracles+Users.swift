import AppProtocol
import CallEngine
import CallModel

// MARK: - Calls for users: who rings, who answers, what the others hear

extension GatewayOracles {
  /// What is known of a call for a user.
  struct UserCall {
    /// Apps of the called user that must ring for it, as long as nothing comes in between.
    var mustRing: Set<Int> = []
    var rang: Set<Int> = []
    /// Apps whose answer was taken.
    var winners: Set<Int> = []
    var placedAt: MonotonicInstant?
    /// Legs of devices that ring with media.
    var attached: Set<LegID> = []
    var joined: LegID?
  }

  /// What one session was told of a call.
  struct Told {
    var begins = 0
    var ends = 0
    var ringsSince: MonotonicInstant?
  }

  /// A connection has been calm for so long when an app must ring.
  private static let calmMilliseconds: Int64 = 120_000
  /// A call that ends sooner need not have reached every device.
  private static let reachMilliseconds: Int64 = 5000
  /// No ring lasts longer, and a second for what is on its way.
  private static let ringMilliseconds: Int64 = 76_000

  // MARK: What the node tells

  func told(_ session: SessionID, _ event: AppEvent, in scene: GatewayScene) {
    checked("events")
    switch event {
    case .placed(_, let call, _):
      change(call) { $0.told[session, default: Told()].begins += 1 }
      change(call) { $0.placed += 1 }
      if calls[call]?.placed != 1 { scene.fail("events", "call \(call) is placed twice") }
      expectRinging(call, in: scene)
    case .incoming(let call, _):
      guard calls[call]?.user != nil else {
        return scene.fail("events", "call \(call) rings at an app, and is for no user")
      }
      change(call) {
        $0.told[session, default: Told()].begins += 1
        $0.told[session]?.ringsSince = scene.now
      }
      if calls[call]?.told[session]?.begins != 1 { scene.fail("events", "a device is told twice of call \(call)") }
      if calls[call]?.state == .ended { scene.fail("events", "call \(call) rings after its end") }
    case .done, .answered, .refused: break
    case .progressing(let call, _), .ringing(let call, _), .earlyMedia(let call), .accepted(let call, _),
      .established(let call), .price(let call, _), .creditEnds(let call, _), .digit(let call, _, _), .held(let call, _),
      .transfer(let call, _), .offered(let call, _), .quality(let call, _), .warning(let call, _, _),
      .members(let call, _), .speakers(let call, _), .recording(let call, _):
      let told = calls[call]?.told[session]
      if told?.begins != 1 || told?.ends != 0 { scene.fail("events", "an event of call \(call) outside its life") }
    case .ended(let call, _):
      change(call) { $0.told[session, default: Told()].ends += 1 }
      guard let life = calls[call], let told = life.told[session] else { return }
      if told.ends != 1 { scene.fail("events", "call \(call) ends twice") }
      guard let since = told.ringsSince, life.user?.joined == nil else { return }
      if scene.now.milliseconds(since: since) > Self.ringMilliseconds + life.stalledMilliseconds {
        scene.fail("ring", "call \(call) rang for \(scene.now.milliseconds(since: since)) ms")
      }
    }
  }

  /// Every device of the user that has been there, listening and in no call for a while must ring.
  private func expectRinging(_ call: CallID, in scene: GatewayScene) {
    guard let life = calls[call], life.user != nil else { return }
    let devices = scene.apps.filter { app in
      guard app.user == life.destination, GatewayScene.accountName(app.account) == life.account,
        let since = app.callableSince,
        let link = app.link
      else { return false }
      return scene.now.milliseconds(since: since) >= Self.calmMilliseconds
        && link.waitsUntil.allSatisfy { scene.now.milliseconds(since: $0) >= Self.calmMilliseconds }
    }
    change(call) {
      $0.user?.placedAt = scene.now
      $0.user?.mustRing = Set(devices.map(\.index))
    }
  }

  // MARK: What devices see

  func rings(_ call: CallID, _ invitation: Invitation, _ app: SimulatedApp, in scene: GatewayScene) {
    checked("ring")
    func fail(_ detail: String) { scene.fail("ring", "app \(app.index), call \(call): \(detail)") }
    change(call) { $0.user?.rang.insert(app.index) }
    guard let number = invitation.headers[GatewayScene.planHeader].flatMap({ Int($0) }),
      scene.plan.calls.indices.contains(number - 1)
    else { return fail("the caller's header is missing") }
    let planned = scene.plan.calls[number - 1]
    if invitation.user.text != app.user || planned.target != app.user { fail("it is for \(invitation.user)") }
    if invitation.from.value != scene.apps[planned.app].user { fail("its caller is \(invitation.from.value)") }
    if app.isOld { fail("the app knows no calls for its user") }
    if app.rings[call]?.end != nil { fail("it has ended") }
    let ends = app.ended[call] ?? 0
    app.ringsTold[call, default: 0] += 1
    if app.ringsTold[call] != ends + 1 { fail("it rings already") }
  }

  func joins(_ call: CallID, _ app: SimulatedApp, in scene: GatewayScene) {
    checked("ring")
    change(call) { $0.user?.winners.insert(app.index) }
    if let winners = calls[call]?.user?.winners, winners.count > 1 {
      scene.fail("ring", "call \(call) was answered by apps \(winners.sorted())")
    }
  }

  // MARK: Media of devices

  func attaches(_ leg: LegID, _ call: CallID, in scene: GatewayScene) {
    checked("legs of devices")
    if calls[call]?.user?.joined != nil {
      scene.fail("legs of devices", "\(leg) of call \(call) comes after the answer")
    }
    change(call) { $0.user?.attached.insert(leg) }
  }

  func detaches(_ leg: LegID, _ call: CallID, in scene: GatewayScene) {
    checked("legs of devices")
    change(call) { $0.user?.attached.remove(leg) }
  }

  func joins(_ leg: LegID, _ call: CallID, in scene: GatewayScene) {
    checked("legs of devices")
    change(call) { $0.user?.joined = leg }
    guard let attached = calls[call]?.user?.attached, attached != [leg] else { return }
    scene.fail("legs of devices", "\(leg) of call \(call) joins, and \(attached.sorted()) have media")
  }

  // MARK: When a call is over

  /// Looks at once, while the apps are as they were during the call.
  func checkReach(_ record: CallRecord, in scene: GatewayScene) {
    guard let life = calls[record.call.id], let user = life.user, let placedAt = user.placedAt,
      scene.now.milliseconds(since: placedAt) >= Self.reachMilliseconds, life.stalledMilliseconds == 0,
      record.summary.failure?.code != .userBusy
    else { return }
    checked("reach")
    for index in user.mustRing.subtracting(user.rang).sorted() {
      let app = scene.apps[index]
      guard let since = app.callableSince, since <= placedAt, !(app.link?.isBroken ?? true),
        app.link?.waitsUntil.allSatisfy({ $0 <= placedAt }) ?? false
      else { continue }
      scene.fail("reach", "call \(record.call.id) did not ring at app \(index)")
    }
  }

  func checkUserCalls(_ scene: GatewayScene) {
    for (call, life) in calls.sorted(by: { $0.key < $1.key }) where life.user != nil {
      checked("free")
      if scene.ledger.hold(account: life.account, call: call) != nil {
        scene.fail("free", "call \(call) is for a user, and held credit")
      }
    }
    for app in scene.apps where !app.isGone {
      for (call, ring) in app.rings.sorted(by: { $0.key < $1.key }) {
        if app.ringsTold[call] != app.ended[call] {
          scene.fail(
            "ring",
            "app \(app.index) was told \(app.ringsTold[call] ?? 0) times of call \(call), and \(app.ended[call] ?? 0) times of its end"
          )
        }
        check(ring, call, app, scene)
      }
    }
  }

  /// Everybody has hung up a while ago: no app may believe in a call any more, before it loses its session.
  func checkEnds(_ scene: GatewayScene) {
    for app in scene.apps where !app.isGone && app.client.state == .ready && !app.client.liveCalls.isEmpty {
      // A connection that broke unseen is noticed with the next ping.
      guard let link = app.link, !link.isBroken, link.waitsUntil.allSatisfy({ $0.milliseconds <= scene.plan.window })
      else { continue }
      scene.fail("apps", "app \(app.index) believes in calls \(app.client.liveCalls.sorted())")
    }
    checked("apps")
  }

  /// What a device hears in the end is what became of the call, as its part in it was.
  private func check(_ ring: SimulatedApp.Ring, _ call: CallID, _ app: SimulatedApp, _ scene: GatewayScene) {
    guard let end = ring.end, let record = records[call], let life = calls[call], !life.isOrphaned,
      let winners = life.user?.winners
    else { return }
    checked("ends of devices")
    func fail(_ detail: String) { scene.fail("ends of devices", "app \(app.index), call \(call): \(detail)") }
    let isMissed = end.cause != .otherDeviceAnswered && end.cause != .denied
    // In doubt, it is the one that answered where it hears the call's own end and no other device is known to have.
    let isWinner = app.doubtful.contains(call) && winners.isEmpty && end.cause == record.summary.cause && !end.isMissed
    if isWinner || winners.contains(app.index) {
      if end.cause != record.summary.cause { fail("\(end.cause) in place of \(record.summary.cause)") }
      if end.isMissed { fail("it was answered here, and missed") }
      return
    }
    if end.isMissed != isMissed { fail("missed is \(end.isMissed) with \(end.cause)") }
    // Its own word or loss ended its ringing before the call was decided.
    if end.endedAt < record.summary.answeredAt ?? record.summary.endedAt { return }
    if record.summary.answeredAt != nil {
      if end.cause != .otherDeviceAnswered { fail("\(end.cause), and another device answered") }
      let names = winners.map { scene.apps[$0].device }
      if let device = end.device, let name = names.first, device != name { fail("answered on \(device), not \(name)") }
      return
    }
    let expected: Set<CallEndCause> =
      switch record.summary.cause {
      case .noAnswer: [.timeout]
      case .error: [.error, .canceled]
      default: [record.summary.cause]
      }
    if !expected.contains(end.cause), !ring.endsItself(scene.plan, scene.plan.owner(of: app.index).device) {
      fail("\(end.cause), and the call ended \(record.summary.cause)")
    }
  }
}

extension SimulatedApp.Ring {
  /// Whether what the device does may end its ringing in the turn in which the call ends.
  fileprivate func endsItself(_ plan: GatewayPlan, _ device: Int) -> Bool {
    switch plan.calls[number - 1].ringing[device].conduct {
    case .declinesHere, .isBusyHere, .brokenOffer: true
    case .answers, .declines, .rings, .isSilent, .lacksOffer, .hangsUpBeforeAnswer: false
    }
  }
}
