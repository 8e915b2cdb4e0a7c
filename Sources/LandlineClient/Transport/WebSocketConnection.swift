import AppProtocol
import CallModel
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import SecureTransport

/// One WebSocket to the gateway, from its opening to its end (RFC 6455), on the client's loop.
final class WebSocketConnection {
  /// What it tells. Nothing follows `closed`.
  enum Event {
    /// Open, from this address of ours.
    case opened(MediaAddress)
    case text([UInt8])
    /// Bytes that are no WebSocket, or a message of binary data.
    case violation
    /// `nil`: never opened, or ended without a close frame.
    case closed(code: UInt16?, CallFailure?)
  }

  /// Why no WebSocket came of a connection.
  enum Failure: Error {
    /// The other side speaks HTTP, and does not change to the protocol of apps.
    case notUpgraded
  }

  /// Frames of one message at most.
  static let maximumFrames = 1_024
  /// How long a close frame may take to leave.
  static let closingMilliseconds: Int64 = 1_000

  private let eventLoop: any EventLoop
  private let maximumBytes: Int
  private let tell: (Event) -> Void
  /// Is told of the socket, so that somebody can wait for its end.
  private let track: (any Channel) -> Void
  private var channel: (any Channel)?
  /// The gateway has answered the upgrade: before, the pipeline speaks HTTP and takes no frame.
  private var isOpen = false
  private var isOver = false

  init(
    on eventLoop: any EventLoop, maximumBytes: Int, track: @escaping (any Channel) -> Void,
    tell: @escaping (Event) -> Void
  ) {
    self.eventLoop = eventLoop
    self.track = track
    self.maximumBytes = maximumBytes
    self.tell = tell
  }

  /// - Returns: Succeeds when the attempt is over, opened or not; sockets may still be closing then.
  func connect(
    to gateway: GatewayAddress, context: NIOSSLContext?, timeoutMilliseconds: Int64
  ) -> EventLoopFuture<Void> {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let maximumBytes = maximumBytes
    let timeout = TimeAmount.milliseconds(timeoutMilliseconds)
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          bound.value.adopt(channel)
          if let context {
            // A numeric address is no server name of TLS; the certificate is held against it all the same.
            let isName = (try? SocketAddress(ipAddress: gateway.host, port: 0)) == nil
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: context, serverHostname: isName ? gateway.host : nil))
          }
        }
      }
    let upgraded = bootstrap.connect(host: gateway.host, port: gateway.port).flatMap { channel in
      let isSet = channel.eventLoop.makeCompletedFuture {
        try WebSocketConnection.configure(channel, gateway, maximumBytes, bound)
      }
      return isSet.flatMap { $0 }
    }
    let limit = eventLoop.scheduleTask(in: timeout) { bound.value.giveUp() }
    upgraded.whenComplete { result in
      limit.cancel()
      switch result {
      case .success(let channel): bound.value.opened(channel)
      case .failure(let error): bound.value.ended(code: nil, WebSocketConnection.failure(of: error))
      }
    }
    return upgraded.map { _ in }.recover { _ in }
  }

  /// - Returns: What is left of the HTTP side once the upgrade is answered.
  private static func configure(
    _ channel: any Channel, _ gateway: GatewayAddress, _ maximumBytes: Int, _ bound: NIOLoopBound<WebSocketConnection>
  ) throws -> EventLoopFuture<any Channel> {
    let upgrader = NIOTypedWebSocketClientUpgrader<any Channel>(
      maxFrameSize: maximumBytes,
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          guard head.headers["Sec-WebSocket-Protocol"] == [AppMessageCoder.subprotocol] else {
            throw Failure.notUpgraded
          }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: maximumFrames,
              maxAccumulatedFrameSize: maximumBytes))
          try pipeline.addHandler(WebSocketReader(bound.value))
          return channel
        }
      })
    let head = HTTPRequestHead(
      version: .http1_1, method: .GET, uri: gateway.path,
      headers: [
        "Host": gateway.authority, "Content-Length": "0", "Sec-WebSocket-Protocol": AppMessageCoder.subprotocol,
      ])
    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: .init(
        upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
          upgradeRequestHead: head, upgraders: [upgrader],
          notUpgradingCompletionHandler: { $0.eventLoop.makeFailedFuture(Failure.notUpgraded) })))
  }

  private func adopt(_ channel: any Channel) {
    self.channel = channel
    track(channel)
    if isOver { channel.close(promise: nil) }
  }

  /// Sends the text of one message; nothing before the WebSocket is open.
  func send(_ text: [UInt8]) {
    guard let channel, isOpen, !isOver else { return }
    let frame = WebSocketFrame(
      fin: true, opcode: .text, maskKey: .random(), data: channel.allocator.buffer(bytes: text))
    channel.writeAndFlush(frame, promise: nil)
  }

  /// Says why, then ends; what is not open yet just ends.
  func close(code: UInt16) {
    guard !isOver else { return }
    guard let channel, isOpen else { return ended(code: nil, nil) }
    var data = channel.allocator.buffer(capacity: 2)
    data.writeInteger(code)
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: data)
    // A peer that reads nothing must not keep the socket.
    let limit = eventLoop.scheduleTask(in: .milliseconds(WebSocketConnection.closingMilliseconds)) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in limit.cancel() }
    channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
    isOver = true
    tell(.closed(code: code, nil))
  }

  private func opened(_ channel: any Channel) {
    guard !isOver else { return channel.close(promise: nil) }
    isOpen = true
    guard let local = channel.localAddress, let address = MediaAddress(local) else {
      return ended(code: nil, CallFailure(.networkUnreachable))
    }
    tell(.opened(address))
  }

  private func giveUp() {
    ended(code: nil, CallFailure(.networkTimeout))
  }

  fileprivate func received(_ event: Event) {
    guard !isOver else { return }
    tell(event)
  }

  fileprivate func ended(code: UInt16?, _ failure: CallFailure?) {
    guard !isOver else { return }
    isOver = true
    channel?.close(promise: nil)
    tell(.closed(code: code, failure))
  }

  private static func failure(of error: any Error) -> CallFailure {
    switch error {
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
      CallFailure(.networkSecurity, phrase: securityText(error))
    case ChannelError.connectTimeout: CallFailure(.networkTimeout)
    case let error as NIOConnectionError:
      CallFailure(.networkUnreachable, phrase: ErrorText.text(error.connectionErrors.first?.error ?? error))
    case Failure.notUpgraded:
      CallFailure(.networkUnreachable, phrase: "what answers there is no gateway for apps")
    default: CallFailure(.networkUnreachable, phrase: ErrorText.text(error))
    }
  }

  /// The commonest reasons in words; the TLS library names them by the constants of its source.
  private static func securityText(_ error: any Error) -> String {
    let text = ErrorText.text(error)
    if text.contains("CERTIFICATE_VERIFY_FAILED") {
      return "the gateway's certificate has expired, or leads to no authority that is trusted here"
    }
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
      return "what answers there does not speak TLS"
    }
    return text
  }
}

/// Frames of an open WebSocket.
private final class WebSocketReader: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let connection: WebSocketConnection
  private var code: UInt16?

  init(_ connection: WebSocketConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: connection.received(.text(Array(frame.unmaskedData.readableBytesView)))
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .pong: break
    case .connectionClose:
      var data = frame.unmaskedData
      code = data.readInteger()
      connection.ended(code: code, nil)
    default:
      connection.received(.violation)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.ended(code: code, nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    connection.received(.violation)
    connection.ended(code: nil, nil)
  }
}
