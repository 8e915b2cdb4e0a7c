import CallModel
import Foundation
import LandlineWire
import MediaCore
import SDPCore
import SecureTransport
import Synchronization

/// The process under test of ``MediaBench``: the media loops of the product with bridges between ports of 127.0.0.1, and
/// nothing of signalling.
///
/// Commands are lines: `open WORKLOAD CALLS APP TRUNK`, `call TRUNK OFFER` with the offer of an app that shakes hands in
/// base 64, `room PEOPLE PORT CODEC` for a conference whose participants are all at one port of 127.0.0.1, `close`. Each
/// gets one line back. The end of the input ends it.
public final class MediaGatewayHost {
  private static let ports: ClosedRange<UInt16> = 20_400...32_699
  private static let mostCalls = 2_000
  private static let mostPeople = 1_000
  private static let mostThreads = 16
  private static let answerSeconds = 30

  /// Calls go to each in turn.
  private let loops: [MediaLoop]
  private let ended = Ended()
  private let certificate: DTLSCertificate
  private var next: UInt64 = 0
  private var open: [MediaBridge.Identifier] = []

  /// The loop that carries a call.
  private func loop(of identifier: MediaBridge.Identifier) -> MediaLoop {
    loops[Int(truncatingIfNeeded: identifier.rawValue) % loops.count]
  }

  /// Bridges that have ended.
  private final class Ended: Sendable {
    let count = Mutex(0)
  }

  /// Starts media loops on 127.0.0.1, which share the ports 20400 to 32699 out among them; each has one more for apps that
  /// shake hands. A port that was used can be used again at once.
  ///
  /// - Parameter threads: Loops, each with a thread of its own, 1 to 16.
  public init(threads: Int = 1) throws {
    guard (1...Self.mostThreads).contains(threads) else { throw BenchProblem("1 to \(Self.mostThreads) threads") }
    certificate = try DTLSCertificate()
    let ended = ended
    let share = UInt16(Self.ports.count / threads) & ~1
    loops = try (0..<UInt16(threads)).map { thread in
      let first = Self.ports.lowerBound + thread * share
      var configuration = MediaLoopConfiguration(
        app: [.init(bind: .ipv4(0x7F00_0001), port: 0)],
        trunk: [.init(bind: .ipv4(0x7F00_0001), ports: first...(first + share - 1))])
      configuration.quarantineMilliseconds = 0
      return try MediaLoop.start(configuration) { events in
        let closed = events.count { $0.event == .closed }
        if closed > 0 { ended.count.withLock { $0 += closed } }
      }
    }
  }

  /// Serves standard input until it ends.
  /// - Parameter threads: Loops, each with a thread of its own, 1 to 16.
  public static func run(threads: Int) throws {
    let host = try MediaGatewayHost(threads: threads)
    let output = FileHandle.standardOutput
    try output.write(contentsOf: Data("ready\n".utf8))
    while let line = readLine() { try output.write(contentsOf: Data((host.answer(line) + "\n").utf8)) }
  }

  /// Carries out one command.
  /// - Returns: the line that answers it; what went wrong is in it.
  public func answer(_ line: String) -> String {
    let words = line.split(separator: " ").map(String.init)
    do {
      switch words.first {
      case "open" where words.count == 5:
        guard let workload = MediaWorkload(rawValue: words[1]), let calls = Int(words[2]),
          (1...Self.mostCalls).contains(calls), let app = UInt16(words[3]), let trunk = UInt16(words[4])
        else { return "problem: not \(line)" }
        let opened = try start(workload, calls: calls, app: app, trunk: trunk)
        return String(decoding: try JSONEncoder().encode(opened), as: UTF8.self)
      case "call" where words.count == 3:
        guard let trunk = UInt16(words[1]), let offer = Data(base64Encoded: words[2]) else {
          return "problem: not \(line)"
        }
        let answered = try call(SessionDescription(parsing: Array(offer)), trunk: trunk)
        return String(decoding: try JSONEncoder().encode(answered), as: UTF8.self)
      case "room" where words.count == 4:
        guard let people = Int(words[1]), (1...Self.mostPeople).contains(people), let port = UInt16(words[2]),
          let codec = MediaWorkload.Codec(rawValue: words[3])
        else { return "problem: not \(line)" }
        let opened = try confer(people, at: port, codec)
        return String(decoding: try JSONEncoder().encode(opened), as: UTF8.self)
      case "close" where words.count == 1:
        return "closed \(try closeAll())"
      default: return "problem: not \(line)"
      }
    } catch {
      return "problem: \(error)"
    }
  }

