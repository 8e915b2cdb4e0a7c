import CallModel
import LandlineWire
import NIOCore
import NIOPosix
import SDPCore
import SIPCore
import SecureTransport

/// The far end of all calls: a SIP agent that answers, lets ring, or is busy, as the called number says, and one port for
/// the sound of all of them. Belongs to its event loop.
final class SoakTrunk: SIPNodeDelegate, ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  enum Event {
    case established
    /// With the packets of sound that reached it.
    case ended(soundReceived: Int)
  }

  /// One call as the far end has it.
  final class Leg {
    let handle: CallHandle
    fileprivate(set) var isUp = false
    fileprivate var negotiation: OfferAnswer
    fileprivate var sound = SoundPosition()
    fileprivate(set) var soundReceived = 0
    fileprivate var exchange: ExchangeID?

    fileprivate init(_ handle: CallHandle, _ negotiation: OfferAnswer) {
      self.handle = handle
      self.negotiation = negotiation
    }
  }

  static let listener = ListenerID(1)
  static let host = SIPHost.ipv4(0x7F00_0001)
  private static let busy = 486
  private static let notAcceptable = 488

  /// What happens to the call that went to this number.
  var told: ((String, Event) -> Void)?

  private let loop: any EventLoop
  private var node: SIPNode?
  private var context: ChannelHandlerContext?
  private var port: UInt16 = 0
  private var legs: [String: Leg] = [:]
  private var numbers: [CallHandle: String] = [:]
  /// By the gateway's port.
  private var bySource: [UInt16: String] = [:]
  private var lastExchange: UInt64 = 0
  private let packet = PacketBuffer()

  private init(on loop: any EventLoop) { self.loop = loop }

  /// Opens the ports of SIP and of sound.
  static func start(port: UInt16, on loop: any EventLoop) async throws -> NIOLoopBound<SoakTrunk> {
    let trunk = try await loop.submit { NIOLoopBound(SoakTrunk(on: loop), eventLoop: loop) }.get()
    try await DatagramBootstrap(group: loop)
      .channelOption(.socketOption(.so_rcvbuf), value: 4_194_304)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(trunk.value) }
      }
      .bind(host: "127.0.0.1", port: 0)
      .map { channel in trunk.value.port = UInt16(clamping: channel.localAddress?.port ?? 0) }.get()
    var agent = UserAgentConfiguration(addresses: [])
    agent.acceptsCalls = true
    agent.limits.incomingCallsPerSecond = 10_000
    let configuration = SIPNode.Configuration(
      listeners: [SIPListener(id: listener, transport: .udp, host: host, port: port)], agent: agent)
    let node = try await SIPNode.start(configuration, on: loop) { _ in trunk.value }
    try await loop.submit { trunk.value.node = node }.get()
    return trunk
  }

  func leg(_ number: String) -> Leg? { legs[number] }

  var legsUp: Int { legs.values.count { $0.isUp } }

  func stop() -> EventLoopFuture<Void> {
    context?.close(promise: nil)
    guard let node else { return loop.makeSucceededVoidFuture() }
    return loop.makeFutureWithTask { try await node.shutdown() }
  }

  // MARK: What it does by itself

  func hangUp(_ number: String) {
    guard let leg = legs[number] else { return }
    node?.execute(.hangUp(leg.handle, HangUp()))
  }

  /// Puts the gateway on hold, or takes it back.
  /// - Returns: `false` while another offer is open.
  func hold(_ number: String, _ isHeld: Bool) -> Bool {
    guard let leg = legs[number], leg.isUp, leg.exchange == nil else { return false }
    leg.negotiation.direction = isHeld ? .sendOnly : .sendAndReceive
    guard let offer = try? leg.negotiation.offer(from: media) else { return false }
    lastExchange += 1
    let exchange = ExchangeID(lastExchange)
    leg.exchange = exchange
    node?.execute(.offer(leg.handle, exchange, body(offer)))
    return true
  }

  /// Sends one packet of sound where the direction allows.
  func sendSound(_ number: String) {
    guard let leg = legs[number], leg.isUp, let plan = leg.negotiation.plan, plan.audio.direction.sends,
      plan.remote.host != nil, let context,
      let remote = try? SocketAddress(ipAddress: "127.0.0.1", port: plan.remote.port)
    else { return }
    leg.sound.write(plan.audio.send, into: packet)
    let data = context.channel.allocator.buffer(bytes: packet.bytes)
    context.writeAndFlush(wrapOutboundOut(AddressedEnvelope(remoteAddress: remote, data: data)), promise: nil)
  }

  /// Answers a call that rings.
  func accept(_ number: String) {
    guard let leg = legs[number], !leg.isUp, let answer = leg.negotiation.localDescription else { return }
    node?.execute(.accept(leg.handle, body: body(answer), headers: CustomHeaders()))
  }

  private var media: LocalMedia { LocalMedia(host: Self.host, port: Int(port)) }

  private func body(_ description: SessionDescription) -> MessageBody {
    MessageBody(sessionDescription: Array(description.text.utf8))
  }

  // MARK: SIP

  func node(_ node: SIPNode, met problem: TransportProblem) {}

  func node(_ node: SIPNode, happened event: UserAgentEvent) {
    switch event {
    case .incoming(let handle, let call): incoming(handle, call, node)
    case .established(let handle, _):
      guard let number = numbers[handle], let leg = legs[number] else { return }
      leg.isUp = true
      told?(number, .established)
    case .ended(let handle, _):
      guard let number = numbers.removeValue(forKey: handle), let leg = legs.removeValue(forKey: number) else { return }
      if let source = leg.negotiation.plan?.remote.port { bySource[UInt16(clamping: source)] = nil }
      told?(number, .ended(soundReceived: leg.soundReceived))
    case .offered(let handle, let exchange, let offer): offered(handle, exchange, offer, node)
    case .answered(let handle, let exchange, let answer):
      guard let leg = numbers[handle].flatMap({ legs[$0] }), leg.exchange == exchange else { return }
      leg.exchange = nil
      if let description = try? SessionDescription(parsing: answer.bytes) {
        _ = try? leg.negotiation.accept(description)
      }
    case .offerRefused(let handle, let exchange, _):
      guard let leg = numbers[handle].flatMap({ legs[$0] }), leg.exchange == exchange else { return }
      leg.exchange = nil
      leg.negotiation.withdrawOffer()
    default: break
    }
  }

  private func incoming(_ handle: CallHandle, _ call: IncomingCall, _ node: SIPNode) {
    let number = String((call.target.user ?? "").prefix { $0 != ";" })
    var negotiation = OfferAnswer(sessionID: UInt64.random(in: 1...UInt64.max), host: Self.host, policy: .trunk(.none))
    guard SoakPlan(number: number) != .busy else { return node.execute(.reject(handle, Rejection(Self.busy))) }
    guard let offer = call.offer, let description = try? SessionDescription(parsing: offer.bytes),
      let plan = try? negotiation.answer(description, from: media).plan
    else { return node.execute(.reject(handle, Rejection(Self.notAcceptable))) }
    legs[number] = Leg(handle, negotiation)
    numbers[handle] = number
    bySource[UInt16(clamping: plan.remote.port)] = number
    node.execute(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    if case .answers = SoakPlan(number: number) {
      let wait = TimeAmount.milliseconds(Int64.random(in: 0...SoakPlan.longestRinging))
      loop.assumeIsolated().scheduleTask(in: wait) { [weak self] in self?.accept(number) }
    }
  }

  private func offered(_ handle: CallHandle, _ exchange: ExchangeID, _ offer: MessageBody?, _ node: SIPNode) {
    guard let leg = numbers[handle].flatMap({ legs[$0] }) else { return }
    guard let offer else {
      guard let own = try? leg.negotiation.offer(from: media) else {
        return node.execute(.refuse(exchange, status: Self.notAcceptable, warning: nil))
      }
      leg.exchange = exchange
      return node.execute(.answer(exchange, body(own)))
    }
    guard let description = try? SessionDescription(parsing: offer.bytes),
      let answer = try? leg.negotiation.answer(description, from: media)
    else { return node.execute(.refuse(exchange, status: Self.notAcceptable, warning: nil)) }
    node.execute(.answer(exchange, body(answer.description)))
  }

  // MARK: Sound

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let source = unwrapInboundIn(data).remoteAddress.port,
      let number = bySource[UInt16(clamping: source)]
    else { return }
    legs[number]?.soundReceived += 1
  }
}
