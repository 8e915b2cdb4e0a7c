import CallEngine
import CallModel
import NodeCore

// MARK: - Conferences: whom they call, and what operators do to them

extension GatewayScene {
  private func room(_ account: Int, _ conference: String) -> RoomKey? {
    (try? ConferenceID(conference)).map {
      RoomKey(
        environment: GatewayScene.environment, application: GatewayScene.applicationKey(account), conference: $0)
    }
  }

  /// An operator has the conference call a number.
  func invite(_ call: GatewayPlan.Call, _ conference: String) {
    guard !isQuiet, let node, node.stalledUntil <= now, node.isServing else { return }
    let account = apps[call.app].account
    var order = OriginateOrder(
      environment: GatewayScene.environment, account: AccountName(unchecked: GatewayScene.accountName(account)),
      first: (.conference, conference), second: (.phone, call.target),
      headers: [GatewayScene.planHeader: "\(call.number)"])
    order.application = GatewayScene.applicationKey(account)
    originations += 1
    report.calls += 1
    note { "conference \(conference) of account \(account) calls \(call.target)" }
    handle(.originate(OriginationID(originations), order), life: node.life)
  }

  /// What was asked for is so when the node has heard of it.
  func perform(_ deed: GatewayPlan.RoomDeed, _ meeting: GatewayPlan.Meeting) {
    guard let node, node.stalledUntil <= now, let key = room(meeting.account, meeting.conference),
      let report = node.core.room(key)
    else { return }
    let first = report.participants.first
    let order: RoomOrder? =
      switch deed {
      case .kick: first.map { .kick(participant: $0.number) }
      case .end: .end
      case .lock: .lock(true)
      case .unlock: .lock(false)
      case .mute: first.map { .silence(participant: $0.number, true) }
      case .unmute: first.map { .silence(participant: $0.number, false) }
      case .deafen: first.map { .deafen(participant: $0.number, true) }
      case .hear: first.map { .deafen(participant: $0.number, false) }
      case .tones: .tones(true)
      case .noTones: .tones(false)
      }
    guard let order else { return }
    isSilencing = true
    if !plants(.forgottenOrder) { handle(.room(key, order, by: "operator"), life: node.life) }
    isSilencing = false
    oracles.ordered(order, node.core.room(key), in: self)
  }
}
