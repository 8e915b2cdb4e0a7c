import CallModel
import SDPCore
import SecureTransport
import Testing

/// A call of an app's own core with the gateway's, or with another app's, while the network between them does what the
/// seed says. Both ends speak all the time.
final class PathCampaign {
  enum Trouble: CaseIterable {
    case rebinding, blackout, oneWay, longBlackout, restart
  }

  static let stranger = MediaAddress(ipv4: 0xCB00_7107, port: 7_007)
  /// Milliseconds between two packets of each end: fewer than a real call has, for a thousand of them.
  private static let pace: Int64 = 40
  /// Milliseconds from the network's return to the app's check, which does not wait for its turn, and from there to sound.
  private static let untilCheck: Int64 = 2_000
  private static let recovery: Int64 = 2_000

  let network: ClientNetwork
  let seed: UInt64
  let isFull: Bool
  private var chance: DTLSChance
  private var troubles: [Trouble] = []
  private var sequence: UInt16 = 0
  private var ports: UInt16 = 0
  private var restarts: UInt16 = 0

  init(seed: UInt64) throws {
    self.seed = seed
    isFull = seed % 4 == 0
    chance = DTLSChance(seed: seed &* 31)
    network = try ClientNetwork(seed: seed, isFull: isFull)
    network.uneven = Int64.random(in: 0...40, using: &chance)
    network.lost = Int.random(in: 0...5, using: &chance)
  }

  func run() throws {
    try network.negotiate()
    network.run(for: 30_000) { !network.isJoined }
    try #require(network.isJoined, "\(self)")
    for _ in 0..<3 {
      speak(for: Int64.random(in: 200...1_500, using: &chance))
      guard let trouble = Trouble.allCases.randomElement(using: &chance) else { return }
      troubles.append(trouble)
      try suffer(trouble)
      recover()
      expectNothingOfStrangers()
    }
  }

  private func suffer(_ trouble: Trouble) throws {
    switch trouble {
    case .rebinding: rebind()
    case .blackout:
      cut(client: true, peer: true)
      if Bool.random(using: &chance) { rebind() }
      speak(for: Int64.random(in: 100...6_000, using: &chance))
    case .oneWay:
      let isClient = Bool.random(using: &chance)
      cut(client: isClient, peer: !isClient)
      if Bool.random(using: &chance) { rebind() }
      speak(for: Int64.random(in: 100...6_000, using: &chance))
    case .longBlackout:
      // Longer than consent lasts: only a restart leads on.
      cut(client: true, peer: true)
      network.run(for: Int64.random(in: 31_000...40_000, using: &chance))
      cut(client: false, peer: false)
      try restart()
    case .restart:
      if Bool.random(using: &chance) { rebind() }
      try restart()
    }
    cut(client: false, peer: false)
  }

  private func cut(client: Bool, peer: Bool) {
    network.clientIsCut = client
    network.peerIsCut = peer
  }

  /// A translator on the way gives the app another address, and forgets the former one.
  private func rebind() {
    guard let local = network.locals.last else { return }
    ports += 1
    network.translated[local.address] = MediaAddress(ipv4: 0xC633_6401, port: 50_000 + ports)
  }

  private func restart() throws {
    restarts += 1
    let local = ClientTransport.Local(
      port: MediaPort(rawValue: 30 + Int32(restarts)),
      address: MediaAddress(ipv4: 0x0A00_0100 + UInt32(restarts), port: 6_100))
    network.dead.formUnion(network.locals.map(\.address))
    try network.restart(at: local, "r\(restarts)")
  }

  /// The network is whole again: a check comes, and then both directions flow.
  private func recover() {
    let harm = (network.lost, network.uneven)
    (network.lost, network.uneven) = (0, 20)
    network.lastCheck = nil
    for _ in 0..<(Self.untilCheck / Self.pace) where network.lastCheck == nil { speak(for: Self.pace) }
    #expect(network.lastCheck != nil || flows(), "no check: \(self)")
    for _ in 0..<(Self.recovery / Self.pace) where !flows() {}
    #expect(flows(), "a direction is dead: \(self)")
    (network.lost, network.uneven) = harm
  }

  /// One packet each way, as long as one may be under way: whether both came.
  private func flows() -> Bool {
    network.clientHeard = []
    network.peerHeard = []
    speak(for: Self.pace)
    let last = sequence
    network.run(for: 40)
    return network.clientHeard.contains(last) && network.peerHeard.contains(last)
  }

  private func speak(for milliseconds: Int64) {
    for _ in 0..<max(1, milliseconds / Self.pace) {
      sequence &+= 1
      network.sendMedia(sequence, fromClient: true)
      network.sendMedia(sequence, fromClient: false)
      network.run(for: Self.pace)
    }
  }

  /// Copies of what came are worth nothing to others, be it sound, keys or a check.
  private func expectNothingOfStrangers() {
    let destination = network.peerDestination
    for (kind, bytes) in network.recorded {
      // Two full ends may look at a copied check, and ask back; that no one answers.
      if isFull, kind == .stun { continue }
      guard case .dropped = network.injectIntoPeer(bytes, from: Self.stranger) else {
        Issue.record("\(kind) of a stranger was taken: \(self)")
        continue
      }
    }
    #expect(network.peerDestination == destination)
  }
}

extension PathCampaign: CustomStringConvertible {
  var description: String {
    "seed \(seed)\(isFull ? ", two full ends" : ""), \(troubles), \(network.clientEvents), \(network.peerEvents)"
  }
}

@Suite struct PathCampaignTests {
  @Test("A thousand networks leave no direction dead, and nothing is taken from where no check came from")
  func networks() throws {
    for seed in 1...1_000 as ClosedRange<UInt64> { try PathCampaign(seed: seed).run() }
  }
}
