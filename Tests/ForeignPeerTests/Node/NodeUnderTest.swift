import CallModel
import Foundation
import LandlineWire
import NIOCore
import NIOPosix
import PeerKit
import SIPCore
import Synchronization

/// A node of ours on loopback, with everything it reported.
final class NodeUnderTest: Sendable {
  struct Settings: Sendable {
    var agent: UserAgentConfiguration = {
      var agent = UserAgentConfiguration(addresses: [])
      agent.acceptsCalls = true
      return agent
    }()
    /// Opens a TLS listener with this certificate.
    var certificates: CertificateFolder?
    /// Who may sign the certificates of servers; `nil` for the system's authorities.
    var authority: URL?
    var hasIPv6 = false
    var hasTCP = true
    /// Answers every offer inside a call at once; otherwise the test does.
    var answersOffers = true
    /// Takes every call at once; otherwise the test does.
    var takesCalls = false
    /// Refuses every call at once with this status, before a 100 is due.
    var refusesCalls: Int?
    init() {}
  }

  private static let udp = ListenerID(1)
  private static let tcp = ListenerID(2)
  private static let tls = ListenerID(3)
  private static let udp6 = ListenerID(4)

  let node: SIPNode
  /// For UDP and TCP.
  let port: UInt16
  let tlsPort: UInt16
  private let log: EventLog
  private let handles = Mutex<UInt64>(0)

  private init(node: SIPNode, port: UInt16, tlsPort: UInt16, log: EventLog) {
    self.node = node
    self.port = port
    self.tlsPort = tlsPort
    self.log = log
  }

  static func start(_ settings: Settings = Settings()) async throws -> NodeUnderTest {
    for _ in 0..<4 {
      // A free port may be taken by another process before it is bound.
      do { return try await open(settings) } catch let problem as InvalidValue where problem.rule == "listener.bind" {}
    }
    return try await open(settings)
  }

