import CallModel
import NIOCore
import NIOPosix
import SecureTransport

/// The UDP sockets of one call, and a relay that stands in for them, on the client's loop.
///
/// They are bound to the address from which the gateway was reached: what goes to the gateway's media goes the same way.
/// On a loopback there is one of each family, as a gateway may listen for apps on one and for media on the other.
final class MediaSockets {
  /// Takes one datagram; the buffer is used again for the next.
  typealias Receiver = (PacketBuffer, MediaPort, MediaAddress) -> Void

  enum Failure: Error {
    /// No socket could be bound.
    case noAddress
  }

  private static let datagramsPerRead = 16

  private let eventLoop: any EventLoop
  private var channels: [(port: MediaPort, address: MediaAddress, channel: any Channel)] = []
  private var relay: (port: MediaPort, connection: RelayConnection)?
  private var lastPort: Int32 = -1
  private var isClosed = false
  private let receiver: Receiver
  /// Is told of each socket, so that somebody can wait for its end.
  private let track: (any Channel) -> Void
  private let packet = PacketBuffer()

  init(on eventLoop: any EventLoop, track: @escaping (any Channel) -> Void, _ receiver: @escaping Receiver) {
    self.eventLoop = eventLoop
    self.track = track
    self.receiver = receiver
  }

  var locals: [ClientTransport.Local] {
    channels.enumerated().map { index, socket in
      ClientTransport.Local(port: socket.port, address: socket.address, preference: .max - UInt16(index))
    }
  }

  /// Opens sockets for a device that reaches the gateway from `host`, in place of those before.
  /// - Returns: Fails with ``Failure/noAddress`` when none could be bound.
  func open(from host: MediaAddress) -> EventLoopFuture<Void> {
    closeChannels()
    let hosts: [SIPHost] = host.isLoopback ? [.ipv4(0x7F00_0001), .ipv6(high: 0, low: 1)] : [host.host]
    let opened = hosts.map { host in bind(host) }
    return EventLoopFuture.andAllComplete(opened, on: eventLoop).assumeIsolated().flatMapThrowing {
      guard !self.channels.isEmpty else { throw Failure.noAddress }
    }.nonisolated()
  }

  /// What leaves by the port of the address that is returned goes through the relay, until other sockets are opened.
  func adopt(_ connection: RelayConnection, _ relayed: MediaAddress) -> ClientTransport.Local {
    relay?.connection.close()
    lastPort &+= 1
    let port = MediaPort(rawValue: lastPort)
    relay = (port, connection)
    return ClientTransport.Local(port: port, address: relayed, preference: 0, isRelayed: true)
  }

  func send(_ outbox: PacketOutbox) {
    for index in 0..<outbox.count {
      let port = outbox.port(at: index)
      if let relay, relay.port == port {
        relay.connection.send(outbox.buffer(at: index), to: outbox.address(at: index))
        continue
      }
      guard let socket = channels.first(where: { $0.port == port }),
        let address = outbox.address(at: index).socketAddress
      else { continue }
      let packet = outbox.buffer(at: index)
      var bytes = socket.channel.allocator.buffer(capacity: packet.count)
      packet.withUnsafeMutableRoom { room in
        _ = bytes.writeBytes(UnsafeRawBufferPointer(rebasing: room[..<packet.count]))
      }
      // A datagram that cannot be sent is a lost one: the protocols above expect that.
      socket.channel.write(AddressedEnvelope(remoteAddress: address, data: bytes), promise: nil)
    }
    for socket in channels { socket.channel.flush() }
    relay?.connection.flush()
    outbox.removeAll()
  }

  /// Nothing is received any more.
  func close() {
    isClosed = true
    closeChannels()
  }

  private func closeChannels() {
    for socket in channels { socket.channel.close(promise: nil) }
    channels = []
    relay?.connection.close()
    relay = nil
  }

  private func bind(_ host: SIPHost) -> EventLoopFuture<Void> {
    lastPort &+= 1
    let port = MediaPort(rawValue: lastPort)
    let sockets = NIOLoopBound(self, eventLoop: eventLoop)
    let made = NIOLoopBoundBox.makeEmptyBox(valueType: (any Channel).self, eventLoop: eventLoop)
    return DatagramBootstrap(group: eventLoop)
      // A vectored read shares one buffer among its datagrams.
      .channelOption(
        .recvAllocator,
        value: FixedSizeRecvByteBufferAllocator(capacity: PacketBuffer.capacity * MediaSockets.datagramsPerRead)
      )
      .channelOption(.datagramVectorReadMessageCount, value: MediaSockets.datagramsPerRead)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          made.value = channel
          sockets.value.track(channel)
          try channel.pipeline.syncOperations.addHandler(DatagramReader(port, sockets.value))
        }
      }
      .bind(host: host.unbracketed, port: 0)
      .map { channel in
        let sockets = sockets.value
        guard !sockets.isClosed, let local = channel.localAddress, let address = MediaAddress(local) else {
          return channel.close(promise: nil)
        }
        sockets.channels.append((port, address, channel))
      }
      .flatMapErrorThrowing { error in
        // NIO leaves a datagram socket open that it could not bind.
        made.value?.close(promise: nil)
        throw error
      }
  }

  /// A datagram came through the relay.
  func relayed(_ packet: PacketBuffer, from source: MediaAddress, by connection: RelayConnection) {
    guard !isClosed, let relay, relay.connection === connection else { return }
    receiver(packet, relay.port, source)
  }

  /// Whether this port is the relay's.
  func isRelay(_ port: MediaPort?) -> Bool { port != nil && relay?.port == port }

  fileprivate func received(_ bytes: ByteBuffer, on port: MediaPort, from address: SocketAddress) {
    guard !isClosed, bytes.readableBytes <= PacketBuffer.maximumDatagram, let source = MediaAddress(address) else {
      return
    }
    packet.count = bytes.readableBytes
    packet.withUnsafeMutableRoom { room in
      bytes.withUnsafeReadableBytes { room.copyMemory(from: $0) }
    }
    receiver(packet, port, source)
  }
}

private final class DatagramReader: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let port: MediaPort
  private weak var sockets: MediaSockets?

  init(_ port: MediaPort, _ sockets: MediaSockets) {
    self.port = port
    self.sockets = sockets
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    sockets?.received(envelope.data, on: port, from: envelope.remoteAddress)
  }

  /// An ICMP answer to an earlier datagram: no reason to close.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
