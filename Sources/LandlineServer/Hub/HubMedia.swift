import AppProtocol
import CallEngine
import CallModel
import LandlineGateway
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
    var needs: MediaNeeds
    var credentials: ICECredentials?
    var isClosing = false
  }

  private let loops: [MediaLoop]
  private let certificate: DTLSCertificate
  private let prompts: PromptLibrary
  private let eventLoop: any EventLoop
  private let log: Logger
  private var entries: [CallID: Entry] = [:]
  private var calls: [MediaBridge.Identifier: CallID] = [:]
  private var nextBridge: UInt64 = 1
  private var random = SystemRandomNumberGenerator()
  /// Commands that a media thread did not take.
  private(set) var refusedCommands: UInt64 = 0

  init(
    _ loops: [MediaLoop], certificate: DTLSCertificate, prompts: PromptLibrary, on eventLoop: any EventLoop, log: Logger
  ) {
    self.loops = loops
    self.certificate = certificate
    self.prompts = prompts
    self.eventLoop = eventLoop
    self.log = log
  }

  var callCount: Int { entries.count }

  func call(of bridge: MediaBridge.Identifier) -> CallID? { calls[bridge] }

  /// Reserves ports, opens the bridge, and answers on the hub's loop.
  func prepare(
    _ call: CallID, _ needs: MediaNeeds,
    answer: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    let number = nextBridge
    nextBridge += 1
    let bridge = MediaBridge.Identifier(rawValue: number)
    // A call's thread is chosen once: its bridge, ports and events stay there.
    let index = Int(number % UInt64(loops.count))
    let loop = loops[index]
    entries[call] = Entry(loop: index, bridge: bridge, needs: needs)
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
    var sides: [BridgeSide] = []
    if needs.near == .trunk { sides.append(.left) }
    if needs.far { sides.append(.right) }
    let credentials = needs.near == .app ? ICECredentials(draw: { random.next() }) : nil
    entries[call]?.credentials = credentials
    let material = Material(
      bridge: bridge, needs: needs, certificate: certificate, apps: loop.appPorts, credentials: credentials,
      streams: [stream(), stream()], keys: [keyMaterial(), keyMaterial()])
    Self.reserve(sides, [:], material, on: loop, reply: reply)
  }

  /// A call may be refused while its ports are being taken: what was opened after its end has to be closed as well.
  private func closeIfForgotten(_ bridge: MediaBridge.Identifier, of call: CallID, on loop: MediaLoop) {
    if let entry = entries[call], entry.bridge == bridge, !entry.isClosing { return }
    loop.close(bridge)
  }

  /// Everything a bridge is made of but its ports; drawn on the hub's loop.
  private struct Material: Sendable {
    var bridge: MediaBridge.Identifier
    var needs: MediaNeeds
    var certificate: DTLSCertificate
    /// In order of preference.
    var apps: [AppPort]
    var credentials: ICECredentials?
    var streams: [MediaLegConfiguration.Stream]
    var keys: [[UInt8]]
  }

  /// Takes ports for one side after the other, then opens. Goes on where the media thread replies.
  private static func reserve(
    _ sides: [BridgeSide], _ reserved: [BridgeSide: TrunkPorts], _ material: Material, on loop: MediaLoop,
    reply: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    guard let side = sides.first else { return open(reserved, material, on: loop, reply: reply) }
    let isTaken = loop.reserveTrunkPorts(for: material.bridge, side) { result in
      switch result {
      case .success(let ports):
        var reserved = reserved
        reserved[side] = ports
        reserve(Array(sides.dropFirst()), reserved, material, on: loop, reply: reply)
      case .failure(let failure):
        loop.close(material.bridge)
        reply(.failure(failure.isShortage ? .ports : .overload))
      }
    }
    if !isTaken {
      // The other side may have its ports already.
      loop.close(material.bridge)
      reply(.failure(.overload))
    }
  }

  private static func open(
    _ reserved: [BridgeSide: TrunkPorts], _ material: Material, on loop: MediaLoop,
    reply: @escaping @Sendable (Result<PreparedMedia, MediaShortage>) -> Void
  ) {
    var legs: [BridgeSide: MediaLegConfiguration] = [:]
    var near: LocalMedia?
    var far: LocalMedia?
    for (index, side) in [BridgeSide.left, .right].enumerated() {
      let stream = material.streams[index]
      if let ports = reserved[side] {
        legs[side] = MediaLegConfiguration(
          .trunk(.init(port: ports.port, controlPort: ports.control)), stream: stream)
        let local = LocalMedia(
          host: ports.address.host, port: Int(ports.address.port), rtcpPort: ports.controlAddress.map { Int($0.port) },
          keyMaterial: material.keys[index], source: stream.source)
        if side == .left { near = local } else { far = local }
      } else if side == .left, let credentials = material.credentials, let app = material.apps.first {
        legs[side] = MediaLegConfiguration(
          .app(.init(port: app.port, certificate: material.certificate, credentials: credentials)), stream: stream)
        near = LocalMedia(
          host: app.address.host, port: Int(app.address.port), fingerprint: material.certificate.fingerprint,
          iceCredentials: credentials, candidates: candidates(material.apps), source: stream.source)
      }
    }
    guard let near else {
      loop.close(material.bridge)
      return reply(.failure(.ports))
    }
    let prepared = PreparedMedia(near: near, far: far)
    let isTaken = loop.open(material.bridge, legs) { result in
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
    if let credentials = material.credentials {
      _ = loop.route(userFragment: credentials.userFragment, to: material.bridge, .left)
    }
  }

  private static func candidates(_ apps: [AppPort]) -> [ICECandidate] {
    apps.enumerated().map { place, app in
      // RFC 8445 section 5.1.2.1: host, RTP, and the earlier the better.
      ICECandidate(
        foundation: String(place + 1), component: 1, priority: 126 << 24 + (65_535 - place) << 8 + 255,
        address: app.address.host.description, port: Int(app.address.port))
    }
  }

  /// Carries an order out. One for a call that has ended meanwhile changes nothing.
  func perform(_ order: MediaOrder, for call: CallID) {
    guard let entry = entries[call] else { return }
    let loop = loops[entry.loop]
    switch order {
    case .close:
      entries[call]?.isClosing = true
      loop.close(entry.bridge)
    case .restartICE(let side, let credentials):
      take(loop.route(userFragment: credentials.userFragment, to: entry.bridge, side.bridgeSide), call)
      take(loop.apply(.restartICE(side.bridgeSide, credentials), to: entry.bridge), call)
    case .plan(let side, let plan):
      take(loop.apply(.plan(side.bridgeSide, plan), to: entry.bridge), call)
    case .sendDigits(let side, let digits):
      let codes = digits.compactMap { HubMedia.digits.firstIndex(of: $0) }
      take(
        loop.apply(
          .sendDigits(
            side.bridgeSide, codes: codes, milliseconds: HubMedia.digitMilliseconds, pause: HubMedia.pauseMilliseconds),
          to: entry.bridge), call)
    case .mute(let side, let isMuted): take(loop.apply(.mute(side.bridgeSide, isMuted), to: entry.bridge), call)
    case .say(let side, let announcements):
      take(
        loop.apply(.play(side.bridgeSide, announcements.map(\.prompt), from: prompts), to: entry.bridge), call)
    case .ring(let side): take(loop.apply(.playTones(side.bridgeSide, [.ringback(.europe)]), to: entry.bridge), call)
    case .stopPlaying(let side): take(loop.apply(.stopPlaying(side.bridgeSide), to: entry.bridge), call)
    }
  }

  /// The bridge has told its last: nothing is left of it.
  func forget(_ bridge: MediaBridge.Identifier) {
    guard let call = calls.removeValue(forKey: bridge), entries[call]?.bridge == bridge else { return }
    entries[call] = nil
  }

  /// What the engine is told of an event; `nil` for what concerns the media thread alone.
  static func notice(_ event: MediaEvent) -> MediaNotice? {
    switch event {
    case .transport(let side, .secured): .secured(side.callSide)
    case .transport(let side, .failed(let failure)): .failed(side.callSide, failure.rawValue)
    case .transport(let side, .closedByPeer): .failed(side.callSide, "closedByPeer")
    case .transport(_, .addressProved), .transport(_, .addressDropped), .transport(_, .moved): nil
    case .firstMedia(let side): .firstMedia(side.callSide)
    case .digit(let side, let digit): .digit(side.callSide, digit.character, milliseconds: digit.milliseconds)
    case .silence(let side): .silence(side.callSide)
    case .soundAgain(let side): .soundAgain(side.callSide)
    case .statistics(let side, let statistics):
      .quality(side.callSide, direction(statistics.received), roundTrip: statistics.roundTrip)
    case .promptEnded(let side, let finished): .playEnded(side.callSide, finished: finished)
    case .closed: .closed
    case .recorded, .recordingEnded, .bye: nil
    }
  }

  private static func direction(_ received: MediaStatistics.Direction) -> CallQuality.Direction {
    guard received.meanOpinionScore > 0 else { return .nothing(packets: received.packets) }
    return CallQuality.Direction(
      meanOpinionScore: received.meanOpinionScore, jitter: received.jitter, loss: received.lossRate,
      packets: received.packets)
  }

  /// RFC 4733 section 3.2: the event of each key is its place here.
  private static let digits = Array("0123456789*#ABCD")
  static let digitMilliseconds = 100
  static let pauseMilliseconds = 70

  private func take(_ isTaken: Bool, _ call: CallID) {
    guard !isTaken else { return }
    refusedCommands += 1
    log.error("the media thread took no command", metadata: ["call": "\(call)"])
  }

  private func stream() -> MediaLegConfiguration.Stream {
    .init(canonicalName: "landline", unixMicroseconds: NodeClock.unixMicroseconds(), draw: { random.next() })
  }

  private func keyMaterial() -> [UInt8] {
    // Eight bytes a draw: each draw asks the system.
    let words = (0..<(LocalMedia.keyMaterialLength + 7) / 8).map { _ in random.next() }
    return words.withUnsafeBytes { Array($0.prefix(LocalMedia.keyMaterialLength)) }
  }
}

extension CallSide {
  var bridgeSide: BridgeSide { self == .near ? .left : .right }
}

extension BridgeSide {
  var callSide: CallSide { self == .left ? .near : .far }
}

extension Announcement {
  var prompt: Prompt {
    switch self {
    case .connected: .connected
    case .goodbye: .goodbye
    case .pressZero: .pressZero
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
