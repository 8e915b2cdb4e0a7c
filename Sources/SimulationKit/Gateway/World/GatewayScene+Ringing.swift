import AppProtocol
import CallModel

// MARK: - Devices that ring for their user

extension GatewayScene {
  /// What the caller writes into a call, so that whoever is called knows which of the plan it is.
  static let planHeader = "x-n"
  /// When a device does something that it could not do without a connection.
  private static let patienceMilliseconds: Int64 = 1000

  /// A device is told of a call for its user.
  func rings(_ call: CallID, _ invitation: Invitation, _ app: SimulatedApp) {
    note { "app \(app.index) rings for \(call)" }
    oracles.rings(call, invitation, app, in: self)
    guard violation == nil, let number = invitation.headers[Self.planHeader].flatMap({ Int($0) }),
      let ringing = ringing(number, app)
    else { return }
    app.rings[call] = SimulatedApp.Ring(number: number, told: now)
    touchReach(app)
    if ringing.conduct != .isSilent {
      schedule.add(
        .ringDeed(app: app.index, call, .alert), at: now.advanced(byMilliseconds: ringing.alertsAfter))
    }
    schedule.add(.ringDeed(app: app.index, call, .act), at: now.advanced(byMilliseconds: ringing.actsAfter))
  }

  private func ringing(_ number: Int, _ app: SimulatedApp) -> GatewayPlan.Ringing? {
    guard plan.calls.indices.contains(number - 1) else { return nil }
    let ringing = plan.calls[number - 1].ringing
    let device = plan.owner(of: app.index).device
    return ringing.indices.contains(device) ? ringing[device] : nil
  }

  func perform(_ deed: RingDeed, _ call: CallID, _ app: SimulatedApp) {
    guard !app.isGone, app.client.liveCalls.contains(call), let ring = app.rings[call],
      let ringing = ringing(ring.number, app)
    else { return }
    switch deed {
    case .alert:
      let offer = ringing.offersEarly ? app.offer() : nil
      if say(.alert(call, offer: offer), call, app), offer != nil { app.rings[call]?.hasOffered = true }
    case .act:
      guard let word = word(ringing.conduct, call, ring, app), !say(word, call, app) else { return }
      schedule.add(
        .ringDeed(app: app.index, call, .act), at: now.advanced(byMilliseconds: Self.patienceMilliseconds))
    case .actAgain: _ = say(.accept(call, offer: app.offer(), headers: []), call, app)
    case .hangUp: _ = say(.hangUp(call), call, app)
    }
  }

  private func word(
    _ conduct: GatewayPlan.Ringing.Conduct, _ call: CallID, _ ring: SimulatedApp.Ring, _ app: SimulatedApp
  ) -> AppRequest? {
    switch conduct {
    case .answers: .accept(call, offer: ring.hasOffered ? nil : app.offer(), headers: [])
    case .declines: .decline(call, .user, .declined)
    case .declinesHere: .decline(call, .device, .declined)
    case .isBusyHere: .decline(call, .device, .busy)
    case .lacksOffer: .accept(call, offer: nil, headers: [])
    case .brokenOffer: .accept(call, offer: "nonsense", headers: [])
    case .hangsUpBeforeAnswer: .hangUp(call)
    case .rings, .isSilent: nil
    }
  }

  /// - Returns: whether there was a session to say it in.
  private func say(_ request: AppRequest, _ call: CallID, _ app: SimulatedApp) -> Bool {
    var number: RequestNumber?
    appInput(app) { client, effects in number = client.send(request, at: now, into: &effects) }
    guard let number else { return false }
    var isAccept = false
    if case .accept = request { isAccept = true }
    app.words[number] = (call, isAccept)
    return true
  }

  /// What a device said was taken.
  func wordTaken(_ number: RequestNumber, _ app: SimulatedApp) {
    guard let word = app.words[number], word.isAccept, let ring = app.rings[word.call], !ring.hasJoined else { return }
    app.rings[word.call]?.hasJoined = true
    note { "app \(app.index) has accepted \(word.call)" }
    oracles.joins(word.call, app, in: self)
    if let after = ringing(ring.number, app)?.hangsUpAfter {
      schedule.add(.ringDeed(app: app.index, word.call, .hangUp), at: now.advanced(byMilliseconds: after))
    }
  }

  /// What a device said was refused: with an offer it is said once more.
  func wordRefused(_ number: RequestNumber, _ app: SimulatedApp) {
    guard let word = app.words[number], word.isAccept, let ring = app.rings[word.call],
      ringing(ring.number, app)?.conduct == .lacksOffer
    else { return }
    schedule.add(.ringDeed(app: app.index, word.call, .actAgain), at: now.advanced(byMilliseconds: 200))
  }

  // MARK: Who can be called

  /// Something has begun or ended that keeps calls from an app: it has to be callable again for a while before it must
  /// ring.
  func touchReach(_ app: SimulatedApp) {
    let canRing =
      app.isOnline(at: now) && !app.isOld && app.isListening && app.client.state == .ready
      && app.client.liveCalls.isEmpty
      && !(app.link?.isBroken ?? true)
    app.callableSince = canRing ? app.callableSince ?? now : nil
  }

  /// An app asks not to be called for a while, or to be called again; without a session it asks once there is one.
  func listen(_ isOn: Bool, _ app: SimulatedApp, thenAfter milliseconds: Int64 = 0) {
    guard !app.isGone, !app.isOld else { return }
    var number: RequestNumber?
    appInput(app) { client, effects in number = client.send(.listen(isOn), at: now, into: &effects) }
    if number != nil { app.isListening = isOn }
    touchReach(app)
    if !isOn {
      schedule.add(.listens(app.index), at: now.advanced(byMilliseconds: milliseconds))
    } else if number == nil {
      schedule.add(.listens(app.index), at: now.advanced(byMilliseconds: Self.patienceMilliseconds))
    }
  }
}
