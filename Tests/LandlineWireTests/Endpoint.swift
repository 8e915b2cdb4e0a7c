import CallModel
import LandlineWire
import NIOCore
import NIOPosix
import PeerKit
import SIPCore

/// The transports of one loop, used from a test, with everything they report.
final class Endpoint: Sendable {
  enum Event: Sendable {
    case received([UInt8], SIPPath)
    case failed(TransactionID)
    case problem(TransportProblem)
    case opened(StreamOpening)
  }

  private final class Delegate: SIPTransportsDelegate {
    let events: Recorder<Event>
    init(_ events: Recorder<Event>) { self.events = events }
    func received(_ bytes: [UInt8], from path: SIPPath) { events.append(.received(bytes, path)) }
    func failed(_ transaction: TransactionID) { events.append(.failed(transaction)) }
    func report(_ problem: TransportProblem) { events.append(.problem(problem)) }
    func opened(_ stream: StreamOpening) { events.append(.opened(stream)) }
  }

  let events: Recorder<Event>
  let listeners: [SIPListener]
  let addresses: [ListenerID: TransportAddress]
  private let loop: any EventLoop
  private let transports: NIOLoopBound<SIPTransports>
  private let delegate: NIOLoopBound<Delegate>

  private init(
    _ listeners: [SIPListener], _ events: Recorder<Event>, _ addresses: [ListenerID: TransportAddress],
    _ loop: any EventLoop, _ transports: NIOLoopBound<SIPTransports>, _ delegate: NIOLoopBound<Delegate>
  ) {
    self.listeners = listeners
    self.events = events
    self.addresses = addresses
    self.loop = loop
    self.transports = transports
    self.delegate = delegate
  }

  static func start(
    _ listeners: [SIPListener], limits: TransportLimits = .standard, policies: TLSClientPolicies = TLSClientPolicies()
  ) async throws -> Endpoint {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let tls = try TLSContexts(listeners: listeners, policies: policies)
    return try await loop.flatSubmit {
      let transports = SIPTransports(listeners, contexts: tls, limits: limits, on: loop)
      let events = Recorder<Event>()
      let delegate = Delegate(events)
      transports.delegate = delegate
      let bound = NIOLoopBound(transports, eventLoop: loop)
      let boundDelegate = NIOLoopBound(delegate, eventLoop: loop)
      return transports.open().map {
        Endpoint(listeners, events, bound.value.addresses, loop, bound, boundDelegate)
      }
    }.get()
  }

  /// One listener on a loopback address.
  static func start(
    _ transport: SIPTransport, _ host: SIPHost = .loopback, tls: TLSServerSettings? = nil,
    limits: TransportLimits = .standard, policies: TLSClientPolicies = TLSClientPolicies()
  ) async throws -> Endpoint {
    try await start(
      [SIPListener(id: .first, transport: transport, host: host, port: 0, tls: tls)], limits: limits,
      policies: policies)
  }

  /// Of the first listener.
  var address: TransportAddress { addresses[.first] ?? TransportAddress(.udp, .loopback, port: 0) }

  func path(
    to other: Endpoint, connection: ConnectionID? = nil, serverName: String? = nil
  ) -> SIPPath {
    SIPPath(listener: .first, remote: other.address, connection: connection, serverName: serverName)
  }

  func path(toPort port: UInt16, _ transport: SIPTransport, serverName: String? = nil) -> SIPPath {
    SIPPath(
      listener: .first, remote: TransportAddress(transport, .loopback, port: port), serverName: serverName)
  }

  func send(_ bytes: [UInt8], on path: SIPPath, for transaction: TransactionID? = nil) {
    loop.execute {
      self.transports.value.send(bytes, on: path, for: transaction)
      self.transports.value.flush()
    }
  }

  func install(_ policies: TLSClientPolicies = TLSClientPolicies()) async throws {
    let contexts = try TLSContexts(listeners: listeners, policies: policies)
    try await loop.submit { self.transports.value.install(contexts) }.get()
  }

  func statistics() async throws -> TransportStatistics {
    try await loop.submit { self.transports.value.statistics }.get()
  }

  /// Closes everything, and shows that no socket of it is left.
  func shutdown() async throws {
    try await loop.flatSubmit { self.transports.value.shutdown() }.get()
    // Another test may have the same number of the other protocol by now.
    for (protocolName, isStream) in [("udp", false), ("tcp", true)] {
      let ports = addresses.values.filter { $0.transport.isStream == isStream }.map(\.port)
      try await LeftOvers(ports: ports, protocols: [protocolName]).areNone()
    }
  }

  func message(_ what: String, after skipped: Int = 0) async throws -> (bytes: [UInt8], path: SIPPath) {
    try await events.wait(for: what) { events in
      let all = events.compactMap { event -> ([UInt8], SIPPath)? in
        if case .received(let bytes, let path) = event { (bytes, path) } else { nil }
      }
      return all.count > skipped ? all[skipped] : nil
    }
  }

  func failure(of transaction: TransactionID) async throws {
    try await events.wait(for: "failure of \(transaction)") { events in
      let found = events.contains { if case .failed(transaction) = $0 { true } else { false } }
      return found ? () : nil
    }
  }

  @discardableResult
  func problem(_ kind: TransportProblem.Kind) async throws -> TransportProblem {
    try await events.wait(for: kind.rawValue) { events in
      for case .problem(let problem) in events where problem.kind == kind { return problem }
      return nil
    }
  }
}

extension ListenerID {
  static let first = ListenerID(1)
}

extension SIPHost {
  static let loopback = SIPHost.ipv4(0x7F00_0001)
  static let loopback6 = SIPHost.ipv6(high: 0, low: 1)
}

/// An OPTIONS request that passes the framer.
func request(_ number: Int = 1, body: String = "") -> [UInt8] {
  Array(
    """
    OPTIONS sip:a@127.0.0.1 SIP/2.0\r
    Via: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK\(number)\r
    From: <sip:b@127.0.0.1>;tag=1\r
    To: <sip:a@127.0.0.1>\r
    Call-ID: \(number)\r
    CSeq: \(number) OPTIONS\r
    Max-Forwards: 70\r
    Content-Length: \(body.utf8.count)\r
    \r
    \(body)
    """.utf8)
}

func response(_ number: Int = 1) -> [UInt8] {
  Array(
    """
    SIP/2.0 200 OK\r
    Via: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK\(number)\r
    From: <sip:b@127.0.0.1>;tag=1\r
    To: <sip:a@127.0.0.1>;tag=2\r
    Call-ID: \(number)\r
    CSeq: \(number) OPTIONS\r
    Content-Length: 0\r
    \r

    """.utf8)
}
