import AppProtocol
import CallModel
import Foundation
import LandlineDigest
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// One app: a WebSocket with a registered session. Belongs to its event loop.
final class BenchApp: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// Frames of one message at most.
  private static let maximumFrames = 64
  private static let connectSeconds: Int64 = 30

  /// What the gateway says once the session stands.
  var told: ((ServerMessage) -> Void)?
  /// The connection is gone; nothing is told any more.
  var lost: ((String) -> Void)?

  private let registration: Registration
  private let ready: EventLoopPromise<Void>
  private var context: ChannelHandlerContext?
  private var lastNumber: UInt64 = 0
  private var isRegistered = false
  private var isReadyTold = false

  private init(_ registration: Registration, ready: EventLoopPromise<Void>) {
    self.registration = registration
    self.ready = ready
  }

  /// Connects as user `bench-NUMBER` and registers.
  static func connect(
    port: UInt16, number: Int, on loop: any EventLoop
  ) -> EventLoopFuture<NIOLoopBound<BenchApp>> {
    guard let registration = registration(number) else {
      return loop.makeFailedFuture(BenchProblem("the libcrypto of this machine has no SHA-1"))
    }
    let ready = loop.makePromise(of: Void.self)
    let upgraded = loop.makePromise(of: NIOLoopBound<BenchApp>.self)
    upgraded.futureResult.whenComplete { result in
      switch result {
      // Not before the HTTP side has left the channel.
      case .success(let app): app.value.register()
      case .failure(let error): ready.fail(error)
      }
    }
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(connectSeconds))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try configure(channel, port, registration, ready).cascade(to: upgraded)
        }
      }
      .connect(host: "127.0.0.1", port: Int(port))
      .whenFailure { upgraded.fail($0) }
    return upgraded.futureResult.and(ready.futureResult).map { $0.0 }
  }

  /// - Returns: The app once the upgrade is answered.
  private static func configure(
    _ channel: any Channel, _ port: UInt16, _ registration: Registration, _ ready: EventLoopPromise<Void>
  ) throws -> EventLoopFuture<NIOLoopBound<BenchApp>> {
    let upgrader = NIOTypedWebSocketClientUpgrader<NIOLoopBound<BenchApp>>(
      maxFrameSize: AppMessageCoder.maximumMessageBytes,
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          let app = BenchApp(registration, ready: ready)
          try channel.pipeline.syncOperations.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: maximumFrames,
              maxAccumulatedFrameSize: AppMessageCoder.maximumMessageBytes))
          try channel.pipeline.syncOperations.addHandler(app)
          return NIOLoopBound(app, eventLoop: channel.eventLoop)
        }
      })
    let head = HTTPRequestHead(
      version: .http1_1, method: .GET, uri: "/v1/connect",
      headers: [
        "Host": "127.0.0.1:\(port)", "Content-Length": "0", "Sec-WebSocket-Protocol": AppMessageCoder.subprotocol,
      ])
    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: .init(
        upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
          upgradeRequestHead: head, upgraders: [upgrader],
          notUpgradingCompletionHandler: {
            $0.eventLoop.makeFailedFuture(BenchProblem("the gateway opens no WebSocket"))
          })))
  }

  /// Scheme A: Base64 of SHA-1 over user, key, sequence and secret.
  private static func registration(_ number: Int) -> Registration? {
    guard let digest = MessageDigest(.sha1) else { return nil }
    let user = "bench-\(number)"
    let sequence = UInt64(max(0, Date().timeIntervalSince1970 * 1_000_000))
    let text = Array("\(user)\(BenchGateway.applicationKey)\(sequence)\(BenchGateway.applicationSecret)".utf8)
    let signature = Data(text.withUnsafeBytes { digest.digest(of: $0) }).base64EncodedString()
    return Registration(
      application: BenchGateway.applicationKey, user: user, device: "bench",
      proof: .signature(signature, sequence: sequence), capabilities: [.calling])
  }

  private func register() { write(.register(nextNumber(), registration, client: "landline-bench")) }

  /// Sends a request of the session.
  /// - Returns: The number of its reply; `nil` when the connection is gone.
  func send(_ request: AppRequest) -> RequestNumber? {
    guard context != nil else { return nil }
    let number = nextNumber()
    write(.request(number, request))
    return number
  }

  func close() { context?.close(promise: nil) }

  private func nextNumber() -> RequestNumber {
    lastNumber += 1
    return RequestNumber(lastNumber)
  }

  private func write(_ message: ClientMessage) {
    guard let context else { return }
    let text = context.channel.allocator.buffer(bytes: AppMessageCoder.encode(message))
    context.writeAndFlush(
      wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: text)), promise: nil)
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: received(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose:
      var reason = frame.unmaskedData
      let code: UInt16? = reason.readInteger()
      end("the gateway closed the connection: \(code.map(String.init) ?? "no code") \(String(buffer: reason))")
      context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end("the gateway closed the connection")
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end("\(error)")
    context.close(promise: nil)
  }

  private func received(_ text: [UInt8]) {
    do {
      guard let message = try AppMessageCoder.decodeServer(text) else { return }
      if isRegistered {
        told?(message)
      } else if case .registered = message {
        isRegistered = true
        isReadyTold = true
        ready.succeed(())
      } else if case .error(_, let failure) = message {
        end("the registration was refused: \(failure)")
      }
    } catch {
      end("a message of the gateway cannot be read: \(error)")
    }
  }

  private func end(_ why: String) {
    context = nil
    if !isReadyTold {
      isReadyTold = true
      ready.fail(BenchProblem(why))
    }
    lost?(why)
    lost = nil
  }
}
