public import CallModel
public import SDPCore
public import SecureTransport

/// Joins two legs, or a leg and a prompt: a call's sound from one datagram to the other.
///
/// Sans-IO: datagrams and the time come in, datagrams go to the outbox, the rest goes to `events`. Nothing is allocated
/// for a packet in the steady state. A bridge belongs to one thread.
///
/// ```
///                  ┌── near leg ──┐    flow near → far    ┌── far leg ────┐
///   datagrams ────▶│ transport    │──────────────────────▶│ transport     │────▶ datagrams
///             ◀────│ RTP, RTCP    │◀──────────────────────│ RTP, RTCP     │◀────
///                  └──────────────┘    flow far → near    └───────────────┘
/// ```
public final class MediaBridge {
  /// Names a bridge towards its shell.
  public typealias Identifier = BridgeIdentifier

  /// Packets a second that one leg may send: five times a stream of 10 ms packets, with reports and events. More are
  /// dropped unread.
  public static let maximumPacketsPerSecond = 600
  /// Legs that one bridge joins at most.
  public static let maximumLegs = 2
  /// Legs that wait beside them to be joined.
  public static let maximumLegsApart = 16
  static let statisticsInterval: Int64 = 1_000
  /// A process that is killed loses as many milliseconds of a recording.
  static let recordedInterval: Int64 = 200

  /// As it was given when the bridge was made.
  public let identifier: Identifier
  /// ``MediaEvent/closed`` was told: nothing comes in, goes out or is due any more.
  public internal(set) var isClosed = false

  let workspace: MediaWorkspace
  /// In the order of their names, whichever joined first.
  var legs: ContiguousArray<MediaLeg> = []
  /// One of each direction between two legs.
  var flows: ContiguousArray<MediaFlow> = []
  var nextStatistics: MonotonicInstant
  /// When what was recorded is told again; `nil` while nothing is recorded.
  var nextRecorded: MonotonicInstant?
  /// Of the legs, or of a room: never both.
  var recorder: WAVRecorder?
  var roomRecorder: RoomRecorder?
  /// Why and whether the legs are in a room of their own.
  var own = OwnRoom()

  /// A bridge without legs, see ``attach(_:_:at:)``. `workspace`: shared with the other bridges of the same thread.
  public init(_ identifier: Identifier, workspace: MediaWorkspace, at now: MonotonicInstant) {
    self.identifier = identifier
    self.workspace = workspace
    nextStatistics = now.advanced(byMilliseconds: MediaBridge.statisticsInterval)
    nextDeadline = nextStatistics
  }

  /// When ``advance(to:outbox:events:)`` is due next; `nil` when closed.
  public internal(set) var nextDeadline: MonotonicInstant?

  /// Adds a leg. Nothing happens where the bridge has that leg, or as many as it may have.
  /// - Parameter isApart: It shakes hands and waits for ``MediaCommand/join(_:)``.
  public func attach(
    _ id: LegID, _ configuration: MediaLegConfiguration, isApart: Bool = false, at now: MonotonicInstant
  ) {
    let limit = isApart ? MediaBridge.maximumLegsApart : MediaBridge.maximumLegs
    guard !isClosed, leg(id) == nil, legs.count(where: { $0.isApart == isApart }) < limit else { return }
    if !isApart { leaveOwnRoom() }
    let joining = MediaLeg(id, configuration, isApart: isApart, workspace: workspace, at: now)
    legs.insert(joining, at: legs.firstIndex { id < $0.id } ?? legs.endIndex)
    if !isApart { connect(joining) }
    shareRecorder()
    arrangeOwnRoom(at: now)
    schedule()
  }

  /// A leg that waited apart hears the others from now on, and is heard.
  private func join(_ id: LegID) {
    guard let joining = leg(id), joining.isApart,
      legs.count(where: { !$0.isApart }) < MediaBridge.maximumLegs
    else { return }
    leaveOwnRoom()
    joining.isApart = false
    connect(joining)
    shareRecorder()
  }

