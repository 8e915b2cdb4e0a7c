import CallModel
import SDPCore
import SecureTransport
import Testing

@Suite struct AppTransportTests {
  @Test func aLegComesUpAndCarriesMediaBothWays() throws {
    let leg = try AppLeg()
    #expect(leg.transport.destination == nil)
    leg.connect()
    #expect(leg.taken() == [.addressProved(CheckingPeer.here), .secured(.aesGCM128)])
    #expect(leg.transport.isReady)
    #expect(leg.transport.destination == CheckingPeer.here)
    for sequence in 1...100 as ClosedRange<UInt16> {
      let plain = SRTPFixtures.rtp(sequence: sequence).bytes
      let incoming = leg.protected(sequence)
      #expect(incoming.bytes != plain)
      #expect(leg.deliver(incoming) == .rtp)
      #expect(incoming.bytes == plain)
      let outgoing = PacketBuffer(plain)
      #expect(leg.transport.protectRTP(outgoing))
      #expect(outgoing.bytes != plain)
      #expect(leg.peerReceiving?.unprotectRTP(outgoing) == .opened)
      #expect(outgoing.bytes == plain)
    }
    let report: [UInt8] = [0x80, 201, 0, 1, 1, 2, 3, 4]
    let incoming = PacketBuffer(report)
    #expect(leg.peerSending?.protectRTCP(incoming) == true)
    #expect(leg.deliver(incoming) == .rtcp)
    #expect(incoming.bytes == report)
    let outgoing = PacketBuffer(report)
    #expect(leg.transport.protectRTCP(outgoing))
    #expect(leg.peerReceiving?.unprotectRTCP(outgoing) == .opened)
    #expect(leg.transport.dropped.allSatisfy { $0 == 0 })
    #expect(leg.outbox.dropped == 0)
  }

  @Test func keysBeforeTheNominationAreNotEnough() throws {
    let leg = try AppLeg()
    leg.check(nominates: false)
    leg.startPeer()
    #expect(leg.peer.keys != nil)
    #expect(leg.taken() == [.addressProved(CheckingPeer.here)])
    #expect(!leg.transport.isReady)
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    // The peer may speak already.
    #expect(leg.deliver(leg.protected(1)) == .rtp)
    leg.check(nominates: true)
    #expect(leg.taken() == [.secured(.aesGCM128)])
    #expect(leg.transport.isReady)
    leg.check(nominates: true)
    #expect(leg.taken().isEmpty)
  }

  @Test func mediaBeforeTheKeysIsEarly() throws {
    let leg = try AppLeg()
    #expect(leg.deliver(leg.protected(1)) == .dropped(.source))
    leg.check(nominates: true)
    #expect(leg.deliver(leg.protected(2)) == .dropped(.early))
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    #expect(!leg.transport.protectRTCP(PacketBuffer([0x80, 201, 0, 1, 1, 2, 3, 4])))
  }

  @Test func asClientTheHandshakeBeginsWithTheFirstCheck() throws {
    let leg = try AppLeg(setup: .passive)
    leg.startPeer()
    leg.advance(milliseconds: 2000)
    #expect(leg.peer.isHandshaking)
    #expect(leg.media.isEmpty)
    leg.check(nominates: true)
    #expect(leg.transport.isReady)
    #expect(leg.taken() == [.addressProved(CheckingPeer.here), .secured(.aesGCM128)])
    #expect(leg.deliver(leg.protected(1)) == .rtp)
  }

  @Test func lostFlightsAreSentAgain() throws {
    let leg = try AppLeg(setup: .passive)
    leg.checks.nominates = true
    // The transport's ClientHello is lost, with the answer to the check.
    _ = leg.transport.receive(
      leg.checks.check(), on: AppLeg.port, from: CheckingPeer.here, at: leg.now, outbox: leg.outbox, events: &leg.events
    )
    #expect(leg.outbox.count == 2)
    leg.outbox.removeAll()
    leg.startPeer()
    let due = try #require(leg.transport.nextDeadline)
    #expect(due > leg.now)
    leg.advance(milliseconds: due.milliseconds(since: leg.now))
    #expect(leg.transport.isReady)
  }

