import Foundation

/// A UDP datagram as a capture kept it.
public struct CapturedDatagram: Sendable {
  /// Since the epoch, as the capturing machine's clock said.
  public let microseconds: Int64
  /// Numeric, without brackets.
  public let sourceHost: String
  public let sourcePort: UInt16
  public let destinationHost: String
  public let destinationPort: UInt16
  public let payload: [UInt8]

  /// As the tables write it: `host:port`.
  public var source: String { "\(sourceHost):\(sourcePort)" }
  public var destination: String { "\(destinationHost):\(destinationPort)" }
}

/// The UDP datagrams of a capture file, classic or pcapng.
///
/// Ethernet with VLAN tags, Linux cooked (both versions), BSD loopback and raw IP; IPv4 and IPv6. Left out: fragments,
/// everything that is not UDP, and frames the capture cut short.
public struct PacketCapture: Sendable {
  public struct Unreadable: Error, CustomStringConvertible {
    public let description: String
  }

  public let datagrams: [CapturedDatagram]

  /// `path` inside ``TestVectors/folder``.
  public init(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: TestVectors.folder.appendingPathComponent(path)))
    try self.init(bytes: bytes)
  }

  public init(bytes: [UInt8]) throws {
    let frames = try CapturedFrame.all(in: bytes)
    datagrams = frames.compactMap(CapturedDatagram.init)
  }
}

extension CapturedDatagram {
  init?(_ frame: CapturedFrame) {
    guard let (protocolNumber, start) = CapturedDatagram.network(frame) else { return nil }
    let bytes = frame.bytes
    switch protocolNumber {
    case 0x0800:
      guard bytes.count >= start + 20, bytes[start] >> 4 == 4, bytes[start + 9] == 17 else { return nil }
      // A fragment: "more" is set, or the offset is not zero.
      guard bytes.big16(start + 6) & 0x3FFF == 0 else { return nil }
      let hosts = [start + 12, start + 16].map { offset in
        bytes[offset..<offset + 4].map(String.init).joined(separator: ".")
      }
      self.init(frame, udp: start + Int(bytes[start] & 0x0F) * 4, hosts: hosts)
    case 0x86DD:
      guard bytes.count >= start + 40, bytes[start] >> 4 == 6, bytes[start + 6] == 17 else { return nil }
      let hosts = [start + 8, start + 24].map { offset in
        stride(from: offset, to: offset + 16, by: 2)
          .map { String(bytes.big16($0), radix: 16) }.joined(separator: ":")
      }
      self.init(frame, udp: start + 40, hosts: hosts)
    default: return nil
    }
  }

  private init?(_ frame: CapturedFrame, udp start: Int, hosts: [String]) {
    let bytes = frame.bytes
    guard bytes.count >= start + 8 else { return nil }
    let length = Int(bytes.big16(start + 4))
    guard length >= 8, bytes.count >= start + length else { return nil }
    self.init(
      microseconds: frame.microseconds, sourceHost: hosts[0], sourcePort: bytes.big16(start),
      destinationHost: hosts[1], destinationPort: bytes.big16(start + 2),
      payload: Array(bytes[start + 8..<start + length]))
  }

  /// EtherType of the network protocol, and where its header begins.
  private static func network(_ frame: CapturedFrame) -> (UInt16, Int)? {
    let bytes = frame.bytes
    switch frame.linkType {
    case 1:
      var offset = 12
      while bytes.count >= offset + 2 {
        let type = bytes.big16(offset)
        guard type == 0x8100 || type == 0x88A8 else { return (type, offset + 2) }
        offset += 4
      }
      return nil
    case 113: return bytes.count >= 16 ? (bytes.big16(14), 16) : nil
    case 276: return bytes.count >= 20 ? (bytes.big16(0), 20) : nil
    // BSD loopback's four bytes of address family are in the order of the capturing machine: the version tells more.
    case 0, 108: return version(bytes, at: 4)
    case 12, 14, 101, 228, 229: return version(bytes, at: 0)
    default: return nil
    }
  }

  private static func version(_ bytes: [UInt8], at offset: Int) -> (UInt16, Int)? {
    guard bytes.count > offset else { return nil }
    switch bytes[offset] >> 4 {
    case 4: return (0x0800, offset)
    case 6: return (0x86DD, offset)
    default: return nil
    }
  }
}
