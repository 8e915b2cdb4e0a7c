import CallModel
import SecureTransport

extension MediaBridge {
  /// Begins to record the legs, or ends whatever is recorded.
  func record(_ form: WAVRecorder.Form?, at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard let form else { return endRecording(at: now, events: &events) }
    guard recorder == nil, roomRecorder == nil else { return }
    recorder = WAVRecorder(samplingRate: form.samplingRate, at: now, form: form)
    nextRecorded = now.advanced(byMilliseconds: MediaBridge.recordedInterval)
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

  /// Each leg that hears and is heard is recorded in its channel.
  func shareRecorder() {
    let lowest = legs.first { !$0.isApart }
    let isPair = legs.count(where: { !$0.isApart }) > 1
    for leg in legs {
      // One that is alone has the place that it has beside the other.
      let isLeft = leg.id == .near || isPair && leg === lowest
      leg.record(leg.isApart ? nil : recorder, on: isLeft ? .left : .right)
    }
  }

  func tellRecorded(at now: MonotonicInstant, events: inout [MediaEvent]) {
    nextRecorded = now.advanced(byMilliseconds: MediaBridge.recordedInterval)
    recorder?.advance(to: now)
    if roomRecorder?.isOver == true { return endRecording(at: now, events: &events) }
    tellChunks(&events)
  }

  private func tellChunks(_ events: inout [MediaEvent]) {
    while let bytes = recorder?.nextChunk() ?? roomRecorder?.nextChunk(), !bytes.isEmpty {
      events.append(.recorded(bytes))
    }
  }
}
