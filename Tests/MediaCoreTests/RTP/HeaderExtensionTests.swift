import MediaCore
import SecureTransport
import Testing

@Suite struct HeaderExtensionTests {
  /// A packet with `contributors` and this block behind its header, and a byte of sound.
  static func packet(_ form: UInt16, _ block: [UInt8], words: Int? = nil, contributors: Int = 0) -> [UInt8] {
    let words = words ?? block.count / 4
    return [0x90 | UInt8(contributors), 111, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]
      + Array(repeating: 0xEE, count: 4 * contributors)
      + [UInt8(form >> 8), UInt8(form & 0xFF), UInt8(words >> 8), UInt8(words & 0xFF)] + block + [0x55]
  }

  /// Laid out as in RFC 8285 sections 4.2 and 4.3; the level has number 3.
  @Test(
    arguments: [
      (0xBEDE, [0x30, 0x85, 0, 0], 5), (0xBEDE, [0x30, 0x7F, 0, 0], 127), (0xBEDE, [0x30, 0xFF, 0, 0], 127),
      (0xBEDE, [0x30, 0x00, 0, 0], 0),
      // Behind others, with padding before, between and behind.
      (0xBEDE, [0x11, 0xAA, 0xBB, 0, 0, 0x23, 1, 2, 3, 4, 0x30, 0x3C], 60),
      (0xBEDE, [0, 0, 0, 0, 0x30, 0x3D, 0, 0], 61), (0xBEDE, [0xE1, 0x30, 0x01, 0x30, 0x14, 0, 0, 0], 20),
      // The first of two.
      (0xBEDE, [0x30, 0x01, 0x30, 0x02], 1),
      // Not there, of another length, or not there in full.
      (0xBEDE, [], nil), (0xBEDE, [0, 0, 0, 0], nil), (0xBEDE, [0x10, 0x05, 0x20, 0x05], nil),
      (0xBEDE, [0x31, 0x05, 0x05, 0], nil), (0xBEDE, [0x10, 0x05, 0, 0x30], nil), (0xBEDE, [0x1F, 0x30, 0x05, 0], nil),
      // 15, and 0 with a length, end it.
      (0xBEDE, [0xF0, 0x00, 0x30, 0x05], nil), (0xBEDE, [0x01, 0x00, 0x30, 0x05], nil),
      (0xBEDE, [0x30, 0x05, 0xF0, 0x00], 5),
      // The form with heads of two bytes.
      (0x1000, [3, 1, 0x85, 0], 5), (0x100F, [0, 3, 1, 0x7F], 127),
      (0x1000, [1, 0, 2, 2, 9, 9, 0, 3, 1, 60, 0, 0], 60),
      (0x1000, [15, 1, 9, 3, 1, 8, 0, 0], 8), (0x1000, [3, 0, 0, 0], nil), (0x1000, [3, 2, 5, 5], nil),
      (0x1000, [1, 1, 9, 3], nil), (0x1000, [0, 0, 3, 1], nil), (0x1000, [1, 255, 3, 1], nil),
      // Others have no elements.
      (0x1010, [3, 1, 5, 0], nil), (0xBEDF, [0x30, 5, 0, 0], nil), (0, [0x30, 5, 0, 0], nil),
    ] as [(UInt16, [UInt8], UInt8?)])
  func levels(_ form: UInt16, _ block: [UInt8], _ level: UInt8?) {
    for contributors in [0, 1, 15] {
      let packet = PacketBuffer(Self.packet(form, block, contributors: contributors))
      #expect(packet.audioLevel(3) == level)
      #expect(RTPHeader(packet)?.payloadCount == 1)
    }
  }

  @Test func withoutABlock() {
    var plain = Self.packet(0xBEDE, [0x30, 5, 0, 0])
    plain[0] = 0x80
    #expect(PacketBuffer(plain).audioLevel(3) == nil)
    #expect(PacketBuffer([]).audioLevel(3) == nil)
    #expect(PacketBuffer(Self.packet(0xBEDE, [0x30, 5, 0, 0], words: 2)).audioLevel(3) == nil)
    #expect(PacketBuffer(Self.packet(0xBEDE, [0x30, 5, 0, 0], words: 0xFFFF)).audioLevel(3) == nil)
    #expect(PacketBuffer(Self.packet(0xBEDE, [0x30, 5, 0, 0], words: 0)).audioLevel(3) == nil)
  }

  /// Cut short anywhere, and with anything in it: no level that is none, and nothing traps.
  @Test func chance() {
    let whole = Self.packet(0xBEDE, [0x11, 0xAA, 0xBB, 0x30, 0x05, 0, 0, 0], contributors: 2)
    for length in 0..<(whole.count - 1) { #expect(PacketBuffer(whole[..<length]).audioLevel(3) == nil) }
    #expect(PacketBuffer(whole).audioLevel(3) == 5)
    var random = SeededNoise(state: 6464)
    for round in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      if bytes.count > 16 {
        bytes[0] = 0x90
        bytes.replaceSubrange(12..<15, with: round.isMultiple(of: 2) ? [0xBE, 0xDE, 0] : [0x10, 0, 0])
        bytes[15] &= 0x0F
      }
      let level = PacketBuffer(bytes).audioLevel(UInt8.random(in: 1...14, using: &random))
      #expect(level ?? 0 <= 127)
    }
  }
}
