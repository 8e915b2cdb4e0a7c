import CallModel
import MediaCore
import SecureTransport
import Testing

/// Packets that carry earlier ones again (RFC 2198).
@Suite struct RedundantPayloadTests {
  private static func packet(_ payload: [UInt8], sequence: UInt16 = 1, timestamp: UInt32 = 960) -> PacketBuffer {
    let packet = PacketBuffer()
    packet.writeRTPHeader(marker: false, payloadType: 63, sequence: sequence, timestamp: timestamp, source: 7)
    for byte in payload { packet.append(byte) }
    return packet
  }

  /// Two copies of 3 and 2 bytes, 1,920 and 960 ticks old, and own sound of 4.
  private static let two: [UInt8] =
    [0xEF, 0x1E, 0x00, 0x03, 0xEF, 0x0F, 0x00, 0x02, 0x6F] + [1, 2, 3, 4, 5, 6, 7, 8, 9]

  @Test func blocksAreFoundWhereTheyStand() throws {
    let packet = RedundantPayloadTests.packet(RedundantPayloadTests.two)
    let header = try #require(RTPHeader(packet))
    let payload = try #require(RedundantPayload(packet, header))
    #expect(payload.copyCount == 2)
    let blocks = [payload.copy(0), payload.copy(1), payload.own]
    #expect(blocks.map(\.payloadType) == [111, 111, 111])
    #expect(blocks.map(\.timestampOffset) == [1_920, 960, 0])
    #expect(
      blocks.map { Array(packet.bytes[$0.offset..<($0.offset + $0.count)]) } == [[1, 2, 3], [4, 5], [6, 7, 8, 9]])
  }

  /// The shortest has no copy and no sound: a header of one byte.
  @Test func whatEndsEarlyIsNone() throws {
    for count in 0..<RedundantPayloadTests.two.count {
      let packet = RedundantPayloadTests.packet(Array(RedundantPayloadTests.two.prefix(count)))
      // The copies end at 14 bytes, and own sound may have any length.
      let header = try #require(RTPHeader(packet))
      #expect((RedundantPayload(packet, header) != nil) == (count >= 14), "\(count) bytes")
    }
    let packet = RedundantPayloadTests.packet([0x6F])
    let header = try #require(RTPHeader(packet))
    #expect(RedundantPayload(packet, header)?.own.count == 0)
  }

  @Test func noPacketHasMoreCopiesThanTheLimit() throws {
    for copies in [RedundantPayload.maximumCopies, RedundantPayload.maximumCopies + 1] {
      let headers = (0..<copies).flatMap { _ in [0xEF, 0x0F, 0x00, 0x00] as [UInt8] }
      let packet = RedundantPayloadTests.packet(headers + [0x6F, 1])
      let header = try #require(RTPHeader(packet))
      let payload = RedundantPayload(packet, header)
      #expect((payload != nil) == (copies == RedundantPayload.maximumCopies))
    }
  }

  private static func plain(_ sequence: UInt16, _ timestamp: UInt32, _ payload: [UInt8]) -> PacketBuffer {
    let packet = PacketBuffer()
    packet.writeRTPHeader(marker: true, payloadType: 111, sequence: sequence, timestamp: timestamp, source: 7)
    for byte in payload { packet.append(byte) }
    return packet
  }

  @Test func eachPacketCarriesTheOneBefore() throws {
    let repeater = PacketRepeater()
    for number in 0..<5 {
      let sequence = UInt16.max &- 2 &+ UInt16(number)
      let timestamp = UInt32.max &- 1_920 &+ UInt32(960 * number)
      let packet = RedundantPayloadTests.plain(
        sequence, timestamp, [UInt8](repeating: UInt8(number), count: 40 + number))
      repeater.repeatLast(in: packet, as: 63)
      let header = try #require(RTPHeader(packet))
      #expect(header.marker && header.sequence == sequence && header.timestamp == timestamp && header.source == 7)
      #expect(header.payloadType == (number == 0 ? 111 : 63))
      guard number > 0 else { continue }
      let payload = try #require(RedundantPayload(packet, header))
      #expect(payload.copyCount == 1 && payload.copy(0).timestampOffset == 960 && payload.copy(0).payloadType == 111)
      for (block, value) in [(payload.copy(0), number - 1), (payload.own, number)] {
        #expect(
          Array(packet.bytes[block.offset..<(block.offset + block.count)])
            == [UInt8](repeating: UInt8(value), count: 40 + value))
      }
    }
  }

  /// Its format has 14 bits for the distance and 10 for the length; a packet of another payload type or behind a gap is
  /// not the one before.
  @Test(
    arguments: [
      (1, 16_383, 40, 40, true), (1, 16_384, 40, 40, false), (1, 0, 40, 40, false), (2, 960, 40, 40, false),
      (0, 960, 40, 40, false), (1, 960, 1_023, 172, true), (1, 960, 1_023, 173, false), (1, 960, 1_024, 40, false),
    ] as [(UInt16, UInt32, Int, Int, Bool)])
  func itStaysAloneWhereTheTwoDoNotGoTogether(
    _ step: UInt16, _ ticks: UInt32, _ earlier: Int, _ own: Int, _ isRepeated: Bool
  ) throws {
    let repeater = PacketRepeater()
    repeater.repeatLast(in: RedundantPayloadTests.plain(9, 100, [UInt8](repeating: 1, count: earlier)), as: 63)
    let packet = RedundantPayloadTests.plain(9 + step, 100 + ticks, [UInt8](repeating: 2, count: own))
    let before = packet.bytes
    repeater.repeatLast(in: packet, as: 63)
    #expect((RTPHeader(packet)?.payloadType == 63) == isRepeated)
    if isRepeated {
      #expect(packet.count <= RTPHeader.size + PacketRepeater.maximumPayload)
    } else {
      #expect(packet.bytes == before)
    }
  }
}
