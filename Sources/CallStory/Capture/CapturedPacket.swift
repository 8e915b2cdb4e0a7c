/// One SIP message in an IP packet of its own, with headers that are made up and correct.
struct CapturedPacket {
  enum Transport: Hashable {
    case udp
    /// Sequence numbers of the two directions before this message.
    case tcp(sequence: UInt32, acknowledged: UInt32)

    /// IP's number.
    var number: UInt8 { self == .udp ? 17 : 6 }
  }

  /// What an IP packet holds at most besides its headers.
  static let maximumPayload = 65_000

  let source: CapturedAddress
  let destination: CapturedAddress
  let transport: Transport
  let payload: [UInt8]

  /// From the IP header on.
  var bytes: [UInt8] {
    let segment = self.segment
    var packet = CaptureBytes()
    if source.isIPv6 {
      packet.big(UInt32(6) << 28)
      packet.big(UInt16(segment.count))
      packet.append([transport.number, 64])
      packet.append(source.bytes + destination.bytes)
    } else {
      var header = CaptureBytes()
      header.append([0x45, 0])
      header.big(UInt16(20 + segment.count))
      // Never cut into fragments.
      header.append([0, 0, 0x40, 0, 64, transport.number, 0, 0])
      header.append(source.bytes + destination.bytes)
      var bytes = header.bytes
      let sum = CapturedPacket.checksum(bytes)
      bytes[10] = UInt8(sum >> 8)
      bytes[11] = UInt8(sum & 0xFF)
      packet.append(bytes)
    }
    packet.append(segment)
    return packet.bytes
  }

  /// From the transport's header on.
  private var segment: [UInt8] {
    var segment = CaptureBytes()
    segment.big(source.port)
    segment.big(destination.port)
    let place: Int
    switch transport {
    case .udp:
      segment.big(UInt16(8 + payload.count))
      segment.big(UInt16(0))
      place = 6
    case .tcp(let sequence, let acknowledged):
      segment.big(sequence)
      segment.big(acknowledged)
      // Five words of header; PSH and ACK; the largest window.
      segment.append([0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0])
      place = 16
    }
    segment.append(payload)
    var bytes = segment.bytes
    var sum = CapturedPacket.checksum(pseudoHeader(bytes.count) + bytes)
    // Of UDP none at all would be 0 (RFC 768).
    if transport == .udp, sum == 0 { sum = 0xFFFF }
    bytes[place] = UInt8(sum >> 8)
    bytes[place + 1] = UInt8(sum & 0xFF)
    return bytes
  }

  private func pseudoHeader(_ count: Int) -> [UInt8] {
    var header = CaptureBytes()
    header.append(source.bytes + destination.bytes)
    if source.isIPv6 {
      header.big(UInt32(count))
      header.append([0, 0, 0, transport.number])
    } else {
      header.append([0, transport.number])
      header.big(UInt16(count))
    }
    return header.bytes
  }

  /// RFC 1071.
  static func checksum(_ bytes: [UInt8]) -> UInt16 {
    var sum: UInt32 = 0
    for index in stride(from: 0, to: bytes.count, by: 2) {
      let low = index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0
      sum += UInt32(bytes[index]) << 8 | low
      sum = (sum & 0xFFFF) + (sum >> 16)
    }
    return ~UInt16(truncatingIfNeeded: sum)
  }
}
