import AppProtocol
import CallEngine
import CallModel
import NodeCore

// MARK: - Conferences: who is in which, and who is told of whom

extension GatewayOracles {
  /// The sound of a call goes to a room of the mixer: all of a conference have the same, and no other conference has.
  func entersRoom(_ number: UInt64, _ call: CallID, in scene: GatewayScene) {
    checked("rooms")
    guard let node = scene.node else { return }
    places[call] = number
    guard let own = node.core.rooms.first(where: { $0.participants.contains { $0.call == call } }) else {
      return scene.fail("rooms", "call \(call) comes into room \(number), and is in no conference")
    }
    if let other = conferences[number], other != own.key {
      scene.fail("rooms", "conferences \(other.conference) and \(own.key.conference) have room \(number)")
    }
    conferences[number] = own.key
    for participant in own.participants {
      guard let place = places[participant.call], place != number else { continue }
      scene.fail("rooms", "calls \(call) and \(participant.call) of one conference are in two rooms")
    }
  }

  /// Looks at every conference, after a call has come or gone.
  func checkRooms(in scene: GatewayScene) {
    guard let node = scene.node else { return }
    checked("rooms")
    let live = Set(node.core.liveCalls.map(\.id))
    for room in node.core.rooms {
      for participant in room.participants where places[participant.call] == nil || !live.contains(participant.call) {
        scene.fail("rooms", "call \(participant.call) is in conference \(room.key.conference), and is over")
      }
      let numbers = room.participants.map(\.number)
      if numbers != numbers.sorted() || Set(numbers).count != numbers.count {
        scene.fail("rooms", "participants of \(room.key.conference) are \(numbers)")
      }
    }
  }

  /// An operator's word was heard.
  func ordered(_ order: RoomOrder, _ room: RoomReport?, in scene: GatewayScene) {
    checked("conference orders")
    func participant(_ number: Int) -> RoomReport.Participant? { room?.participants.first { $0.number == number } }
    let isDone: Bool
    switch order {
    case .kick(let number): isDone = participant(number) == nil
    case .end: isDone = room?.participants.isEmpty ?? true
    case .lock(let isLocked): isDone = room?.isLocked ?? isLocked == isLocked
    case .tones(let isOn): isDone = room?.hasTones ?? isOn == isOn
    case .keys(let keys): isDone = room?.keys ?? keys == keys
    case .silence(let number, let isOn): isDone = participant(number)?.isSilenced ?? isOn == isOn
    case .deafen(let number, let isOn): isDone = participant(number)?.isDeaf ?? isOn == isOn
    case .record, .say, .stopSaying: isDone = true
    }
    if !isDone { scene.fail("conference orders", "\(order) was not done") }
  }

  /// An app is told who is in its conference: people of its own application alone.
  func members(_ members: RoomMembers, _ call: CallID, _ app: SimulatedApp, in scene: GatewayScene) {
    checked("members")
    // An app that gave its request up knows nothing of the call.
    let planned = app.calls.first { $0.value == call }.map { scene.plan.calls[$0.key - 1] }
    if let planned, planned.conference == nil {
      scene.fail("members", "app \(app.index) is told of members of call \(call)")
    }
    for member in members.members where member.from.kind == .user {
      let accounts = scene.apps.filter { $0.user == member.from.value }.map(\.account)
      if !accounts.contains(app.account) {
        scene.fail("members", "app \(app.index) is told of \(member.from.value) of another application")
      }
    }
  }
}
