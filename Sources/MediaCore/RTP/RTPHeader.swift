public import SecureTransport

/// The fixed header of an RTP packet and where its payload stands (RFC 3550 section 5.1).
public struct RTPHeader: Equatable, Sendable {
  /// Bytes of a header without contributors and extension.
  public static let size = 12

  /// Of sound: the first packet of a talkspurt; of an event: its first packet.
  public let marker: Bool
  /// 0 to 127.
  public let payloadType: UInt8
  /// One more for each packet; wraps after 65535.
  public let sequence: UInt16
  /// In ticks of the payload's clock; wraps.
  public let timestamp: UInt32
  /// SSRC.
  public let source: UInt32
  /// Bytes from the start of the packet, behind contributors and extension.
  public let payloadOffset: Int
  /// Bytes, padding taken off.
  public let payloadCount: Int

  /// `nil`: not version 2, or one of its lengths runs past the end.
  public init?(_ packet: borrowing PacketBuffer) {
    let count = packet.count
    guard count >= RTPHeader.size else { return nil }
    let first = packet.integer(at: 0, as: UInt32.self)
    guard first >> 30 == 2 else { return nil }
    var offset = RTPHeader.size + Int(first >> 24 & 0x0F) * 4
    if first & 0x1000_0000 != 0 {
      guard count >= offset + 4 else { return nil }
      offset += 4 + Int(packet.integer(at: offset + 2, as: UInt16.self)) * 4
    }
    guard count >= offset else { return nil }
    var payload = count - offset
    if first & 0x2000_0000 != 0 {
      // The last byte counts the padding, itself included.
      let padding = Int(packet[count - 1])
      guard padding > 0, padding <= payload else { return nil }
      payload -= padding
    }
    marker = first & 0x0080_0000 != 0
    payloadType = UInt8(truncatingIfNeeded: first >> 16 & 0x7F)
    sequence = UInt16(truncatingIfNeeded: first)
    timestamp = packet.integer(at: 4, as: UInt32.self)
    source = packet.integer(at: 8, as: UInt32.self)
    payloadOffset = offset
    payloadCount = payload
  }
}

extension PacketBuffer {
  /// Starts an RTP packet without contributors, extension or padding: the payload is appended behind it.
  public func writeRTPHeader(marker: Bool, payloadType: UInt8, sequence: UInt16, timestamp: UInt32, source: UInt32) {
    let type = UInt32(marker ? 0x80 : 0) | UInt32(payloadType & 0x7F)
    store(0x8000_0000 | type << 16 | UInt32(sequence), at: 0)
    store(timestamp, at: 4)
    store(source, at: 8)
    count = RTPHeader.size
  }

  /// Replaces the header of a packet that was read as `header`. The payload stays, moved if need be; contributors,
  /// extension and padding, which belong to the other session, are gone.
  public func rewriteRTPHeader(
    _ header: RTPHeader, marker: Bool, payloadType: UInt8, sequence: UInt16, timestamp: UInt32, source: UInt32
  ) {
    if header.payloadOffset != RTPHeader.size {
      copy(self, from: header.payloadOffset, count: header.payloadCount, to: RTPHeader.size)
    }
    writeRTPHeader(
      marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp, source: source)
    count = RTPHeader.size + header.payloadCount
  }
}