  private func start(_ workload: MediaWorkload, calls: Int, app: UInt16, trunk: UInt16) throws -> OpenedCalls {
    let sides = CallDescription.sides(workload, app: app, trunk: trunk)
    let offers = (
      app: try SessionDescription(parsing: sides.app.text), trunk: try SessionDescription(parsing: sides.trunk.text)
    )
    var opened = OpenedCalls(ports: [])
    for _ in 0..<calls {
      next += 1
      let identifier = MediaBridge.Identifier(rawValue: next)
      let loop = loop(of: identifier)
      let ports = (app: try reserve(identifier, .near), trunk: try reserve(identifier, .far))
      open.append(identifier)
      var plans: [(LegID, MediaPlan)] = []
      for (side, offer, held, description) in [
        (LegID.near, offers.app, ports.app, sides.app), (.far, offers.trunk, ports.trunk, sides.trunk),
      ] {
        let (answer, plan) = try Self.agree(offer, description, held)
        plans.append((side, plan))
        opened.ports.append(held.address.port)
        let key = CallDescription.key(in: answer)
        if side == .near { opened.appKey = key } else { opened.trunkKey = key }
      }
      let legs: [LegID: MediaLegConfiguration] = [.near: Self.leg(ports.app), .far: Self.leg(ports.trunk)]
      try wait("a bridge") { reply in loop.open(identifier, legs, reply: reply) }
      for (side, plan) in plans {
        guard loop.apply(.plan(side, plan), to: identifier) else { throw BenchProblem("the loop takes no commands") }
      }
    }
    return opened
  }

  /// A call in the shape of real ones: the app shakes hands at the port that all apps share.
  private func call(_ offer: SessionDescription, trunk: UInt16) throws -> AnsweredCall {
    next += 1
    let identifier = MediaBridge.Identifier(rawValue: next)
    let loop = loop(of: identifier)
    guard let app = loop.appPorts.first else { throw BenchProblem("the loop has no port for apps") }
    let ports = try reserve(identifier, .far)
    open.append(identifier)
    var random = SystemRandomNumberGenerator()
    let credentials = ICECredentials(draw: { random.next() })
    let candidate = ICECandidate(
      foundation: "1", component: 1, priority: 2_130_706_431, address: app.address.host.description,
      port: Int(app.address.port))
    var exchange = OfferAnswer(sessionID: next, host: app.address.host, policy: .app)
    let (answer, appPlan) = try exchange.answer(
      offer,
      from: LocalMedia(
        host: app.address.host, port: Int(app.address.port), fingerprint: certificate.fingerprint,
        iceCredentials: credentials, candidates: [candidate]))
    let description = CallDescription(codec: .opus, port: trunk, key: nil)
    let (_, trunkPlan) = try Self.agree(SessionDescription(parsing: description.text), description, ports)
    let near = MediaLegConfiguration(
      .app(.init(port: app.port, certificate: certificate, credentials: credentials)), stream: Self.stream())
    try wait("a bridge") { reply in loop.open(identifier, [.near: near, .far: Self.leg(ports)], reply: reply) }
    guard loop.route(userFragment: credentials.userFragment, to: identifier, .near),
      loop.apply(.plan(.near, appPlan), to: identifier), loop.apply(.plan(.far, trunkPlan), to: identifier)
    else { throw BenchProblem("the loop takes no commands") }
    return AnsweredCall(answer: answer.text, trunkPort: ports.address.port)
  }

