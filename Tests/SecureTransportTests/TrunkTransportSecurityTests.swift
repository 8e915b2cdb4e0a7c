import CallModel
import SDPCore
import SecureTransport
import Testing

/// SRTP with keys from the description.
@Suite struct TrunkTransportSecurityTests {
  private func sealed(_ context: SRTPContext, _ sequence: UInt16) -> PacketBuffer {
    let packet = SRTPFixtures.rtp(sequence: sequence)
    #expect(context.protectRTP(packet))
    return packet
  }

  @Test func everythingIsProtectedAndNothingPlainIsHeard() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    #expect(leg.events == [.secured(.aesCM128HMAC80)])
    let peer = try leg.peerReceiver()
    for sequence in 0..<100 as Range<UInt16> {
      let packet = SRTPFixtures.rtp(sequence: sequence)
      let plain = packet.bytes
      #expect(leg.transport.protectRTP(packet))
      #expect(packet.count == plain.count + 10)
      #expect(peer.unprotectRTP(packet) == .opened)
      #expect(packet.bytes == plain)
      let report = SRTPFixtures.rtcp()
      #expect(leg.transport.protectRTCP(report))
      #expect(peer.unprotectRTCP(report) == .opened)
    }
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.peer) == .dropped(.authentication))
    let control = TrunkLeg.controlPort
    #expect(
      leg.receive(SRTPFixtures.rtcp(), from: TrunkLeg.peerControl, on: control) == .dropped(.authentication))
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    #expect(leg.receive(sealed(sender, 1), from: TrunkLeg.peer) == .rtp)
    let report = SRTPFixtures.rtcp()
    #expect(sender.protectRTCP(report))
    #expect(leg.receive(report, from: TrunkLeg.peerControl, on: control) == .rtcp)
    // What may not be protected may not be sent.
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 99)))
    #expect(!leg.transport.protectRTP(PacketBuffer([0x80, 0, 0])))
  }

  @Test func replaysAndForgeriesAreCounted() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    let packet = sealed(sender, 1)
    let copy = PacketBuffer(packet.bytes)
    #expect(leg.receive(packet, from: TrunkLeg.peer) == .rtp)
    #expect(leg.receive(copy, from: TrunkLeg.peer) == .dropped(.replay))
    for _ in 0..<1_000 {
      let forged = sealed(try TrunkLeg.peerSender(TrunkLeg.secondKey), 2)
      #expect(leg.receive(forged, from: TrunkLeg.peer) == .dropped(.authentication))
    }
    #expect(leg.receive(PacketBuffer(packet.bytes.prefix(14)), from: TrunkLeg.peer) == .dropped(.length))
    #expect(leg.count(.replay) == 1 && leg.count(.authentication) == 1_000 && leg.count(.length) == 1)
    #expect(leg.receive(sealed(sender, 2), from: TrunkLeg.peer) == .rtp)
    #expect(leg.events == [.secured(.aesCM128HMAC80)])
  }

  @Test func onlyProofMovesAProtectedPeer() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    let forger = try TrunkLeg.peerSender(TrunkLeg.secondKey)
    #expect(leg.receive(SRTPFixtures.rtp(sequence: 1), from: TrunkLeg.neighbour) == .dropped(.authentication))
    #expect(leg.receive(sealed(forger, 1), from: TrunkLeg.otherPort) == .dropped(.authentication))
    #expect(leg.transport.destination == TrunkLeg.peer)
    let first = sealed(sender, 1)
    let copy = PacketBuffer(first.bytes)
    #expect(leg.receive(first, from: TrunkLeg.otherPort, at: 10_000) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.otherPort)
    // A copy proves nothing, nor does anything from outside the networks.
    #expect(leg.receive(copy, from: TrunkLeg.neighbour, at: 20_000) == .dropped(.replay))
    #expect(leg.receive(sealed(sender, 2), from: TrunkLeg.stranger, at: 20_000) == .dropped(.source))
    #expect(leg.transport.destination == TrunkLeg.otherPort)
    // A real one does, at any time; but not to and fro.
    #expect(leg.receive(sealed(sender, 3), from: TrunkLeg.neighbour, at: 30_000) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.neighbour)
    #expect(leg.receive(sealed(sender, 4), from: TrunkLeg.peer, at: 30_499) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.neighbour)
    #expect(leg.receive(sealed(sender, 5), from: TrunkLeg.peer, at: 30_500) == .rtp)
    #expect(leg.transport.destination == TrunkLeg.peer)
    #expect(leg.events.count == 4)
  }

  @Test func strictMeansStrictWithKeysToo() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    #expect(leg.receive(sealed(sender, 1), from: TrunkLeg.otherPort) == .dropped(.source))
    #expect(leg.receive(sealed(sender, 2), from: TrunkLeg.peer) == .rtp)
  }

  @Test func theFormerKeyOpensForItsGrace() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let old = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    let new = try TrunkLeg.peerSender(TrunkLeg.secondKey)
    #expect(leg.receive(sealed(old, 1), from: TrunkLeg.peer) == .rtp)
    try leg.offered([TrunkLeg.crypto(TrunkLeg.secondKey)], at: MonotonicInstant(milliseconds: 1_000))
    let end = 1_000 + TrunkTransport.keyGrace
    #expect(leg.transport.nextDeadline == MonotonicInstant(milliseconds: end))
    #expect(leg.receive(sealed(new, 1), from: TrunkLeg.peer, at: 1_001) == .rtp)
    #expect(leg.receive(sealed(old, 2), from: TrunkLeg.peer, at: end - 1) == .rtp)
    #expect(leg.receive(sealed(old, 3), from: TrunkLeg.peer, at: end) == .dropped(.authentication))
    leg.transport.advance(to: MonotonicInstant(milliseconds: end), events: &leg.events)
    #expect(leg.transport.nextDeadline == nil)
    #expect(leg.receive(sealed(old, 4), from: TrunkLeg.peer, at: end + 1) == .dropped(.authentication))
    #expect(leg.receive(sealed(new, 2), from: TrunkLeg.peer, at: end + 1) == .rtp)
  }

  @Test func theFormerKeyProvesNoAddress() throws {
    var leg = TrunkLeg(TrunkLeg.learning())
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let old = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    #expect(leg.receive(sealed(old, 1), from: TrunkLeg.peer) == .rtp)
    try leg.offered([TrunkLeg.crypto(TrunkLeg.secondKey)], host: "IP4 192.0.2.9")
    let moved = MediaAddress(ipv4: 0xC000_0209, port: 30_000)
    #expect(leg.transport.destination == moved)
    #expect(leg.receive(sealed(old, 2), from: TrunkLeg.peer, at: 700) == .rtp)
    #expect(leg.transport.destination == moved)
  }

  @Test func aRepeatedOfferGoesOnWithTheCounters() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let peer = try leg.peerReceiver()
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    let first = sealed(sender, 1)
    let copy = PacketBuffer(first.bytes)
    #expect(leg.receive(first, from: TrunkLeg.peer) == .rtp)
    for sequence in [65_534, 65_535, 0, 1] as [UInt16] {
      try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
      let packet = SRTPFixtures.rtp(sequence: sequence)
      #expect(leg.transport.protectRTP(packet))
      #expect(peer.unprotectRTP(packet) == .opened, "\(sequence)")
    }
    #expect(leg.receive(copy, from: TrunkLeg.peer) == .dropped(.replay))
    #expect(leg.events == [.secured(.aesCM128HMAC80)])
  }

  @Test func aKeyThatIsUsedUpIsToldOnceAndOpensNothingMore() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey, lifetime: "|2^2")])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    for sequence in 0..<4 as Range<UInt16> {
      #expect(leg.receive(sealed(sender, sequence), from: TrunkLeg.peer) == .rtp)
    }
    #expect(leg.transport.nextDeadline == .zero)
    for sequence in 4..<8 as Range<UInt16> {
      #expect(leg.receive(sealed(sender, sequence), from: TrunkLeg.peer) == .dropped(.authentication))
    }
    leg.transport.advance(to: .zero, events: &leg.events)
    #expect(leg.events == [.secured(.aesCM128HMAC80), .failed(.key)])
    #expect(leg.transport.nextDeadline == nil)
  }

  @Test func sharedPortsAreProtectedAlike() throws {
    var leg = TrunkLeg(multiplexed: true)
    try leg.offered(["a=rtcp-mux", TrunkLeg.crypto(TrunkLeg.firstKey)])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    let report = SRTPFixtures.rtcp()
    #expect(sender.protectRTCP(report))
    #expect(leg.receive(report, from: TrunkLeg.peer) == .rtcp)
    #expect(leg.receive(sealed(sender, 1), from: TrunkLeg.peer) == .rtp)
    #expect(leg.receive(SRTPFixtures.rtcp(), from: TrunkLeg.peer) == .dropped(.authentication))
  }

  /// A million forgeries before one real packet, when asked for at length.
  @Test func aFloodOfForgeriesEndsNoCall() throws {
    var leg = TrunkLeg()
    try leg.offered([TrunkLeg.crypto(TrunkLeg.firstKey)])
    let sender = try TrunkLeg.peerSender(TrunkLeg.firstKey)
    #expect(leg.receive(sealed(sender, 1), from: TrunkLeg.peer) == .rtp)
    let flood = SRTPFixtures.isFull ? 1_000_000 : 100_000
    let forged = SRTPFixtures.rtp(sequence: 1, payload: 90)
    for number in 0..<flood {
      forged.store(UInt16(truncatingIfNeeded: number), at: 2)
      _ = leg.receive(forged, from: TrunkLeg.peer, at: Int64(number / 100))
    }
    #expect(leg.count(.authentication) + leg.count(.replay) == UInt64(flood))
    #expect(leg.receive(sealed(sender, 2), from: TrunkLeg.peer, at: 20_000) == .rtp)
    #expect(leg.events == [.secured(.aesCM128HMAC80)])
    #expect(leg.transport.isReady)
  }
}
