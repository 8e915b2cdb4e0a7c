import CallModel
import SDPCore
import SecureTransport

/// One end of a bridge: what it agreed on, how its packets travel, what came in and what went out.
final class MediaLeg {
  /// What a payload type of an arriving packet means.
  enum Meaning: UInt8 {
    case nothing, sound, events
    /// Sound with that of earlier packets (RFC 2198).
    case redundant
  }

  let id: LegID
  /// It shakes hands, and neither hears nor is heard: a device that rings.
  var isApart: Bool
  let configuration: MediaLegConfiguration
  let transport: LegTransport
  let workspace: MediaWorkspace
  private(set) var plan: MediaPlan?
  /// The plan's stream of sound, which each packet asks for.
  private(set) var audio: MediaPlan.Stream?
  /// Of the plan's stream: by which its packets say how loud their sound is.
  private(set) var audioLevelExtension: UInt8?
  /// By payload type: its meaning, and the codec of sound.
  private var meanings = ContiguousArray<Meaning>(repeating: .nothing, count: PayloadType.maximum + 1)
  private var codecs = ContiguousArray<AudioCodec>(repeating: .pcmu, count: PayloadType.maximum + 1)
  private var eventClocks = ContiguousArray<Int32>(repeating: 8_000, count: PayloadType.maximum + 1)

  // What comes in.
  var reception = ReceptionStatistics(clockRate: 8_000)
  /// Packets of sound that were made good from the copy within the next one's sound, and those that had to be concealed.
  var recoveredByCodec: UInt64 = 0
  var concealed: UInt64 = 0
  /// Microseconds that a packet of this second waited at most for one before it.
  var longestWait: Int64 = 0
  var malformed: UInt64 = 0
  var unknownPayloadType: UInt64 = 0
  var overRate: UInt64 = 0
  var packetsThisSecond = 0
  var isMuted = false
  /// In its room it is sent silence.
  var isDeaf = false
  private var hasHeardSound = false
  /// Packets that had come in when statistics were last told.
  var packetsAtStatistics: UInt64 = 0
  private var isSilent = false
  /// As it was told last: what goes out was cut to what the peer's link carries.
  var isLinkThin = false
  /// When sound last came in, or could have begun to.
  private var lastSound: MonotonicInstant
  var way = WayWatch()
  /// The codec that last came in.
  private(set) var heardCodec: AudioCodec?
  private(set) var digits: TelephoneEventReceiver?
  private var toldDigits: [DigitPressed] = []
  /// Where somebody listens for keys pressed as tones, or records.
  private(set) var tap: SoundTap?

  // What goes out.
  var outgoing: OutgoingStream
  private var repeater: PacketRepeater?
  private var relayedDigits: TelephoneEventClock?
  var pressing: TelephoneEventSender?
  var player: LocalSound?
  /// What comes in is sent back.
  var echo: Echo?
  /// Its place in a room, in place of a flow to the other leg.
  var seat: RoomSeat?
  let control: RTCPSession

  init(
    _ id: LegID, _ configuration: MediaLegConfiguration, isApart: Bool = false, workspace: MediaWorkspace,
    at now: MonotonicInstant
  ) {
    self.id = id
    self.isApart = isApart
    self.configuration = configuration
    self.workspace = workspace
    var hasFeedback = true
    switch configuration.transport {
    case .app(let app): transport = .app(AppTransport(app, at: now))
    case .trunk(let trunk):
      transport = .trunk(TrunkTransport(trunk, at: now))
      hasFeedback = false
    case .client(let client): transport = .client(ClientTransport(client, at: now))
    }
    let stream = configuration.stream
    outgoing = OutgoingStream(
      source: stream.source, clockRate: 8_000, sequence: stream.sequence, timestamp: stream.timestamp)
    control = RTCPSession(
      source: stream.source, canonicalName: stream.canonicalName, clockRate: 8_000, seed: stream.seed,
      unixMicroseconds: stream.unixMicroseconds, sendsExtendedReports: configuration.sendsExtendedReports,
      hasFeedback: hasFeedback, at: now)
    lastSound = now
    if configuration.detectsTones { tap = SoundTap(id, detectsTones: true, workspace: workspace) }
  }

