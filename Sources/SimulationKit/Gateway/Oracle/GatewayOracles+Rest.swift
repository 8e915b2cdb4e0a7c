import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import RoutingCore
import SIPCore

// MARK: - When everything is over

extension GatewayOracles {
  func checkRest(_ scene: GatewayScene) {
    guard let node = scene.node else { return scene.fail("rest", "the node did not come back") }
    checkNode(node, scene)
    checkTrunks(scene)
    checkApps(scene)
    checkUserCalls(scene)
    checkLedger(scene)
    for (call, life) in calls.sorted(by: { $0.key < $1.key }) where scene.violation == nil {
      check(call, life, scene)
    }
    for (name, dialog) in dialogs.sorted(by: { $0.key < $1.key }) where scene.violation == nil {
      check(name, dialog, scene)
    }
  }

  // MARK: Nothing is left

  private func checkNode(_ node: SimulatedNode, _ scene: GatewayScene) {
    checked("rest")
    if !node.core.isIdle {
      scene.fail("rest", "calls are left: \(node.core.liveCalls.map { "\($0.id) \($0.state)" })")
    }
    let holdings = node.core.holdings.filter { $0.value != 0 && $0.key != "queries" && $0.key != "deadlines" }
    // OPTIONS go on for ever.
    if scene.configuration.trunks.allSatisfy({ $0.trunk.healthPolicy.intervalMilliseconds == 0 }),
      !holdings.isEmpty
    {
      scene.fail("rest", "the agent still holds \(holdings.sorted { $0.key < $1.key })")
    }
    for key in ["calls", "live", "invitations", "dialogs"] {
      if let left = node.core.holdings[key], left > 0 { scene.fail("rest", "the agent still holds \(left) \(key)") }
    }
    if !node.media.isIdle {
      scene.fail("rest", "bridges \(node.media.calls) and ports \(node.media.takenPorts.keys.sorted()) are left")
    }
    for report in node.core.trunkReports where report.liveCalls > 0 {
      scene.fail("rest", "\(report.liveCalls) places are taken at \(report.name)")
    }
    if let room = node.core.rooms.first { scene.fail("rest", "conference \(room.key.conference) is left") }
    if node.core.sessionCount > 0 { scene.fail("rest", "\(node.core.sessionCount) sessions are left") }
    if !node.core.isBilled { scene.fail("rest", "the ledger has not answered everything") }
    if !scene.spool.isEmpty { scene.fail("rest", "\(scene.spool.count) operations wait in the spool") }
  }

  private func checkTrunks(_ scene: GatewayScene) {
    for trunk in scene.trunks {
      checked("rest")
      if !trunk.legs.isEmpty {
        scene.fail(
          "rest", "trunk \(trunk.index) is left with legs of calls \(trunk.legs.values.map(\.number).sorted())")
      }
    }
  }

  private func checkApps(_ scene: GatewayScene) {
    for app in scene.apps where !app.isGone {
      checked("apps")
      if !app.client.liveCalls.isEmpty {
        scene.fail("apps", "app \(app.index) believes in calls \(app.client.liveCalls.sorted())")
      }
      for number in app.words.keys.sorted(by: { $0.value < $1.value }) where app.replies[number] != 1 {
        scene.fail("apps", "word \(number.value) of app \(app.index) has \(app.replies[number] ?? 0) replies")
      }
      for number in app.requests.keys.sorted(by: { $0.value < $1.value }) where app.replies[number] != 1 {
        scene.fail("apps", "request \(number.value) of app \(app.index) has \(app.replies[number] ?? 0) replies")
      }
      for (number, call) in app.calls.sorted(by: { $0.key < $1.key }) where app.ended[call] != 1 {
        scene.fail("apps", "call \(number) of app \(app.index) ended \(app.ended[call] ?? 0) times")
      }
    }
  }

  // MARK: Money

  private func checkLedger(_ scene: GatewayScene) {
    checked("ledger")
    if let problem = scene.ledger.brokenBalance { scene.fail("balances", problem) }
    if scene.ledger.openHoldCount > 0 {
      let open = scene.ledger.holds.filter(\.state.isOpen).map { "\($0.call) \($0.state)" }.sorted()
      return scene.fail("holds", "open holds are left: \(open)")
    }
    do {
      let report = try LedgerVerifier.verify(scene.ledger.reading, full: true)
      for rule in report.rules {
        if let problem = rule.problem { scene.fail("ledger \(rule.id.rawValue)", problem.detail) }
      }
    } catch { scene.fail("ledger", "\(error)") }
    // Nothing but top-ups and what calls cost.
    for index in 0..<GatewayPlan.accountCount {
      guard let account = scene.ledger.account(GatewayScene.accountName(index)) else { continue }
      let spent = scene.ledger.holds.filter { $0.account == account.id }.reduce(0) { $0 + ($1.cost ?? 0) }
      let expected = (topUps[index] ?? 0) - spent
      if account.posted != expected {
        scene.fail("ledger", "account \(account.name) has \(account.posted), its calls leave \(expected)")
      }
    }
  }

