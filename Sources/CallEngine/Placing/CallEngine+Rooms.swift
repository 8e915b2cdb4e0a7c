import CallModel

// MARK: Conferences

extension CallEngine {
  /// Every conference, in the order of environments, applications and ids.
  public var rooms: [RoomReport] {
    context.rooms.keys
      .sorted {
        ($0.environment, $0.application, $0.conference.text) < ($1.environment, $1.application, $1.conference.text)
      }
      .compactMap { context.rooms.report($0) }
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

  /// What nobody asks of a conference that stands otherwise has been refused before; see ``RoomReport/refusal(of:)``.
  private func record(_ order: RecordingOrder, in room: RoomKey, for account: AccountName, by actor: String) {
    guard let report = context.rooms.report(room), report.refusal(of: .record(order, for: account)) == nil else {
      return
    }
    switch order {
    case .begin(let format, let isAnnounced):
      let running = RunningRecording(
        id: RecordingID(unchecked: context.newCallID().text), format: format, startedAt: context.clock,
        isAnnounced: isAnnounced)
      guard let number = context.rooms.record(room, { $0 = running }) else { return }
      let recording = Recording(
        id: running.id, subject: .conference(application: room.application, room.conference),
        environment: room.environment, account: account, format: format, startedAt: running.startedAt)
      context.emit(.recordRoom(room, .begin(recording, room: number)))
      context.log(.info, nil, "\(actor) has conference \(room.conference) recorded")
      guard isAnnounced else { return }
      for participant in report.participants { with(participant.call) { $0.announceRecordingInRoom() } }
    case .pause(let isOn):
      _ = context.rooms.record(room) { $0?.isPaused = isOn }
      context.emit(.recordRoom(room, .pause(isOn)))
      context.log(
        .info, nil, "\(actor) \(isOn ? "pauses" : "goes on with") the recording of conference \(room.conference)")
    case .end:
      _ = context.rooms.record(room) { $0 = nil }
      context.emit(.recordRoom(room, .end))
      context.log(.info, nil, "\(actor) ends the recording of conference \(room.conference)")
    }
  }

  /// The file is closed; only where nobody asked for that, the conference is to know of it.
  func recordingEnded(_ recording: RecordingID, of room: RoomKey, _ state: Recording.State) {
    guard context.rooms.report(room)?.recording?.id == recording else { return }
    _ = context.rooms.record(room) { $0 = nil }
    context.emit(.recordRoom(room, .end))
    context.log(
      .error, nil, "the recording of conference \(room.conference) has ended before it: \(state.rawValue)")
  }

  func advance(room: RoomKey) {
    let alone = context.inRoom(room) { $0.advance(room, at: context.now) }
    if let alone { with(alone) { $0.aloneInRoom() } }
  }
}