  /// Where it is recorded; `nil`: it is not.
  private(set) var recordingChannel: WAVRecorder.Channel?

  /// Records what comes in from now on.
  func record(_ recorder: WAVRecorder, on channel: WAVRecorder.Channel) {
    let tap = self.tap ?? SoundTap(id, detectsTones: false, workspace: workspace)
    self.tap = tap
    tap.record(recorder, on: channel)
    recordingChannel = channel
  }

  func endRecording() {
    tap?.endRecording()
    recordingChannel = nil
    if !configuration.detectsTones { tap = nil }
  }

  /// Packets of sound that were made good from any copy.
  var recovered: UInt64 { recoveredByCodec + reception.heardFromCopies }

  /// The codec and payload type we send with.
  var send: MediaPlan.Format? { audio?.send }

  /// Sound may go out: a plan, keys and an address are there, and the peer wants it.
  var maySend: Bool {
    guard let audio, transport.isReady else { return false }
    return audio.direction == .sendAndReceive || audio.direction == .sendOnly
  }

  /// Sound of the other leg may go out: nothing of our own is being played.
  var mayPlay: Bool { player == nil && pressing?.isPressing != true && maySend }

  /// Sound that comes in is wanted.
  var mayReceive: Bool {
    guard let audio else { return false }
    return audio.direction == .sendAndReceive || audio.direction == .receiveOnly
  }

  func meaning(of payloadType: UInt8) -> Meaning { meanings[Int(payloadType & 0x7F)] }
  /// Ticks a second of the events of a payload type.
  func eventClock(of payloadType: UInt8) -> Int { Int(eventClocks[Int(payloadType & 0x7F)]) }
  func codec(of payloadType: UInt8) -> AudioCodec { codecs[Int(payloadType & 0x7F)] }

  /// What is due without a packet coming in.
  var nextDeadline: MonotonicInstant? {
    var next = transport.nextDeadline
    func consider(_ deadline: MonotonicInstant?) {
      guard let deadline else { return }
      next = min(next ?? deadline, deadline)
    }
    consider(digits?.nextDeadline)
    consider(pressing?.nextDeadline)
    consider(player?.nextDeadline)
    consider(control.nextDeadline)
    return next
  }

  /// Takes what both ends agreed on; the changes since the former plan.
  func adopt(_ plan: MediaPlan, at now: MonotonicInstant) -> MediaPlan.Changes {
    let changes = self.plan.map { plan.changes(since: $0) } ?? [.formats, .direction, .remote]
    self.plan = plan
    let audio = plan.audio
    self.audio = audio
    audioLevelExtension = audio.audioLevelExtension.flatMap { UInt8(exactly: $0) }
    if changes.contains(.direction) { lastSound = now }
    guard changes.contains(.formats) else { return changes }
    for number in 0...PayloadType.maximum { meanings[number] = .nothing }
    for format in audio.receive {
      meanings[format.payloadType.number] = .sound
      codecs[format.payloadType.number] = format.codec
    }
    if let redundancy = audio.redundancy { meanings[redundancy.number] = .redundant }
    repeater = nil
    digits = nil
    pressing = nil
    relayedDigits = nil
    if let events = audio.events {
      for format in events.received {
        meanings[format.payloadType.number] = .events
        eventClocks[format.payloadType.number] = Int32(clamping: format.clockRate)
      }
      digits = TelephoneEventReceiver(clockRate: events.clockRate, codes: events.receive)
      pressing = TelephoneEventSender(clockRate: events.clockRate, packetTime: audio.packetTime)
    }
    reception.use(clockRate: audio.receive.first?.codec.clockRate ?? 8_000)
    outgoing.use(clockRate: audio.send.codec.clockRate)
    control.clockRate = audio.send.codec.clockRate
    return changes
  }

  // MARK: What comes in

  /// Counts a packet of the peer; `false`: it sends more than any real stream has.
  func admits() -> Bool {
    packetsThisSecond += 1
    guard packetsThisSecond > MediaBridge.maximumPacketsPerSecond else { return true }
    overRate += 1
    return false
  }

