import CallModel
import Hummingbird
import HummingbirdCore
public import LandlineNode
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
public import NodeCore
import ServiceLifecycle

/// The gateway's one HTTP port: REST, health, metrics, and the apps' WebSocket.
///
/// Runs until its task group shuts down gracefully: then nothing more is accepted, requests under way are answered, and
/// WebSockets are for the acceptor to close; those that it leaves open are closed after a while.
public struct HTTPDoor: NamedService {
  private let configuration: HTTPDoorConfiguration
  private let acceptor: any AppConnectionAcceptor
  private let api: RESTService
  /// How often a host may ask; `nil` on a socket of this machine's own.
  package let requests: RequestLimit?
  private let logger: Logger
  private let tls: NIOSSLContext?
  private let onListening: @Sendable (UInt16) async -> Void

  /// - Parameters:
  ///   - applications: those of an environment, for phones on the gateway's pages.
  ///   - testTrunk: tells the steps of a test of one trunk; returns `nil` for one that cannot be tested.
  ///   - placeInboundCall: has the built-in far end call a number of the gateway's; `nil` where there is no far end.
  ///   - onListening: told the port once connections are taken.
  /// - Throws: what is wrong with the certificate or its key.
  public init(
    configuration: HTTPDoorConfiguration, acceptor: any AppConnectionAcceptor, operations: any GatewayOperations,
    authenticator: any RESTAuthenticator, metrics: MetricsRegistry, logger: Logger,
    applications: @escaping @Sendable (_ environment: String) -> [AppCredentials] = { _ in [] },
    testTrunk: (
      @Sendable (_ name: String, _ order: TrunkTestOrder, _ tell: @escaping @Sendable (TrunkTestStep) -> Void)
        async throws
        -> TrunkTestStep.Outcome?
    )? = nil,
    placeInboundCall: (@Sendable (InboundCallOrder) async -> AsyncStream<InboundCallStep>?)? = nil,
    onListening: @escaping @Sendable (UInt16) async -> Void = { _ in }
  ) throws {
    self.configuration = configuration
    self.acceptor = acceptor
    requests =
      configuration.socketPath != nil
      ? nil
      : RequestLimit(
        requests: HostRequests(
          perSecond: configuration.limits.requestsPerSecond, burst: configuration.limits.requestBurst),
        proxies: NamedProxies(configuration.proxies), metrics: metrics, logger: logger, now: NodeClock.now)
    api = RESTService(
      operations: operations, authenticator: authenticator, metrics: metrics, logger: logger,
      bodyBytes: configuration.limits.bodyBytes, takesEnvironment: configuration.socketPath != nil,
      servesMetrics: configuration.servesMetrics, pages: configuration.pages,
      signsInLocally: configuration.signsInLocally, requests: requests, applications: applications,
      testTrunk: testTrunk, placeInboundCall: placeInboundCall)
    self.logger = logger
    tls = try configuration.certificate.map { certificate in
      let chain = try NIOSSLCertificate.fromPEMFile(certificate.chainPath).map {
        NIOSSLCertificateSource.certificate($0)
      }
      let key = try NIOSSLPrivateKey(file: certificate.keyPath, format: .pem)
      var tls = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
      tls.minimumTLSVersion = certificate.needsTLS13 ? .tlsv13 : .tlsv12
      tls.cipherSuiteValues = Self.cipherSuites
      tls.applicationProtocols = ["http/1.1"]
      return try NIOSSLContext(configuration: tls)
    }
    self.onListening = onListening
  }

  /// Forward secrecy and authenticated encryption only, as for SIP.
  private static let cipherSuites: [NIOTLSCipher] = [
    .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]

  /// Listens until the task group shuts down gracefully; a socket's file is removed at the end.
  /// - Throws: what cannot be bound.
  public func run() async throws {
    let limits = configuration.limits
    let socket = try configuration.socketPath.map { try OwnerSocket(path: $0) }
    defer { socket?.remove() }
    let address =
      socket.map { BindAddress.unixDomainSocket(path: $0.bindPath) }
      ?? .hostname(HTTPDoor.unbracketed(configuration.host), port: configuration.port)
    let connect = ConnectRequest(
      allowedOrigins: configuration.allowedOrigins, admitsLocalPages: configuration.signsInLocally,
      isSpoken: socket == nil)
    let gate = ConnectionGate(limit: limits.connections, limitPerHost: limits.connectionsPerHost)
    let open = api.metrics.makeMeter(label: LandlineMetric.connections.rawValue, dimensions: [])
    let (tls, acceptor, logger, onListening, requests) = (tls, acceptor, logger, onListening, requests)
    let application = Application(
      router: api.router(),
      server: HTTPServerBuilder { responder in
        DoorChannel(
          responder: responder, limits: limits, tls: tls, connect: connect, acceptor: acceptor, gate: gate,
          requests: requests, open: open)
      },
      configuration: ApplicationConfiguration(address: address, serverName: nil),
      onServerRunning: { channel in
        do {
          try await ReserveHandler.guardListener(channel, logger).get()
          try socket?.publish()
        } catch {
          logger.error("the listener cannot be opened", metadata: ["error": "\(ErrorText.text(error))"])
          channel.close(promise: nil)
          return
        }
        await onListening(UInt16(clamping: channel.localAddress?.port ?? 0))
      },
      logger: logger)
    try await application.run()
  }

  /// An IPv6 address as it is bound: without the brackets of a URI.
  private static func unbracketed(_ host: String) -> String {
    host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }
}
