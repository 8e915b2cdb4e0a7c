/// A frame as a capture file stores it, before any protocol is looked at.
struct CapturedFrame {
  /// Number of the tcpdump registry.
  let linkType: UInt32
  let microseconds: Int64
  let bytes: [UInt8]

  static func all(in bytes: [UInt8]) throws -> [CapturedFrame] {
    guard bytes.count >= 24 else { throw PacketCapture.Unreadable(description: "shorter than a capture's header") }
    switch bytes.little32(0) {
    case 0xA1B2_C3D4: return classic(bytes, swapped: false, nanoseconds: false)
    case 0xD4C3_B2A1: return classic(bytes, swapped: true, nanoseconds: false)
    case 0xA1B2_3C4D: return classic(bytes, swapped: false, nanoseconds: true)
    case 0x4D3C_B2A1: return classic(bytes, swapped: true, nanoseconds: true)
    case 0x0A0D_0D0A: return try blocks(bytes)
    default: throw PacketCapture.Unreadable(description: "neither pcap nor pcapng")
    }
  }

  private static func classic(_ bytes: [UInt8], swapped: Bool, nanoseconds: Bool) -> [CapturedFrame] {
    var frames: [CapturedFrame] = []
    let linkType = bytes.integer32(20, swapped) & 0xFFFF
    var offset = 24
    while bytes.count >= offset + 16 {
      let seconds = Int64(bytes.integer32(offset, swapped))
      let fraction = Int64(bytes.integer32(offset + 4, swapped))
      let length = Int(bytes.integer32(offset + 8, swapped))
      guard bytes.count >= offset + 16 + length else { break }
      frames.append(
        CapturedFrame(
          linkType: linkType, microseconds: seconds * 1_000_000 + (nanoseconds ? fraction / 1000 : fraction),
          bytes: Array(bytes[offset + 16..<offset + 16 + length])))
      offset += 16 + length
    }
    return frames
  }

  /// What an interface of a pcapng section says about its frames.
  private struct Interface {
    let linkType: UInt32
    let ticksPerSecond: Double
  }

  private static func blocks(_ bytes: [UInt8]) throws -> [CapturedFrame] {
    var frames: [CapturedFrame] = []
    var interfaces: [Interface] = []
    var swapped = false
    var offset = 0
    while bytes.count >= offset + 12 {
      if bytes.little32(offset) == 0x0A0D_0D0A {
        swapped = bytes.little32(offset + 8) != 0x1A2B_3C4D
        interfaces = []
      }
      let type = bytes.integer32(offset, swapped)
      let length = Int(bytes.integer32(offset + 4, swapped))
      guard length >= 12, bytes.count >= offset + length else {
        throw PacketCapture.Unreadable(description: "a block of \(length) bytes at \(offset)")
      }
      if type == 1, length >= 20 {
        interfaces.append(interface(bytes, offset..<offset + length, swapped))
      } else if type == 6, length >= 32 {
        let index = Int(bytes.integer32(offset + 8, swapped))
        let captured = Int(bytes.integer32(offset + 20, swapped))
        guard interfaces.indices.contains(index), length >= 32 + captured else {
          throw PacketCapture.Unreadable(description: "a packet block at \(offset) that contradicts itself")
        }
        let ticks = UInt64(bytes.integer32(offset + 12, swapped)) << 32 | UInt64(bytes.integer32(offset + 16, swapped))
        let seconds = Double(ticks) / interfaces[index].ticksPerSecond
        frames.append(
          CapturedFrame(
            linkType: interfaces[index].linkType, microseconds: Int64((seconds * 1_000_000).rounded()),
            bytes: Array(bytes[offset + 28..<offset + 28 + captured])))
      }
      offset += length
    }
    return frames
  }

  private static func interface(_ bytes: [UInt8], _ block: Range<Int>, _ swapped: Bool) -> Interface {
    var ticksPerSecond = 1_000_000.0
    var offset = block.lowerBound + 16
    while offset + 4 <= block.upperBound - 4 {
      let code = bytes.integer16(offset, swapped)
      let length = Int(bytes.integer16(offset + 2, swapped))
      if code == 0 { break }
      // if_tsresol: a power of ten, or of two where the highest bit is set.
      if code == 9, length == 1, offset + 4 < block.upperBound {
        let exponent = Int(bytes[offset + 4] & 0x7F)
        let base = bytes[offset + 4] & 0x80 == 0 ? 10.0 : 2.0
        ticksPerSecond = (0..<exponent).reduce(1.0) { product, _ in product * base }
      }
      offset += 4 + ((length + 3) & ~3)
    }
    return Interface(
      linkType: UInt32(bytes.integer16(block.lowerBound + 8, swapped)), ticksPerSecond: ticksPerSecond)
  }
}

extension [UInt8] {
  func big16(_ offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }
  func little32(_ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << (8 * UInt32($1)) }
  }
  func integer16(_ offset: Int, _ swapped: Bool) -> UInt16 { swapped ? big16(offset) : big16(offset).byteSwapped }
  func integer32(_ offset: Int, _ swapped: Bool) -> UInt32 { swapped ? little32(offset).byteSwapped : little32(offset) }
}