  /// A leg hears the others no longer, nor is it heard; it may be joined again.
  private func part(_ id: LegID) {
    guard let leg = leg(id), !leg.isApart else { return }
    leaveOwnRoom()
    leaveSeat(leg)
    flows.removeAll { $0.from === leg || $0.to === leg }
    leg.isApart = true
    shareRecorder()
  }

  func connect(_ joining: MediaLeg) {
    for leg in legs where leg !== joining && !leg.isApart && leg.seat == nil {
      leg.echo = nil
      for flow in [
        MediaFlow(from: leg, to: joining, workspace: workspace),
        MediaFlow(from: joining, to: leg, workspace: workspace),
      ] {
        flow.restart()
        flows.append(flow)
      }
    }
  }

  /// A leg goes, the others stay.
  private func detach(_ id: LegID, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard let index = legs.firstIndex(where: { $0.id == id }) else { return }
    if !legs[index].isApart { leaveOwnRoom() }
    let leg = legs.remove(at: index)
    leaveSeat(leg)
    flows.removeAll { $0.from === leg || $0.to === leg }
    leg.sayBye(at: now, outbox: outbox)
    leg.transport.close(at: now, outbox: outbox)
    shareRecorder()
  }

  /// A datagram came in on a port of a leg. Its buffer may be changed; it is free again afterwards.
  public func receive(
    _ packet: PacketBuffer, of id: LegID, on port: MediaPort, from address: MediaAddress,
    at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    guard let leg = leg(id) else { return }
    let kind = leg.transport.receive(
      packet, on: port, from: address, at: now, outbox: outbox, events: &workspace.transportEvents)
    switch kind {
    // Only what is the peer's own counts, so that a stranger's flood takes nothing from it.
    case .rtp:
      leg.proved(at: now, events: &events)
      if leg.admits() { sound(packet, leg, at: now, outbox: outbox, events: &events) }
    case .rtcp:
      leg.proved(at: now, events: &events)
      if leg.admits() { report(packet, leg, at: now, events: &events) }
    case .consumed:
      // DTLS proves nothing before it has come to keys: anybody can send its first bytes.
      if DatagramKind.of(packet) == .stun { leg.proved(at: now, events: &events) }
      schedule()
    case .dropped: break
    }
    if !workspace.transportEvents.isEmpty { tellTransport(leg, at: now, events: &events) }
  }

