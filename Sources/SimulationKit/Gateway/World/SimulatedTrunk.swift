import CallModel
import SDPCore
import SIPCore

/// A carrier: a real agent, and above it somebody who behaves as the plan says.
final class SimulatedTrunk {
  /// One call that came in from the gateway.
  final class Leg {
    let handle: CallHandle
    let trunk: Int
    let number: Int
    let port: Int
    let callee: GatewayPlan.Callee
    var negotiation: OfferAnswer
    let offer: MessageBody?
    /// Whether sound leaves it.
    var isSending = false
    var hasAccepted = false
    var isUp = false
    var isOver = false
    /// It says nothing any more and hears nothing: only its agent still answers.
    var hasVanished = false
    var holdsLeft: Int
    var isHolding = false
    var offered: ExchangeID?

    init(_ handle: CallHandle, trunk: Int, number: Int, port: Int, callee: GatewayPlan.Callee, offer: MessageBody?) {
      self.handle = handle
      self.trunk = trunk
      self.number = number
      self.port = port
      self.callee = callee
      self.offer = offer
      holdsLeft = callee.holds
      negotiation = OfferAnswer(
        sessionID: UInt64(port), host: SimulatedTrunk.mediaHost(trunk), policy: .trunk([.none, .sdes]))
    }

    var media: LocalMedia {
      LocalMedia(
        host: SimulatedTrunk.mediaHost(trunk), port: port, rtcpPort: port + 1,
        keyMaterial: (0..<LocalMedia.keyMaterialLength).map { UInt8(($0 + port) & 255) })
    }

    func answer(_ body: MessageBody?) -> MessageBody? {
      guard let body, let offer = try? SessionDescription(parsing: body.bytes),
        let (answer, _) = try? negotiation.answer(offer, from: media)
      else { return nil }
      return MessageBody(sessionDescription: Array(answer.text.utf8))
    }

    func makeOffer(_ direction: MediaDirection) -> MessageBody? {
      negotiation.direction = direction
      guard let offer = try? negotiation.offer(from: media) else { return nil }
      return MessageBody(sessionDescription: Array(offer.text.utf8))
    }

    func accept(_ body: MessageBody) -> Bool {
      guard let answer = try? SessionDescription(parsing: body.bytes) else { return false }
      return (try? negotiation.accept(answer)) != nil
    }
  }

  enum Deed {
    case ring, early, answer, hangUp, vanish, hold
  }

  static let listener = ListenerID(0)
  static let gatewayAddress = TransportAddress(.udp, .ipv4(0xC000_0201), port: 5060)
  static func address(_ index: Int) -> TransportAddress {
    TransportAddress(.udp, .ipv4(0xC633_6401 &+ UInt32(truncatingIfNeeded: index)), port: 5060)
  }
  static func mediaHost(_ index: Int) -> SIPHost { .ipv4(0xC633_6481 &+ UInt32(truncatingIfNeeded: index)) }
  static func path(to address: TransportAddress) -> SIPPath { SIPPath(listener: listener, remote: address) }

  let index: Int
  private(set) var agent: UserAgent
  var legs: [CallHandle: Leg] = [:]
  /// Dead until then.
  var isDead = false
  private var lastExchange: UInt64 = 1 << 32

  init(_ index: Int, identifiers: IdentifierSource) {
    self.index = index
    agent = SimulatedTrunk.agent(index, identifiers)
  }

  /// Comes back and remembers nothing.
  /// - Returns: the legs that are gone.
  func restart(identifiers: IdentifierSource) -> [Leg] {
    agent = SimulatedTrunk.agent(index, identifiers)
    let gone = Array(legs.values)
    for leg in gone {
      leg.isOver = true
      leg.isSending = false
    }
    legs = [:]
    return gone
  }

  private static func agent(_ index: Int, _ identifiers: IdentifierSource) -> UserAgent {
    let address = address(index)
    var configuration = UserAgentConfiguration(
      addresses: [
        AdvertisedAddress(listener: listener, transport: .udp, host: address.host, port: address.port)
      ], productName: "Carrier", acceptsCalls: true,
      sessionTimer: SessionTimerPolicy(interval: [nil, 1800, 1200][index % 3], minimum: 90))
    configuration.reliability = [.supported, .off, .supported][index % 3]
    return UserAgent(configuration, identifiers: identifiers)
  }

  func newExchange() -> ExchangeID {
    lastExchange += 1
    return ExchangeID(lastExchange)
  }
}