  // MARK: Record = ledger = media

  private func check(_ call: CallID, _ life: Life, _ scene: GatewayScene) {
    func fail(_ rule: String, _ detail: String) { scene.fail(rule, "call \(call): \(detail)") }
    if !life.isOrphaned {
      if life.prepared != life.closed, life.prepared == 1 { fail("media", "prepared, closed \(life.closed) times") }
      let left = life.told.count { $0.value.begins != $0.value.ends }
      if left > 0 { fail("events", "\(left) sessions were not told of its end, or not of its beginning") }
      if life.records != life.placed { fail("records", "placed \(life.placed) times, \(life.records) records") }
    }
    guard let hold = scene.ledger.hold(account: life.account, call: call) else {
      if let record = records[call], record.summary.costMicro ?? 0 != 0 { fail("records", "a price and no hold") }
      return
    }
    checked("calls")
    // Never answered, never charged.
    if let cost = hold.cost, cost > 0, !wasAnsweredOnTheWire(life) {
      fail("unanswered", "charged \(cost) and nobody answered")
    }
    if hold.state == .settled, hold.settlement(milliseconds: hold.duration ?? 0).cost != hold.cost {
      fail("price", "charged \(hold.cost ?? 0)")
    }
    checkMedia(call, life, hold, scene)
    guard let record = records[call] else { return }
    checked("record = ledger")
    let charged = hold.state == .settled ? hold.cost ?? 0 : 0
    if let cost = record.summary.costMicro, cost != charged {
      fail("record = ledger", "the record says \(cost), the ledger \(charged)")
    }
    if hold.reason == "recovered" { return }
    if hold.state == .settled, record.summary.durationMilliseconds != hold.duration {
      fail(
        "record = ledger",
        "the record has \(record.summary.durationMilliseconds) ms, the ledger \(hold.duration ?? 0)")
    }
    if hold.state == .voided, record.summary.durationMilliseconds != 0 {
      fail("record = ledger", "the record has \(record.summary.durationMilliseconds) ms of a call that was voided")
    }
  }

  /// The bill is as long as sound could flow: from the answer to the close, the cut, or the last packet of a dead side.
  private func checkMedia(_ call: CallID, _ life: Life, _ hold: Hold, _ scene: GatewayScene) {
    guard hold.state == .settled, let duration = hold.duration else { return }
    guard let answeredAt = life.answeredAt else {
      return scene.fail("media = ledger", "call \(call) is charged and was never answered here")
    }
    if hold.reason == "recovered" {
      // What was carried is known to one beat, however the wall clock was set.
      checked("recovery")
      let known = max(0, (lastBeats[life.life] ?? answeredAt).milliseconds(since: answeredAt))
      let expected = min(known, hold.grantedSeconds * 1000)
      if abs(duration - expected) > 1 {
        scene.fail("recovery", "call \(call) is charged for \(duration) ms, its node was last alive at \(expected)")
      }
      return
    }
    guard let closedAt = life.closedAt else {
      return scene.fail("media = ledger", "call \(call) is charged by a node whose media never closed")
    }
    checked("media = ledger")
    let carried = min(closedAt, life.mutedAt ?? closedAt).milliseconds(since: answeredAt)
    if duration > carried + 1 {
      scene.fail("media = ledger", "call \(call) is charged for \(duration) ms, sound flowed for \(carried)")
    }
    guard duration < carried - 1, life.stalledMilliseconds == 0 else { return }
    // Less than that only where sound had stopped, or never began.
    let stopped = life.lastSound.values.map { max($0, answeredAt).milliseconds(since: answeredAt) }
    // A side that came back from hold or mute and stayed silent: its silence counts from there.
    let wait = scene.configuration.limits.deadMediaMilliseconds
    if records[call]?.summary.failure?.code == .mediaLost, abs(carried - duration - wait) <= 1 { return }
    if duration != 0, !stopped.contains(where: { abs($0 - duration) <= 1 }), duration != hold.grantedSeconds * 1000 {
      scene.fail("media = ledger", "call \(call) is charged for \(duration) ms of \(carried) that sound flowed")
    }
  }

  // MARK: BYE

  private func check(_ name: String, _ dialog: Dialog, _ scene: GatewayScene) {
    // Of a node that was killed: its next life knows nothing of its dialogs.
    guard !dialog.isOrphaned else { return }
    checked("legs")
    if !dialog.isOver { scene.fail("BYE", "the leg \(name) was answered and never ended") }
  }
}
