import AppProtocol
import CallModel
import RoutingCore

// MARK: What is said in the call is recorded

extension CallMachine {
  func record(_ order: RecordingOrder, by actor: String) -> CallFailure? {
    switch order {
    case .begin(let format, let isAnnounced): beginRecording(format, isAnnounced: isAnnounced, by: actor)
    case .pause(let isOn): pauseRecording(isOn, by: actor)
    case .end: endRecording(by: actor)
    }
  }

  /// The rule of the number that brought the call, or of a trunk that carries it, and what it is called in the story.
  private var recordingRule: (name: String, rule: RecordingRule)? {
    guard roomPlace == nil else { return nil }
    if let number = arrived?.number, let rule = number.recording { return ("the rule of \(number.number)", rule) }
    let names = [arrived?.trunk.trunk.name, snapshot.trunk].compactMap(\.self)
    let trunk = context.configuration.trunks.first { names.contains($0.trunk.name) && $0.recording != nil }
    return trunk.flatMap { trunk in trunk.recording.map { ("the rule of trunk \(trunk.trunk.name)", $0) } }
  }

  /// The called side has answered.
  func recordByRule() {
    guard let (name, rule) = recordingRule else { return }
    _ = beginRecording(rule.format, isAnnounced: rule.isAnnounced, by: name)
  }

  /// Sound can flow: a recording that began before, of the call or of its conference, is announced now.
  func announceRunningRecording() {
    if snapshot.recording?.isAnnounced ?? false { announceRecording() }
    if let room = roomKey, context.rooms.report(room)?.recording?.isAnnounced ?? false { announceRecordingInRoom() }
  }

  private func beginRecording(_ format: RecordingFormat, isAnnounced: Bool, by actor: String) -> CallFailure? {
    guard roomPlace == nil else { return refused("it is a call in a conference, which is recorded as a whole") }
    guard snapshot.recording == nil else { return refused("it is recorded already") }
    let running = RunningRecording(
      id: RecordingID(unchecked: context.newCallID().text), format: format, startedAt: context.clock,
      isAnnounced: isAnnounced)
    snapshot.recording = running
    note("\(actor) has it recorded")
    order(
      .record(
        Recording(
          id: running.id, subject: .call(id), environment: payer.environment, account: payer.account, format: format,
          startedAt: running.startedAt)))
    // Nobody would hear it before sound flows.
    if isAnnounced, snapshot.state == .established { announceRecording() }
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

  func announceRecordingInRoom() {
    guard let member = roomMember, isUp, self[member].needs != nil else { return }
    order(.say(media(of: member), [.recorded]))
  }

  private func pauseRecording(_ isOn: Bool, by actor: String) -> CallFailure? {
    guard let running = snapshot.recording else { return refused("it is not recorded") }
    guard running.isPaused != isOn else { return nil }
    note("\(actor) \(isOn ? "pauses the recording" : "has the recording go on")")
    snapshot.recording?.isPaused = isOn
    order(.pauseRecording(isOn))
    changed()
    return nil
  }

  private func endRecording(by actor: String) -> CallFailure? {
    guard snapshot.recording != nil else { return refused("it is not recorded") }
    note("\(actor) ends the recording")
    snapshot.recording = nil
    order(.endRecording)
    changed()
    return nil
  }

  private func refused(_ phrase: String) -> CallFailure { CallFailure(.recording, phrase: phrase, leg: .app) }

  /// The file is closed; only where nobody asked for that, the call is to know of it.
  func recordingEnded(_ recording: RecordingID, _ end: Recording.State) {
    guard snapshot.recording?.id == recording else { return }
    switch state {
    case .preparing, .reaching, .up:
      snapshot.recording = nil
      // Nobody ended it, and nothing went wrong.
      let isLongest = end == .complete
      note("the recording has ended: \(isLongest ? "it is as long as one may be" : end.rawValue)")
      context.log(isLongest ? .warning : .error, id, "a recording has ended before its call: \(end.rawValue)")
      order(.endRecording)
      changed()
    case .ending, .over: break
    }
  }
}
