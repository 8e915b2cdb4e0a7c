import CallModel
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import SecureTransport

/// One connection to a TURN server, over TCP or TLS, with the allocation on it; on the client's loop.
final class RelayConnection {
  /// What it tells. Nothing follows `failed`, and nothing comes once it was closed.
  enum Event {
    case ready(relayed: MediaAddress)
    /// Why, in words for a log.
    case failed(String)
    /// The buffer is used again for the next.
    case datagram(PacketBuffer, MediaAddress)
  }

  /// How long TCP and TLS may take together.
  static let connectMilliseconds: Int64 = 5_000
  /// Bytes that may wait for a slow network: half a second of sound. What comes on top of them is lost, as it would be on a
  /// network of datagrams, rather than late.
  static let mostWaiting = 6_000

  private let eventLoop: any EventLoop
  private let client: TURNClient
  private let track: (any Channel) -> Void
  private var tell: ((RelayConnection, Event) -> Void)?
  private var channel: (any Channel)?
  private let wakeUp: WakeUp

  init(
    on eventLoop: any EventLoop, _ configuration: TURNClient.Configuration, track: @escaping (any Channel) -> Void,
    tell: @escaping (RelayConnection, Event) -> Void
  ) {
    self.eventLoop = eventLoop
    wakeUp = WakeUp(on: eventLoop)
    client = TURNClient(configuration)
    self.track = track
    self.tell = tell
  }

  /// - Parameter context: for a server that is reached through TLS.
  func connect(to server: TURNServer, context: NIOSSLContext?) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let host = server.host.unbracketed
    // A numeric address is no server name of TLS; the certificate is held against it all the same.
    let isName = if case .name = server.host { true } else { false }
    let timeout = TimeAmount.milliseconds(RelayConnection.connectMilliseconds)
    let limit = eventLoop.scheduleTask(in: timeout) { bound.value.failed("no connection came about in time") }
    ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelOption(
        .writeBufferWaterMark, value: .init(low: RelayConnection.mostWaiting / 2, high: RelayConnection.mostWaiting)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          bound.value.adopt(channel)
          if server.isSecure {
            guard let context else { throw ChannelError.operationUnsupported }
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: context, serverHostname: isName ? host : nil))
          }
          try channel.pipeline.syncOperations.addHandler(RelayReader(bound.value, isSecure: server.isSecure, limit))
        }
      }
      .connect(host: host, port: Int(server.port))
      .whenFailure { error in
        limit.cancel()
        bound.value.failed(ErrorText.text(error))
      }
  }

  private func adopt(_ channel: any Channel) {
    self.channel = channel
    track(channel)
    if tell == nil { channel.close(promise: nil) }
  }

  /// Goes out with ``flush()``; is lost where the peer has no channel, or the network is too slow.
  func send(_ packet: PacketBuffer, to address: MediaAddress) {
    guard let channel, channel.isWritable, client.send(packet, to: address) else { return }
    write()
  }

  func flush() { channel?.flush() }

  /// Gives the allocation back; nothing is told any more.
  func close() {
    guard tell != nil else { return }
    tell = nil
    wakeUp.cancel()
    client.close()
    write()
    channel?.flush()
    channel?.close(promise: nil)
  }

  private func write() {
    let bytes = client.drainOutput()
    guard !bytes.isEmpty, let channel else { return }
    channel.write(channel.allocator.buffer(bytes: bytes), promise: nil)
  }

  private func failed(_ words: String) {
    guard let tell else { return }
    self.tell = nil
    wakeUp.cancel()
    channel?.close(promise: nil)
    tell(self, .failed(words))
  }

  private func settle(_ events: [TURNClient.Event]) {
    write()
    channel?.flush()
    for event in events {
      switch event {
      case .ready(let relayed): tell?(self, .ready(relayed: relayed))
      case .failed(let failure): failed("\(failure)")
      }
    }
    schedule()
  }

  private func schedule() {
    wakeUp.set(tell == nil ? nil : client.nextDeadline) { [weak self] in
      guard let self else { return }
      var events: [TURNClient.Event] = []
      self.client.advance(to: Clock.now, events: &events)
      self.settle(events)
    }
  }

  // MARK: From the channel

  fileprivate func opened() {
    var events: [TURNClient.Event] = []
    client.start(at: Clock.now, events: &events)
    settle(events)
  }

  fileprivate func received(_ bytes: ByteBuffer) {
    var events: [TURNClient.Event] = []
    client.receive(bytes.readableBytesView, at: Clock.now, events: &events) { packet, source in
      tell?(self, .datagram(packet, source))
    }
    settle(events)
  }

  fileprivate func ended(_ words: String) { failed(words) }
}

/// Bytes of an open connection.
private final class RelayReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: RelayConnection
  private let isSecure: Bool
  private let limit: Scheduled<Void>

  init(_ connection: RelayConnection, isSecure: Bool, _ limit: Scheduled<Void>) {
    self.connection = connection
    self.isSecure = isSecure
    self.limit = limit
  }

  func channelActive(context: ChannelHandlerContext) {
    if !isSecure { open() }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted = event as? TLSUserEvent { open() }
    context.fireUserInboundEventTriggered(event)
  }

  private func open() {
    limit.cancel()
    connection.opened()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { connection.received(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) {
    limit.cancel()
    connection.ended("the connection ended")
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    limit.cancel()
    connection.ended(ErrorText.text(error))
  }
}
