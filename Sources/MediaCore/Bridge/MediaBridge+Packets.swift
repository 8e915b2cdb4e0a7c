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
    case .stray, .duplicate, .heardFromCopy: return
    case .restarted:
      flow?.restart()
      leg.seat?.restart()
      if leg.echo != nil { leg.outgoing.changeSource() }
      leg.finishDigits(events: &events)
    case .first, .next, .ahead, .late: break
    }
    guard leg.mayReceive else { return }
    // Before it is unpacked: what it carries has one header.
    let isQuiet = leg.saysQuiet(packet)
    switch meaning {
    // By padding alone some peers measure their link.
    case _ where header.payloadCount == 0: skip(packet, header, leg, flow, at: now, outbox: outbox, events: &events)
    case .events: digit(packet, header, leg, at: now, outbox: outbox, events: &events)
    case .redundant: unpack(packet, header, isQuiet: isQuiet, leg, flow, at: now, outbox: outbox, events: &events)
    case .sound, .nothing:
      hear(packet, header, isQuiet: isQuiet, leg, flow, at: now, outbox: outbox, events: &events)
    }
    if let due = flow?.nextDeadline { bringForward(due) }
  }

  /// A packet without sound has a number of the stream: it is not missing.
  private func skip(
    _ packet: PacketBuffer, _ header: RTPHeader, _ leg: MediaLeg, _ flow: MediaFlow?, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    flow?.skip(packet, header, at: now, outbox: outbox, events: &events)
    insert(packet, header, isSound: false, leg, at: now)
    if leg.echo != nil { _ = leg.outgoing.skip(header.sequence) }
  }

  /// `isQuiet`: its sender says that nobody would hear it.
  private func hear(
    _ packet: PacketBuffer, _ header: RTPHeader, isQuiet: Bool, _ leg: MediaLeg, _ flow: MediaFlow?,
    at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    leg.heard(header, at: now, events: &events)
    flow?.sound(packet, header, at: now, outbox: outbox, events: &events)
    insert(packet, header, isSound: true, isQuiet: isQuiet, leg, at: now)
    if leg.echo != nil { leg.echoSound(packet, header, at: now, outbox: outbox) }
    // A leg that is alone or in a room. Keys are the other one's alone.
    let isBeneath = own.isTaken
    if flow == nil, let tap = leg.tap, tap.isRecording || isBeneath {
      tap.hear(
        packet, header, leg.codec(of: header.payloadType), isMuted: leg.isMuted, detectsTones: isBeneath, at: now,
        events: &events)
    }
  }

  /// A packet that carries earlier ones again (RFC 2198): of these, those that are missing are heard, then its own sound,
  /// each as the packet that it would have been by itself.
  private func unpack(
    _ packet: PacketBuffer, _ header: RTPHeader, isQuiet: Bool, _ leg: MediaLeg, _ flow: MediaFlow?,
    at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    guard let payload = RedundantPayload(packet, header), leg.meaning(of: payload.own.payloadType) == .sound else {
      leg.malformed += 1
      return
    }
    for index in 0..<payload.copyCount {
      let block = payload.copy(index)
      guard leg.meaning(of: block.payloadType) == .sound, leg.codec(of: block.payloadType) == .opus,
        let distance = MediaBridge.packets(before: block, in: packet),
        leg.reception.copyCame(of: header.sequence &- distance)
      else { continue }
      let copy = workspace.copy
      copy.writeRTPHeader(
        marker: false, payloadType: block.payloadType, sequence: header.sequence &- distance,
        timestamp: header.timestamp &- block.timestampOffset, source: header.source)
      copy.copy(packet, from: block.offset, count: block.count, to: RTPHeader.size)
      copy.count = RTPHeader.size + block.count
      // What is said of the packet is not said of the copy.
      if let header = RTPHeader(copy) {
        hear(copy, header, isQuiet: false, leg, flow, at: now, outbox: outbox, events: &events)
      }
    }
    guard payload.own.count > 0 else {
      return skip(packet, header, leg, flow, at: now, outbox: outbox, events: &events)
    }
    packet.copy(packet, from: payload.own.offset, count: payload.own.count, to: RTPHeader.size)
    packet.writeRTPHeader(
      marker: header.marker, payloadType: payload.own.payloadType, sequence: header.sequence,
      timestamp: header.timestamp, source: header.source)
    packet.count = RTPHeader.size + payload.own.count
    if let header = RTPHeader(packet) {
      hear(packet, header, isQuiet: isQuiet, leg, flow, at: now, outbox: outbox, events: &events)
    }
  }

  /// How many packets before its carrier a copy was sent first, by the time that it holds; `nil`: it is no sound, or that
  /// does not come out even. A copy behind a pause is not found by that, and is none that is needed.
  private static func packets(before block: RedundantPayload.Block, in packet: PacketBuffer) -> UInt16? {
    guard block.timestampOffset > 0,
      let sound = OpusPacket.inspect(packet, offset: block.offset, count: block.count), sound.duration > 0
    else { return nil }
    let (distance, rest) = block.timestampOffset.quotientAndRemainder(dividingBy: UInt32(sound.duration))
    return rest == 0 ? UInt16(exactly: distance) : nil
  }

  private func digit(
    _ packet: PacketBuffer, _ header: RTPHeader, _ leg: MediaLeg, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    let flow = flow(from: leg)
    flow?.event(packet, header, at: now, outbox: outbox, events: &events)
    // A key is no sound, and nobody in a room hears it.
    insert(packet, header, isSound: false, leg, at: now)
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

  /// Keys that came as events go on as tones where the other leg's peer takes no events, and as events of our own where a
  /// sound is played beneath the talk. Each waits for its end: until then its length is not known.
  func handOn(_ told: ArraySlice<MediaEvent>, of leg: MediaLeg, at now: MonotonicInstant) {
    guard !told.isEmpty, !leg.isMuted, let other = listener(to: leg), let audio = other.audio,
      audio.events == nil || own.isTaken
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
      adapt(leg, report.lossRate, report.roundTrip, at: report.instant)
    }
  }

  /// Microseconds that may have passed since a peer measured what it tells.
  static let measurementAge: Int64 = 1_000_000

  /// What a peer tells apart from RTCP.
  func adapt(_ id: LegID, _ lossRate: Double, _ roundTrip: Double?, at now: MonotonicInstant) {
    guard let leg = leg(id) else { return }
    // What is no number, or out of range, tells nothing.
    let believed = roundTrip.flatMap { (0...RTCPSession.maximumRoundTrip).contains($0) ? $0 : nil }
    let trip = believed.map {
      RoundTrip(
        milliseconds: $0, began: now.advanced(byMicroseconds: -Int64($0 * 1_000) - MediaBridge.measurementAge))
    }
    adapt(leg, lossRate, trip, at: now)
  }

  private func adapt(_ leg: MediaLeg, _ lossRate: Double, _ roundTrip: RoundTrip?, at now: MonotonicInstant) {
    flow(to: leg)?.report(lossRate: lossRate, roundTrip: roundTrip, at: now)
    leg.seat?.report(lossRate: lossRate, roundTrip: roundTrip, protection: leg.transport.rtpOverhead, at: now)
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
    if changes.contains(.formats) {
      for flow in flows { flow.formatsChanged() }
      if let seat = leg.seat { workspace.hall.formatsChanged(seat) }
    }
    leg.transport.apply(plan, at: now, outbox: outbox, events: &workspace.transportEvents)
    tellTransport(leg, at: now, events: &events)
  }

  func tellStatistics(at now: MonotonicInstant, events: inout [MediaEvent]) {
    for leg in legs {
      leg.packetsThisSecond = 0
      if leg.becameSilent(at: now) { events.append(.silence(leg.id)) }
      let isLinkThin = flow(to: leg)?.isLinkThin ?? leg.seat?.isLinkThin ?? false
      if isLinkThin != leg.isLinkThin {
        leg.isLinkThin = isLinkThin
        events.append(.thinLink(leg.id, isLinkThin))
      }
      events.append(.statistics(leg.id, statistics(of: leg)))
    }
    while nextStatistics <= now {
      nextStatistics = nextStatistics.advanced(byMilliseconds: MediaBridge.statisticsInterval)
    }
  }

  private func statistics(of leg: MediaLeg) -> MediaStatistics {
    var all = leg.statistics(sendsCopies: flow(to: leg)?.sendsCopies ?? leg.seat?.sendsCopies ?? false)
    all.roomLevel = leg.seat.map { Int($0.speech.smoothed.rounded()) }
    return all
  }

  func close(at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    record(nil, at: now, events: &events)
    for leg in legs {
      // What came since the last full second counts as well.
      events.append(.statistics(leg.id, statistics(of: leg)))
      leg.finishDigits(events: &events)
      leg.endPlaying(finished: false, events: &events)
      leaveSeat(leg)
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
