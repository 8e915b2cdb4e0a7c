import AppProtocol
import CallModel

// MARK: Recordings of conferences, and those that apps ask for

extension CallEngine {
  /// What nobody asks of a conference that stands otherwise has been refused before; see ``RoomReport/refusal(of:)``.
  func record(
    _ order: RecordingOrder, in room: RoomKey, for account: AccountName, by actor: String, isApp: Bool = false
  ) {
    guard let report = context.rooms.report(room), report.refusal(of: .record(order, for: account)) == nil else {
      return
    }
    let name = "conference \(room.conference)"
    switch order {
    case .begin(let options):
      var running = RunningRecording(
        id: RecordingID(unchecked: context.newCallID().text), options, startedAt: context.clock)
      running.isByApp = isApp
      guard let number = context.rooms.record(room, { $0 = running }) else { return }
      let recording = Recording(
        id: running.id, subject: .conference(application: room.application, room.conference),
        environment: room.environment, account: account, format: options.format, startedAt: running.startedAt)
      context.emit(.recordRoom(room, .begin(recording, room: number)))
      context.log(.info, nil, "\(actor) has \(name) recorded")
      withFirst(of: report) { if options.hasTone { $0.setToneInRoom(true) } }
      withAll(of: report) {
        if options.isAnnounced { $0.announceRecordingInRoom() }
        if options.hasTracks { $0.beginTrack(of: running) }
      }
    case .pause(let isOn):
      _ = context.rooms.record(room) { $0?.isPaused = isOn }
      context.emit(.recordRoom(room, .pause(isOn)))
      context.log(.info, nil, "\(actor) \(isOn ? "pauses" : "goes on with") the recording of \(name)")
      withAll(of: report) { $0.pauseTrack(isOn) }
    case .end:
      context.log(.info, nil, "\(actor) ends the recording of \(name)")
      endRecording(of: report)
    }
    withAll(of: report) { $0.tellRecording() }
  }

  /// The file is closed; only where nobody asked for that, the conference is to know of it.
  func recordingEnded(_ recording: RecordingID, of room: RoomKey, _ state: Recording.State) {
    guard let report = context.rooms.report(room), report.recording?.id == recording else { return }
    context.log(
      .error, nil, "the recording of conference \(room.conference) has ended before it: \(state.rawValue)")
    endRecording(of: report)
    withAll(of: report) { $0.tellRecording() }
  }

  private func endRecording(of report: RoomReport) {
    _ = context.rooms.record(report.key) { $0 = nil }
    context.emit(.recordRoom(report.key, .end))
    withFirst(of: report) { if report.recording?.options.hasTone ?? false { $0.setToneInRoom(false) } }
    withAll(of: report) { $0.endTrack() }
  }

  private func withAll(of report: RoomReport, _ action: (CallMachine) -> Void) {
    for participant in report.participants { with(participant.call, action) }
  }

  /// Whoever tells the mixer.
  private func withFirst(of report: RoomReport, _ action: (CallMachine) -> Void) {
    if let call = context.rooms.firstParticipant(report.key) { with(call, action) }
  }

  // MARK: Apps

  /// An app wants the call or its conference recorded, or no longer; one reply.
  func record(
    _ id: CallID, _ wanted: RecordingState, _ number: RequestNumber, _ session: SessionID, _ caller: AppCaller
  ) {
    guard let call = calls[id] else { return }
    func refuse(_ phrase: String) {
      context.emit(.app(session, .refused(number, call.described(CallFailure(.recording, phrase: phrase, leg: .app)))))
    }
    guard let options = caller.recording else { return refuse("apps of this application have nothing recorded") }
    guard call.isUp, call.leg(of: session) != nil else { return refuse("the call is not answered, or over") }
    let room = call.roomPlace == nil ? nil : call.roomKey
    let running = room.map { context.rooms.report($0)?.recording } ?? call.snapshot.recording
    let order: RecordingOrder
    switch (wanted, running) {
    case (.on, nil): order = .begin(options)
    case (.on, let running?) where running.isPaused: order = .pause(false)
    case (.paused, let running?) where !running.isPaused: order = .pause(true)
    case (.paused, nil): return refuse("it is not recorded")
    case (.off, let running?):
      guard running.isByApp else { return refuse("no app began the recording, and none may end it") }
      order = .end
    default: return context.emit(.app(session, .done(number)))
    }
    let actor = "user \(caller.identity.user)"
    var refusal: CallFailure?
    if let room {
      refusal = context.rooms.report(room)?.refusal(of: .record(order, for: caller.payer.account))
      if refusal == nil { record(order, in: room, for: caller.payer.account, by: actor, isApp: true) }
    } else {
      with(id) { refusal = $0.record(order, by: actor, isApp: true) }
    }
    context.emit(.app(session, refusal.map { .refused(number, call.described($0)) } ?? .done(number)))
  }
}
