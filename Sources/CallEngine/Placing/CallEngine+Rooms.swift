import CallModel

// MARK: Conferences

extension CallEngine {
  /// Every conference but calls with guests, in the order of environments, applications and ids.
  public var rooms: [RoomReport] {
    context.rooms.keys
      .sorted {
        ($0.environment, $0.application, $0.conference.text) < ($1.environment, $1.application, $1.conference.text)
      }
      .compactMap { $0.conference.host == nil ? context.rooms.report($0) : nil }
  }

  /// `nil` where nobody is in it.
  public func room(_ key: RoomKey) -> RoomReport? { context.rooms.report(key) }

  /// An operator's word; nothing happens where the conference or the participant has gone.
  func order(_ order: RoomOrder, in room: RoomKey, by actor: String) {
    func of(_ participant: Int, _ action: (CallMachine) -> Void) {
      if let call = context.rooms.call(room, participant: participant) { with(call, action) }
    }
    switch order {
    case .lock(let isLocked):
      if context.rooms.lock(room, isLocked) {
        context.log(.info, nil, "\(actor) \(isLocked ? "locks" : "unlocks") conference \(room.conference)")
      }
    case .tones(let isOn): if let call = context.rooms.setTones(room, isOn) { with(call) { $0.tellRoomTones() } }
    case .keys(let keys): context.rooms.setKeys(room, keys)
    case .silence(let participant, let isOn): of(participant) { $0.silencedInRoom(isOn, by: actor) }
    case .deafen(let participant, let isOn): of(participant) { $0.deafenedInRoom(isOn, by: actor) }
    case .kick(let participant): of(participant) { $0.kicked(by: actor) }
    case .say(let sound):
      guard let call = context.rooms.firstParticipant(room) else { return }
      context.log(.info, nil, "\(actor) has \(sound.name) said in conference \(room.conference)")
      with(call) { $0.sayInRoom(sound) }
    case .stopSaying: if let call = context.rooms.firstParticipant(room) { with(call) { $0.sayInRoom(nil) } }
    case .record(let order, let account): record(order, in: room, for: account, by: actor)
    case .end: for call in context.rooms.calls(room) { with(call) { $0.hangUp(by: actor) } }
    }
  }

  func advance(room: RoomKey) {
    let alone = context.inRoom(room) { $0.advance(room, at: context.now) }
    if let alone { with(alone) { $0.aloneInRoom() } }
  }
}
