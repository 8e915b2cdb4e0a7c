public import CallModel
public import SDPCore
public import SecureTransport

/// One leg with sound of our own: what a microphone or a file gives goes out, what comes in is played.
///
/// Sans-IO, and the listener's clock is the caller's too: every 20 ms one piece of sound is given and one is taken. What
/// comes in waits 40 to 60 ms on a calm network, longer on an uneven one. Belongs to one thread.
public final class AudioEndpoint {
  /// What an endpoint is made from.
  public struct Configuration: Sendable {
    /// The leg; ``MediaLegConfiguration/Transport/client(_:)`` for an app, the others work as well.
    public var leg: MediaLegConfiguration
    /// Hz of the sound that is sent and taken: 8000, 16000 or 48000.
    public var samplingRate = 48_000

    /// Sound at 48 kHz, unless ``samplingRate`` is changed.
    public init(_ leg: MediaLegConfiguration) { self.leg = leg }
  }

  /// What is asked of an endpoint, see ``handle(_:at:outbox:events:)``.
  public enum Command: Sendable {
    /// What both ends agreed on, first or anew.
    case plan(MediaPlan)
    /// Our credentials of an ICE restart, and our addresses where they changed, before the plan that it leads to.
    case restart(ICECredentials, locals: [ClientTransport.Local]?)
    /// Another address of ours that sound may take, such as one that a TURN server relays from.
    case add(ClientTransport.Local)
    /// Press keys, one after the other: milliseconds of each, then of the pause.
    case sendDigits(codes: [Int], milliseconds: Int, pause: Int)
    /// Silence goes out in place of what is given.
    case mute(Bool)
    /// RTCP BYE, DTLS close_notify, then ``Event/closed``.
    case close
  }

  /// What an endpoint tells upwards. Never one a packet.
  public enum Event: Hashable, Sendable {
    /// An address of the peer works; keys may still be missing.
    case connected(MediaAddress)
    /// Keys are there: sound can flow. `nil`: unprotected RTP.
    case secured(CryptoSuite?)
    /// Packets take another way than before.
    case moved(MediaAddress)
    case failed(TransportFailure)
    /// The peer ended the DTLS association.
    case closedByPeer
    case firstMedia
    case digit(DigitPressed)
    /// No sound has come for ``MediaLegConfiguration/silence``; told once until it comes again.
    case silence
    case soundAgain
    /// The peer said BYE in RTCP.
    case bye
    /// Once a second.
    case statistics(MediaStatistics)
    /// All is released; nothing follows.
    case closed
  }

  /// No way was found since the beginning, or the last restart; sound may go on by one of before.
  public var seeksWay: Bool { leg.transport.seeksWay }

  /// When sound or a report last came, or its way was found; `nil` while there is no way.
  public var heard: MonotonicInstant? { leg.transport.heard }

  /// The socket that sound leaves by; `nil` while no address of the peer works.
  public var port: MediaPort? { leg.transport.destination == nil ? nil : leg.transport.port }

  /// Sampling rates that may be chosen.
  public static let samplingRates = [8_000, 16_000, 48_000]

  /// ``Command/close`` was handled: datagrams, commands and sound to send are ignored from then on.
  public private(set) var isClosed = false

  private let workspace: MediaWorkspace
  private let leg: MediaLeg
  private let playout: StreamPlayout
  private let capture: EndpointCapture
  private var nextStatistics: MonotonicInstant
  private var isConnected = false
  /// What the leg tells; taken over into events of ours.
  private var told: [MediaEvent] = []

  /// A sampling rate that is none of ``samplingRates`` counts as 48000.
  public init(_ configuration: Configuration, workspace: MediaWorkspace, at now: MonotonicInstant) {
    let rate = AudioEndpoint.samplingRates.contains(configuration.samplingRate) ? configuration.samplingRate : 48_000
    self.workspace = workspace
    leg = MediaLeg(.near, configuration.leg, workspace: workspace, at: now)
    playout = StreamPlayout(samplingRate: rate, highestRate: 48_000, .endpoint)
    capture = EndpointCapture(samplingRate: rate)
    nextStatistics = now.advanced(byMilliseconds: MediaBridge.statisticsInterval)
  }

  /// When ``advance(to:outbox:events:)`` is due; `nil` when closed.
  public var nextDeadline: MonotonicInstant? {
    guard !isClosed else { return nil }
    return leg.nextDeadline.map { min($0, nextStatistics) } ?? nextStatistics
  }

  /// Packets that came too late to be heard, and packets left out to shorten the delay, since the start.
  public var playoutLosses: (late: UInt64, skipped: UInt64) { (playout.late, playout.skipped) }

