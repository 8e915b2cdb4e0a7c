import AppProtocol
import CallModel
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import PeerKit
import Synchronization

/// A gateway for one test: a real WebSocket server and the real door, with a script in place of the call engine.
final class TestGateway: Sendable {
  let port: Int
  private let group: MultiThreadedEventLoopGroup
  private let server: any Channel
  private let core: NIOLoopBound<TestGatewayCore>
  /// Every request that arrived, in order.
  let requests: AsyncStream<AppRequest>

  private init(
    _ group: MultiThreadedEventLoopGroup, _ server: any Channel, _ core: NIOLoopBound<TestGatewayCore>,
    _ requests: AsyncStream<AppRequest>
  ) {
    self.group = group
    self.server = server
    self.core = core
    self.requests = requests
    port = server.localAddress?.port ?? 0
  }

  var url: String { "ws://127.0.0.1:\(port)" }

  /// - Parameter verdict: Judges registrations; accepts all where it is not given.
  static func start(
    resumeMilliseconds: Int64 = 30_000,
    verdict: @escaping @Sendable (Registration) -> RegistrationVerdict = TestGateway.acceptAll
  ) async throws -> TestGateway {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let (requests, continuation) = AsyncStream.makeStream(of: AppRequest.self)
    let core = try await loop.submit {
      NIOLoopBound(
        TestGatewayCore(loop, verdict, continuation, resumeMilliseconds: resumeMilliseconds), eventLoop: loop)
    }.get()
    let server = try await ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let upgrader = NIOWebSocketServerUpgrader(
          maxFrameSize: 262_144,
          shouldUpgrade: { channel, head in
            let isOurs = head.uri == "/v1/connect" && head.headers["Sec-WebSocket-Protocol"] == ["landline.v1"]
            return channel.eventLoop.makeSucceededFuture(
              isOurs ? ["Sec-WebSocket-Protocol": "landline.v1"] : nil)
          },
          upgradePipelineHandler: { channel, _ in
            channel.pipeline.context(handlerType: NotFound.self).flatMap { context in
              channel.pipeline.syncOperations.removeHandler(context: context)
            }.flatMapThrowing {
              try channel.pipeline.syncOperations.addHandler(AppSocket(core.value))
            }
          })
        return channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
        ).flatMapThrowing { try channel.pipeline.syncOperations.addHandler(NotFound()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return TestGateway(group, server, core, requests)
  }

  static let acceptAll: @Sendable (Registration) -> RegistrationVerdict = { registration in
    guard let user = try? UserID(registration.user) else { return .refused }
    let credential = DeviceCredential(id: "device-1", secret: Redacted("kept-secret"), expiresAt: nil)
    let isCredential = if case .credential = registration.proof { true } else { false }
    return .accepted(
      AppIdentity(
        application: registration.application, user: user, device: registration.device,
        capabilities: registration.capabilities), isCredential ? nil : credential)
  }

  func shutdown() async throws {
    try await server.close().get()
    try await group.next().submit { self.core.value.close() }.get()
    try await group.shutdownGracefully()
    try await LeftOvers(ports: [UInt16(clamping: port)], protocols: ["tcp"]).areNone()
  }

  /// Cuts every connection without a farewell.
  func cutConnections() async throws {
    try await group.next().submit { self.core.value.cutConnections() }.get()
  }

  /// Something only the core knows.
  func ask<Value: Sendable>(_ question: @escaping @Sendable (TestGatewayCore) -> Value) async throws -> Value {
    try await group.next().submit { question(self.core.value) }.get()
  }

  /// Passes over requests until one fits.
  func request<Value>(_ fits: (AppRequest) -> Value?) async -> Value? {
    for await request in requests {
      if let value = fits(request) { return value }
    }
    return nil
  }
}

/// What every other path is answered with.
private final class NotFound: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .end = unwrapInboundIn(data) else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .notFound, headers: ["Content-Length": "0"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

/// One app's WebSocket.
private final class AppSocket: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  private let core: TestGatewayCore
  private var id: ConnectionID?

  init(_ core: TestGatewayCore) { self.core = core }

  func handlerAdded(context: ChannelHandlerContext) { id = core.opened(context.channel) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let id else { return }
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: core.feed(.text(id, Array(frame.unmaskedData.readableBytesView)))
    case .pong: core.feed(.pong(id))
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let id { core.closed(id) }
  }
}