  @Test func aPlanThatComesAfterTheChecksStartsTheHandshake() throws {
    let leg = try AppLeg(applies: false)
    leg.check(nominates: true)
    #expect(leg.answers.count == 1)
    #expect(leg.transport.nextDeadline != nil)
    leg.startPeer()
    #expect(leg.count(.early) == 1)
    leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint))
    leg.advance(milliseconds: 1000)
    #expect(leg.transport.isReady)
  }

  @Test func aPlanWithoutDTLSHasNoMedia() throws {
    var policy = MediaPolicy.trunk(.none)
    policy.codecs = [.pcmu]
    var exchange = OfferAnswer(sessionID: 1, host: .ipv4(0x7F00_0001), policy: policy)
    let offer = "v=0\r\no=- 7 1 IN IP4 192.0.2.7\r\ns=-\r\nc=IN IP4 192.0.2.7\r\nt=0 0\r\nm=audio 9000 RTP/AVP 0\r\n"
    let plan = try exchange.answer(
      SessionDescription(parsing: offer), from: LocalMedia(host: .ipv4(0x7F00_0001), port: 4000)
    ).plan
    let leg = try AppLeg(applies: false)
    leg.apply(plan)
    #expect(leg.taken() == [.failed(.handshake)])
    leg.check(nominates: true)
    #expect(!leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .dropped(.early))
    // A better one may follow.
    leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint))
    leg.startPeer()
    #expect(leg.transport.isReady)
  }

  // MARK: Ends

  @Test func aHandshakeHasADeadline() throws {
    let leg = try AppLeg()
    leg.advance(milliseconds: 20_000)
    leg.check(nominates: true)
    _ = leg.taken()
    let due = leg.now.advanced(byMilliseconds: 15_000)
    #expect(leg.transport.nextDeadline == due)
    leg.advance(milliseconds: 14_999)
    #expect(leg.taken().isEmpty)
    leg.advance(milliseconds: 1)
    #expect(leg.taken() == [.failed(.handshakeTimeout)])
    #expect(leg.transport.nextDeadline == nil)
    leg.startPeer()
    #expect(!leg.transport.isReady)
  }

  @Test func withoutANominationThereIsNoConnectivity() throws {
    let leg = try AppLeg()
    leg.check(nominates: false)
    leg.startPeer()
    leg.advance(milliseconds: 29_999)
    leg.check(nominates: false)
    _ = leg.taken()
    leg.advance(milliseconds: 1)
    #expect(leg.taken() == [.addressDropped(CheckingPeer.here), .failed(.noConnectivity)])
    #expect(!leg.transport.isReady)
  }

  @Test func mediaEndsWithConsentAndComesBackWithARestart() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    // Media alone keeps nothing alive.
    for step in 1...30 as ClosedRange<UInt16> {
      #expect(leg.transport.isReady)
      #expect(leg.deliver(leg.protected(step)) == .rtp)
      leg.advance(milliseconds: 1000)
    }
    #expect(leg.taken() == [.addressDropped(CheckingPeer.here), .failed(.consentLost)])
    #expect(!leg.transport.isReady)
    #expect(leg.transport.destination == nil)
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    #expect(leg.deliver(leg.protected(31)) == .dropped(.source))
    #expect(leg.check(nominates: true) == .dropped(.stun))
    let fresh = try CheckingPeer.credentials("newU", "anotherPassword0000000")
    leg.transport.restart(fresh)
    leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint, userFragment: "peer2"))
    leg.checks = CheckingPeer(credentials: fresh)
    leg.check(nominates: true, from: CheckingPeer.elsewhere)
    #expect(leg.taken() == [.addressProved(CheckingPeer.elsewhere)])
    // The keys went on.
    #expect(leg.transport.isReady)
    #expect(leg.deliver(leg.protected(32), from: CheckingPeer.elsewhere) == .rtp)
  }

  @Test func closingTellsThePeer() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    leg.transport.close(at: leg.now, outbox: leg.outbox)
    leg.carry()
    #expect(leg.peer.state == .closedByPeer)
    #expect(!leg.transport.isReady)
    #expect(leg.transport.nextDeadline == nil)
    #expect(leg.deliver(leg.protected(1)) == .dropped(.early))
    #expect(leg.check(nominates: true) == .dropped(.stun))
    leg.transport.close(at: leg.now, outbox: leg.outbox)
    #expect(leg.outbox.count == 0)
    #expect(leg.taken().isEmpty)
  }

  @Test func thePeersCloseIsToldOnce() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    leg.peer.close(outbox: leg.peerOutbox, on: AppLeg.port, to: AppLeg.gateway)
    leg.carry()
    #expect(leg.taken() == [.closedByPeer])
    #expect(!leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .dropped(.early))
    leg.advance(milliseconds: 60_000)
    #expect(leg.taken().isEmpty)
  }

  // MARK: Later plans

  @Test func anotherPlanOfTheSamePeerKeepsTheKeys() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint))
    #expect(leg.taken().isEmpty)
    #expect(leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .rtp)
  }

  @Test func anotherFingerprintTakesAnotherAssociation() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    let other = try DTLSCertificate()
    let stale = leg.protected(1)
    leg.apply(try AppLeg.plan(other.fingerprint))
    #expect(!leg.transport.isReady)
    #expect(leg.deliver(stale) == .dropped(.early))
    leg.replacePeer(try DTLSFixture.association(.client, certificate: other))
    leg.startPeer()
    #expect(leg.taken() == [.secured(.aesGCM128)])
    #expect(leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .rtp)
  }

  @Test func aRestartMovesMediaAndKeepsTheKeys() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    let fresh = try CheckingPeer.credentials("newU", "anotherPassword0000000")
    leg.transport.restart(fresh)
    leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint, userFragment: "peer2"))
    #expect(leg.transport.destination == CheckingPeer.here)
    #expect(leg.deliver(leg.protected(1)) == .rtp)
    leg.checks = CheckingPeer(credentials: fresh)
    leg.check(nominates: true, from: CheckingPeer.elsewhere)
    #expect(
      leg.taken() == [
        .addressProved(CheckingPeer.elsewhere), .moved(CheckingPeer.elsewhere), .addressDropped(CheckingPeer.here),
      ])
    #expect(leg.transport.destination == CheckingPeer.elsewhere)
    #expect(leg.deliver(leg.protected(2), from: CheckingPeer.elsewhere) == .rtp)
    #expect(leg.deliver(leg.protected(3)) == .dropped(.source))
  }
}
