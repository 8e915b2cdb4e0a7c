import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// A phone whose packets carry earlier ones again, and one that is sent such (RFC 2198).
@Suite struct RedundancyTests {
  private static let redundancy: UInt8 = 63
  private static let packets = 60

  /// Speech-like packets of Opus without copies of its own (20 ms each).
  private static func speech() throws -> [[UInt8]] {
    var settings = AudioEncoder.Settings()
    settings.inBandFEC = false
    let encoder = try AudioEncoder(.opus, samplingRate: 48_000, settings: settings)
    return (0..<packets).map {
      TestSound.encode(TestSound.sine(440, samples: 960, from: 960 * $0, rate: 48_000), encoder)
    }
  }

  /// A packet with the `copies` before it, each with its length and the ticks that it is older.
  private static func carrier(_ sounds: [[UInt8]], _ index: Int, copies: Int = 1) -> [UInt8] {
    var headers: [UInt8] = []
    var bytes: [UInt8] = []
    for back in (1...max(copies, 1)).reversed() where copies > 0 && index - back >= 0 {
      let copy = sounds[index - back]
      let word = 0x8000_0000 | 111 << 24 | UInt32(960 * back) << 10 | UInt32(copy.count)
      headers += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
      bytes += copy
    }
    return headers + [111] + bytes + sounds[index]
  }

  private static func harness(_ far: AudioCodec = .pcmu) throws -> BridgeHarness {
    let harness = try BridgeHarness(.opus, far)
    try harness.agree(.near, "", clock: 8_000, redundancy: redundancy)
    return harness
  }

