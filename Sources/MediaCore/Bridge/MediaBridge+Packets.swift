import CallModel
import SDPCore
import SecureTransport

extension MediaBridge {
  /// RTP came in, in the clear by now.
  func sound(
    _ packet: PacketBuffer, _ leg: MediaLeg, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    guard let header = RTPHeader(packet) else {
      leg.malformed += 1
      return
    }
    let meaning = leg.meaning(of: header.payloadType)
    guard meaning != .nothing else {
      leg.unknownPayloadType += 1
      return
    }
    let arrival = leg.reception.received(
      sequence: header.sequence, timestamp: header.timestamp, source: header.source,
      payloadCount: header.payloadCount, arrival: now)
    let flow = flow(from: leg)
    switch arrival {
    case .stray, .duplicate: return
    case .restarted:
      flow?.restart()
      if leg.echo != nil { leg.outgoing.changeSource() }
      leg.finishDigits(events: &events)
    case .first, .next, .ahead, .late: break
    }
    guard leg.mayReceive, header.payloadCount > 0 else { return }
    if meaning == .events {
      digit(packet, header, leg, at: now, outbox: outbox, events: &events)
    } else {
      leg.heard(header, at: now, events: &events)
      flow?.sound(packet, header, at: now, outbox: outbox, events: &events)
      if leg.echo != nil { leg.echoSound(packet, header, at: now, outbox: outbox) }
      if flow == nil, let recorder { record(packet, header, leg, recorder, at: now, events: &events) }
    }
    if let due = flow?.nextDeadline { bringForward(due) }
  }

  /// Of a leg that is alone what comes in is recorded, on the right.
  private func record(
    _ packet: PacketBuffer, _ header: RTPHeader, _ leg: MediaLeg, _ recorder: WAVRecorder, at now: MonotonicInstant,
    events: inout [MediaEvent]
  ) {
    guard !leg.isApart else { return }
    let tap = lonelyTap ?? SoundTap(leg.id, channel: .right, detectsTones: false, workspace: workspace)
    lonelyTap = tap
    tap.recorder = recorder
    tap.hear(packet, header, leg.codec(of: header.payloadType), at: now, events: &events)
  }

  private func digit(
    _ packet: PacketBuffer, _ header: RTPHeader, _ leg: MediaLeg, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    let flow = flow(from: leg)
    flow?.event(packet, header, at: now, outbox: outbox, events: &events)
    let told = events.count
    leg.receiveDigit(packet, header, at: now, events: &events)
    handOn(events[told...], of: leg, at: now)
    if let due = leg.digits?.nextDeadline { bringForward(due) }
    if leg.echo != nil { leg.echoDigit(packet, header, at: now, outbox: outbox) }
    guard !leg.isMuted, let other = flow?.to, other.audio?.events != nil else { return }
    other.relayDigit(packet, header, clockRate: leg.eventClock(of: header.payloadType), at: now, outbox: outbox)
  }

  /// Milliseconds of a key that is played on, at least, and of the pause behind it: what receivers of tones need (ITU-T
  /// Q.24 asks for 40 of each) with some to spare.
  static let shortestTone = 80

  /// Keys that came as events go on as tones where the other leg's peer takes no events. Each waits for its end: until
  /// then its length is not known.
  func handOn(_ told: ArraySlice<MediaEvent>, of leg: MediaLeg, at now: MonotonicInstant) {
    guard !told.isEmpty, !leg.isMuted, let other = flow(from: leg)?.to, let audio = other.audio,
      audio.events == nil
    else { return }
    for case .digit(_, let digit) in told where digit.way == .event {
      other.press(
        [digit.code], milliseconds: max(digit.milliseconds, MediaBridge.shortestTone), pause: MediaBridge.shortestTone,
        at: now)
    }
    if let due = other.player?.nextDeadline { bringForward(due) }
  }

  /// RTCP came in, in the clear by now.
  func report(
    _ packet: PacketBuffer, _ leg: MediaLeg, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    let received = leg.control.receive(packet, heard: leg.reception.hasStarted ? leg.reception.source : nil, at: now)
    if received.bye { events.append(.bye(leg.id)) }
    if received.reported, let report = leg.control.peerReport {
      flow(to: leg)?.report(report)
    }
  }

  func tellTransport(
    _ leg: MediaLeg, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    for event in workspace.transportEvents {
      events.append(.transport(leg.id, event))
      leg.followWay(event, at: now, events: &events)
    }
    workspace.transportEvents.removeAll(keepingCapacity: true)
    schedule()
  }

  func adopt(
    _ plan: MediaPlan, _ id: LegID, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    guard let leg = leg(id) else { return }
    let changes = leg.adopt(plan, at: now)
    if changes.contains(.formats) { for flow in flows { flow.formatsChanged() } }
    leg.transport.apply(plan, at: now, outbox: outbox, events: &workspace.transportEvents)
    tellTransport(leg, at: now, events: &events)
  }

  func tellStatistics(at now: MonotonicInstant, events: inout [MediaEvent]) {
    for leg in legs {
      leg.packetsThisSecond = 0
      if leg.becameSilent(at: now) { events.append(.silence(leg.id)) }
      let isLinkThin = flow(to: leg)?.isLinkThin ?? false
      if isLinkThin != leg.isLinkThin {
        leg.isLinkThin = isLinkThin
        events.append(.thinLink(leg.id, isLinkThin))
      }
      events.append(.statistics(leg.id, statistics(of: leg)))
    }
    tellRecorded(&events)
    while nextStatistics <= now {
      nextStatistics = nextStatistics.advanced(byMilliseconds: MediaBridge.statisticsInterval)
    }
  }

  private func statistics(of leg: MediaLeg) -> MediaStatistics {
    leg.statistics(sendsCopies: flow(to: leg)?.sendsCopies ?? false)
  }

  func record(_ isOn: Bool, at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard isOn != (recorder != nil) else { return }
    if let recorder {
      let patches = recorder.finish()
      tellRecorded(&events)
      events.append(.recordingEnded(patches))
    }
    lonelyTap = nil
    recorder = isOn ? WAVRecorder(samplingRate: SoundTap.samplingRate, at: now) : nil
    for flow in flows { flow.record(recorder) }
  }

  private func tellRecorded(_ events: inout [MediaEvent]) {
    while let bytes = recorder?.nextChunk(), !bytes.isEmpty { events.append(.recorded(bytes)) }
  }

  func close(at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    record(false, at: now, events: &events)
    for leg in legs {
      // What came since the last full second counts as well.
      events.append(.statistics(leg.id, statistics(of: leg)))
      leg.finishDigits(events: &events)
      leg.endPlaying(finished: false, events: &events)
      leg.sayBye(at: now, outbox: outbox)
      leg.transport.close(at: now, outbox: outbox)
    }
    legs = []
    flows = []
    isClosed = true
    nextDeadline = nil
    events.append(.closed)
  }
}
