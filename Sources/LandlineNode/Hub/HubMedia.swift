import AppProtocol
import CallEngine
import CallModel
import LandlineWire
import Logging
import MediaCore
import NIOCore
import SDPCore
import SecureTransport

/// The media of the hub's calls: which bridge on which media thread belongs to which call. Kept on the hub's loop.
final class HubMedia {
  private struct Entry {
    var loop: Int
    var bridge: MediaBridge.Identifier
    var isClosing = false
    /// Ports of legs that came later: given back as soon as their leg has gone.
    var ports: [LegID: TrunkPorts] = [:]
  }

  private let loops: [MediaLoop]
  private let certificate: DTLSCertificate
  private let prompts: PromptLibrary
  private let eventLoop: any EventLoop
  private let log: Logger
  private var entries: [CallID: Entry] = [:]
  private var calls: [MediaBridge.Identifier: CallID] = [:]
  private var nextBridge: UInt64 = 1
  private var sounds: [UInt64: PlayableSound] = [:]
  private var nextSound: UInt64 = 0
  private let recordings: HubRecordings
  /// Bridges without legs, each for the recording of a conference.
  private var roomRecorders: [RoomKey: (loop: MediaLoop, bridge: MediaBridge.Identifier)] = [:]
  private let random = SecureRandomNumberGenerator()
  /// Commands that a media thread did not take.
  private(set) var refusedCommands: UInt64 = 0

  init(
    _ loops: [MediaLoop], certificate: DTLSCertificate, prompts: PromptLibrary, recordings: HubRecordings,
    on eventLoop: any EventLoop, log: Logger
  ) {
    self.recordings = recordings
    self.loops = loops
    self.certificate = certificate
    self.prompts = prompts
    self.eventLoop = eventLoop
    self.log = log
  }

  var callCount: Int { entries.count }

  // MARK: Sounds

  /// Gives a sound a number by which orders of this turn name it.
  func prepare(_ sound: PlayableSound, _ name: String) -> PreparedSound {
    nextSound += 1
    sounds[nextSound] = sound
    return PreparedSound(number: nextSound, name: name, milliseconds: Int64(sound.milliseconds))
  }

  /// Those who play a sound hold it themselves.
  func forget(_ sound: PreparedSound) { sounds[sound.number] = nil }

  // MARK: Recordings

  /// Sound of a bridge to be kept, or the end of it.
  /// - Returns: whether the event was about that, and is nothing else.
  func keepSound(_ event: MediaEvent, of bridge: MediaBridge.Identifier) -> Bool {
    switch event {
    case .recorded(let sound): recordings.append(sound, from: bridge)
    case .recordingEnded:
      recordings.finish(bridge)
      endRoomRecorder(bridge)
    case .closed:
      recordings.finishAll(bridge)
      return false
    default: return false
    }
    return true
  }

  /// - Parameter ended: called once, on the loop.
  func record(_ recording: Recording, of call: CallID, ended: @escaping (Recording.State) -> Void) {
    guard let entry = entries[call], !entry.isClosing else { return ended(.interrupted) }
    if recordings.begin(recording, from: entry.bridge, ended: ended) { apply(.record(.sound), to: entry, call) }
  }

  /// - Parameter ended: called once, on the loop, when a recording that begins is over.
  func record(_ room: RoomKey, _ order: RoomRecordingOrder, ended: @escaping (Recording.State) -> Void) {
    switch order {
    case .begin(let recording, let number): record(room, number, recording, ended: ended)
    case .pause(let isOn):
      if let recorder = roomRecorders[room] { _ = recorder.loop.apply(.pauseRecording(isOn), to: recorder.bridge) }
    case .end: roomRecorders.removeValue(forKey: room).map { _ = $0.loop.close($0.bridge) }
    }
  }

  private func record(
    _ room: RoomKey, _ number: UInt64, _ recording: Recording, ended: @escaping (Recording.State) -> Void
  ) {
    let bridge = MediaBridge.Identifier(rawValue: nextBridge)
    nextBridge += 1
    let loop = loops[Int(number % UInt64(loops.count))]
    guard recordings.begin(recording, from: bridge, ended: ended) else { return }
    // Of a conference of the same id that has ended, and whose last word is on its way.
    roomRecorders.removeValue(forKey: room).map { _ = $0.loop.close($0.bridge) }
    roomRecorders[room] = (loop, bridge)
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let isTaken = loop.open(bridge, [:]) { result in
      guard case .failure = result else { return }
      bound.eventLoop.execute {
        bound.value.recordings.finish(bridge)
        bound.value.endRoomRecorder(bridge)
      }
    }
    guard isTaken, loop.apply(.recordRoom(RoomIdentifier(rawValue: number)), to: bridge) else {
      recordings.finish(bridge)
      return endRoomRecorder(bridge)
    }
  }