  /// Time went by.
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    guard !isClosed, let deadline = nextDeadline, deadline <= now else { return }
    for leg in legs { advance(leg, to: now, outbox: outbox, events: &events) }
    for flow in flows { flow.advance(to: now, outbox: outbox, events: &events) }
    if let end = own.soundEnd, end <= now {
      own.soundEnd = nil
      arrangeOwnRoom(at: now)
    }
    if let due = nextRecorded, due <= now { tellRecorded(at: now, events: &events) }
    if nextStatistics <= now { tellStatistics(at: now, events: &events) }
    schedule()
  }

  private func advance(
    _ leg: MediaLeg, to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    guard let deadline = leg.nextDeadline, deadline <= now else { return }
    if let due = leg.transport.nextDeadline, due <= now {
      leg.transport.advance(to: now, outbox: outbox, events: &workspace.transportEvents)
      tellTransport(leg, at: now, events: &events)
    }
    let told = events.count
    leg.advanceDigits(to: now, events: &events)
    handOn(events[told...], of: leg, at: now)
    leg.sendOwn(at: now, outbox: outbox, events: &events)
    leg.sendReport(at: now, outbox: outbox)
  }

  /// Does what is asked at once; datagrams that it leads to are in `outbox`. Ignored when closed.
  public func handle(
    _ command: MediaCommand, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    guard !isClosed else { return }
    switch command {
    case .join(let id): join(id)
    case .part(let id): part(id)
    case .enterRoom(let id, let room, let options): enterRoom(id, room, options, at: now, events: &events)
    case .leaveRoom(let id): leaveRoom(id)
    case .detach(let id): detach(id, at: now, outbox: outbox)
    case .plan(let id, let plan): adopt(plan, id, at: now, outbox: outbox, events: &events)
    case .sendDigits(let id, let codes, let milliseconds, let pause):
      leg(id)?.press(codes, milliseconds: milliseconds, pause: pause, at: now)
    case .mute(let id, let isMuted): leg(id)?.isMuted = isMuted
    case .deafen(let id, let isDeaf): leg(id)?.isDeaf = isDeaf
    case .adapt(let id, let lossRate, let roundTrip): adapt(id, lossRate, roundTrip, at: now)
    case .play(let id, let prompts, let library):
      leg(id)?.play(prompts, from: library, at: now, events: &events)
    case .playSound(let id, let sound): leg(id)?.play(sound, at: now, events: &events)
    case .playInRoom(let room, let sound): workspace.hall.play(sound, in: room)
    case .playBeneath(let sound): playBeneath(sound, at: now)
    case .toneBeneath(let isOn): own.hasTone = isOn
    case .toneInRoom(let room, let isOn): workspace.hall.setRecordingTone(isOn, in: room)
    case .shareRoom(let isOn): own.isShared = isOn
    case .playTones(let id, let tones): leg(id)?.play(tones, at: now)
    case .stopPlaying(let id): leg(id)?.endPlaying(finished: false, events: &events)
    case .echo(let id, let dropping):
      if legs.count(where: { !$0.isApart }) == 1, let leg = leg(id), leg.seat == nil {
        leg.echo = Echo(dropping: dropping)
      }
    case .record(let form): record(form, at: now, events: &events)
    case .recordRoom(let room): recordRoom(room, at: now, events: &events)
    case .pauseRecording(let isPaused):
      recorder?.isPaused = isPaused
      roomRecorder?.isPaused = isPaused
    case .restartICE(let id, let credentials): leg(id)?.transport.restart(credentials)
    case .close: close(at: now, outbox: outbox, events: &events)
    }
    arrangeOwnRoom(at: now)
    schedule()
  }

  func leg(_ id: LegID) -> MediaLeg? { legs.first { $0.id == id } }
  /// The flow of what comes from a leg; `nil` while it is alone or in a room.
  func flow(from leg: MediaLeg) -> MediaFlow? { flows.first { $0.from === leg } }
  /// The flow of what goes to a leg; `nil` while it is alone or in a room.
  func flow(to leg: MediaLeg) -> MediaFlow? { flows.first { $0.to === leg } }

  /// Something is due no later than this.
  func bringForward(_ deadline: MonotonicInstant) {
    if let next = nextDeadline, deadline < next { nextDeadline = deadline }
  }

  /// Finds out what is due next.
  func schedule() {
    guard !isClosed else { return }
    var next = min(nextStatistics, nextRecorded ?? nextStatistics, own.soundEnd ?? nextStatistics)
    for leg in legs { if let due = leg.nextDeadline { next = min(next, due) } }
    for flow in flows { if let due = flow.nextDeadline { next = min(next, due) } }
    nextDeadline = next
  }
}

