import CallModel
import CoreMetrics
import HummingbirdCore
import LandlineNode
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL
import NIOWebSocket

/// Sets up one connection: HTTP/1.1 that may become a WebSocket with its first request.
struct DoorChannel: ServerChildChannel, HTTPChannelHandler {
  typealias HTTPChannel = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  enum Outcome: Sendable {
    case http(HTTPChannel)
    case webSocket
  }

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    /// `nil` for a connection that was turned away.
    let outcome: EventLoopFuture<Outcome>?
  }

  let responder: HTTPChannelHandler.Responder
  let limits: HTTPDoorConfiguration.Limits
  let tls: NIOSSLContext?
  let connect: ConnectRequest
  let acceptor: any AppConnectionAcceptor
  let gate: ConnectionGate
  /// `nil` on a socket of this machine's own.
  let requests: RequestLimit?
  /// How many connections are open.
  let open: any MeterHandler

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let address = channel.remoteAddress?.ipAddress ?? ""
    let host = DoorChannel.host(address)
    guard gate.enter(address, isProxy: requests?.proxies.contains(host) ?? false) else {
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(Value(channel: channel, outcome: nil))
    }
    let (gate, open) = (gate, open)
    open.increment(by: 1)
    channel.closeFuture.whenComplete { _ in
      gate.leave(address)
      open.decrement(by: 1)
    }
    do {
      let outcome = try configure(channel, host: host)
      return channel.eventLoop.makeSucceededFuture(Value(channel: channel, outcome: outcome))
    } catch {
      // The peer is gone already. A failure here would end the whole server's accepting.
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(Value(channel: channel, outcome: nil))
    }
  }

  static func host(_ address: String) -> SIPHost {
    (try? SIPHost(unbracketed: address)) ?? .ipv4(0)
  }

  private func configure(_ channel: any Channel, host: SIPHost) throws -> EventLoopFuture<Outcome> {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.headerFieldBytes
    decoding.maxHeaderListSize = limits.headerBytes
    decoding.maxHeaderFieldCount = limits.headerCount
    let encoder = HTTPResponseEncoder()
    let decoder = ByteToMessageHandler(
      HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: decoding))
    let webSocket = WebSocketHandler(limits: limits, acceptor: acceptor, loop: channel.eventLoop)
    let bound = NIOLoopBound(webSocket, eventLoop: channel.eventLoop)
    let edge = HTTPEdgeHandler(limits: limits, connect: connect, webSocket: webSocket, host: host, requests: requests)
    channel.closeFuture.whenComplete { _ in bound.value.ended() }

    let upgrader = NIOTypedWebSocketServerUpgrader<Outcome>(
      maxFrameSize: limits.frameBytes, enableAutomaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        // The edge lets nothing through to here for that path but what is in order.
        channel.eventLoop.makeSucceededFuture(
          ConnectRequest.concerns(head) ? ["Sec-WebSocket-Protocol": ConnectRequest.subprotocol] : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value)
          return Outcome.webSocket
        }
      })
    let upgrade = NIOTypedHTTPServerUpgradeHandler<Outcome>(
      httpEncoder: encoder, extraHTTPHandlers: [decoder, edge],
      upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
        upgraders: [upgrader],
        notUpgradingCompletionHandler: { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            return Outcome.http(
              try HTTPChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)))
          }
        }))
    try pipeline.addHandlers([encoder, decoder, edge, upgrade])
    return upgrade.upgradeResultFuture
  }

  func handle(value: Value, logger: Logger) async {
    guard let outcome = value.outcome else { return }
    let channel = value.channel
    await withTaskCancellationHandler {
      switch try? await outcome.get() {
      case .http(let connection): await handleHTTP(asyncChannel: connection, logger: logger)
      // Its handlers do the work; the door is not closed before it is.
      case .webSocket: try? await channel.closeFuture.get()
      case nil: break
      }
    } onCancel: {
      channel.close(promise: nil)
    }
  }
}