  /// Its bridge has nothing more to do; nothing happens where it has none.
  private func endRoomRecorder(_ bridge: MediaBridge.Identifier) {
    guard let room = roomRecorders.first(where: { $0.value.bridge == bridge })?.key,
      let recorder = roomRecorders.removeValue(forKey: room)
    else { return }
    recorder.loop.close(bridge)
  }

  func call(of bridge: MediaBridge.Identifier) -> CallID? { calls[bridge] }

  /// Reserves ports, opens the bridge, and answers on the hub's loop. As for ``perform(_:for:)``, the media threads hear of
  /// it at the next ``wake()``.
  func prepare(
    _ call: CallID, _ needs: MediaNeeds,
    answer: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    if let entry = entries[call] { return addLegs(needs, to: entry, of: call, answer: answer) }
    let number = nextBridge
    nextBridge += 1
    let bridge = MediaBridge.Identifier(rawValue: number)
    // A call's thread is chosen once: its bridge, ports and events stay there. All calls of a room have the same.
    // Whoever is brought in to a call has that call's thread.
    let place = needs.room.map { RoomIdentifier(rawValue: $0).bridge?.rawValue ?? $0 } ?? number
    let index = Int(place % UInt64(loops.count))
    let loop = loops[index]
    // Any other call finds a thread that has time; whoever comes into a room would take it from all who are in it.
    if needs.room != nil, loop.isFull { return answer(.failure(.overload)) }
    entries[call] = Entry(loop: index, bridge: bridge)
    calls[bridge] = call
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let reply: @Sendable (Result<PreparedMedia, MediaShortage>) -> Void = { result in
      bound.eventLoop.execute {
        switch result {
        case .success: bound.value.closeIfForgotten(bridge, of: call, on: loop)
        // Where nothing was opened, no event will tell that it is closed.
        case .failure: bound.value.forget(bridge)
        }
        answer(result)
      }
    }
    let trunks = needs.legs.filter(\.value.isOwn).keys.sorted()
    let material = Material(
      bridge: bridge,
      legs: needs.legs.mapValues {
        Way(
          port: $0, stream: stream(), keys: $0.isOwn ? keyMaterial() : [],
          credentials: $0 == .app ? ICECredentials(draw: { random.next() }) : nil)
      },
      certificate: certificate, apps: loop.appPorts)
    Self.reserve(trunks, [:], material, on: loop, reply: reply)
  }

  /// Ports for another leg of a call that has a bridge, which waits to be joined; or the way of devices that are to ring.
  private func addLegs(
    _ needs: MediaNeeds, to entry: Entry, of call: CallID,
    answer: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    let loop = loops[entry.loop]
    guard let (leg, port) = needs.legs.first, needs.legs.count == 1, port != .app else {
      return answer(.failure(.overload))
    }
    let stream = stream()
    if port == .devices {
      guard let way = HubMedia.devices(loop.appPorts, certificate, stream) else { return answer(.failure(.ports)) }
      return answer(.success(PreparedMedia([leg: way])))
    }
    let keys = keyMaterial()
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let isTaken = loop.reserveTrunkPorts(for: entry.bridge, leg, wakes: false) { result in
      switch result {
      case .success(let ports):
        var (configuration, media) = HubMedia.trunk(ports, port, stream, keys)
        if port == .link { media.host = ports.bound.host }
        guard loop.attach(leg, configuration, isApart: true, to: entry.bridge) else {
          return answer(.failure(.overload))
        }
        bound.eventLoop.execute { bound.value.entries[call]?.ports[leg] = ports }
        answer(.success(PreparedMedia([leg: media])))
      case .failure(let failure): answer(.failure(failure.isShortage ? .ports : .overload))
      }
    }
    if !isTaken { answer(.failure(.overload)) }
  }

  /// A call may be refused while its ports are being taken: what was opened after its end has to be closed as well.
  private func closeIfForgotten(_ bridge: MediaBridge.Identifier, of call: CallID, on loop: MediaLoop) {
    if let entry = entries[call], entry.bridge == bridge, !entry.isClosing { return }
    loop.close(bridge)
  }