/// What the hall asks of a bridge.
public enum MediaCommand: Sendable {
  /// What both ends of a leg agreed on, first or anew.
  case plan(LegID, MediaPlan)
  /// A leg that waited apart is one of the two from now on.
  case join(LegID)
  /// A leg waits apart again, until it is joined: nobody hears it, and it hears nobody.
  case part(LegID)
  /// A leg hears and is heard in a room, in place of the other leg; or it moves there from another room. The room, which
  /// all bridges of a thread have in common, begins with its first leg. ``MediaEvent/roomRefused(_:)`` where that cannot be.
  case enterRoom(LegID, RoomIdentifier, RoomOptions)
  /// A leg hears the other leg again. The room ends with its last.
  case leaveRoom(LegID)
  /// A leg goes: RTCP BYE and DTLS close_notify; the others stay.
  case detach(LegID)
  /// Our credentials of an ICE restart, before the plan that it leads to.
  case restartICE(LegID, ICECredentials)
  /// Press keys towards a leg, one after the other: milliseconds of each, then of the pause. As events, or as tones where
  /// the peer takes none.
  case sendDigits(LegID, codes: [Int], milliseconds: Int, pause: Int)
  /// The peer of a leg tells apart from RTCP what it hears of us: part of the packets of about a second that it lost, 0 to 1,
  /// and milliseconds of a round trip where one was measured in it.
  case adapt(LegID, lossRate: Double, roundTrip: Double?)
  /// What comes from this leg is passed on as silence, and its keys not at all.
  case mute(LegID, Bool)
  /// A leg in a room is sent silence in place of the others; nothing happens elsewhere.
  case deafen(LegID, Bool)
  /// Say prompts to a leg, one after the other, in place of the other leg's sound or the room's; then ``MediaEvent/promptEnded(_:finished:)``.
  case play(LegID, [Prompt], from: PromptLibrary)
  /// Play a sound to a leg in place of the other leg's sound or the room's; then ``MediaEvent/promptEnded(_:finished:)``.
  case playSound(LegID, PlayableSound)
  /// Play a sound to all who are in a room, together with what they say, and in place of one that is played already; `nil` ends
  /// it.
  case playInRoom(RoomIdentifier, PlayableSound?)
  /// Play a sound to both legs beneath their talk, in place of one that is played already; `nil` ends it. Nothing happens where
  /// there are not two, where one is in a room, and where the thread has ``RoomHall/maximumRooms``.
  case playBeneath(PlayableSound?)
  /// Whether both legs hear a short tone every 15 seconds beneath their talk, as while they are recorded.
  case toneBeneath(Bool)
  /// The same for all who are in a room. Nothing happens where nobody is in it.
  case toneInRoom(RoomIdentifier, Bool)
  /// Whether the legs are in the room ``RoomIdentifier/init(of:)`` of their own, which legs of other bridges of the thread may
  /// enter.
  case shareRoom(Bool)
  /// Play tones to a leg in place of the other leg's sound or the room's.
  case playTones(LegID, [Tone])
  case stopPlaying(LegID)
  /// Send back what comes from a leg, keys too, in our own stream, but one packet of every `dropping` (0: none), which
  /// is missing there. A prompt or tones take its place while they sound, and lose packets in the same way; a muted leg
  /// hears nothing. For a bridge with one leg: refused where there are two, and over when the second one comes.
  case echo(LegID, dropping: Int)
  /// Record both legs, or the only one there is, as sound of two channels, which is told in pieces by
  /// ``MediaEvent/recorded(_:)``: the near leg on the left, and whoever takes the place of another where that one was. A muted
  /// leg is silent in it. Of a leg that is in a room with others, what comes from it is recorded alone, as frames of one
  /// channel at ``RecordingEncoder/samplingRate``. `nil` ends it, and the recording of a room. Nothing happens while something
  /// is recorded.
  case record(WAVRecorder.Form?)
  /// Record what is heard in a room, its tones as well, as frames of one channel at ``RecordingEncoder/samplingRate``. For
  /// a bridge without legs: refused by ``MediaEvent/recordingEnded(_:)`` where there are any, where nobody is in the room,
  /// and where another bridge records it. It ends with the room.
  case recordRoom(RoomIdentifier)
  /// Nothing that comes is recorded meanwhile, and there is silence in its place.
  case pauseRecording(Bool)
  /// Ends the bridge: RTCP BYE, DTLS close_notify, then ``MediaEvent/closed``.
  case close
}
