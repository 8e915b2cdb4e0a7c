package import SecureTransport

/// The RTCP packets of a datagram (RFC 3550 section 6.1), every length checked before anything is read. Compounds of
/// reduced size are taken (RFC 5506).
///
/// It reads the buffer in place: it is valid as long as the buffer is not changed.
package struct RTCPCompound: Sequence {
  let packet: PacketBuffer

  package init(_ packet: PacketBuffer) throws(RTCPFault) {
    self.packet = packet
    var walk = Walk(packet)
    while try walk.step() != nil {}
  }

  /// Goes from packet to packet and checks each.
  package struct Walk {
    private let packet: PacketBuffer
    private var offset = 0

    package init(_ packet: PacketBuffer) { self.packet = packet }

    /// `nil` at the end.
    package mutating func step() throws(RTCPFault) -> RTCPPacket? {
      let left = packet.count - offset
      if left == 0 && offset > 0 { return nil }
      guard left >= 4 else { throw .short }
      let version = Int(packet[offset] >> 6)
      guard version == 2 else { throw .version(version) }
      let size = (Int(packet.integer(at: offset + 2, as: UInt16.self)) + 1) * 4
      guard size <= left else { throw .length }
      let type = packet[offset + 1]
      let count = Int(packet[offset] & 0x1F)
      let minimum = RTCPPacket.minimumSize(type: type, count: count)
      guard size >= minimum else { throw .count(type: type) }
      var end = offset + size
      if packet[offset] & 0x20 != 0 {
        let padding = Int(packet[end - 1])
        guard padding > 0, padding.isMultiple(of: 4), padding <= size - 4 else { throw .padding }
        end -= padding
        guard end - offset >= minimum else { throw .count(type: type) }
      }
      defer { offset += size }
      return RTCPPacket(type: type, count: count, offset: offset, end: end, size: size)
    }
  }

  package struct Iterator: IteratorProtocol {
    fileprivate var walk: Walk
    /// A fault was found when the compound was made; there is none here.
    package mutating func next() -> RTCPPacket? { try? walk.step() }
  }

  package func makeIterator() -> Iterator { Iterator(walk: Walk(packet)) }

  /// SSRC behind the header; `nil` for types that have none there.
  package func sender(of part: RTCPPacket) -> UInt32? {
    switch part.kind {
    case .description, .goodbye, nil: nil
    default: part.end >= part.offset + 8 ? packet.integer(at: part.offset + 4, as: UInt32.self) : nil
    }
  }

  package func senderInformation(of part: RTCPPacket) -> RTCPSenderInformation? {
    guard part.kind == .senderReport else { return nil }
    return RTCPSenderInformation(
      networkTime: packet.integer(at: part.offset + 8, as: UInt64.self),
      timestamp: packet.integer(at: part.offset + 16, as: UInt32.self),
      packets: packet.integer(at: part.offset + 20, as: UInt32.self),
      octets: packet.integer(at: part.offset + 24, as: UInt32.self))
  }

  /// The block of a sender or receiver report about `source`.
  package func report(on source: UInt32, in part: RTCPPacket) -> RTCPReportBlock? {
    let first: Int
    switch part.kind {
    case .senderReport: first = part.offset + 28
    case .receiverReport: first = part.offset + 8
    default: return nil
    }
    for index in 0..<part.count {
      let offset = first + index * RTCPReportBlock.size
      guard offset + RTCPReportBlock.size <= part.end else { return nil }
      if packet.integer(at: offset, as: UInt32.self) == source { return RTCPReportBlock(packet, at: offset) }
    }
    return nil
  }

  /// Whether a BYE is about `source`; `nil`: about any source at all.
  package func says(goodbye part: RTCPPacket, of source: UInt32?) -> Bool {
    guard part.kind == .goodbye else { return false }
    guard let source else { return part.count > 0 }
    for index in 0..<part.count where part.offset + 8 + index * 4 <= part.end {
      if packet.integer(at: part.offset + 4 + index * 4, as: UInt32.self) == source { return true }
    }
    return false
  }

  /// The CNAME of the first chunk that has one (RFC 3550 section 6.5.1), at most 255 bytes.
  package func canonicalName(in part: RTCPPacket) -> (source: UInt32, name: [UInt8])? {
    guard part.kind == .description else { return nil }
    var offset = part.offset + 4
    for _ in 0..<part.count {
      guard offset + 4 <= part.end else { return nil }
      let source = packet.integer(at: offset, as: UInt32.self)
      offset += 4
      while offset < part.end, packet[offset] != 0 {
        guard offset + 2 <= part.end, offset + 2 + Int(packet[offset + 1]) <= part.end else { return nil }
        let length = Int(packet[offset + 1])
        if packet[offset] == RTCPCompound.canonicalNameItem {
          return (source, (0..<length).map { packet[offset + 2 + $0] })
        }
        offset += 2 + length
      }
      // The items end with a zero byte, and chunks with a whole word of the packet.
      offset = part.offset + ((offset + 1 - part.offset) + 3) / 4 * 4
    }
    return nil
  }

  static let canonicalNameItem: UInt8 = 1
}
