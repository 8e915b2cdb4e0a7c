import AppProtocol
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The WebSocket of an app: whole messages of text. Belongs to its event loop.
final class AppSocket: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// Frames of one message at most.
  private static let maximumFrames = 64
  private static let connectSeconds: Int64 = 30

  /// A message of the gateway.
  var received: (([UInt8]) -> Void)?
  /// The connection is gone, with the code of the gateway's close frame where there was one; told once.
  var closed: ((UInt16?, String) -> Void)?

  private var context: ChannelHandlerContext?
  private var code: UInt16?

  static func connect(port: UInt16, on loop: any EventLoop) -> EventLoopFuture<NIOLoopBound<AppSocket>> {
    let upgraded = loop.makePromise(of: NIOLoopBound<AppSocket>.self)
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(connectSeconds))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try configure(channel, port).cascade(to: upgraded) }
      }
      .connect(host: "127.0.0.1", port: Int(port))
      .whenFailure { upgraded.fail($0) }
    return upgraded.futureResult
  }

  private static func configure(
    _ channel: any Channel, _ port: UInt16
  ) throws -> EventLoopFuture<NIOLoopBound<AppSocket>> {
    let upgrader = NIOTypedWebSocketClientUpgrader<NIOLoopBound<AppSocket>>(
      maxFrameSize: AppMessageCoder.maximumMessageBytes,
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          let socket = AppSocket()
          try channel.pipeline.syncOperations.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: maximumFrames,
              maxAccumulatedFrameSize: AppMessageCoder.maximumMessageBytes))
          try channel.pipeline.syncOperations.addHandler(socket)
          return NIOLoopBound(socket, eventLoop: channel.eventLoop)
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

  /// - Returns: `false` when the connection is gone.
  @discardableResult
  func send(_ text: [UInt8]) -> Bool {
    guard let context else { return false }
    let data = context.channel.allocator.buffer(bytes: text)
    context.writeAndFlush(
      wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: data)), promise: nil)
    return true
  }

  /// Closes the connection below WebSocket, as a network that goes away would.
  func drop() { context?.close(promise: nil) }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: received?(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose:
      var reason = frame.unmaskedData
      code = reason.readInteger()
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

  private func end(_ why: String) {
    context = nil
    let tell = closed
    closed = nil
    tell?(code, why)
  }
}
