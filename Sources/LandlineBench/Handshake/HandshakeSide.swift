import CallModel
import NIOCore
import NIOPosix
import SDPCore
import SecureTransport

/// The apps' side of calls that shake hands: full ICE and DTLS for each call, on a port of its own. Sound goes only where
/// it is asked for. Belongs to its event loop.
final class HandshakeSide {
  let loop: any EventLoop
  let certificate: DTLSCertificate
  /// Shared by all legs: emptied after each input.
  let outbox = PacketOutbox()
  let packet = PacketBuffer()
  var events: [TransportEvent] = []
  private var random = SystemRandomNumberGenerator()

  /// - Throws: ``BenchProblem`` when the machine makes no certificate.
  init(on loop: any EventLoop) throws(BenchProblem) {
    self.loop = loop
    do {
      certificate = try DTLSCertificate()
    } catch {
      throw BenchProblem("no certificate can be made: \(error)")
    }
  }

  static func now() -> MonotonicInstant {
    MonotonicInstant(microseconds: Int64(ProcessClock.monotonicSeconds() * 1_000_000))
  }

  /// Opens a port and makes an offer.
  /// - Parameters:
  ///   - tell: What becomes of the leg.
  ///   - ready: The leg with its offer; without a port `tell` hears of it in its place.
  func open(_ tell: @escaping (HandshakeLeg.Event) -> Void, ready: @escaping (HandshakeLeg) -> Void) {
    let credentials = self.credentials()
    let leg = HandshakeLeg(self, credentials: credentials, sessionID: random.next() >> 2, tell)
    let bound = NIOLoopBound((leg: leg, ready: ready, tell: tell), eventLoop: loop)
    DatagramBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value.leg)
        }
      }
      .bind(host: "127.0.0.1", port: 0)
      .whenComplete { result in
        let (leg, ready, tell) = bound.value
        switch result {
        case .success(let channel):
          guard let port = channel.localAddress?.port, leg.opened(port: UInt16(clamping: port)) else {
            return tell(.failed("a port without a number"))
          }
          ready(leg)
        case .failure(let error): tell(.failed("no port: \(error)"))
        }
      }
  }

  func credentials() -> ICECredentials { ICECredentials(draw: { random.next() }) }
}

/// One call's port, checks and keys.
final class HandshakeLeg: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  enum Event {
    /// The keys of both directions are there.
    case secured
    case failed(String)
  }

  private static let port = MediaPort(rawValue: 0)

  let side: HandshakeSide
  private let first: ICECredentials
  private let tell: (Event) -> Void
  var negotiation: OfferAnswer
  var media: LocalMedia?
  private(set) var transport: ClientTransport?
  private var context: ChannelHandlerContext?
  private var wakeUp: Scheduled<Void>?
  private(set) var offer = ""
  /// Where the next packet of sound stands.
  var sound = SoundPosition()
  /// Packets of sound that came, and whose keys were right.
  private(set) var soundReceived = 0
  /// Told of each of them, unprotected.
  var heard: ((PacketBuffer) -> Void)?

  fileprivate init(
    _ side: HandshakeSide, credentials: ICECredentials, sessionID: UInt64, _ tell: @escaping (Event) -> Void
  ) {
    self.side = side
    first = credentials
    self.tell = tell
    negotiation = OfferAnswer(sessionID: sessionID, host: .ipv4(0x7F00_0001), policy: .client)
  }

  /// - Returns: `false` when no offer can be made for the port.
  fileprivate func opened(port: UInt16) -> Bool {
    let local = ClientTransport.Local(port: Self.port, address: MediaAddress(ipv4: 0x7F00_0001, port: port))
    transport = ClientTransport(
      ClientTransport.Configuration(
        locals: [local], certificate: side.certificate, credentials: first,
        draw: {
          var generator = SystemRandomNumberGenerator()
          return generator.next()
        }), at: HandshakeSide.now())
    let media = LocalMedia(
      host: .ipv4(0x7F00_0001), port: Int(port), fingerprint: side.certificate.fingerprint,
      iceCredentials: first, candidates: [local.candidate], canonicalName: "bench")
    self.media = media
    guard let description = try? negotiation.offer(from: media) else { return false }
    offer = description.text
    return true
  }

  /// Accepts the gateway's answer; checks begin.
  /// - Returns: what is wrong with it.
  func accept(answer: String) -> String? {
    do {
      let plan = try negotiation.accept(SessionDescription(parsing: answer))
      work { transport, now in transport.apply(plan, at: now, outbox: side.outbox, events: &side.events) }
      return nil
    } catch {
      return "an answer that is none: \(error)"
    }
  }

  func close() {
    wakeUp?.cancel()
    guard let transport else { return }
    transport.close(at: HandshakeSide.now(), outbox: side.outbox)
    send()
    self.transport = nil
    context?.close(promise: nil)
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let datagram = unwrapInboundIn(data)
    let bytes = datagram.data.readableBytesView
    guard bytes.count <= PacketBuffer.capacity, let source = datagram.remoteAddress.port else { return }
    // Everything is on 127.0.0.1.
    let address = MediaAddress(ipv4: 0x7F00_0001, port: UInt16(clamping: source))
    side.packet.replace(with: bytes)
    work { transport, now in
      let kind = transport.receive(
        side.packet, on: Self.port, from: address, at: now, outbox: side.outbox, events: &side.events)
      if case .rtp = kind {
        soundReceived += 1
        heard?(side.packet)
      }
    }
  }

  func work(_ body: (ClientTransport, MonotonicInstant) -> Void) {
    guard let transport else { return }
    let now = HandshakeSide.now()
    body(transport, now)
    send()
    let events = side.events
    side.events.removeAll(keepingCapacity: true)
    schedule(transport.nextDeadline, at: now)
    for event in events {
      switch event {
      case .secured: tell(.secured)
      case .failed(let failure): tell(.failed("media: \(failure.rawValue)"))
      case .addressProved, .addressDropped, .moved, .closedByPeer: break
      }
    }
  }

  private func send() {
    defer { side.outbox.removeAll() }
    guard let context, side.outbox.count > 0 else { return }
    for index in 0..<side.outbox.count {
      let address = side.outbox.address(at: index)
      guard let remote = try? SocketAddress(ipAddress: "127.0.0.1", port: Int(address.port)) else { continue }
      let data = context.channel.allocator.buffer(bytes: side.outbox.buffer(at: index).bytes)
      context.write(wrapOutboundOut(AddressedEnvelope(remoteAddress: remote, data: data)), promise: nil)
    }
    context.flush()
  }

  private func schedule(_ due: MonotonicInstant?, at now: MonotonicInstant) {
    wakeUp?.cancel()
    wakeUp = nil
    guard let due else { return }
    let wait = max(0, due.microseconds(since: now))
    wakeUp = side.loop.assumeIsolated().scheduleTask(in: .microseconds(wait)) { [weak self] in
      guard let self else { return }
      work { transport, now in transport.advance(to: now, outbox: side.outbox, events: &side.events) }
    }
  }
}