  /// What a leg's way is made of but its ports.
  private struct Way: Sendable {
    var port: MediaNeeds.Port
    var stream: MediaLegConfiguration.Stream
    var keys: [UInt8]
    /// `nil` where no leg is opened for it yet, or none shakes hands.
    var credentials: ICECredentials?
  }

  /// Everything a bridge is made of but its ports; drawn on the hub's loop.
  private struct Material: Sendable {
    var bridge: MediaBridge.Identifier
    var legs: [LegID: Way]
    var certificate: DTLSCertificate
    /// In order of preference.
    var apps: [AppPort]
  }

  /// Takes ports for one leg after the other, then opens. Goes on where the media thread replies.
  private static func reserve(
    _ legs: [LegID], _ reserved: [LegID: TrunkPorts], _ material: Material, on loop: MediaLoop,
    reply: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    guard let leg = legs.first else { return open(reserved, material, on: loop, reply: reply) }
    let isTaken = loop.reserveTrunkPorts(for: material.bridge, leg, wakes: false) { result in
      switch result {
      case .success(let ports):
        var reserved = reserved
        reserved[leg] = ports
        reserve(Array(legs.dropFirst()), reserved, material, on: loop, reply: reply)
      case .failure(let failure):
        loop.close(material.bridge)
        reply(.failure(failure.isShortage ? .ports : .overload))
      }
    }
    if !isTaken {
      // Another leg may have its ports already.
      loop.close(material.bridge)
      reply(.failure(.overload))
    }
  }

  private static func open(
    _ reserved: [LegID: TrunkPorts], _ material: Material, on loop: MediaLoop,
    reply: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    var configurations: [LegID: MediaLegConfiguration] = [:]
    var legs: [LegID: LocalMedia] = [:]
    for (leg, way) in material.legs {
      switch way.port {
      // A call begins without links.
      case .link: continue
      case .trunk, .telephone:
        guard let ports = reserved[leg] else { continue }
        (configurations[leg], legs[leg]) = trunk(ports, way.port, way.stream, way.keys)
      case .app, .devices:
        guard var media = devices(material.apps, material.certificate, way.stream), let app = material.apps.first else {
          continue
        }
        media.iceCredentials = way.credentials
        legs[leg] = media
        guard let credentials = way.credentials else { continue }
        configurations[leg] = MediaLegConfiguration(
          .app(.init(port: app.port, certificate: material.certificate, credentials: credentials)), stream: way.stream)
      }
    }
    guard legs.count == material.legs.count else {
      loop.close(material.bridge)
      return reply(.failure(.ports))
    }
    let prepared = PreparedMedia(legs, ownRoom: RoomIdentifier(of: material.bridge).rawValue)
    let isTaken = loop.open(material.bridge, configurations) { result in
      switch result {
      case .success: reply(.success(prepared))
      case .failure(let failure):
        loop.close(material.bridge)
        reply(.failure(failure.isShortage ? .ports : .overload))
      }
    }
    guard isTaken else {
      loop.close(material.bridge)
      return reply(.failure(.overload))
    }
    for (leg, way) in material.legs {
      guard let credentials = way.credentials else { continue }
      _ = loop.route(userFragment: credentials.userFragment, to: material.bridge, leg)
    }
  }

  /// A leg over a trunk: what the media thread opens, and what its description says.
  private static func trunk(
    _ ports: TrunkPorts, _ port: MediaNeeds.Port, _ stream: MediaLegConfiguration.Stream, _ keys: [UInt8]
  ) -> (MediaLegConfiguration, LocalMedia) {
    var source = SourcePolicy.strict
    if case .telephone(let host) = port {
      let bits = if case .ipv6 = host { 128 } else { 32 }
      source = .learn(networks: MediaNetwork(host, prefixLength: bits).map { [$0] } ?? [])
    }
    return (
      MediaLegConfiguration(
        .trunk(.init(port: ports.port, controlPort: ports.control, source: source)), stream: stream),
      LocalMedia(
        host: ports.address.host, port: Int(ports.address.port), rtcpPort: ports.controlAddress.map { Int($0.port) },
        keyMaterial: keys, source: stream.source)
    )
  }

  /// The way of apps, as descriptions tell it; `nil` where there is no port for them. Credentials are each app's own.
  private static func devices(
    _ apps: [AppPort], _ certificate: DTLSCertificate, _ stream: MediaLegConfiguration.Stream
  ) -> LocalMedia? {
    guard let app = apps.first else { return nil }
    return LocalMedia(
      host: app.address.host, port: Int(app.address.port), fingerprint: certificate.fingerprint,
      candidates: candidates(apps), source: stream.source)
  }

