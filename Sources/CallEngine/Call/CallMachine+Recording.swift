import AppProtocol
import CallModel
import RoutingCore

// MARK: What is said in the call is recorded

extension CallMachine {
  func record(_ order: RecordingOrder, by actor: String, isApp: Bool = false) -> CallFailure? {
    switch order {
    case .begin(let options): beginRecording(options, by: actor, isApp: isApp)
    case .pause(let isOn): pauseRecording(isOn, by: actor)
    case .end: endRecording(by: actor)
    }
  }

  /// The rule of the number that brought the call, or of a trunk that carries it, and what it is called in the story.
  private var recordingRule: (name: String, options: RecordingOptions)? {
    guard roomPlace == nil else { return nil }
    if let number = arrived?.number, let options = number.recording {
      return ("the rule of \(number.number)", options)
    }
    let names = [arrived?.trunk.trunk.name, snapshot.trunk].compactMap(\.self)
    let trunk = context.configuration.trunks.first { names.contains($0.trunk.name) && $0.recording != nil }
    return trunk.flatMap { trunk in trunk.recording.map { ("the rule of trunk \(trunk.trunk.name)", $0) } }
  }

  /// The called side has answered.
  func recordByRule() {
    guard let (name, options) = recordingRule else { return }
    _ = beginRecording(options, by: name)
  }

  /// Sound can flow: a recording that began before, of the call or of its conference, is announced now.
  func announceRunningRecording() {
    if recordingState != .off { tellRecording() }
    if snapshot.recording?.options.isAnnounced ?? false { announceRecording() }
    if runningInRoom?.options.isAnnounced ?? false { announceRecordingInRoom() }
  }

  private func beginRecording(_ options: RecordingOptions, by actor: String, isApp: Bool = false) -> CallFailure? {
    guard snapshot.recording == nil else { return refused("it is recorded already") }
    guard roomPlace == nil || !options.hasTone else {
      return refused("in a conference all hear the tone: record the conference")
    }
    var running = RunningRecording(
      id: RecordingID(unchecked: context.newCallID().text), options, startedAt: context.clock)
    running.isByApp = isApp
    snapshot.recording = running
    note("\(actor) has it recorded")
    order(
      .record(
        Recording(
          id: running.id, subject: .call(id), environment: payer.environment, account: payer.account,
          format: options.format, startedAt: running.startedAt, channels: roomPlace == nil ? nil : 1)))
    // Nothing is mixed with what is said in a call for help.
    if options.hasTone, !isEmergency { order(.recordingTone(true)) }
    // Nobody would hear it before sound flows.
    if options.isAnnounced, snapshot.state == .established { announceRecording() }
    if snapshot.state == .established { tellRecording() }
    changed()
    return nil
  }

  /// To all who hear, and have nothing else to listen to: a number of the gateway's own goes on with its words. Nothing takes
  /// the place of what is said in a call for help.
  private func announceRecording() {
    guard !isEmergency, legs.allSatisfy({ $0.prompt == nil }) else { return }
    for side in CallSide.allCases where self[side.leg].needs != nil && !snapshot.onHold.contains(side) {
      order(.say(media(of: side.leg), [.recorded]))
    }
  }

  private func pauseRecording(_ isOn: Bool, by actor: String) -> CallFailure? {
    guard let running = snapshot.recording else { return refused("it is not recorded") }
    guard running.isPaused != isOn else { return nil }
    note("\(actor) \(isOn ? "pauses the recording" : "has the recording go on")")
    snapshot.recording?.isPaused = isOn
    order(.pauseRecording(isOn))
    tellRecording()
    changed()
    return nil
  }

  private func endRecording(by actor: String) -> CallFailure? {
    guard snapshot.recording != nil else { return refused("it is not recorded") }
    note("\(actor) ends the recording")
    forgetRecording()
    return nil
  }

  private func forgetRecording() {
    if snapshot.recording?.options.hasTone ?? false { order(.recordingTone(false)) }
    snapshot.recording = nil
    order(.endRecording)
    tellRecording()
    changed()
  }

  private func refused(_ phrase: String) -> CallFailure { CallFailure(.recording, phrase: phrase, leg: .app) }

  /// The file is closed; only where nobody asked for that, the call is to know of it.
  func recordingEnded(_ recording: RecordingID, _ end: Recording.State) {
    guard snapshot.recording?.id == recording else { return }
    switch state {
    case .preparing, .reaching, .up:
      // Nobody ended it, and nothing went wrong.
      let isLongest = end == .complete
      note("the recording has ended: \(isLongest ? "it is as long as one may be" : end.rawValue)")
      context.log(isLongest ? .warning : .error, id, "a recording has ended before its call: \(end.rawValue)")
      forgetRecording()
    case .ending, .over: break
    }
  }

  // MARK: In a conference

  private var runningInRoom: RunningRecording? { roomKey.flatMap { context.rooms.report($0)?.recording } }

  func announceRecordingInRoom() {
    guard let member = roomMember, isUp, self[member].needs != nil else { return }
    order(.say(media(of: member), [.recorded]))
  }

  /// The conference is recorded with a track of each participant: this is the call's.
  func beginTrack(of running: RunningRecording) {
    guard isUp, snapshot.recording == nil else { return }
    _ = beginRecording(RecordingOptions(running.options.format), by: "the conference's recording")
    track = snapshot.recording?.id
    if running.isPaused { pauseTrack(true) }
  }

  func pauseTrack(_ isOn: Bool) {
    guard isUp, track != nil, snapshot.recording?.id == track else { return }
    _ = pauseRecording(isOn, by: "the conference's recording")
  }

  func endTrack() {
    guard isUp, track != nil, snapshot.recording?.id == track else { return }
    _ = endRecording(by: "the conference's recording")
  }

  /// All who are in the mixer's room hear the tone of its recording, or no longer.
  func setToneInRoom(_ isOn: Bool) {
    guard let place = roomPlace, isUp, let number = self[place].room?.number else { return }
    order(.toneInRoom(number, isOn))
  }

  // MARK: What apps know

  /// Of the call, or of the conference that it is in.
  private var recordingState: RecordingState {
    guard let running = runningInRoom ?? snapshot.recording else { return .off }
    return running.isPaused ? .paused : .on
  }

  /// The apps of the call are told whether what they say is recorded.
  func tellRecording() {
    for leg in [LegID.near, .far] where self[leg].app != nil { tell(.recording(id, recordingState), leg) }
  }
}
