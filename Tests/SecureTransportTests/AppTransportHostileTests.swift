import CallModel
import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

/// What strangers, and peers with bad intentions, send to an app leg.
@Suite struct AppTransportHostileTests {
  static func stranger(_ number: Int) -> MediaAddress {
    MediaAddress(ipv4: 0x0A00_0000 + UInt32(number / 60_000), port: UInt16(1024 + number % 60_000))
  }

  /// A whole ClientHello, as a client with the certificate that the description does not name sends it.
  static func hello() throws -> [UInt8] {
    let outbox = PacketOutbox()
    try DTLSFixture.association(.client, certificate: DTLSCertificate())
      .start(at: .zero, outbox: outbox, on: AppLeg.port, to: AppLeg.gateway)
    return try #require(AppLeg.taken(outbox).first)
  }

  @Test func aSprayOfClientHellosHarmsNoLeg() throws {
    let hello = try AppTransportHostileTests.hello()
    let leg = try AppLeg()
    let packet = PacketBuffer()
    var answered = 0
    func spray(_ count: Int) {
      for number in 0..<count {
        packet.replace(with: hello)
        let received = leg.transport.receive(
          packet, on: AppLeg.port, from: AppTransportHostileTests.stranger(number), at: leg.now, outbox: leg.outbox,
          events: &leg.events)
        #expect(received == .dropped(.source))
        answered += leg.outbox.count
        leg.outbox.removeAll()
      }
    }
    spray(5000)
    leg.check(nominates: true)
    spray(5000)
    leg.startPeer()
    spray(5000)
    #expect(answered == 0)
    #expect(leg.taken() == [.addressProved(CheckingPeer.here), .secured(.aesGCM128)])
    #expect(leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .rtp)
    #expect(leg.count(.source) == 15_000)
  }

  @Test func anotherCertificateGetsNoMedia() throws {
    let leg = try AppLeg(shown: try DTLSCertificate().fingerprint)
    leg.connect()
    #expect(leg.taken() == [.addressProved(CheckingPeer.here), .failed(.fingerprint)])
    #expect(!leg.transport.isReady)
    #expect(!leg.transport.protectRTP(SRTPFixtures.rtp(sequence: 1)))
    #expect(leg.deliver(leg.protected(1)) == .dropped(.early))
    leg.startPeer()
    leg.advance(milliseconds: 1000)
    #expect(!leg.transport.isReady)
    #expect(leg.taken().isEmpty)
  }

  @Test func authenticMediaFromAnAddressThatIsNotProvedIsDropped() throws {
    let leg = try AppLeg()
    leg.connect()
    let packet = leg.protected(1)
    let bytes = packet.bytes
    #expect(leg.deliver(packet, from: CheckingPeer.elsewhere) == .dropped(.source))
    #expect(packet.bytes == bytes)
    // A check proves the address; without a nomination media goes where it went.
    leg.check(nominates: false, from: CheckingPeer.elsewhere)
    #expect(leg.deliver(packet, from: CheckingPeer.elsewhere) == .rtp)
    #expect(leg.transport.destination == CheckingPeer.here)
  }