  /// A datagram came in on a port of ours. Its buffer may be changed; it is free again afterwards.
  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [Event]
  ) {
    guard !isClosed else { return }
    let kind = leg.transport.receive(
      packet, on: port, from: address, at: now, outbox: outbox, events: &workspace.transportEvents)
    switch kind {
    case .rtp where leg.admits(): sound(packet, at: now)
    case .rtcp where leg.admits(): report(packet, at: now)
    case .rtp, .rtcp, .consumed, .dropped: break
    }
    tell(&events)
  }

  /// Time went by: what is due is sent (checks, handshake, keys, RTCP reports), and statistics are told once a second.
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [Event]) {
    guard !isClosed else { return }
    if let due = leg.transport.nextDeadline, due <= now {
      leg.transport.advance(to: now, outbox: outbox, events: &workspace.transportEvents)
    }
    leg.advanceDigits(to: now, events: &told)
    leg.sendOwn(at: now, outbox: outbox, events: &told)
    leg.sendReport(at: now, outbox: outbox)
    if nextStatistics <= now {
      leg.packetsThisSecond = 0
      if leg.becameSilent(at: now) { told.append(.silence(leg.id)) }
      told.append(.statistics(leg.id, leg.statistics(sendsCopies: capture.sendsCopies)))
      while nextStatistics <= now {
        nextStatistics = nextStatistics.advanced(byMilliseconds: MediaBridge.statisticsInterval)
      }
    }
    tell(&events)
  }

  /// Does what is asked at once; datagrams that it leads to are in `outbox`. Ignored when closed.
  public func handle(
    _ command: Command, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [Event]
  ) {
    guard !isClosed else { return }
    switch command {
    case .plan(let plan):
      if leg.adopt(plan, at: now).contains(.formats) {
        playout.formatsChanged()
        capture.formatsChanged()
      }
      leg.transport.apply(plan, at: now, outbox: outbox, events: &workspace.transportEvents)
    case .restart(let credentials, let locals): leg.transport.restart(credentials, locals: locals)
    case .add(let local):
      leg.transport.add(local, at: now, outbox: outbox, events: &workspace.transportEvents)
    case .sendDigits(let codes, let milliseconds, let pause):
      leg.press(codes, milliseconds: milliseconds, pause: pause, at: now)
    case .mute(let isMuted): leg.isMuted = isMuted
    case .close:
      leg.finishDigits(events: &told)
      leg.sayBye(at: now, outbox: outbox)
      leg.transport.close(at: now, outbox: outbox)
      isClosed = true
    }
    tell(&events)
    if isClosed { events.append(.closed) }
  }

  /// Takes sound at ``Configuration/samplingRate``, best 20 ms at a time every 20 ms; it goes out in packets of the
  /// length that was agreed on. Before the keys are there, and while a key is being pressed, it is dropped.
  public func send(_ samples: UnsafeBufferPointer<Int16>, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard !isClosed else { return }
    capture.send(samples, leg, at: now, outbox: outbox)
  }

  /// The same, from an array.
  public func send(_ samples: [Int16], at now: MonotonicInstant, outbox: PacketOutbox) {
    samples.withUnsafeBufferPointer { send($0, at: now, outbox: outbox) }
  }

  /// Samples of one ``nextFrame(at:)``: 20 ms.
  public var frameCount: Int { playout.frameCount }

  /// The next 20 ms of playout, to be asked for every 20 ms: what came in, in order; concealed where a packet is missing;
  /// silence where there is nothing. Always ``frameCount`` samples.
  public func nextFrame(at now: MonotonicInstant) -> [Int16] { playout.nextFrame(leg, at: now).samples }

  /// The same, into room of the caller's, as much as it holds.
  public func nextFrame(into room: UnsafeMutableBufferPointer<Int16>, at now: MonotonicInstant) {
    let frame = playout.nextFrame(leg, at: now)
    for index in 0..<min(room.count, frame.count) { room[index] = frame[index] }
  }

  // MARK: What comes in

  private func sound(_ packet: PacketBuffer, at now: MonotonicInstant) {
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
    switch arrival {
    case .stray, .duplicate, .heardFromCopy: return
    case .restarted:
      playout.restart()
      leg.finishDigits(events: &told)
    case .first, .next, .ahead, .late: break
    }
    guard leg.mayReceive else { return }
    let isSound = meaning == .sound && header.payloadCount > 0
    // An event, and padding alone, have a number of the stream: they are not missing.
    let isInTime = playout.insert(packet, header, isSound: isSound, at: now)
    // Its sound was made up meanwhile: the sender is to know.
    if !isInTime, isSound { leg.reception.cameTooLate(header.sequence) }
    guard header.payloadCount > 0 else { return }
    if meaning == .events {
      leg.receiveDigit(packet, header, at: now, events: &told)
    } else {
      leg.heard(header, at: now, events: &told)
    }
  }

  private func report(_ packet: PacketBuffer, at now: MonotonicInstant) {
    let received = leg.control.receive(packet, heard: leg.reception.hasStarted ? leg.reception.source : nil, at: now)
    if received.bye { told.append(.bye(leg.id)) }
    if received.reported, let report = leg.control.peerReport {
      capture.report(report, protection: leg.transport.rtpOverhead)
    }
  }

  // MARK: Events

  private func tell(_ events: inout [Event]) {
    if !isConnected, let destination = leg.transport.destination {
      isConnected = true
      events.append(.connected(destination))
    }
    for event in workspace.transportEvents {
      switch event {
      case .secured(let suite): events.append(.secured(suite))
      case .moved(let address): events.append(.moved(address))
      case .failed(let failure): events.append(.failed(failure))
      case .closedByPeer: events.append(.closedByPeer)
      // For a shell with one port for many legs.
      case .addressProved, .addressDropped: break
      }
    }
    workspace.transportEvents.removeAll(keepingCapacity: true)
    guard !told.isEmpty else { return }
    for event in told {
      switch event {
      case .firstMedia: events.append(.firstMedia)
      case .digit(_, let digit): events.append(.digit(digit))
      case .silence: events.append(.silence)
      case .soundAgain: events.append(.soundAgain)
      case .bye: events.append(.bye)
      case .statistics(_, let statistics): events.append(.statistics(statistics))
      // Of a bridge only: an endpoint says no prompts, records nothing and is in no room.
      case .transport, .wayLost, .wayBack, .thinLink, .promptEnded, .recorded, .recordingEnded, .speaking, .leadsTalk,
        .roomRefused, .closed:
        break
      }
    }
    told.removeAll(keepingCapacity: true)
  }
}
