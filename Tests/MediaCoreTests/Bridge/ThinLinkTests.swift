import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// A peer whose reports say that its link is too thin.
@Suite struct ThinLinkTests {
  /// A receiver report on the bridge's stream to the near phone, with a name behind it (RFC 3550 section 6.4.2).
  private static func report(_ harness: BridgeHarness, lost: UInt8, highest: UInt32) throws {
    let phone = try #require(harness.phones[.near])
    let source: UInt32 = 1_000
    let packet = PacketBuffer()
    func append(_ value: UInt32) {
      for shift in [24, 16, 8, 0] { packet.append(UInt8(value >> UInt32(shift) & 0xFF)) }
    }
    append(0x81C9_0007)
    append(77)
    append(source)
    append(UInt32(lost) << 24)
    append(highest)
    append(0)
    append(0)
    append(0)
    append(0x81CA_0003)
    append(77)
    for byte in [1, 4] + Array("test".utf8) + [0, 0] { packet.append(byte) }
    harness.bridge.receive(
      packet, of: .near, on: MediaPort(rawValue: phone.port.rawValue + 10),
      from: MediaAddress(ipv4: 0x7F00_0001, port: phone.address.port + 1), at: harness.now, outbox: harness.outbox,
      events: &harness.events)
    harness.outbox.removeAll()
  }

  static func talk(_ harness: BridgeHarness, seconds: Int, lost: UInt8) throws {
    for _ in 0..<seconds {
      for _ in 0..<50 {
        harness.send(.far, [UInt8](repeating: 0x55, count: 160), ticks: 160)
        harness.advance(milliseconds: 20)
      }
      try report(harness, lost: lost, highest: UInt32(harness.heard(.near).last?.header.sequence ?? 0))
    }
  }

  @Test func itGetsFewerAndSmallerPacketsIsToldAndGetsAllAgain() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try ThinLinkTests.talk(harness, seconds: 2, lost: 0)
    #expect(!harness.events.contains(.thinLink(.near, true)))
    // Half of the packets are lost, then none.
    try ThinLinkTests.talk(harness, seconds: 1, lost: 128)
    let before = harness.heard(.near).count
    try ThinLinkTests.talk(harness, seconds: 2, lost: 0)
    let thin = harness.heard(.near)[before...]
    #expect(thin.count < 60)
    #expect(zip(thin, thin.dropFirst()).dropFirst(2).allSatisfy { $1.header.timestamp &- $0.header.timestamp >= 1_920 })
    #expect(thin.dropFirst(2).allSatisfy { OpusPacket.inspect($0.payload)?.mode == .silk })
    let wire = thin.reduce(0) { $0 + $1.payload.count + 50 } * 8 / 2
    #expect(wire <= 25_000)
    #expect(harness.events.contains(.thinLink(.near, true)))
    try ThinLinkTests.talk(harness, seconds: 30, lost: 0)
    #expect(harness.events.contains(.thinLink(.near, false)))
    let last = harness.heard(.near).suffix(50)
    #expect(zip(last, last.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == 960 })
  }

  /// An app tells what it hears long before its browser reports it.
  @Test func itIsBelievedWithoutRTCP() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try ThinLinkTests.talk(harness, seconds: 1, lost: 0)
    harness.command(.adapt(.near, lossRate: 0.5, roundTrip: nil))
    harness.command(.adapt(.far, lossRate: 0.5, roundTrip: 60))
    harness.command(.adapt(LegID(7), lossRate: .nan, roundTrip: .infinity))
    for trip in [.infinity, .nan, -1, 1e300] { harness.command(.adapt(.near, lossRate: 0.5, roundTrip: trip)) }
    let before = harness.heard(.near).count
    try ThinLinkTests.talk(harness, seconds: 1, lost: 0)
    #expect(harness.heard(.near).count - before < 30)
    #expect(harness.events.contains(.thinLink(.near, true)))
  }

  /// What the peer takes at most in a packet is kept (`maxptime`).
  @Test func itGetsNoLargerPacketsThanItTakes() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try harness.agree(.near, "a=maxptime:20\r\n", clock: 8_000)
    try ThinLinkTests.talk(harness, seconds: 1, lost: 128)
    let before = harness.heard(.near).count
    try ThinLinkTests.talk(harness, seconds: 1, lost: 0)
    #expect(harness.heard(.near).count == before + 50)
  }
}