  private static func open(_ settings: Settings) async throws -> NodeUnderTest {
    let loopback = SIPHost.ipv4(0x7F00_0001)
    let port = try FreePort.next()
    let tlsPort = try FreePort.next()
    var listeners = [SIPListener(id: udp, transport: .udp, host: loopback, port: port)]
    if settings.hasTCP { listeners.append(SIPListener(id: tcp, transport: .tcp, host: loopback, port: port)) }
    if let certificates = settings.certificates {
      let identity = TLSIdentityFiles(
        certificateChain: certificates.server.certificate.path, privateKey: certificates.server.key.path)
      listeners.append(
        SIPListener(
          id: tls, transport: .tls, host: loopback, port: tlsPort, tls: TLSServerSettings(identity: identity)))
    }
    if settings.hasIPv6 {
      listeners.append(SIPListener(id: udp6, transport: .udp, host: .ipv6(high: 0, low: 1), port: port))
    }
    var configuration = SIPNode.Configuration(listeners: listeners, agent: settings.agent)
    if let authority = settings.authority {
      configuration.tlsClients.standard.trust = .authorities([authority.path])
    }
    let log = EventLog(settings)
    let node = try await SIPNode.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next()) { _ in log }
    return NodeUnderTest(node: node, port: port, tlsPort: tlsPort, log: log)
  }

  func stop() async { try? await node.shutdown() }

  /// Where a peer on loopback lives.
  func path(
    _ transport: SIPTransport = .udp, to port: UInt16, isIPv6: Bool = false, serverName: String? = nil
  ) -> SIPPath {
    let listener =
      switch transport {
      case .udp: isIPv6 ? Self.udp6 : Self.udp
      case .tcp: Self.tcp
      case .tls: Self.tls
      }
    return SIPPath(
      listener: listener,
      remote: TransportAddress(transport, isIPv6 ? .ipv6(high: 0, low: 1) : .ipv4(0x7F00_0001), port: port),
      serverName: serverName)
  }

  /// A call to a peer on loopback, as the tests place it unless they say otherwise.
  func plan(to port: UInt16, _ transport: SIPTransport = .udp, user: String = "service") throws -> OutgoingCall {
    let parameters = transport == .udp ? "" : ";transport=\(transport.rawValue)"
    return OutgoingCall(
      target: try SIPURI(parsing: "sip:\(user)@127.0.0.1:\(port)\(parameters)"), paths: [path(transport, to: port)],
      identity: OutgoingIdentity(from: try Self.caller), offer: SessionText.body())
  }

  static var caller: NameAddress {
    get throws { NameAddress(try SIPURI(parsing: "sip:alice@example.test"), displayName: "Alice") }
  }

  func place(_ plan: OutgoingCall) -> CallUnderTest {
    let handle = CallHandle(nextNumber())
    node.execute(.placeCall(handle, plan))
    return CallUnderTest(node: self, handle: handle)
  }

  func execute(_ command: UserAgentCommand) { node.execute(command) }

  func nextNumber() -> UInt64 {
    handles.withLock { number in
      number += 1
      return number
    }
  }

  /// The next call that comes in.
  func incoming(within seconds: Double = 20) async throws -> (CallUnderTest, IncomingCall) {
    let (handle, call) = try await event("incoming call", within: seconds) {
      if case .incoming(let handle, let call) = $0 { return (handle, call) }
      return nil
    }
    return (CallUnderTest(node: self, handle: handle), call)
  }

  /// The first event from `start` on for which `choose` has a value; events may be looked at again and again.
  func event<Value: Sendable>(
    _ what: String, within seconds: Double = 20, _ choose: (UserAgentEvent) -> Value?
  ) async throws -> Value {
    do {
      return try await Deadline(seconds: seconds).first(what) { log.events.lazy.compactMap(choose).first }
    } catch {
      throw PeerFailure("\(error) from the node; it said: \(log.summary)")
    }
  }

  /// Waits until so many calls were up and are over.
  func ended(_ calls: Int, within seconds: Double = 30) async throws {
    func counts() -> (up: Int, over: Int) {
      log.events.reduce(into: (0, 0)) { counts, event in
        if case .established = event { counts.0 += 1 }
        if case .ended(_, let end) = event, end.wasEstablished, end.cause != .failed { counts.1 += 1 }
      }
    }
    do {
      _ = try await Deadline(seconds: seconds).first("end of \(calls) calls", everyMilliseconds: 50) {
        counts() == (calls, calls) ? true : nil
      }
    } catch { throw PeerFailure("\(error): \(counts())") }
  }

  func events() -> [UserAgentEvent] { log.events }
  /// When the last event so far was reported, as the loop of the node saw it: a busy test may look much later.
  var lastEventTime: ContinuousClock.Instant { log.lastTime }
  var problems: [TransportProblem] { log.problems }
  var summary: String { log.summary }
}

/// What a node reported, in order.
private final class EventLog: SIPNodeDelegate, Sendable {
  private let seen = Mutex<(events: [UserAgentEvent], problems: [TransportProblem])>(([], []))
  private let time = Mutex(ContinuousClock.now)
  private let settings: NodeUnderTest.Settings

  init(_ settings: NodeUnderTest.Settings) { self.settings = settings }

  var events: [UserAgentEvent] { seen.withLock { $0.events } }
  var lastTime: ContinuousClock.Instant { time.withLock { $0 } }
  var problems: [TransportProblem] { seen.withLock { $0.problems } }

  var summary: String {
    let texts = events.map { String(String(describing: $0).prefix(160)) } + problems.map(\.description)
    return texts.isEmpty ? "nothing" : texts.joined(separator: " | ")
  }

  func node(_ node: SIPNode, happened event: UserAgentEvent) {
    time.withLock { $0 = .now }
    seen.withLock { $0.events.append(event) }
    if settings.takesCalls, case .incoming(let call, let incoming) = event {
      node.execute(.ring(call, status: 180, body: nil, headers: CustomHeaders()))
      node.execute(
        .accept(
          call, body: incoming.offer.map { SessionText.answer(to: $0) } ?? SessionText.body(), headers: CustomHeaders())
      )
    }
    if let status = settings.refusesCalls, case .incoming(let call, _) = event {
      node.execute(.reject(call, Rejection(status)))
    }
    guard settings.answersOffers, case .offered(_, let exchange, let offer) = event else { return }
    if let answer = SessionText.answer(to: offer) {
      node.execute(.answer(exchange, answer))
    } else {
      node.execute(.refuse(exchange, status: 488, warning: nil))
    }
  }

  func node(_ node: SIPNode, met problem: TransportProblem) { seen.withLock { $0.problems.append(problem) } }
}
