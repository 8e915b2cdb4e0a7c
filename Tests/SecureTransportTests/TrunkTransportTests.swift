import CallModel
import SDPCore
import SecureTransport
import Testing

/// Plain RTP: whose packets are heard, and where ours go.
@Suite struct TrunkTransportTests {
  @Test func nothingPassesBeforeAPlanOrAfterTheEnd() throws {
    var leg = TrunkLeg()
    #expect(!leg.transport.isReady)
    #expect(leg.transport.destination == nil && leg.transport.controlDestination == nil)
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    #expect(!leg.transport.protectRTCP(SRTPFixtures.rtcp()))
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .dropped(.early))
    try leg.offered()
    #expect(leg.transport.isReady)
    leg.transport.close(at: .zero)
    #expect(!leg.transport.isReady)
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .dropped(.early))
    try leg.offered()
    #expect(!leg.transport.isReady)
  }

  @Test func plainMediaGoesWhereTheDescriptionSays() throws {
    var leg = TrunkLeg()
    try leg.offered()
    #expect(leg.events == [.secured(nil)])
    #expect(leg.transport.destination == TrunkLeg.peer)
    #expect(leg.transport.controlDestination == TrunkLeg.peerControl)
    #expect(leg.transport.controlPort == TrunkLeg.controlPort)
    let packet = SRTPFixtures.rtp(sequence: 1)
    let bytes = packet.bytes
    #expect(leg.transport.protectRTP(packet))
    #expect(packet.bytes == bytes)
    #expect(leg.receive(packet, from: TrunkLeg.peer) == .rtp)
    #expect(leg.receive(SRTPFixtures.rtcp(), from: TrunkLeg.peerControl, on: TrunkLeg.controlPort) == .rtcp)
    #expect(leg.transport.nextDeadline == nil)
  }

  @Test func sharedPortsCarryBoth() throws {
    var leg = TrunkLeg(multiplexed: true)
    try leg.offered(["a=rtcp-mux"])
    #expect(leg.transport.controlPort == TrunkLeg.port)
    #expect(leg.transport.controlDestination == TrunkLeg.peer)
    #expect(leg.receive(SRTPFixtures.rtcp(), from: TrunkLeg.peer) == .rtcp)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .rtp)
  }

  /// Where sharing was declined a peer may share all the same: its reports are never read as sound.
  @Test(arguments: [true, false]) func reportsOnTheMediaPort(isShared: Bool) throws {
    var leg = TrunkLeg(multiplexed: true)
    try leg.offered(isShared ? ["a=rtcp-mux"] : [])
    #expect(leg.transport.controlPort == (isShared ? TrunkLeg.port : TrunkLeg.controlPort))
    #expect(leg.transport.controlDestination == (isShared ? TrunkLeg.peer : TrunkLeg.peerControl))
    for type: UInt8 in 200...207 {
      let packet = PacketBuffer([0x80, type, 0, 6] + [UInt8](repeating: 0, count: 24))
      #expect(leg.receive(packet, from: TrunkLeg.peer) == (isShared ? .rtcp : .dropped(.kind)), "\(type)")
    }
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .rtp)
  }

  @Test func eachPortTakesItsOwnKindOnly() throws {
    var leg = TrunkLeg()
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtcp(), from: TrunkLeg.peer) == .dropped(.kind))
    let control = TrunkLeg.controlPort
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peerControl, on: control) == .dropped(.kind))
    let unknown = MediaPort(rawValue: 77)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer, on: unknown) == .dropped(.kind))
    // STUN and DTLS have no business here.
    for first: UInt8 in [0, 1, 20, 22, 63, 64, 127, 192, 255] {
      let packet = PacketBuffer([first] + [UInt8](repeating: 0, count: 40))
      #expect(leg.receive(packet, from: TrunkLeg.peer) == .dropped(.kind))
    }
    #expect(leg.count(.kind) == 12)
  }

  @Test func whatIsTooShortTooLongOrBrokenIsDropped() throws {
    var leg = TrunkLeg()
    try leg.offered()
    #expect(leg.receive(PacketBuffer(), from: TrunkLeg.peer) == .dropped(.length))
    #expect(leg.receive(PacketBuffer([0x80, 0, 0]), from: TrunkLeg.peer) == .dropped(.length))
    #expect(
      leg.receive(PacketBuffer([0x80] + [UInt8](repeating: 0, count: 10)), from: TrunkLeg.peer) == .dropped(.length))
    let long = PacketBuffer([0x80] + [UInt8](repeating: 0, count: PacketBuffer.maximumDatagram))
    #expect(leg.receive(long, from: TrunkLeg.peer) == .dropped(.length))
    let broken = PacketBuffer([0x9F] + [UInt8](repeating: 0, count: 20))
    #expect(leg.receive(broken, from: TrunkLeg.peer) == .dropped(.malformed))
    #expect(leg.count(.length) == 4 && leg.count(.malformed) == 1)
  }

  /// RTP Bleed and RTP Inject: ten thousand packets from everywhere, and nothing moves or is heard.
  @Test(arguments: [SourcePolicy.strict, TrunkLeg.learning()])
  func aSprayerIsNeitherHeardNorSentTo(_ policy: SourcePolicy) throws {
    var leg = TrunkLeg(policy)
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .rtp)
    var random = SRTPFixtures.Random(seed: 5)
    var heard = 0
    for number in 0..<10_000 {
      let host: UInt32 = number & 1 == 0 ? .random(in: 0...(.max), using: &random) : 0xC000_0200 + UInt32(number % 256)
      let address = MediaAddress(ipv4: host, port: .random(in: 1...(.max), using: &random))
      guard address != TrunkLeg.peer else { continue }
      let packet = SRTPFixtures.rtp(sequence: UInt16(truncatingIfNeeded: number))
      if leg.receive(packet, from: address, at: Int64(number / 10)) != .dropped(.source) { heard += 1 }
      if leg.transport.destination != TrunkLeg.peer { heard += 1 }
    }
    #expect(heard == 0)
    #expect(leg.count(.source) >= 9_990)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 2), from: TrunkLeg.peer, at: 9_000) == .rtp)
    #expect(leg.events == [.secured(nil)])
  }

  @Test func byDefaultAnotherPortOfTheSameHostIsAStranger() throws {
    var leg = TrunkLeg()
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.otherPort) == .dropped(.source))
    #expect(leg.transport.destination == TrunkLeg.peer)
  }

  @Test func aPeerBehindTranslationIsLearnedOnce() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.stranger) == .dropped(.source))
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.otherPort, at: 60_000) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.otherPort)
    #expect(leg.events.last == .moved(TrunkLeg.otherPort))
    for time: Int64 in [60_001, 60_499, 60_500, 99_000] {
      #expect(leg.receive(SRTPFixtures.rtp(sequence: 2), from: TrunkLeg.neighbour, at: time) == .dropped(.source))
      let third = MediaAddress(ipv4: 0xC000_0207, port: 9_999)
      #expect(leg.receive(SRTPFixtures.rtp(sequence: 2), from: third, at: time) == .dropped(.source))
    }
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 3), from: TrunkLeg.otherPort, at: 99_001) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.otherPort)
    // RTCP is learned by itself.
    #expect(leg.transport.controlDestination == TrunkLeg.peerControl)
    let control = MediaAddress(ipv4: 0xC000_0207, port: 41_235)
    #expect(leg.receive(SRTPFixtures.rtcp(), from: control, on: TrunkLeg.controlPort, at: 99_002) == .rtcp)
    #expect(leg.transport.controlDestination == control)
  }

  @Test func aBetterSourceTakesOverWithinTheWindowOnly() throws {
    for (time, takesOver) in [(499, true), (500, false)] as [(Int64, Bool)] {
      var leg = TrunkLeg(TrunkLeg.learning())
      try leg.offered()
      #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.neighbour) == .rtp)
      #expect(leg.transport.destination == TrunkLeg.neighbour)
      let result = leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.otherPort, at: time)
      #expect(result == (takesOver ? .rtp : .dropped(.source)))
      #expect(leg.transport.destination == (takesOver ? TrunkLeg.otherPort : TrunkLeg.neighbour))
    }
  }

  /// A port is used again while the former call's peer still sends: the named address wins whenever it speaks.
  @Test func aStaleSenderGivesWayToTheNamedAddress() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 900), from: TrunkLeg.otherPort) == .rtp)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer, at: 3_000) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.peer)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 901), from: TrunkLeg.otherPort, at: 3_020) == .dropped(.source))
    #expect(leg.events == [.secured(nil), .moved(TrunkLeg.otherPort), .moved(TrunkLeg.peer)])

    var strict = TrunkLeg()
    try strict.offered()
    #expect(strict.receive(SRTPFixtures.rtp(sequence: 900), from: TrunkLeg.otherPort) == .dropped(.source))
    #expect(strict.transport.destination == TrunkLeg.peer)
  }

  @Test func brokenPacketsTeachNothing() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered()
    let broken = PacketBuffer([0x9F] + [UInt8](repeating: 0, count: 20))
    #expect(leg.receive(broken, from: TrunkLeg.otherPort) == .dropped(.malformed))
    #expect(leg.transport.destination == TrunkLeg.peer)
  }

  @Test func withTheCheckOffStrangersAreHeardButNotSentTo() throws {
    var leg = TrunkLeg(.off)
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.stranger) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.peer)
  }

  @Test func anotherAddressInAPlanForgetsWhatWasLearned() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered()
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.otherPort) == .rtp)
    try leg.offered()
    #expect(leg.transport.destination == TrunkLeg.otherPort)
    try leg.offered(host: "IP4 192.0.2.9", port: 5_000)
    #expect(leg.transport.destination == MediaAddress(ipv4: 0xC000_0209, port: 5_000))
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 2), from: MediaAddress(ipv4: 0xC000_0209, port: 5_000)) == .rtp)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 2), from: TrunkLeg.otherPort) == .dropped(.source))
  }

  @Test func onHoldThereIsNowhereToSend() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered()
    try leg.offered(host: "IP4 0.0.0.0")
    #expect(!leg.transport.isReady)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.neighbour) == .rtp)
    #expect(leg.transport.destination == nil && leg.transport.controlDestination == nil)
    try leg.offered()
    #expect(leg.transport.isReady)
    #expect(leg.transport.destination == TrunkLeg.peer)
  }

  @Test func sixIsAsGoodAsFour() throws {
    var leg = TrunkLeg()
    try leg.offered(host: "IP6 2001:db8::7")
    let peer = MediaAddress(high: 0x2001_0db8_0000_0000, low: 7, port: 30_000)
    #expect(leg.transport.destination == peer)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: peer) == .rtp)
    let other = MediaAddress(high: 0x2001_0db8_0000_0000, low: 8, port: 30_000)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: other) == .dropped(.source))
  }

  @Test func networksHoldWhatTheirPrefixSays() throws {
    let host = SIPHost.ipv4(0xC000_0263)
    let ten = MediaAddress(ipv4: 0x0A00_0001, port: 1)
    #expect(try #require(MediaNetwork(host, prefixLength: 0)).contains(ten))
    let quarter = try #require(MediaNetwork(host, prefixLength: 26))
    #expect(quarter.contains(MediaAddress(ipv4: 0xC000_0240, port: 9)))
    #expect(!quarter.contains(MediaAddress(ipv4: 0xC000_0280, port: 9)))
    #expect(!quarter.contains(MediaAddress(high: 0x2001_0db8_0000_0000, low: 0xC000_0240, port: 9)))
    let one = try #require(MediaNetwork(host, prefixLength: 32))
    #expect(one.contains(TrunkLeg.neighbour) && !one.contains(TrunkLeg.peer))
    let six = try #require(MediaNetwork(.ipv6(high: 0x2001_0db8_0000_0001, low: 99), prefixLength: 48))
    #expect(six.contains(MediaAddress(high: 0x2001_0db8_0000_ffff, low: 1, port: 1)))
    #expect(!six.contains(MediaAddress(high: 0x2001_0db9_0000_0001, low: 99, port: 1)))
    let long = try #require(MediaNetwork(.ipv6(high: 1, low: 0xFF00), prefixLength: 120))
    #expect(long.contains(MediaAddress(high: 1, low: 0xFFFF, port: 1)))
    #expect(!long.contains(MediaAddress(high: 1, low: 0xFE00, port: 1)))
    #expect(try #require(MediaNetwork(.ipv6(high: 1, low: 2), prefixLength: 0)).contains(ten))
    #expect(MediaNetwork(host, prefixLength: 33) == nil)
    #expect(MediaNetwork(host, prefixLength: -1) == nil)
    #expect(MediaNetwork(.ipv6(high: 0, low: 1), prefixLength: 129) == nil)
    #expect(MediaNetwork(.name("trunk.example"), prefixLength: 8) == nil)
  }
}
