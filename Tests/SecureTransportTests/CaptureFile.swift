import Foundation

/// The UDP payloads of a pcapng file with Ethernet frames, in order: as much of the format as the vectors use.
enum CaptureFile {
  static func datagrams(_ file: URL) throws -> [[UInt8]] {
    let data = [UInt8](try Data(contentsOf: file))
    var datagrams: [[UInt8]] = []
    var offset = 0
    while offset + 12 <= data.count {
      let length = little(data, offset + 4)
      guard length >= 12, offset + length <= data.count else { break }
      // An enhanced packet block: its frame begins behind interface, time and two lengths.
      if little(data, offset) == 6, length >= 32 {
        let captured = little(data, offset + 20)
        if captured <= length - 32, let datagram = udp(data[(offset + 28)..<(offset + 28 + captured)]) {
          datagrams.append(datagram)
        }
      }
      offset += length
    }
    return datagrams
  }

  private static func little(_ data: [UInt8], _ offset: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
  }

  /// The payload of a whole UDP datagram in an Ethernet frame over IPv4 or IPv6 without extension headers.
  private static func udp(_ frame: ArraySlice<UInt8>) -> [UInt8]? {
    let bytes = Array(frame)
    guard bytes.count >= 42 else { return nil }
    let start: Int
    switch (bytes[12], bytes[13]) {
    case (0x08, 0x00) where bytes[23] == 17: start = 14 + Int(bytes[14] & 15) * 4
    case (0x86, 0xDD) where bytes[20] == 17: start = 54
    default: return nil
    }
    guard start + 8 <= bytes.count else { return nil }
    let length = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
    guard length >= 8, start + length <= bytes.count else { return nil }
    return Array(bytes[(start + 8)..<(start + length)])
  }
}
