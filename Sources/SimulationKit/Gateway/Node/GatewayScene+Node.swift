import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SIPCore

// MARK: - The node: inputs one after the other, effects in order

extension GatewayScene {
  func door(_ input: AppDoorInput, life: Int) { take(.door(input), life: life) }
  func engine(_ input: EngineInput, life: Int) { take(.engine(input), life: life) }

  func take(_ input: SimulatedNode.Input, life: Int) {
    guard let node, node.life == life else { return }
    touchNode()
    node.inputs.append(input)
    guard !node.isRunning else { return }
    node.isRunning = true
    var doorEffects: [AppDoorEffect] = []
    var engineEffects: [EngineEffect] = []
    while !node.inputs.isEmpty, violation == nil {
      let input = node.inputs.removeFirst()
      steps += 1
      switch input {
      case .door(let input): node.door.handle(input, at: now, clock: clock, into: &doorEffects)
      case .engine(let input): node.engine.handle(input, at: now, clock: clock, into: &engineEffects)
      case .deadline:
        node.door.advance(to: now, clock: clock, into: &doorEffects)
        node.engine.advance(to: now, clock: clock, into: &engineEffects)
      }
      let doorWork = doorEffects
      doorEffects.removeAll(keepingCapacity: true)
      for effect in doorWork { perform(effect, node) }
      let engineWork = engineEffects
      engineEffects.removeAll(keepingCapacity: true)
      for effect in engineWork { perform(effect, node) }
    }
    node.isRunning = false
  }

  /// Hands one input to the agent of the node.
  func sip(_ action: (UserAgent, inout [UserAgentEffect]) -> Void) {
    guard let node else { return }
    steps += 1
    touchNode()
    var effects: [UserAgentEffect] = []
    action(node.agent, &effects)
    for effect in effects {
      switch effect {
      case .send(let bytes, let path, _):
        guard let index = trunks.indices.first(where: { SimulatedTrunk.address($0) == path.remote }) else {
          fail("network", "a message for a way that does not exist")
          continue
        }
        relay(bytes, trunk: index, toTrunk: true)
      case .locate: fail("network", "a question where a trunk lives")
      case .event(let event): engine(.sip(event), life: node.life)
      }
    }
  }

  private func perform(_ effect: AppDoorEffect, _ node: SimulatedNode) {
    switch effect {
    case .send(let connection, let text):
      guard let link = node.links[connection] else { return }
      oracles.appFrame(text, in: self)
      send(.text(text), link, toNode: false)
    case .ping(let connection): if let link = node.links[connection] { send(.ping, link, toNode: false) }
    case .close(let connection, let code, _):
      if let link = node.links.removeValue(forKey: connection) { send(.close(code), link, toNode: false) }
    case .verify(let id, let registration, _):
      let verdict = verify(registration)
      schedule.add(
        .verified(life: node.life, id, verdict), at: now.advanced(byMilliseconds: random.number(1...40)))
    case .opened(let session, let identity): node.identities[session] = identity
    case .request(let session, let number, let request):
      guard let identity = node.identities[session],
        let app = apps.first(where: { $0.user == identity.user.description })
      else { return }
      node.inputs.append(.engine(.request(session, number, request, caller(identity, app))))
    case .absent(let session): node.inputs.append(.engine(.sessionAbsent(session)))
    case .resumed(let session):
      count("resumption")
      node.inputs.append(.engine(.sessionResumed(session)))
    case .ended(let session):
      node.identities[session] = nil
      node.inputs.append(.engine(.sessionEnded(session)))
    }
  }

  private func caller(_ identity: AppIdentity, _ app: SimulatedApp) -> AppCaller {
    AppCaller(
      identity: identity,
      payer: Payer(
        environment: GatewayScene.environment, account: AccountName(unchecked: GatewayScene.accountName(app.account)),
        currency: .eur, plan: ratePlan, denyRanges: denyRanges), callerNumbers: callerNumbers)
  }

