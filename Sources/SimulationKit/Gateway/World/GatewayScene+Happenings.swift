import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import RoutingCore
import SDPCore
import SIPCore

// MARK: - What happens when its time has come

extension GatewayScene {
  /// After the window: everybody hangs up; apps go; at last nothing may be left.
  static let quietPhases: [Int64] = [0, 20_000, 60_000]

  func carryOut(_ happening: Happening) {
    if let life = GatewayScene.life(of: happening) {
      guard let node, node.life == life else { return }
      if node.stalledUntil > now { return schedule.add(happening, at: node.stalledUntil) }
    } else if let node, node.stalledUntil > now, GatewayScene.concernsNode(happening) {
      return schedule.add(happening, at: node.stalledUntil)
    }
    switch happening {
    case .datagram(let bytes, let trunk, let toTrunk): arrive(bytes, trunk: trunk, toTrunk: toTrunk)
    case .frame(let link, let frame, let toNode): arrive(frame, link, toNode: toNode)
    case .linkOpens(let link): linkOpens(link)
    case .linkLost(let link, let atNode): linkLost(link, atNode: atNode)
    case .node(let life, let input): handle(input, life: life)
    case .secure(_, let call, let leg): if let node { secure(call, leg, node) }
    case .silence(_, let call, let side, let since): if let node { silence(call, side, since: since, node) }
    case .ledgerTurn: if let node { ledgerTurn(node) }
    case .restart: kill(returnsAfter: 500)
    case .boot: boot()
    case .peer: peer()
    case .trunkDeed(let leg, let deed): perform(deed, leg)
    case .trunkReturns(let index):
      trunks[index].isDead = false
      touchTrunk(index)
      updateMedia()
    case .place(let number, let tries): place(plan.calls[number - 1], tries: tries)
    case .appDeed(let number, let deed): perform(deed, number)
    case .ringDeed(let app, let call, let deed): perform(deed, call, apps[app])
    case .listens(let index): if !isQuiet { listen(true, apps[index]) }
    case .appReturns(let index):
      tell(apps[index], .networkChanged)
      updateMedia()
    case .mediaChanges: updateMedia()
    case .fault(let fault): inject(fault)
    case .quiet(let phase): quiet(phase)
    }
  }

  private static func life(of happening: Happening) -> Int? {
    switch happening {
    case .node(let life, _), .secure(let life, _, _), .silence(let life, _, _, _), .ledgerTurn(let life),
      .restart(let life):
      life
    default: nil
    }
  }

  private static func concernsNode(_ happening: Happening) -> Bool {
    switch happening {
    case .datagram(_, _, let toTrunk): !toTrunk
    case .frame(_, _, let toNode): toNode
    case .linkOpens: true
    case .linkLost(_, let atNode): atNode
    default: false
    }
  }

  /// Another node of the same ledger settles the calls of those whose lease has lapsed, by a clock of its own.
  private func peer() {
    guard !isQuiet else { return }
    schedule.add(.peer, at: now.advanced(byMilliseconds: 5000))
    guard !isLedgerAway else { return }
    do { try recover(at: trueClock) } catch { fail("ledger", "\(error)") }
  }

  // MARK: Faults

  private func inject(_ fault: GatewayPlan.Fault) {
    guard !isQuiet else { return }
    count(fault.name)
    report.struck += legsByPort.count
    note { "fault: \(fault)" }
    switch fault {
    case .cut(let trunk, let toTrunk, let fromTrunk, let milliseconds):
      let until = now.advanced(byMilliseconds: milliseconds)
      if toTrunk { network.cut(trunk, toTrunk: true, until: until) }
      if fromTrunk { network.cut(trunk, toTrunk: false, until: until) }
      updateMedia()
      schedule.add(.mediaChanges, at: until)
    case .trunkDeath(let index, let milliseconds):
      guard !trunks[index].isDead else { return }
      for leg in trunks[index].restart(identifiers: newIdentifiers()) { forget(leg) }
      trunks[index].isDead = true
      touchTrunk(index)
      updateMedia()
      schedule.add(.trunkReturns(index), at: now.advanced(byMilliseconds: milliseconds))
    case .ledgerAway(let milliseconds):
      ledgerAwayUntil = max(ledgerAwayUntil, now.advanced(byMilliseconds: milliseconds))
    case .ledgerSlow(let milliseconds):
      ledgerSlowUntil = max(ledgerSlowUntil, now.advanced(byMilliseconds: milliseconds))
    case .kill(let milliseconds): kill(returnsAfter: milliseconds)
    case .stall(let milliseconds):
      guard let node else { return }
      oracles.stalled(node.life, milliseconds: milliseconds)
      node.stalledUntil = now.advanced(byMilliseconds: milliseconds)
      touchNode()
    case .clockJump(let milliseconds):
      stepClock(milliseconds: milliseconds)
    case .disconnect(let index, let milliseconds, let returns):
      let app = apps[index]
      app.offlineUntil = max(app.offlineUntil, now.advanced(byMilliseconds: milliseconds))
      if !returns { app.isGone = true }
      breakLink(of: app)
      updateMedia()
      if returns { schedule.add(.appReturns(index), at: app.offlineUntil) }
    case .congestion(let index, let toNode, let milliseconds):
      apps[index].link?.waitsUntil[toNode ? 0 : 1] = now.advanced(byMilliseconds: milliseconds)
    case .topUp(let account): topUp(account, random.amount(10_000...5_000_000))
    case .lock(let account): administer(account, .lock)
    case .unlock(let account): administer(account, .unlock)
    case .operatorHangUp:
      guard let node, node.stalledUntil <= now, let call = node.core.liveCalls.first else { return }
      handle(.hangUp(call.id, by: "operator"), life: node.life)
    case .conference(let meeting, let deed): perform(deed, meeting)
    case .deaf(let index, let milliseconds): listen(false, apps[index], thenAfter: milliseconds)
    }
  }

