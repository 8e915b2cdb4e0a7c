import CallModel
import SecureTransport

extension MediaBridge {
  /// Begins to record the legs, or ends whatever is recorded.
  func record(_ form: WAVRecorder.Form?, at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard let form else { return endRecording(at: now, events: &events) }
    guard recorder == nil, roomRecorder == nil else { return }
    nextRecorded = now.advanced(byMilliseconds: MediaBridge.recordedInterval)
    if let seat = legs.lazy.compactMap(\.seat).first(where: { $0.room != RoomIdentifier(of: self.identifier) }) {
      let track = RoomRecorder()
      roomRecorder = track
      seat.recorder = track
      return
    }
    recorder = WAVRecorder(samplingRate: form.samplingRate, at: now, form: form)
    shareRecorder()
  }

  private func endRecording(at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard recorder != nil || roomRecorder != nil else { return }
    let patches = recorder?.finish(at: now) ?? []
    tellChunks(&events)
    recorder = nil
    roomRecorder = nil
    nextRecorded = nil
    shareRecorder()
    events.append(.recordingEnded(patches))
  }

  /// Begins to record a room.
  func recordRoom(_ room: RoomIdentifier, at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard recorder == nil, roomRecorder == nil else { return }
    let recorder = RoomRecorder()
    guard legs.isEmpty, workspace.hall.record(room, recorder) else { return events.append(.recordingEnded([])) }
    roomRecorder = recorder
    nextRecorded = now.advanced(byMilliseconds: MediaBridge.recordedInterval)
  }

  /// Each leg that hears and is heard is recorded in its channel: the calling side on the left. Whoever takes the place of
  /// another, as after a transfer, has the channel that is left.
  func shareRecorder() {
    for leg in legs where leg.isApart || recorder == nil { leg.endRecording() }
    guard let recorder else { return }
    for leg in legs where !leg.isApart && leg.recordingChannel == nil {
      let other = legs.first { $0 !== leg && !$0.isApart }?.recordingChannel
      let own: WAVRecorder.Channel = leg.id == .near ? .left : .right
      leg.record(recorder, on: other.map { $0 == .left ? .right : .left } ?? own)
    }
  }

  func tellRecorded(at now: MonotonicInstant, events: inout [MediaEvent]) {
    nextRecorded = now.advanced(byMilliseconds: MediaBridge.recordedInterval)
    recorder?.advance(to: now)
    if roomRecorder?.isOver ?? recorder?.isOver(at: now) ?? false { return endRecording(at: now, events: &events) }
    tellChunks(&events)
  }

  private func tellChunks(_ events: inout [MediaEvent]) {
    while let bytes = recorder?.nextChunk() ?? roomRecorder?.nextChunk(), !bytes.isEmpty {
      events.append(.recorded(bytes))
    }
  }
}