  private func perform(_ effect: EngineEffect, _ node: SimulatedNode) {
    switch effect {
    case .app(let session, let event):
      oracles.told(event, in: self)
      node.inputs.append(.door(.event(session, event)))
      if case .ended = event, plants(.endTwice) { oracles.told(event, in: self) }
    case .originated: break
    case .prepare(let call, let needs):
      if let snapshot = node.engine.anyCall(call) {
        oracles.began(snapshot, life: node.life)
        if let user = snapshot.user?.description { appOfCall[call] = apps.first { $0.user == user }?.index }
      }
      prepare(call, needs, node)
    case .media(let call, let order): perform(order, call, node)
    case .ledger(_, let step, let operation): submit(step, operation, node)
    case .lock(let account, _, let reason): lock(account, reason, node)
    case .velocity: count("rule of an hour reached")
    case .sip(let command):
      if case .placeCall(let handle, let outgoing) = command { oracles.dials(handle, outgoing, node, in: self) }
      if case .hangUp(let handle, _) = command, oracles.isAnswered(handle), plants(.missingBye) { return }
      sip { agent, effects in agent.handle(command, at: now, into: &effects) }
    case .changed(let snapshot): oracles.changed(snapshot, in: self)
    case .record(let record): keep(record, node)
    case .statistics, .pinged: break
    case .log(let entry):
      let message = plants(.secretInLog) ? entry.message + " " + GatewayScene.trunkPassword : entry.message
      note { "log \(entry.level.rawValue) \(entry.call.map { "\($0)" } ?? "") \(message)" }
      digest.add(message)
      oracles.secrets(Array(message.utf8), .log, in: self)
      if entry.level == .error { logErrors += 1 }
    }
  }

  private func lock(_ account: AccountName, _ reason: String, _ node: SimulatedNode) {
    keys += 1
    let request = LedgerOperation(
      .administer(
        AccountAdministration(account: account, key: RequestKey(unchecked: "v\(keys)"), .lock, reason: reason)),
      at: clock, actor: "gw")
    var isLocked = false
    if !isLedgerAway, let receipt = perform(request) { isLocked = receipt.refusal == nil }
    if isLocked, lock == nil { lock = (reason, now.milliseconds) }
    schedule.add(
      .engine(
        life: node.life, .lockAnswered(account, environment: GatewayScene.environment, isLocked: isLocked)),
      at: now.advanced(byMicroseconds: random.number(200...2000)))
  }

  private func keep(_ record: CallRecord, _ node: SimulatedNode) {
    guard !plants(.lostRecord) else { return }
    var record = record
    if plants(.wrongRecord), record.summary.costMicro != nil { record.summary.costMicro? += 1 }
    if plants(.secretInRecord) {
      record.story.append(CallRecord.StoryLine(milliseconds: 0, text: GatewayScene.applicationSecret))
    }
    report.records += 1
    let failure = record.summary.failure.map { " " + $0.code.rawValue } ?? ""
    report.ends[record.summary.cause.rawValue + failure, default: 0] += 1
    digest.add("\(record.call.id) \(record.summary.cause) \(record.summary.durationMilliseconds)")
    note {
      "record of \(record.call.id): \(record.summary.cause.rawValue)\(failure), \(record.summary.durationMilliseconds) ms,"
        + " \(record.summary.costMicro.map { "\($0)" } ?? "unknown")"
    }
    oracles.recorded(record, life: node.life, in: self)
  }

  private func verify(_ registration: Registration) -> RegistrationVerdict {
    guard registration.application == GatewayScene.applicationKey, let user = try? UserID(registration.user) else {
      return .refused
    }
    let identity = AppIdentity(
      application: registration.application, user: user, device: registration.device,
      capabilities: registration.capabilities)
    switch registration.proof {
    case .signature(let signature, let sequence):
      guard
        RegistrationSignature.isValid(
          signature, user: registration.user, application: registration.application, sequence: sequence,
          secret: GatewayScene.applicationSecret)
      else { return .refused }
      let last = sequences[registration.user] ?? 0
      guard sequence > last else { return last == .max ? .refused : .sequenceTooLow(least: last + 1) }
      sequences[registration.user] = sequence
      let id = StoredCredential.id(
        application: registration.application, user: registration.user, device: registration.device, isBounded: false)
      let credential = DeviceCredential.make(id: id, expiresAt: nil) { random.next() }
      credentials[id] = credential.stored(
        application: registration.application, user: user, device: registration.device)
      oracles.plant(credential.secret.exposed, isTold: true)
      return .accepted(identity, credential)
    case .credential(let id, let secret):
      guard let stored = credentials[id], stored.matches(secret: secret) else { return .refused }
      return .accepted(identity, nil)
    case .token: return .refused
    }
  }

