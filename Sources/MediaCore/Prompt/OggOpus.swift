/// Reads a mono Ogg Opus file (RFC 3533, RFC 7845): total on any bytes, each length and each checksum compared.
package struct OggOpus {
  /// Why a file is refused.
  package enum Failure: Error, Hashable {
    /// More bytes than ``OggOpus/maximumSize``.
    case size(Int)
    /// No page of Ogg begins at this byte, or its checksum is wrong.
    case page(Int)
    /// Pages are missing, doubled, or of another stream.
    case sequence(Int)
    /// Not one stream of Opus, version 1, in one channel.
    case head
    /// A packet breaks RFC 6716, or is longer than ``OggOpus/maximumPacket``.
    case packet(Int)
    /// It ends within a packet.
    case unfinished
  }

  /// Bytes of a file: about ten minutes at 32 kb/s.
  package static let maximumSize = 4 << 20
  /// Bytes of a packet.
  package static let maximumPacket = OpusPacket.maximumFrameSize * 3

  /// Samples at 48 kHz that a decoder drops at the start.
  package let preSkip: Int
  /// Samples at 48 kHz that are sound, without ``preSkip``.
  package let duration: Int
  package let packets: [[UInt8]]

  package init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard bytes.count <= OggOpus.maximumSize else { throw .size(bytes.count) }
    var found: [[UInt8]] = []
    var current: [UInt8] = []
    var continues = false
    var position = 0
    var number: UInt32 = 0
    var serial: UInt32?
    var granule: UInt64 = 0
    while position < bytes.count {
      guard let page = OggPage(bytes, at: position) else { throw .page(position) }
      guard page.number == number, serial ?? page.serial == page.serial, page.continues == continues else {
        throw .sequence(position)
      }
      (number, serial) = (number &+ 1, page.serial)
      if page.granule != .max { granule = page.granule }
      var start = page.body
      for size in bytes[page.lacing] {
        guard current.count + Int(size) <= OggOpus.maximumPacket else { throw .packet(found.count) }
        current += bytes[start..<(start + Int(size))]
        start += Int(size)
        continues = size == 255
        if !continues {
          found.append(current)
          current = []
        }
      }
      position = page.end
    }
    guard !continues else { throw .unfinished }
    guard found.count >= 2, let skip = OggOpus.preSkip(found[0]), found[1].starts(with: "OpusTags".utf8) else {
      throw .head
    }
    var total = 0
    for index in 2..<found.count {
      guard let packet = OpusPacket.inspect(found[index]) else { throw .packet(index) }
      total += packet.duration
    }
    packets = Array(found.dropFirst(2))
    preSkip = skip
    // The last page says where the sound ends; what it says is not believed beyond what there is.
    duration = max(min(Int(clamping: granule), total) - skip, 0)
  }

  private static func preSkip(_ head: [UInt8]) -> Int? {
    guard head.count >= 19, head.starts(with: "OpusHead".utf8), head[8] >> 4 == 0, head[9] == 1, head[18] == 0 else {
      return nil
    }
    return Int(head[10]) | Int(head[11]) << 8
  }
}

/// The head of one Ogg page whose checksum is right.
package struct OggPage {
  let continues: Bool
  /// It is the last of its stream.
  let ends: Bool
  let granule: UInt64
  let serial: UInt32
  let number: UInt32
  let lacing: Range<Int>
  let body: Int
  let end: Int

  init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    guard bytes.count - start >= 27, bytes[start..<(start + 5)].elementsEqual([0x4F, 0x67, 0x67, 0x53, 0]) else {
      return nil
    }
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Value.Type) -> Value {
      Value(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: Value.self))
    }
    lacing = (start + 27)..<(start + 27 + Int(bytes[start + 26]))
    guard lacing.upperBound <= bytes.count else { return nil }
    body = lacing.upperBound
    end = bytes[lacing].reduce(body) { $0 + Int($1) }
    guard end <= bytes.count else { return nil }
    continues = bytes[start + 5] & 1 != 0
    ends = bytes[start + 5] & 4 != 0
    granule = integer(6, UInt64.self)
    serial = integer(14, UInt32.self)
    number = integer(18, UInt32.self)
    guard integer(22, UInt32.self) == OggPage.checksum(bytes, start..<end) else { return nil }
  }

  /// CRC-32 with polynomial 0x04C11DB7, from zero, nothing inverted; its own field counts as zero.
  package static func checksum(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt32 {
    var sum: UInt32 = 0
    for index in range {
      let byte = (22..<26).contains(index - range.lowerBound) ? 0 : bytes[index]
      sum = sum << 8 ^ table[Int(sum >> 24) ^ Int(byte)]
    }
    return sum
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index) << 24) { sum, _ in sum << 1 ^ (sum >> 31 != 0 ? 0x04C1_1DB7 : 0) }
  }
}