  // MARK: The end

  private func quiet(_ phase: Int) {
    switch phase {
    case 0:
      note { "everything is healed, everybody hangs up" }
      isQuiet = true
      network.isHealed = true
      ledgerAwayUntil = .zero
      ledgerSlowUntil = .zero
      for index in trunks.indices where trunks[index].isDead {
        trunks[index].isDead = false
        touchTrunk(index)
      }
      for app in apps {
        app.offlineUntil = .zero
        for call in app.client.liveCalls.sorted() {
          appInput(app) { client, effects in _ = client.send(.hangUp(call), at: now, into: &effects) }
        }
      }
      updateMedia()
    case 1:
      for (_, leg) in legsByPort.sorted(by: { $0.key < $1.key }) where !leg.isOver && !trunks[leg.trunk].isDead {
        trunk(leg.trunk, .hangUp(leg.handle, HangUp()))
      }
    default:
      oracles.checkEnds(self)
      for app in apps where !app.isGone { tell(app, .stop) }
    }
  }

  // MARK: Set-up

  /// 60/1 at 0.06 a minute: a thousand micro-units a second. Others have a fee, a grace and 30/6, a fee alone.
  static let deck = """
    prefix,name,currency,rate,unit,fee,initial,increment,grace
    46,Sweden,EUR,0.06,60,0,60,1,0
    4671,Fee,EUR,0.06,60,0.01,60,1,0
    4672,Grace,EUR,0.06,60,0,30,6,2
    4673,Only fee,EUR,0,60,0.5,1,1,0
    4690,Blocked,EUR,0.06,60,0,60,1,0

    """

  static func makePlan(_ deck: String) throws -> RatePlan {
    var reader = DeckReader(settings: try DeckSettings(name: "retail", version: "1", currency: .eur, zone: .utc))
    Array(deck.utf8).withUnsafeBytes { reader.feed($0) }
    return try RatePlan(name: "retail", [RatePlan.Entry(RateIndex(try reader.finish(), at: .distantPast))])
  }

  static func makeConfiguration(_ random: inout SeededGenerator) throws -> EngineConfiguration {
    var trunks: [CallTrunk] = []
    for index in 0..<GatewayPlan.trunkCount {
      var health = TrunkHealth.Policy()
      health.intervalMilliseconds = [0, 30_000, 300_000][random.weighted([750, 30, 220])]
      let address = SimulatedTrunk.address(index)
      trunks.append(
        CallTrunk(
          trunk: try Trunk(
            name: "carrier-\(index)", priority: UInt16(10 + 10 * random.index(2)), healthPolicy: health),
          uri: SIPURI(scheme: .sip, user: nil, host: address.host),
          account: DigestAccount(username: "landline", password: Redacted(trunkPassword)),
          identity: CallerIdentityPolicy(domain: SimulatedTrunk.gatewayAddress.host),
          media: .trunk(index == 0 ? [.none, .sdes] : .none),
          sessionTimer: SessionTimerPolicy(interval: [1800, 600, 90, nil][random.weighted([750, 40, 10, 200])]),
          ringTimeoutMilliseconds: 60_000, paths: [SimulatedTrunk.path(to: address)]))
    }
    var configuration = EngineConfiguration(
      environments: [
        .init(
          name: environment, origin: CallOperation.Origin(node: nodeID, epoch: 1), trunks: trunks.map(\.trunk.name))
      ], trunks: trunks, host: SimulatedTrunk.gatewayAddress.host)
    configuration.limits.grantSeconds = random.one(60, 120, 300)
    configuration.limits.maximumCallSeconds = random.one(1800, 5400, 14_400)
    return configuration
  }
}