  /// Sound came in.
  func heard(_ header: RTPHeader, at now: MonotonicInstant, events: inout [MediaEvent]) {
    lastSound = now
    let codec = codec(of: header.payloadType)
    if codec != heardCodec {
      heardCodec = codec
      reception.use(clockRate: codec.clockRate)
    }
    if !hasHeardSound {
      hasHeardSound = true
      events.append(.firstMedia(id))
    }
    if isSilent {
      isSilent = false
      events.append(.soundAgain(id))
    }
  }

  /// Sound may begin to come: its absence counts from now on.
  func waitForSound(from now: MonotonicInstant) {
    lastSound = now
    isSilent = false
  }

  /// True once, when sound has not come for too long although it is wanted.
  func becameSilent(at now: MonotonicInstant) -> Bool {
    guard !isSilent, mayReceive, transport.isReady,
      now.milliseconds(since: lastSound) >= configuration.silence
    else { return false }
    isSilent = true
    return true
  }

  func receiveDigit(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    lastSound = now
    let clockRate = eventClock(of: header.payloadType)
    if let digits, digits.clockRate != clockRate {
      finishDigits(events: &events)
      self.digits = TelephoneEventReceiver(clockRate: clockRate, codes: digits.codes)
    }
    digits?.receive(
      packet, offset: header.payloadOffset, count: header.payloadCount, marker: header.marker,
      sequence: header.sequence, timestamp: header.timestamp, at: now, digits: &toldDigits)
    tellDigits(&events)
  }

  func advanceDigits(to now: MonotonicInstant, events: inout [MediaEvent]) {
    digits?.advance(to: now, digits: &toldDigits)
    tellDigits(&events)
  }

  func finishDigits(events: inout [MediaEvent]) {
    digits?.finish(digits: &toldDigits)
    tellDigits(&events)
  }

  private func tellDigits(_ events: inout [MediaEvent]) {
    guard !toldDigits.isEmpty else { return }
    for digit in toldDigits { events.append(.digit(id, digit)) }
    toldDigits.removeAll(keepingCapacity: true)
  }

  // MARK: What goes out

  /// Protects an RTP packet that stands in the outbox's next buffer, and sends it; `repeating`: with the sound of the
  /// packet before, where the peer takes that.
  func send(_ out: PacketBuffer, repeating: Bool = false, outbox: PacketOutbox) {
    if repeating, let redundancy = audio?.redundancy {
      let repeater = self.repeater ?? PacketRepeater()
      self.repeater = repeater
      repeater.repeatLast(in: out, as: UInt8(redundancy.number))
    }
    let payloadCount = out.count - RTPHeader.size
    guard let destination = transport.destination, transport.protectRTP(out) else { return }
    outbox.commit(on: transport.port, to: destination)
    outgoing.sent(payloadCount: payloadCount)
  }

  /// Hands on an event packet of the other leg, in this leg's clock.
  func relayDigit(
    _ packet: PacketBuffer, _ header: RTPHeader, clockRate: Int, at now: MonotonicInstant, outbox: PacketOutbox
  ) {
    guard mayPlay, let audio, let events = audio.events,
      let payload = TelephoneEventPayload(packet, offset: header.payloadOffset, count: header.payloadCount),
      events.send.contains(Int(payload.code))
    else { return }
    var clock =
      relayedDigits.flatMap { $0.from == clockRate ? $0 : nil }
      ?? TelephoneEventClock(from: clockRate, to: events.clockRate)
    defer { relayedDigits = clock }
    let start =
      clockRate == events.clockRate || clockRate == audio.send.codec.clockRate
      ? outgoing.map(timestamp: header.timestamp, clockRate: clockRate, at: now) : outgoing.following(at: now)
    guard
      let event = clock.rewrite(
        payload, marker: header.marker, sequence: header.sequence, timestamp: header.timestamp, start: start, at: now)
    else { return }
    sendEvent(event, events, at: now, outbox: outbox)
  }

  func sendEvent(
    _ event: TelephoneEventPacket, _ events: MediaPlan.Events, at now: MonotonicInstant, outbox: PacketOutbox
  ) {
    let out = outbox.next
    let stamp = outgoing.stamp(timestamp: event.timestamp, duration: 0, marker: event.marker, at: now)
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(events.sendPayloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: outgoing.source)
    event.payload.append(to: out)
    send(out, outbox: outbox)
  }
}
