import CallModel
import SIPCore

/// An agent with the address it has in the simulated network.
struct SimulatedParty {
  static let listener = ListenerID(1)

  let index: Int
  let agent: UserAgent
  let address: TransportAddress

  init(index: Int, random: inout SeededGenerator) {
    self.index = index
    address = SimulatedParty.address(index)
    var configuration = UserAgentConfiguration(
      addresses: [
        AdvertisedAddress(listener: SimulatedParty.listener, transport: .udp, host: address.host, port: address.port)
      ],
      productName: random.one("Landline", ""), acceptsCalls: true,
      sessionTimer: SessionTimerPolicy(interval: random.one(nil, 90, 90, 180, 1800), minimum: random.one(90, 90, 150)),
      reliability: [.supported, .supported, .required, .off][random.index(4)], allowsTransfer: !random.chance(250))
    configuration.limits.firstResponseMilliseconds = random.one(32_000, 4000)
    let identifiers = SeededIdentifiers(random.fork())
    agent = UserAgent(configuration, identifiers: IdentifierSource { identifiers.next() })
  }

  static func address(_ index: Int) -> TransportAddress {
    TransportAddress(.udp, .ipv4(0xC000_020A &+ UInt32(truncatingIfNeeded: index)), port: 5060)
  }

  /// The way to an address; also how its datagrams come.
  static func path(to address: TransportAddress) -> SIPPath { SIPPath(listener: listener, remote: address) }
}
