import CallModel
import MediaCore
import NIOCore
import NIOPosix
import SDPCore
import SecureTransport
import Testing

/// The gateway's side of one call's media: ICE-lite on a socket of its own, and an echo of what it hears.
final class GatewayMedia {
  private let eventLoop: any EventLoop
  private let certificate: DTLSCertificate
  private let channel: any Channel
  private let port: UInt16
  private var credentials: ICECredentials
  private var exchange: OfferAnswer
  private let endpoint: AudioEndpoint
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()
  private var events: [AudioEndpoint.Event] = []
  private var beat: RepeatedTask?
  private var wakeUp: Scheduled<Void>?
  private(set) var secured = 0
  private(set) var restarts = 0
  private(set) var loudest: Int16 = 0
  /// No datagram reaches it.
  var isDeaf = false

  static func open(on eventLoop: any EventLoop) -> EventLoopFuture<NIOLoopBound<GatewayMedia>> {
    DatagramBootstrap(group: eventLoop).bind(host: "127.0.0.1", port: 0).flatMapThrowing { channel in
      NIOLoopBound(try GatewayMedia(channel), eventLoop: eventLoop)
    }
  }

  private init(_ channel: any Channel) throws {
    eventLoop = channel.eventLoop
    self.channel = channel
    certificate = try DTLSCertificate()
    credentials = GatewayMedia.freshCredentials()
    port = UInt16(channel.localAddress?.port ?? 0)
    exchange = OfferAnswer(sessionID: 7, host: .ipv4(0x7F00_0001), policy: .app)
    var generator = SystemRandomNumberGenerator()
    let transport = AppTransport.Configuration(
      port: MediaPort(rawValue: 1), certificate: certificate, credentials: credentials)
    endpoint = AudioEndpoint(
      AudioEndpoint.Configuration(
        MediaLegConfiguration(
          .app(transport),
          stream: .init(canonicalName: "gateway", unixMicroseconds: 1_700_000_000_000_000, draw: { generator.next() }))),
      workspace: MediaWorkspace(), at: GatewayMedia.now)
    try channel.pipeline.syncOperations.addHandler(Reader(self))
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    beat = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(20), delay: .milliseconds(20)) { _ in
      bound.value.echo()
    }
  }

  private static func freshCredentials() -> ICECredentials {
    var random = SystemRandomNumberGenerator()
    return ICECredentials(draw: { random.next() })
  }

  private static var now: MonotonicInstant {
    MonotonicInstant(microseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1000))
  }

  func answer(_ offer: String) throws -> String {
    let description = try SessionDescription(parsing: offer)
    if exchange.restartsICE(description) {
      restarts += 1
      credentials = GatewayMedia.freshCredentials()
      endpoint.handle(.restart(credentials, locals: nil), at: GatewayMedia.now, outbox: outbox, events: &events)
    }
    let candidate = ICECandidate(
      foundation: "1", component: 1, priority: 2_130_706_431, address: "127.0.0.1", port: Int(port))
    let local = LocalMedia(
      host: .ipv4(0x7F00_0001), port: Int(port), fingerprint: certificate.fingerprint, iceCredentials: credentials,
      candidates: [candidate])
    let (answer, plan) = try exchange.answer(description, from: local)
    endpoint.handle(.plan(plan), at: GatewayMedia.now, outbox: outbox, events: &events)
    settle()
    return answer.text
  }

  var direction: MediaDirection? { exchange.plan?.audio.direction }

  private func echo() {
    let sound = endpoint.nextFrame(at: GatewayMedia.now)
    loudest = max(loudest, sound.max() ?? 0)
    endpoint.send(sound, at: GatewayMedia.now, outbox: outbox)
    settle()
  }

  fileprivate func received(_ bytes: ByteBuffer, from address: SocketAddress) {
    guard !isDeaf, case .v4 = address, bytes.readableBytes <= PacketBuffer.maximumDatagram else { return }
    packet.replace(with: bytes.readableBytesView)
    endpoint.receive(
      packet, on: MediaPort(rawValue: 1),
      from: MediaAddress(ipv4: 0x7F00_0001, port: UInt16(address.port ?? 0)),
      at: GatewayMedia.now, outbox: outbox, events: &events)
    settle()
  }

  private func settle() {
    for index in 0..<outbox.count {
      let address = outbox.address(at: index)
      guard let target = try? SocketAddress(ipAddress: address.host.description, port: Int(address.port)) else {
        continue
      }
      channel.write(
        AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: outbox.buffer(at: index).bytes)), promise: nil)
    }
    channel.flush()
    outbox.removeAll()
    for event in events {
      if case .secured = event { secured += 1 }
    }
    events = []
    wakeUp?.cancel()
    guard let due = endpoint.nextDeadline else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    wakeUp = eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(due.microseconds, 0)) * 1000)) {
      let media = bound.value
      media.endpoint.advance(to: GatewayMedia.now, outbox: media.outbox, events: &media.events)
      media.settle()
    }
  }

  func close() {
    beat?.cancel()
    endpoint.handle(.close, at: GatewayMedia.now, outbox: outbox, events: &events)
    settle()
    wakeUp?.cancel()
    channel.close(promise: nil)
  }
}

private final class Reader: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  private weak var media: GatewayMedia?
  init(_ media: GatewayMedia) { self.media = media }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    media?.received(envelope.data, from: envelope.remoteAddress)
  }
}