  private static func candidates(_ apps: [AppPort]) -> [ICECandidate] {
    apps.enumerated().map { place, app in
      // RFC 8445 section 5.1.2.1: host, RTP, and the earlier the better.
      ICECandidate(
        foundation: String(place + 1), component: 1, priority: 126 << 24 + (65_535 - place) << 8 + 255,
        address: app.address.host.description, port: Int(app.address.port))
    }
  }

  /// Carries an order out, at the next ``wake()``. One for a call that has ended meanwhile changes nothing.
  func perform(_ order: MediaOrder, for call: CallID) {
    guard let entry = entries[call] else { return }
    let loop = loops[entry.loop]
    switch order {
    case .close:
      entries[call]?.isClosing = true
      loop.close(entry.bridge, wakes: false)
    case .restartICE(let leg, let credentials):
      countRefusal(
        unless: loop.route(userFragment: credentials.userFragment, to: entry.bridge, leg, wakes: false), call)
      apply(.restartICE(leg, credentials), to: entry, call)
    case .attach(let leg, let credentials, let source): attach(leg, credentials, source, to: entry, call)
    case .join(let leg, _): apply(.join(leg), to: entry, call)
    case .part(let leg): apply(.part(leg), to: entry, call)
    case .detach(let leg):
      apply(.detach(leg), to: entry, call)
      if let ports = entries[call]?.ports.removeValue(forKey: leg) {
        _ = loop.releaseTrunkPorts(ports, of: entry.bridge)
      }
    case .enterRoom(let leg, let number, let hasTones):
      var options = RoomOptions()
      options.tones = hasTones
      apply(.enterRoom(leg, RoomIdentifier(rawValue: number), options), to: entry, call)
    case .deafen(let leg, let isDeaf): apply(.deafen(leg, isDeaf), to: entry, call)
    case .echo(let leg): apply(.echo(leg, dropping: 0), to: entry, call)
    case .play(let leg, let number):
      if let sound = sounds[number] { apply(.playSound(leg, sound), to: entry, call) }
    case .playBeneath(let number):
      let sound = number.flatMap { sounds[$0] }
      if number == nil || sound != nil { apply(.playBeneath(sound), to: entry, call) }
    case .recordingTone(let isOn): apply(.toneBeneath(isOn), to: entry, call)
    case .toneInRoom(let room, let isOn): apply(.toneInRoom(RoomIdentifier(rawValue: room), isOn), to: entry, call)
    case .shareRoom(let isOn): apply(.shareRoom(isOn), to: entry, call)
    case .playInRoom(let room, let number):
      let sound = number.flatMap { sounds[$0] }
      if number == nil || sound != nil {
        apply(.playInRoom(RoomIdentifier(rawValue: room), sound), to: entry, call)
      }
    // The loop says when it is over, see ``record(_:of:ended:)``.
    case .record: break
    case .pauseRecording(let isOn): apply(.pauseRecording(isOn), to: entry, call)
    case .endRecording: apply(.record(nil), to: entry, call)
    case .plan(let leg, let plan): apply(.plan(leg, plan), to: entry, call)
    case .sendDigits(let leg, let digits):
      let codes = digits.compactMap { HubMedia.digits.firstIndex(of: $0) }
      apply(
        .sendDigits(
          leg, codes: codes, milliseconds: EngineConfiguration.keyMilliseconds, pause: HubMedia.pauseMilliseconds),
        to: entry, call)
    case .adapt(let leg, let heard):
      apply(.adapt(leg, lossRate: heard.loss, roundTrip: heard.roundTrip), to: entry, call)
    case .mute(let leg, let isMuted): apply(.mute(leg, isMuted), to: entry, call)
    case .say(let leg, let announcements):
      apply(.play(leg, announcements.map(\.prompt), from: prompts), to: entry, call)
    case .ring(let leg): apply(.playTones(leg, [.ringback(.europe)]), to: entry, call)
    case .hold(let leg): apply(.playTones(leg, [.waiting]), to: entry, call)
    case .stopPlaying(let leg): apply(.stopPlaying(leg), to: entry, call)
    }
  }

  /// A leg for a device that rings.
  private func attach(_ leg: LegID, _ credentials: ICECredentials, _ source: UInt32, to entry: Entry, _ call: CallID) {
    let loop = loops[entry.loop]
    guard let app = loop.appPorts.first else { return }
    var stream = stream()
    stream.source = source
    let configuration = MediaLegConfiguration(
      .app(.init(port: app.port, certificate: certificate, credentials: credentials)), stream: stream)
    countRefusal(
      unless: loop.attach(leg, configuration, isApart: true, to: entry.bridge, wakes: false)
        && loop.route(userFragment: credentials.userFragment, to: entry.bridge, leg, wakes: false), call)
  }