  /// What the far phone hears when the packets of `lost` do not come.
  private static func heard(
    _ sounds: [[UInt8]], lost: Set<Int>, copies: Int, far: AudioCodec = .pcmu
  ) throws -> BridgeHarness {
    let harness = try harness(far)
    for index in sounds.indices {
      harness.send(
        .near, carrier(sounds, index, copies: copies), ticks: 960, payloadType: redundancy, lost: lost.contains(index))
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    return harness
  }

  @Test(arguments: [AudioCodec.pcmu, .opus])
  func whatIsLostIsHeardFromTheCopy(_ far: AudioCodec) throws {
    let sounds = try RedundancyTests.speech()
    let whole = try RedundancyTests.heard(sounds, lost: [], copies: 1, far: far)
    let torn = try RedundancyTests.heard(sounds, lost: [7, 20, 33, 50], copies: 1, far: far)
    #expect(torn.heard(.far).map(\.payload) == whole.heard(.far).map(\.payload))
    #expect(torn.heard(.far).map(\.header.sequence) == whole.heard(.far).map(\.header.sequence))
    #expect(torn.heard(.far).map(\.header.timestamp) == whole.heard(.far).map(\.header.timestamp))
    let received = try #require(torn.lastStatistics(.near)?.received)
    #expect(received.recovered == 4 && received.concealed == 0 && received.lost == 4)
    #expect(whole.lastStatistics(.near)?.received.recovered == 0)
  }

  @Test func twoCopiesMakeUpForTwoInARow() throws {
    let sounds = try RedundancyTests.speech()
    let whole = try RedundancyTests.heard(sounds, lost: [], copies: 2)
    let torn = try RedundancyTests.heard(sounds, lost: [7, 8, 30, 31], copies: 2)
    #expect(torn.heard(.far).map(\.payload) == whole.heard(.far).map(\.payload))
    // With one copy the first of the two is made up.
    let poor = try RedundancyTests.heard(sounds, lost: [7, 8, 30, 31], copies: 1)
    #expect(poor.lastStatistics(.near)?.received.recovered == 2)
    #expect(poor.lastStatistics(.near)?.received.concealed == 2)
    #expect(poor.heard(.far).count == RedundancyTests.packets)
  }

  /// It was heard from its copy: it is not heard again, and it was not lost either.
  @Test func aPacketThatComesBehindItsCopyIsDropped() throws {
    let sounds = try RedundancyTests.speech()
    let harness = try RedundancyTests.harness()
    for index in sounds.indices {
      harness.send(
        .near, RedundancyTests.carrier(sounds, index), ticks: 960, payloadType: RedundancyTests.redundancy,
        lost: index == 9)
      if index == 10, let phone = harness.phones[.near] {
        harness.deliver(
          .near, RedundancyTests.carrier(sounds, 9), sequence: phone.sequence &- 2, timestamp: phone.timestamp &- 1_920,
          payloadType: RedundancyTests.redundancy)
      }
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    #expect(harness.heard(.far).count == RedundancyTests.packets)
    let received = try #require(harness.lastStatistics(.near)?.received)
    #expect(received.recovered == 0)
    #expect(received.lost == 0)
    #expect(received.reordered == 1)
    #expect(received.duplicated == 0)
    #expect(received.tooLate == 0)
  }

  /// Its place was given up before: the copy is of no use, and the packet counts as lost once.
  @Test func aCopyThatComesTooLateIsOfNoUse() throws {
    let sounds = try RedundancyTests.speech()
    let harness = try RedundancyTests.harness()
    for index in sounds.indices {
      // 9 is lost; those behind it come without copies, but for one that has it 80 ms later.
      let copies = index == 13 ? 4 : 0
      harness.send(
        .near, RedundancyTests.carrier(sounds, index, copies: copies), ticks: 960,
        payloadType: RedundancyTests.redundancy, lost: index == 9)
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    #expect(harness.heard(.far).count == RedundancyTests.packets)
    let received = try #require(harness.lastStatistics(.near)?.received)
    #expect(received.recovered == 0 && received.concealed == 1 && received.lost == 1)
  }

  @Test func whatIsNoneHarmsNothing() throws {
    let sounds = try RedundancyTests.speech()
    let harness = try RedundancyTests.harness()
    for index in sounds.indices {
      let payload: [UInt8] =
        switch index {
        case 10: [0xEF]
        case 11: [0xEF, 0xFF, 0xFF, 0xFF, 0x6F, 1, 2]
        case 12: [0x00] + sounds[index]
        case 13: []
        default: RedundancyTests.carrier(sounds, index)
        }
      harness.send(.near, payload, ticks: 960, payloadType: RedundancyTests.redundancy)
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    let received = try #require(harness.lastStatistics(.near))
    #expect(received.dropped[DropReason.malformed.rawValue] == 3)
    #expect(received.received.lost == 0)
    #expect(harness.heard(.far).count >= RedundancyTests.packets - 5)
  }

  @Test func aPhoneThatLosesManyIsSentEachTwice() throws {
    let harness = try RedundancyTests.harness()
    func talk(seconds: Int, lost: UInt8) throws -> ArraySlice<BridgeHarness.Packet> {
      let before = harness.heard(.near).count
      try ThinLinkTests.talk(harness, seconds: seconds, lost: lost)
      return harness.heard(.near)[before...]
    }
    #expect(try talk(seconds: 2, lost: 0).allSatisfy { $0.header.payloadType == 111 })
    // One of sixteen.
    let lossy = try talk(seconds: 10, lost: 16).suffix(100)
    #expect(lossy.allSatisfy { $0.header.payloadType == RedundancyTests.redundancy })
    for (earlier, later) in zip(lossy, lossy.dropFirst()) {
      let packet = PacketBuffer()
      packet.writeRTPHeader(marker: false, payloadType: 63, sequence: 1, timestamp: 1, source: 1)
      for byte in later.payload { packet.append(byte) }
      let header = try #require(RTPHeader(packet))
      let payload = try #require(RedundantPayload(packet, header))
      #expect(payload.copyCount == 1 && payload.copy(0).timestampOffset == 960)
      let copy = packet.bytes[payload.copy(0).offset..<(payload.copy(0).offset + payload.copy(0).count)]
      #expect(earlier.payload.suffix(copy.count).elementsEqual(copy))
    }
    // What a quarter more is lost of has no room for it.
    #expect(try talk(seconds: 2, lost: 96).suffix(20).allSatisfy { $0.header.payloadType == 111 })
  }

  /// Who offers none gets none, whatever it loses.
  @Test func aPhoneWithoutRedundancyIsSentNone() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try ThinLinkTests.talk(harness, seconds: 12, lost: 16)
    #expect(harness.heard(.near).allSatisfy { $0.header.payloadType == 111 })
  }
}