  // MARK: Lives

  /// Starts a life of the node: what an earlier one left is settled first.
  func boot() {
    guard node == nil else { return }
    guard !isLedgerAway else {
      return schedule.add(.boot, at: now.advanced(byMilliseconds: 1000))
    }
    lives += 1
    do {
      // In the name of the earlier life: once the new one has begun, the ledger takes nothing from it.
      replaySpool()
      let row = try ledger.register(GatewayScene.nodeID, at: clock)
      oracles.beat(lives, at: now)
      try recover(at: clock)
      configuration.environments[0].origin = CallOperation.Origin(node: GatewayScene.nodeID, epoch: row.epoch)
      var own = random.fork()
      let identifiers = SeededIdentifiers(random.fork())
      node = SimulatedNode(
        life: lives, epoch: row.epoch, configuration, ports: plan.ports,
        pingMilliseconds: plan.pingMilliseconds, draw: { own.next() },
        identifiers: IdentifierSource { identifiers.next() }, at: now)
      touchNode()
    } catch { return fail("ledger", "\(error)") }
    note { "node boots, life \(lives)" }
    schedule.add(.beat(life: lives), at: now.advanced(byMilliseconds: NodeLease.beatInterval))
  }

  func recover(at clock: Instant) throws {
    guard !plants(.lostRecovery, always: true) else { return }
    let count = try ledger.recover(GatewayScene.nodeID, at: clock)
    report.recovered += count
    checkBalances()
  }

  /// The process is gone, with all that it had in memory.
  func kill(returnsAfter milliseconds: Int64) {
    guard let node else { return }
    note { "node is killed" }
    oracles.killed(node.life, in: self)
    // A commit may have been under way.
    if random.chance(500), !isLedgerAway { performWaiting(answering: false) }
    line.waiting = []
    line.isBusy = false
    for link in node.links.values.sorted(by: { $0.nodeID.number < $1.nodeID.number }) {
      link.isBroken = true
      if random.chance(800) {
        schedule.add(.linkLost(link, atNode: false), at: now.advanced(byMilliseconds: random.number(0...200)))
      }
    }
    self.node = nil
    touchNode()
    schedule.add(.boot, at: now.advanced(byMilliseconds: milliseconds))
  }

  /// Once a second: the life sign, what has become of accounts, and calls of dead lives.
  func beat(_ node: SimulatedNode) {
    schedule.add(.beat(life: node.life), at: now.advanced(byMilliseconds: NodeLease.beatInterval))
    guard !isLedgerAway else { return }
    do {
      if try ledger.beat(GatewayScene.nodeID, epoch: node.epoch, at: clock, uptime: uptime(of: node)) {
        oracles.beat(node.life, at: now)
      } else if !node.wasFenced {
        node.wasFenced = true
        count("fenced")
        note { "node was declared dead" }
        engine(.fenced(environment: GatewayScene.environment), life: node.life)
        schedule.add(.restart(life: node.life), at: now.advanced(byMilliseconds: random.number(5000...30_000)))
      }
      if !line.spool.isEmpty { replaySpool() }
      tellAccounts(node)
      beats += 1
      if beats % 5 == 0 { try recover(at: clock) }
    } catch { fail("ledger", "\(error)") }
  }

  private func tellAccounts(_ node: SimulatedNode) {
    guard !node.engine.isIdle else {
      node.accounts = [:]
      node.accountChanges = nil
      return
    }
    // Nothing was written since: nothing to compare.
    guard node.accountChanges != ledger.accountChanges else { return }
    node.accountChanges = ledger.accountChanges
    for index in 0..<GatewayPlan.accountCount {
      let name = GatewayScene.accountName(index)
      guard let row = ledger.account(name) else { continue }
      let former = node.accounts[name]
      node.accounts[name] = (row.posted, row.revision, row.status == .locked)
      guard let former else { continue }
      if row.status == .locked, !former.isLocked {
        engine(.accountLocked(AccountName(unchecked: name), environment: GatewayScene.environment), life: node.life)
      } else if row.posted > former.posted || row.revision != former.revision {
        engine(.accountChanged(AccountName(unchecked: name), environment: GatewayScene.environment), life: node.life)
      }
    }
  }
}