  /// A conference: a bridge with one leg for each participant, all of them in one room.
  private func confer(_ people: Int, at port: UInt16, _ codec: MediaWorkload.Codec) throws -> OpenedCalls {
    let description = CallDescription(
      codec: codec, port: port, key: nil, bitRate: ConferenceWorkload.bitRate,
      levels: codec.isOpus ? ConferenceWorkload.levels : nil)
    let offer = try SessionDescription(parsing: description.text)
    var opened = OpenedCalls(ports: [])
    next += 1
    let room = RoomIdentifier(rawValue: next)
    for _ in 0..<people {
      // A room is on one thread: each step leads to the same one.
      next += UInt64(loops.count)
      let identifier = MediaBridge.Identifier(rawValue: next)
      let loop = loop(of: identifier)
      let ports = try reserve(identifier, .near)
      open.append(identifier)
      opened.ports.append(ports.address.port)
      let (_, plan) = try Self.agree(offer, description, ports)
      try wait("a bridge") { reply in loop.open(identifier, [.near: Self.leg(ports)], reply: reply) }
      guard loop.apply(.plan(.near, plan), to: identifier),
        loop.apply(.enterRoom(.near, room, RoomOptions()), to: identifier)
      else { throw BenchProblem("the loop takes no commands") }
    }
    return opened
  }

  /// The answer to an offer, and what comes of it.
  private static func agree(
    _ offer: SessionDescription, _ description: CallDescription, _ ports: TrunkPorts
  ) throws -> (answer: String, plan: MediaPlan) {
    var policy = MediaPolicy(
      codecs: description.codec.isOpus ? [.opus] : [.pcmu], protection: description.key == nil ? .none : .sdes,
      suites: [.aesCM128HMAC80])
    policy.answersAudioLevels = description.levels != nil
    var exchange = OfferAnswer(sessionID: 1, host: ports.address.host, policy: policy)
    let local = LocalMedia(
      host: ports.address.host, port: Int(ports.address.port),
      keyMaterial: (0..<LocalMedia.keyMaterialLength).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
    let (answer, plan) = try exchange.answer(offer, from: local)
    return (answer.text, plan)
  }

  private static func leg(_ ports: TrunkPorts) -> MediaLegConfiguration {
    MediaLegConfiguration(
      .trunk(TrunkTransport.Configuration(port: ports.port, controlPort: ports.control)), stream: stream())
  }

  private static func stream() -> MediaLegConfiguration.Stream {
    var random = SystemRandomNumberGenerator()
    return MediaLegConfiguration.Stream(canonicalName: "bench", unixMicroseconds: 0, draw: { random.next() })
  }

  private func reserve(_ identifier: MediaBridge.Identifier, _ side: LegID) throws -> TrunkPorts {
    try wait("ports") { reply in loop(of: identifier).reserveTrunkPorts(for: identifier, side, reply: reply) }
  }

  /// - Returns: how many calls have ended.
  private func closeAll() throws -> Int {
    let before = ended.count.withLock { $0 }
    for identifier in open { loop(of: identifier).close(identifier) }
    let limit = ProcessClock.monotonicSeconds() + Double(Self.answerSeconds)
    while ended.count.withLock({ $0 }) < before + open.count {
      guard ProcessClock.monotonicSeconds() < limit else { throw BenchProblem("calls do not end") }
      usleep(1_000)
    }
    defer { open.removeAll() }
    return open.count
  }

  /// Waits for a reply from the media thread.
  @discardableResult
  private func wait<Success: Sendable>(
    _ what: String, _ ask: (@escaping MediaLoop.Reply<Success>) -> Bool
  ) throws -> Success {
    let answer = Answer<Success>()
    let arrived = DispatchSemaphore(value: 0)
    let isTaken = ask { result in
      answer.result.withLock { $0 = result }
      arrived.signal()
    }
    guard isTaken, arrived.wait(timeout: .now() + .seconds(Self.answerSeconds)) == .success,
      let result = answer.result.withLock({ $0 })
    else { throw BenchProblem("the loop does not give \(what)") }
    return try result.get()
  }

  private final class Answer<Success: Sendable>: Sendable {
    let result = Mutex<Result<Success, MediaLoopFailure>?>(nil)
  }
}
