import SecureTransport
import Testing

@Suite struct STUNMessageTests {
  @Test(arguments: [
    MediaAddress(ipv4: 0xC000_0201, port: 32_853),
    MediaAddress(high: 0x2001_0DB8_1234_5678, low: 0x0011_2233_4455_6677, port: 32_853),
  ]) func aMappedAddressIsReadAsItWasWritten(_ address: MediaAddress) throws {
    let packet = PacketBuffer()
    let writer = STUNWriter(
      packet, .success, transaction: STUNTransaction(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE))
    writer.appendMappedAddress(address)
    let message = try #require(STUNMessage(packet))
    #expect(message.mappedAddress == address)
    // The bytes of RFC 5769 sections 2.2 and 2.3.
    let value: [UInt8] =
      address.ipv4 != nil
      ? [0x00, 0x01, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43]
      : [
        0x00, 0x02, 0xA1, 0x47, 0x01, 0x13, 0xA9, 0xFA, 0xA5, 0xD3, 0xF1, 0x79, 0xBC, 0x25, 0xF4, 0xB5, 0xBE, 0xD2,
        0xB9, 0xD9,
      ]
    #expect(Array(packet.bytes.dropFirst(24)) == value)
  }

  @Test func integrityCoversAllButWhatFollowsIt() throws {
    var peer = CheckingPeer()
    peer.behind = [(STUNAttribute.useCandidate.rawValue, []), (0x7777, [1, 2, 3, 4])]
    let packet = peer.check()
    let message = try #require(STUNMessage(packet))
    #expect(message.hasIntegrity(STUNIntegrity(peer.password)))
    #expect(!message.nominates)
    #expect(message.unknownCount == 0)
  }

  @Test func oneBitAnywhereBreaksACheck() throws {
    var peer = CheckingPeer()
    let good = peer.check().bytes
    for bit in 0..<good.count * 8 {
      var bytes = good
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      // Another type than FINGERPRINT leaves a message that no agent answers.
      let message = STUNMessage(PacketBuffer(bytes))
      #expect(message?.hasFingerprint != true, "bit \(bit)")
    }
  }

  @Test func oneBitBehindAFreshFingerprintBreaksTheIntegrity() throws {
    var peer = CheckingPeer()
    peer.hasFingerprint = false
    let good = peer.check().bytes
    // Whoever changes a byte can make the fingerprint, but not the code.
    for byte in good.indices where byte >= 20 {
      let packet = PacketBuffer(good)
      packet[byte] ^= 0x10
      if let message = STUNMessage(packet) {
        #expect(!message.hasIntegrity(STUNIntegrity(peer.password)), "byte \(byte)")
      }
    }
  }

  @Test func attributesHaveALimit() throws {
    func message(_ count: Int) -> STUNMessage? {
      let packet = PacketBuffer()
      let writer = STUNWriter(packet, .request, transaction: STUNTransaction(high: 1, low: 1))
      for _ in 0..<count { writer.append(0x9000, []) }
      return STUNMessage(packet)
    }
    #expect(message(STUNMessage.maximumAttributes) != nil)
    #expect(message(STUNMessage.maximumAttributes + 1) == nil)
  }

  @Test(arguments: [
    (STUNAttribute.priority, 3), (.priority, 5), (.useCandidate, 1), (.iceControlling, 4), (.iceControlled, 9),
    (.messageIntegrity, 19), (.messageIntegrity, 32), (.xorMappedAddress, 7), (.xorMappedAddress, 9), (.errorCode, 3),
    (.fingerprint, 3), (.userName, STUNMessage.maximumUserName + 1),
  ]) func aValueOfTheWrongLengthIsNotStun(_ attribute: STUNAttribute, _ count: Int) {
    let packet = PacketBuffer()
    let writer = STUNWriter(packet, .request, transaction: STUNTransaction(high: 1, low: 1))
    writer.append(attribute, [UInt8](repeating: 1, count: count))
    #expect(STUNMessage(packet) == nil)
  }

  @Test func lengthsAreTestedBeforeBytes() {
    #expect(DatagramKind.of(PacketBuffer()) == .other)
    #expect(DatagramKind.of(PacketBuffer([128])) == .other)
    for (first, second, minimum, kind) in [
      (0, 1, 20, DatagramKind.stun), (22, 254, 13, .dtls), (128, 0, 12, .rtp), (128, 200, 8, .rtcp),
    ] as [(UInt8, UInt8, Int, DatagramKind)] {
      for count in 2...PacketBuffer.capacity {
        let packet = PacketBuffer([first, second] + [UInt8](repeating: 0, count: count - 2))
        #expect(DatagramKind.of(packet) == (count >= minimum && count <= PacketBuffer.maximumDatagram ? kind : .other))
      }
    }
  }

  @Test func theShellLearnsWhoseCheckItIs() {
    var peer = CheckingPeer()
    #expect(STUNMessage.userFragment(in: peer.check()) == "gwUf")
    for (name, fragment) in [
      ("abcd:", "abcd"), ("abc:peer", nil), ("gwUf", nil), ("", nil), (":gwUf", nil), ("gw f:peer", nil),
      ("gwU\u{0}:peer", nil), (String(repeating: "a", count: 256) + ":b", String(repeating: "a", count: 256)),
      (String(repeating: "a", count: 257) + ":b", nil), ("ab:cd:ef", nil), ("abcd:ef:gh", "abcd"),
    ] as [(String, String?)] {
      peer.userName = name
      #expect(STUNMessage.userFragment(in: peer.check()) == fragment, "\(name)")
    }
    let indication = PacketBuffer()
    STUNWriter(indication, .indication, transaction: STUNTransaction(high: 1, low: 1)).append(.userName, "gwUf:p".utf8)
    #expect(STUNMessage.userFragment(in: indication) == nil)
  }
}