  @Test func badMediaIsCountedAndNothingElse() throws {
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    let good = leg.protected(1).bytes
    let packet = PacketBuffer()
    let rounds = SRTPFixtures.isFull ? 1_000_000 : 100_000
    for number in 0..<rounds {
      packet.replace(with: good)
      packet[12 + number % (good.count - 12)] ^= UInt8(1 + number % 255)
      #expect(
        leg.transport.receive(
          packet, on: AppLeg.port, from: CheckingPeer.here, at: leg.now, outbox: leg.outbox, events: &leg.events)
          == .dropped(.authentication))
    }
    #expect(leg.count(.authentication) == UInt64(rounds))
    #expect(leg.taken().isEmpty)
    #expect(leg.deliver(PacketBuffer(good)) == .rtp)
    #expect(leg.deliver(PacketBuffer(good)) == .dropped(.replay))
    #expect(leg.count(.replay) == 1)
  }

  @Test func strangersNeverGetMoreBytesThanTheySend() throws {
    var random = DTLSChance(seed: 11)
    let leg = try AppLeg()
    var inputs: [[UInt8]] = [try AppTransportHostileTests.hello()]
    // Checks without the password, whole and broken.
    for change in [
      { $0.hasIntegrity = false }, { $0.userName = "none:peer" }, { $0.userName = "" }, { $0.hasFingerprint = false },
      { $0.userName = "gwUf:" }, { $0.controlling = nil }, { $0.before = [(0x7001, [1])] }, { $0.priority = nil },
    ] as [(inout CheckingPeer) -> Void] {
      var peer = CheckingPeer(nominates: true)
      peer.password = "notThePasswordAtAll0000"
      change(&peer)
      inputs.append(peer.check().bytes)
    }
    if TestVectors.arePresent {
      for row in try TestVectors.table("stun/expected.tsv") where !(row["file"] ?? "").contains("ice-checks") {
        inputs.append(try STUNVectorTests.packet(row["file"] ?? "").bytes)
      }
    }
    let packet = PacketBuffer()
    for round in 0..<20_000 {
      var bytes = inputs[round % inputs.count]
      if round >= inputs.count, !bytes.isEmpty {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      packet.replace(with: bytes)
      let received = leg.transport.receive(
        packet, on: AppLeg.port, from: AppTransportHostileTests.stranger(round), at: leg.now, outbox: leg.outbox,
        events: &leg.events)
      if case .dropped = received {} else { Issue.record("\(received) for \(bytes)") }
      let sent = AppLeg.taken(leg.outbox)
      #expect(sent.count <= 1)
      #expect(sent.reduce(0) { $0 + $1.count } <= bytes.count)
    }
    #expect(leg.taken().isEmpty)
  }

  @Test func aCheckWithoutIntegrityIsNotAnswered() throws {
    let leg = try AppLeg()
    leg.checks.hasIntegrity = false
    #expect(leg.check(nominates: true) == .dropped(.stun))
    leg.checks.hasIntegrity = true
    leg.checks.hasFingerprint = false
    #expect(leg.check(nominates: true) == .dropped(.stun))
    #expect(leg.answers.isEmpty)
    #expect(leg.count(.stun) == 2)
  }

  @Test func lengthsAndKindsAreCounted() throws {
    let leg = try AppLeg()
    leg.connect()
    for (bytes, reason) in [
      ([], .length), ([0x80], .length), ([UInt8](repeating: 0x80, count: 1501), .length), ([22, 254, 253], .length),
      ([0x80, 0] + [UInt8](repeating: 0, count: 9), .length), ([UInt8](repeating: 0x42, count: 40), .kind),
      ([UInt8](repeating: 0xFF, count: 40), .kind), ([0x10, 0x10, 0, 0], .kind), ([0, 1], .length),
    ] as [([UInt8], DropReason)] {
      #expect(leg.deliver(PacketBuffer(bytes)) == .dropped(reason), "\(bytes.prefix(4)), \(bytes.count)")
    }
    // Long enough for RTP, too short for a tag.
    #expect(leg.deliver(PacketBuffer([0x80, 0] + [UInt8](repeating: 0, count: 12))) == .dropped(.length))
    #expect(leg.transport.isReady)
  }

  @Test func junkFromTheProvedAddressEndsNoLeg() throws {
    var random = DTLSChance(seed: 5)
    let leg = try AppLeg()
    leg.connect()
    _ = leg.taken()
    let packet = PacketBuffer()
    for round in 0..<20_000 {
      let first: UInt8 = [0, 22, 20, 21, 23, 128, 144, 200][round % 8]
      packet.count = Int.random(in: 1...200, using: &random)
      for offset in 0..<packet.count { packet[offset] = UInt8.random(in: 0...255, using: &random) }
      packet[0] = first
      // Half of the DTLS ones have a header that holds.
      if first < 64, first >= 20, packet.count > 13, round % 16 < 8 {
        packet.store(UInt16(0xFEFD), at: 1)
        packet.store(UInt16(packet.count - 13), at: 11)
      }
      _ = leg.transport.receive(
        packet, on: AppLeg.port, from: CheckingPeer.here, at: leg.now, outbox: leg.outbox, events: &leg.events)
      leg.outbox.removeAll()
    }
    #expect(leg.taken().isEmpty)
    #expect(leg.transport.isReady)
    #expect(leg.deliver(leg.protected(1)) == .rtp)
  }
}
