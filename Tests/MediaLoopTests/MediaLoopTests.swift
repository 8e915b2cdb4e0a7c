import CallModel
import LandlineWire
import MediaCore
import PeerKit
import SDPCore
import SecureTransport
import Synchronization
import Testing

/// A loop with real sockets and bridges that show what reaches them.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct MediaLoopTests {
  // MARK: Packets

  @Test(arguments: [
    (SIPHost.ownLoopback(), SIPHost.ipv4(0x7F00_0001)), (.ipv6(high: 0, low: 1), .ipv6(high: 0, low: 1)),
  ])
  func datagramsReachTheirBridges(_ host: SIPHost, _ peers: SIPHost) async throws {
    let loop = try ProbeLoop(on: host)
    let apps = try (0..<5).map { _ in try MediaPeer(on: peers) }
    let trunks = try (0..<5).map { _ in try MediaPeer(on: peers) }
    var ports: [TrunkPorts] = []
    for number in 0..<5 {
      ports.append(try await loop.reserve(number))
      try await loop.open(number)
      loop.route("fragment\(number)", to: number)
      try await loop.prove(apps[number], "fragment\(number)", to: number)
    }
    for round in 10..<13 {
      for number in 0..<5 {
        apps[number].send([UInt8(round), 1], to: loop.app)
        trunks[number].send([UInt8(round), 2], to: ports[number].address)
        trunks[number].send([UInt8(round), 3], to: try #require(ports[number].controlAddress))
      }
      for number in 0..<5 {
        #expect(try await apps[number].receive("app \(number)") == [UInt8(number), UInt8(round), 1])
        let answers = [try await trunks[number].receive("RTP"), try await trunks[number].receive("RTCP")]
        #expect(Set(answers) == [[UInt8(number), UInt8(round), 2], [UInt8(number), UInt8(round), 3]])
      }
    }
    let datagrams = loop.seen.events.compactMap { seen -> (UInt64, LegID, MediaPort, MediaAddress)? in
      if case .datagram(let number, let side, let bytes, let port, let address) = seen, bytes[0] >= 4 {
        return (number, side, port, address)
      }
      return nil
    }
    #expect(datagrams.count == 45)
    for (number, side, port, address) in datagrams {
      let expected = ports[Int(number)]
      if address == apps[Int(number)].address {
        #expect(side == .near)
        #expect(port == loop.thread.appPorts[0].port)
      } else {
        #expect(side == .far)
        #expect(address == trunks[Int(number)].address)
        #expect(port == expected.port || port == expected.control)
      }
    }
    let statistics = try await loop.inspect().statistics
    #expect(statistics.receivedDatagrams == 50)
    #expect(statistics.sentDatagrams == 45)
    #expect(statistics.sentBytes == 3 * 45)
    try await loop.finish()
  }

  @Test func bothFamiliesAtOnce() async throws {
    let loop = try ProbeLoop {
      $0.app.append(.init(bind: .ipv6(high: 0, low: 1), port: 0))
      $0.trunk.append(.init(bind: .ipv6(high: 0, low: 1)))
    }
    let peer = try MediaPeer(on: .ipv6(high: 0, low: 1))
    let old = try MediaPeer()
    try await loop.open(1)
    loop.route("both", to: 1)
    try await loop.prove(old, "both", to: 1)
    peer.send([0] + "both".utf8, to: loop.thread.appPorts[1].bound)
    try await loop.events.wait(for: "two proofs", count: 2) { _ in true }
    peer.send([9], to: loop.thread.appPorts[1].bound)
    old.send([8], to: loop.app)
    #expect(try await peer.receive("IPv6") == [1, 9])
    #expect(try await old.receive("IPv4") == [1, 8])
    let ports = try await loop.reserve(1, interface: 1)
    peer.send([7], to: ports.address)
    #expect(try await peer.receive("IPv6 trunk") == [1, 7])
    try await loop.finish()
  }

  /// Nothing that a stranger sends reaches a bridge, is answered, or keeps the calls waiting.
  @Test func junkIsHarmless() async throws {
    let loop = try ProbeLoop()
    let app = try MediaPeer()
    let stranger = try MediaPeer()
    try await loop.open(1)
    loop.route("call", to: 1)
    try await loop.prove(app, "call", to: 1)
    var random = SeededNumbers(4)
    var sent = 0
    for turn in 0..<2_000 {
      let size = turn % 10 == 0 ? 1501 + Int(random.next() % 1000) : Int(random.next() % 200)
      var bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if turn % 3 == 0, !bytes.isEmpty { bytes[0] = 0 }
      if stranger.send(bytes, to: loop.app) { sent += 1 }
      if turn % 100 == 0 {
        app.send([9], to: loop.app)
        #expect(try await app.receive("answer among junk") == [1, 9])
      }
    }
    try await eventually("all junk is read") {
      try await loop.inspect().statistics.receivedDatagrams >= UInt64(sent + 21)
    }
    let (statistics, holdings) = try await loop.inspect()
    #expect(
      statistics.unknownSources + statistics.unknownUserFragments + statistics.oversized + statistics.empty
        == UInt64(sent))
    #expect(statistics.unknownUserFragments > 0 && statistics.oversized >= 200 && statistics.empty > 0)
    #expect(statistics.sentDatagrams == 20)
    #expect(holdings.addresses == 1)
    #expect(stranger.receiveNow() == nil)
    try await loop.finish()
  }

  @Test func trunkPortsKeepTheirDatagramsUntilABridgeIsThere() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    let ports = try await loop.reserve(1)
    peer.send([9], to: ports.address)
    try await eventually("it is counted") { try await loop.inspect().statistics.early == 1 }
    try await loop.open(1)
    peer.send([8], to: ports.address)
    #expect(try await peer.receive("answer") == [1, 8])
    try await loop.finish()
  }

  /// Each destination that the kernel refuses costs its own datagrams only.
  @Test func whatCannotBeSentIsCounted() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    let app = loop.thread.appPorts[0].port
    let ports = try await loop.reserve(1)
    let targets: [MediaAddress] = [
      MediaAddress(ipv4: 0xFFFF_FFFF, port: 4000), MediaAddress(high: 0, low: 1, port: 4000),
      MediaAddress(ipv4: 0xC000_0201, port: 0),
    ]
    var number = 1
    for target in targets {
      for port in [app, ports.port] {
        try await loop.open(number, .init(answer: (port, target), answers: 3))
        loop.route("n\(number)", to: number)
        let sender = try MediaPeer()
        try await loop.prove(sender, "n\(number)", to: number)
        sender.send([9], to: loop.app)
        number += 1
      }
    }
    try await eventually("all are counted") {
      let seen = try await loop.inspect().statistics
      return seen.sendsUnreachable + seen.sendsFailed == 18
    }
    peer.send([8], to: ports.address)
    try await loop.open(number)
    loop.route("last", to: number)
    try await loop.prove(peer, "last", to: number)
    peer.send([7], to: loop.app)
    #expect(try await peer.receive("answer") == [UInt8(number), 7])
    try await loop.finish()
  }

  /// More answers than one system call takes, and more than the outbox holds.
  @Test(arguments: [1, 63, 64, 65, 200, 512, 600])
  func manyAnswersGoOut(_ count: Int) async throws {
    let loop = try ProbeLoop { $0.appBufferBytes = 8_388_608 }
    let peer = try MediaPeer()
    try await loop.open(1, .init(answers: count))
    loop.route("many", to: 1)
    try await loop.prove(peer, "many", to: 1)
    peer.send([9], to: loop.app)
    // The kernel holds at least so many for a peer that has not read yet.
    for _ in 0..<min(count, 200) { #expect(try await peer.receive("one of \(count)") == [1, 9]) }
    let statistics = try await loop.inspect().statistics
    #expect(statistics.sentDatagrams == UInt64(min(count, 512)))
    #expect(statistics.outboxOverflows == UInt64(max(count - 512, 0)))
    try await loop.finish()
  }

  // MARK: Who an address belongs to

  @Test func checksOfAKnownAddressReachTheCallTheyName() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    try await loop.open(1)
    try await loop.open(2)
    loop.route("first", to: 1)
    loop.route("second", to: 2)
    try await loop.prove(peer, "first", to: 1)
    try await loop.prove(peer, "second", to: 2)
    peer.send([9], to: loop.app)
    #expect(try await peer.receive("answer") == [1, 9], "the first that proved an address keeps it")
    #expect(try await loop.inspect().statistics.contestedAddresses == 1)
    loop.close(1)
    try await loop.closed(1)
    peer.send([8], to: loop.app)
    #expect(try await peer.receive("answer") == [2, 8])
    #expect(try await loop.inspect().holdings.addresses == 1)
    peer.send([1] + "second".utf8, to: loop.app)
    try await eventually("it is dropped") { try await loop.inspect().holdings.addresses == 0 }
    peer.send([7], to: loop.app)
    try await eventually("it is unknown") { try await loop.inspect().statistics.unknownSources == 1 }
    try await loop.finish()
  }

  /// Two apps that speak with each other are both behind the one port; each is its own leg, also from one address.
  @Test func twoAppsOfOneCallAreTwoLegs() async throws {
    let loop = try ProbeLoop()
    let left = try MediaPeer()
    let right = try MediaPeer()
    try await loop.open(1)
    loop.route("left", to: 1, .near)
    loop.route("right", to: 1, .far)
    try await loop.prove(left, "left", to: 1, .near)
    try await loop.prove(right, "right", to: 1, .far)
    for (peer, side) in [(left, LegID.near), (right, .far)] {
      peer.send([9], to: loop.app)
      #expect(try await peer.receive("answer") == [1, 9])
      let address = peer.address
      let port = loop.thread.appPorts[0].port
      #expect(loop.seen.events.last == .datagram(1, side, [9], port, address))
    }
    #expect(try await loop.inspect().holdings.addresses == 2)
    right.send([1] + "right".utf8, to: loop.app)
    try await eventually("it is dropped") { try await loop.inspect().holdings.addresses == 1 }
    right.send([0] + "left".utf8, to: loop.app)
    try await eventually("it is the left one's") { try await loop.inspect().holdings.addresses == 2 }
    right.send([8], to: loop.app)
    #expect(try await right.receive("answer") == [1, 8])
    #expect(loop.seen.events.last == .datagram(1, .near, [8], loop.thread.appPorts[0].port, right.address))
    try await loop.finish()
  }

  @Test func addressesAndFragmentsOfOneCallAreBounded() async throws {
    let loop = try ProbeLoop {
      $0.addressesPerBridge = 2
      $0.userFragmentsPerBridge = 3
    }
    try await loop.open(1)
    for number in 0..<5 { loop.route("f\(number)", to: 1) }
    let peers = try (0..<4).map { _ in try MediaPeer() }
    for peer in peers { try await loop.prove(peer, "f0", to: 1) }
    let (statistics, holdings) = try await loop.inspect()
    #expect(holdings.addresses == 2)
    #expect(holdings.userFragments == 3)
    #expect(statistics.refusedRoutes == 4)
    try await loop.finish()
  }

  /// A user fragment cannot be taken over.
  @Test func aFragmentBelongsToOneCall() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    try await loop.open(1)
    try await loop.open(2)
    loop.route("same", to: 1)
    loop.route("same", to: 2)
    try await loop.prove(peer, "same", to: 1)
    loop.close(1)
    try await loop.closed(1)
    #expect(try await loop.inspect().holdings.userFragments == 0)
    loop.route("same", to: 2)
    try await loop.prove(peer, "same", to: 2)
    try await loop.finish()
  }

  // MARK: Ports after use

  /// Who still sends to a port is not heard in the next call on it.
  @Test func staleSendersAreHeardByNobody() async throws {
    let loop = try ProbeLoop {
      $0.trunk[0].ports = 20_000...20_001
      // Longer than this test is ever kept waiting between two of its packets.
      $0.quarantineMilliseconds = 1_500
      $0.quarantineLimitMilliseconds = 60_000
    }
    let stale = try MediaPeer()
    let ports = try await loop.reserve(1)
    try await loop.open(1)
    stale.send([9], to: ports.address)
    #expect(try await stale.receive("answer") == [1, 9])
    loop.close(1)
    try await loop.closed(1)
    await #expect(throws: MediaLoopFailure.portsExhausted) { try await loop.reserve(2) }
    // While it sends, the port is nobody's; as soon as it has been quiet for once, it can be used.
    for _ in 0..<3 {
      let before = try await loop.inspect().statistics.staleDatagrams
      stale.send([8], to: ports.address)
      try await eventually("it is thrown away") { try await loop.inspect().statistics.staleDatagrams > before }
    }
    var next: TrunkPorts?
    try await eventually("the port is free") {
      next = try? await loop.reserve(2)
      return next != nil
    }
    #expect(next?.address == ports.address)
    #expect(next?.port != ports.port, "a number of the shell is not used twice")
    try await loop.open(2)
    stale.send([7], to: ports.address)
    #expect(try await stale.receive("a new call's answer") == [2, 7])
    let heard = loop.seen.events.count { if case .datagram = $0 { true } else { false } }
    #expect(heard == 2)
    try await loop.finish()
  }

  @Test func releasedPortsSendNothing() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    let old = try await loop.reserve(1)
    let kept = try await loop.reserve(1, control: false)
    #expect(kept.control == nil && kept.controlAddress == nil)
    try await loop.open(1, .init(answer: (old.port, peer.address)))
    peer.send([9], to: kept.address)
    #expect(try await peer.receive("over the old port") == [1, 9])
    #expect(loop.thread.post(.releaseTrunkPorts(MediaBridge.Identifier(1), old)))
    peer.send([8], to: kept.address)
    try await eventually("it is counted") { try await loop.inspect().statistics.sendsOnReleasedPort == 1 }
    #expect(try await loop.inspect().holdings.trunkPairs == 1)
    #expect(loop.thread.post(.releaseTrunkPorts(MediaBridge.Identifier(1), old)))
    #expect(try await loop.inspect().statistics.lateCommands == 1)
    try await loop.finish()
  }

  @Test func refusalsSayWhy() async throws {
    let loop = try ProbeLoop {
      $0.trunk[0].ports = 20_000...20_005
      $0.maximumBridges = 3
      $0.portsPerBridge = 2
    }
    for _ in 0..<2 { _ = try await loop.reserve(1) }
    await #expect(throws: MediaLoopFailure.bridgePorts) { try await loop.reserve(1) }
    await #expect(throws: MediaLoopFailure.interface) { try await loop.reserve(2, interface: 1) }
    _ = try await loop.reserve(2)
    await #expect(throws: MediaLoopFailure.portsExhausted) { try await loop.reserve(3) }
    #expect(try await loop.inspect().holdings.calls == 2)
    try await loop.open(3)
    await #expect(throws: MediaLoopFailure.duplicate) { try await loop.open(3) }
    await #expect(throws: MediaLoopFailure.bridges) { try await loop.open(4) }
    let (statistics, holdings) = try await loop.inspect()
    #expect(statistics.portsExhausted == 1)
    #expect(holdings.calls == 3 && holdings.trunkPairs == 3)
    try await loop.finish()
  }

  @Test func aBridgeThatCannotBeMadeLeavesNothing() async throws {
    struct Broken: Error {}
    let loop = try ProbeLoop()
    let result = await withCheckedContinuation { continuation in
      let isTaken = loop.thread.post(
        .open(MediaBridge.Identifier(1), make: { _, _ in throw Broken() }) { continuation.resume(returning: $0) })
      #expect(isTaken)
    }
    #expect(throws: MediaLoopFailure.bridge) { try result.get() }
    #expect(try await loop.inspect().holdings.isIdle)
    try await loop.finish()
  }
}
