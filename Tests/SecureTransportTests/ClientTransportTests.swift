import CallModel
import SDPCore
import SecureTransport
import Testing

/// The app's own side against the gateway's, over a network that does harm.
@Suite struct ClientTransportTests {
  private static func joined(isFull: Bool = false) throws -> ClientNetwork {
    let network = try ClientNetwork(isFull: isFull)
    try network.negotiate()
    network.run(for: 10_000) { !network.isJoined }
    try #require(network.isJoined)
    return network
  }

  @Test("On a calm network keys are there after four round trips and a few datagrams")
  func calm() throws {
    let network = try ClientNetwork()
    let start = network.now
    try network.negotiate()
    network.run(for: 10_000) { !network.isJoined }
    #expect(network.isJoined)
    #expect(network.now.milliseconds(since: start) <= 4 * 40)
    #expect(network.datagrams <= 12)
    #expect(network.clientEvents == [.addressProved(ClientNetwork.gatewayAddress), .secured(.aesGCM128)])
    #expect(network.client.destination == ClientNetwork.gatewayAddress)
    #expect(network.client.port == ClientNetwork.first.port)
  }

  @Test("Loss up to a fifth and any order only cost time", arguments: [0, 5, 10, 20], [false, true])
  func lossy(percent: Int, isFull: Bool) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let network = try ClientNetwork(seed: seed, isFull: isFull)
      network.lost = percent
      network.uneven = 150
      try network.negotiate()
      network.run(for: 30_000) { !network.isJoined }
      #expect(network.isJoined, "seed \(seed): \(network.clientEvents) \(network.peerEvents)")
      network.lost = 0
      network.uneven = 0
      network.sendMedia(1, fromClient: true)
      network.sendMedia(2, fromClient: false)
      network.run(for: 1_000)
      #expect(network.peerHeard == [1] && network.clientHeard == [2])
    }
  }

  @Test("Two full ends that both mean to control agree")
  func roleConflict() throws {
    let network = try Self.joined(isFull: true)
    network.run(for: 60_000)
    #expect(network.isJoined)
    #expect(network.clientEvents.contains(.secured(.aesGCM128)))
    #expect(network.peerEvents.contains(.secured(.aesGCM128)))
    #expect(network.peerEvents.allSatisfy { if case .failed = $0 { false } else { true } })
  }

  @Test("A certificate that the description does not name gets no media")
  func wrongFingerprint() throws {
    let network = try ClientNetwork(shown: try DTLSCertificate().fingerprint)
    try network.negotiate()
    network.run(for: 5_000)
    #expect(network.clientEvents.contains(.failed(.fingerprint)))
    #expect(!network.client.isReady)
    network.sendMedia(1, fromClient: true)
    #expect(network.peerHeard.isEmpty)
  }

  @Test("Consent is kept for as long as the peer answers, and lost half a minute after")
  func consent() throws {
    let network = try Self.joined()
    network.run(for: 300_000)
    #expect(network.isJoined)
    network.dead = [ClientNetwork.first.address]
    let cut = network.now
    network.run(for: 60_000) { network.client.destination != nil }
    #expect(network.clientEvents.last == .failed(.consentLost))
    #expect((23_000...30_100).contains(network.now.milliseconds(since: cut)))
    #expect(!network.client.isReady)
    network.run(for: 60_000)
    #expect(network.peerEvents.last == .failed(.consentLost))
    #expect(network.clientEvents.count { $0 == .failed(.consentLost) } == 1)
  }

  @Test("Without any answer there is no connection, told once")
  func noConnectivity() throws {
    let network = try ClientNetwork()
    network.dead = [ClientNetwork.first.address]
    let start = network.now
    try network.negotiate()
    network.run(for: 60_000) { network.clientEvents.isEmpty }
    #expect(network.now.milliseconds(since: start) == 30_000)
    // After 0, 0.5, 1.5, 3.5, 7.5 and 15.5 s, as RFC 8489 section 6.2.1 has it.
    #expect(network.datagrams == 6)
    network.run(for: 60_000)
    #expect(network.clientEvents == [.failed(.noConnectivity)])
    #expect(network.datagrams == 6)
  }

  @Test("An address that a relay gives is taken where that of the device leads nowhere, and only there")
  func relayed() throws {
    for isOpen in [false, true] {
      let network = try ClientNetwork()
      if !isOpen { network.dead = [ClientNetwork.first.address] }
      try network.negotiate()
      if !isOpen { network.run(for: 1_500) }
      #expect(network.client.seeksWay)
      network.add(ClientNetwork.relay)
      network.run(for: 10_000) { !network.isJoined }
      #expect(network.isJoined && !network.client.seeksWay)
      network.run(for: 5_000)
      #expect(network.client.port == (isOpen ? ClientNetwork.first : ClientNetwork.relay).port)
      network.sendMedia(1, fromClient: true)
      network.sendMedia(2, fromClient: false)
      network.run(for: 1_000)
      #expect(network.peerHeard == [1] && network.clientHeard == [2])
      #expect(network.peerDestination == (isOpen ? ClientNetwork.first : ClientNetwork.relay).address)
    }
  }

  @Test("A way through a relay is left for another network's, and taken again where that leads nowhere")
  func relayedAgain() throws {
    let network = try ClientNetwork()
    network.dead = [ClientNetwork.first.address]
    try network.negotiate()
    network.add(ClientNetwork.relay)
    network.run(for: 10_000) { !network.isJoined }
    #expect(network.client.port == ClientNetwork.relay.port)
    network.dead = [ClientNetwork.first.address, ClientNetwork.second.address]
    try network.restart(at: ClientNetwork.second)
    #expect(network.client.seeksWay)
    network.run(for: 1_500)
    #expect(network.client.seeksWay)
    let again = ClientTransport.Local(
      port: MediaPort(rawValue: 24), address: MediaAddress(ipv4: 0x0A00_0004, port: 6_003), preference: 0,
      isRelayed: true)
    network.add(again)
    network.run(for: 10_000) { network.client.seeksWay }
    #expect(network.client.port == again.port && network.client.isReady)
    network.sendMedia(5, fromClient: true)
    network.run(for: 1_000)
    #expect(network.peerHeard == [5])
  }

  @Test(
    "A restart at another address keeps the keys, whether the old way still works or not", arguments: [false, true])
  func restart(isCut: Bool) throws {
    let network = try Self.joined()
    network.sendMedia(1, fromClient: true)
    network.sendMedia(1, fromClient: false)
    network.run(for: 100)
    let before = network.clientEvents
    if isCut { network.dead = [ClientNetwork.first.address] }
    try network.restart(at: ClientNetwork.second)
    if !isCut {
      // Media takes the old way meanwhile.
      #expect(network.client.port == ClientNetwork.first.port)
      network.sendMedia(2, fromClient: true)
    }
    network.run(for: 2_000)
    #expect(network.client.port == ClientNetwork.second.port)
    #expect(network.peerEvents.contains(.moved(ClientNetwork.second.address)))
    network.sendMedia(3, fromClient: true)
    network.sendMedia(2, fromClient: false)
    network.run(for: 1_000)
    #expect(network.peerHeard == (isCut ? [1, 3] : [1, 2, 3]))
    #expect(network.clientHeard == [1, 2])
    let after = Array(network.clientEvents.dropFirst(before.count))
    #expect(after.contains(.moved(ClientNetwork.gatewayAddress)))
    #expect(!after.contains { if case .secured = $0 { true } else { false } })
    network.dead = [ClientNetwork.first.address]
    network.run(for: 120_000)
    #expect(network.isJoined)
  }

  @Test("A restart after consent was lost brings the same keys back")
  func restartAfterLoss() throws {
    let network = try Self.joined()
    network.dead = [ClientNetwork.first.address]
    network.run(for: 20_000)
    try network.restart(at: ClientNetwork.second)
    network.run(for: 5_000)
    #expect(network.isJoined)
    network.sendMedia(7, fromClient: true)
    network.run(for: 1_000)
    #expect(network.peerHeard == [7])
  }

  @Test("Behind a translator that gives another address the gateway follows within one consent check")
  func translator() throws {
    let network = try ClientNetwork()
    network.translated[ClientNetwork.first.address] = MediaAddress(ipv4: 0xC633_6401, port: 50_000)
    try network.negotiate()
    network.run(for: 5_000)
    #expect(network.isJoined)
    network.translated[ClientNetwork.first.address] = MediaAddress(ipv4: 0xC633_6401, port: 50_001)
    network.run(for: 7_000)
    #expect(network.peerEvents.contains(.moved(MediaAddress(ipv4: 0xC633_6401, port: 50_001))))
    network.sendMedia(9, fromClient: false)
    network.run(for: 1_000)
    #expect(network.clientHeard == [9])
  }

  @Test("When sound stops, the app checks within a second, and once where the peer only says nothing")
  func checksAfterSilence() throws {
    let network = try Self.joined()
    func speak(for packets: UInt16, from first: UInt16) {
      for sequence in first..<(first + packets) {
        network.sendMedia(sequence, fromClient: false)
        network.run(for: 20)
      }
    }
    speak(for: 50, from: 1)
    let other = MediaAddress(ipv4: 0xC633_6401, port: 50_001)
    network.translated[ClientNetwork.first.address] = other
    network.run(for: 1_100)
    #expect(network.peerEvents.last == .moved(other))
    speak(for: 10, from: 100)
    network.run(for: 100)
    #expect(network.clientHeard.suffix(10) == Array(100..<110))
    // A minute of silence costs one check more than the twelve or so of consent, each with its answer.
    let before = network.datagrams
    network.run(for: 60_000)
    #expect((20...34).contains(network.datagrams - before))
  }

  @Test(
    "Of two full ends either follows the other to new addresses, whoever nominates, and does not go back",
    arguments: 1...16 as ClosedRange<UInt64>)
  func fullPeerMoves(seed: UInt64) throws {
    let network = try ClientNetwork(seed: seed, isFull: true)
    try network.negotiate()
    network.run(for: 10_000) { !network.isJoined }
    let others = [50_001, 50_002].map { MediaAddress(ipv4: 0xC633_6401, port: $0) }
    var sequence: UInt16 = 0
    func speak(packets: Int, while goesOn: () -> Bool = { true }) {
      for _ in 0..<packets where goesOn() {
        sequence += 1
        network.sendMedia(sequence, fromClient: true)
        network.sendMedia(sequence, fromClient: false)
        network.run(for: 20)
      }
    }
    for other in others {
      speak(packets: 400)
      network.translated[ClientNetwork.first.address] = other
      network.lastCheck = nil
      speak(packets: 250) { network.peerDestination != other }
      let check = try #require(network.lastCheck)
      #expect(network.peerDestination == other)
      #expect(network.now.milliseconds(since: check) <= 2_000)
    }
    // The consent of the addresses that are gone ends alone.
    let start = sequence
    speak(packets: 2_500)
    #expect(network.isJoined)
    #expect(network.clientHeard.count { $0 > start } >= 2_490)
    #expect(network.peerHeard.count { $0 > start } >= 2_490)
    #expect(network.peerEvents.filter { if case .moved = $0 { true } else { false } } == others.map { .moved($0) })
  }

  @Test("Strangers get no answer, and what they send changes nothing")
  func strangers() throws {
    let network = try Self.joined()
    let stranger = MediaAddress(ipv4: 0xC000_0201, port: 9)
    let before = (network.clientEvents.count, network.datagrams)
    var peer = CheckingPeer(nominates: true)
    peer.password = "notThePasswordAtAll0000"
    for bytes in [
      peer.check().bytes, SRTPFixtures.rtp(sequence: 1).bytes, [22, 254, 253] + Array(repeating: 0, count: 20),
    ] {
      guard case .dropped = network.inject(bytes, from: stranger, on: ClientNetwork.first.port) else {
        Issue.record("a stranger's datagram was taken")
        continue
      }
    }
    #expect(network.clientEvents.count == before.0)
    #expect(network.datagrams == before.1)
    #expect(network.client.destination == ClientNetwork.gatewayAddress)
  }

  @Test("An end is told to the peer")
  func close() throws {
    let network = try Self.joined()
    let outbox = PacketOutbox()
    network.client.close(at: network.now, outbox: outbox)
    #expect(outbox.count == 1)
    #expect(network.client.nextDeadline == nil)
    #expect(!network.client.isReady)
  }
}