  private func apply(_ command: MediaCommand, to entry: Entry, _ call: CallID) {
    countRefusal(unless: loops[entry.loop].apply(command, to: entry.bridge, wakes: false), call)
  }

  /// At the end of a turn: the threads hear of everything that it asked of them at once.
  func wake() { for loop in loops { loop.wake() } }

  /// The bridge has told its last: nothing is left of it.
  func forget(_ bridge: MediaBridge.Identifier) {
    guard let call = calls.removeValue(forKey: bridge), entries[call]?.bridge == bridge else { return }
    entries[call] = nil
  }

  /// What the engine is told of an event; `nil` for what concerns the media thread alone.
  static func notice(_ event: MediaEvent) -> MediaNotice? {
    switch event {
    case .transport(let leg, .secured): .secured(leg)
    case .transport(let leg, .failed(let failure)): .failed(leg, failure.rawValue)
    case .transport(let leg, .closedByPeer): .failed(leg, "closedByPeer")
    case .transport(let leg, .moved): .moved(leg)
    case .transport(_, .addressProved), .transport(_, .addressDropped): nil
    case .firstMedia(let leg): .firstMedia(leg)
    case .digit(let leg, let digit): .digit(leg, digit.character, milliseconds: digit.milliseconds)
    case .silence(let leg): .silence(leg)
    case .soundAgain(let leg): .soundAgain(leg)
    case .wayLost(let leg, let milliseconds): .wayLost(leg, milliseconds: milliseconds)
    case .wayBack(let leg): .wayBack(leg)
    case .thinLink(let leg, let isThin): .thinLink(leg, isThin)
    case .statistics(let leg, let statistics):
      .quality(
        leg, direction(statistics.received), sentLoss: sentLoss(statistics.sent), roundTrip: statistics.roundTrip,
        level: statistics.roomLevel)
    case .promptEnded(let leg, let finished): .playEnded(leg, finished: finished)
    case .closed: .closed
    case .speaking(let leg, let isSpeaking, _): .speaking(leg, isSpeaking)
    case .leadsTalk(let leg): .leadsTalk(leg)
    // The engine lets fewer into a room, and begins fewer, than the mixer takes.
    case .recorded, .recordingEnded, .bye, .roomRefused: nil
    }
  }

  /// `nil` before the peer's first report.
  private static func sentLoss(_ sent: MediaStatistics.Direction) -> Double? {
    sent.meanOpinionScore > 0 ? sent.lossRate : nil
  }

  private static func direction(_ received: MediaStatistics.Direction) -> CallQuality.Direction {
    guard received.meanOpinionScore > 0 else { return .nothing(packets: received.packets) }
    return CallQuality.Direction(
      meanOpinionScore: received.meanOpinionScore, jitter: received.jitter, loss: received.lossRate,
      packets: received.packets)
  }

  /// RFC 4733 section 3.2: the event of each key is its place here.
  private static let digits = Array("0123456789*#ABCD")
  static let pauseMilliseconds = 70

  private func countRefusal(unless isTaken: Bool, _ call: CallID) {
    guard !isTaken else { return }
    refusedCommands += 1
    log.error("the media thread took no command", metadata: ["call": "\(call)"])
  }

  private func stream() -> MediaLegConfiguration.Stream {
    .init(canonicalName: "landline", unixMicroseconds: NodeClock.unixMicroseconds(), draw: { random.next() })
  }

  private func keyMaterial() -> [UInt8] {
    let words = (0..<(LocalMedia.keyMaterialLength + 7) / 8).map { _ in random.next() }
    return words.withUnsafeBytes { Array($0.prefix(LocalMedia.keyMaterialLength)) }
  }
}

extension Announcement {
  var prompt: Prompt {
    switch self {
    case .connected: .connected
    case .goodbye: .goodbye
    case .pressZero: .pressZero
    case .recorded: .recorded
    }
  }
}

extension MediaLoopFailure {
  /// Whether what is missing are ports or descriptors, and not the thread itself.
  var isShortage: Bool {
    switch self {
    case .portsExhausted, .portsTaken, .descriptors, .address, .interface, .bridgePorts: true
    case .bridges, .duplicate, .bridge, .stopped: false
    }
  }
}
