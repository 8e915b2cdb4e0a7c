public import SecureTransport

/// The payload of a packet that carries earlier ones again (RFC 2198 section 3): copies, the oldest first, then its own
/// sound.
///
/// ```
///  1 | payload type (7) | timestamp offset (14) | bytes (10)     for each copy
///  0 | payload type (7)                                          for the packet's own sound, to the end
///  the copies' bytes, then its own
/// ```
/// It reads the buffer in place: it is valid as long as the buffer is not changed.
public struct RedundantPayload {
  /// Copies of one packet that are looked at; a packet with more is malformed.
  public static let maximumCopies = 8
  static let copyHeaderSize = 4
  static let ownHeaderSize = 1
  /// What 14 bits and 10 bits hold.
  static let maximumTimestampOffset: UInt32 = 0x3FFF
  static let maximumCopySize = 0x3FF

  /// One block.
  public struct Block: Hashable, Sendable {
    /// 0 to 127.
    public let payloadType: UInt8
    /// Ticks that its sound is older than the packet's own; 0 for that.
    public let timestampOffset: UInt32
    /// From the start of the packet.
    public let offset: Int
    /// Bytes.
    public let count: Int
  }

  private let packet: PacketBuffer
  private let start: Int
  /// 0 to ``maximumCopies``.
  public let copyCount: Int
  /// The packet's own sound.
  public let own: Block

  /// `nil`: a header or a block runs past the end, or there are too many.
  public init?(_ packet: PacketBuffer, _ header: RTPHeader) {
    let end = header.payloadOffset + header.payloadCount
    guard end <= packet.count else { return nil }
    var position = header.payloadOffset
    var copies = 0
    var bytes = 0
    while position < end, packet[position] & 0x80 != 0 {
      guard copies < RedundantPayload.maximumCopies, position + RedundantPayload.copyHeaderSize <= end else {
        return nil
      }
      bytes += Int(packet.integer(at: position, as: UInt32.self) & 0x3FF)
      copies += 1
      position += RedundantPayload.copyHeaderSize
    }
    guard position < end else { return nil }
    let ownStart = position + RedundantPayload.ownHeaderSize + bytes
    guard ownStart <= end else { return nil }
    self.packet = packet
    start = header.payloadOffset
    copyCount = copies
    own = Block(payloadType: packet[position], timestampOffset: 0, offset: ownStart, count: end - ownStart)
  }

  /// `index`: 0, the oldest, to ``copyCount`` - 1.
  public func copy(_ index: Int) -> Block {
    var offset = start + copyCount * RedundantPayload.copyHeaderSize + RedundantPayload.ownHeaderSize
    for earlier in 0..<index { offset += Int(word(earlier) & 0x3FF) }
    let word = word(index)
    return Block(
      payloadType: UInt8(truncatingIfNeeded: word >> 24 & 0x7F), timestampOffset: word >> 10 & 0x3FFF, offset: offset,
      count: Int(word & 0x3FF))
  }

  private func word(_ index: Int) -> UInt32 {
    packet.integer(at: start + index * RedundantPayload.copyHeaderSize, as: UInt32.self)
  }
}

/// Makes each packet of a stream carry the one before it again (RFC 2198).
public final class PacketRepeater {
  /// Bytes of payload that a packet has at most with its copy, so that no path cuts it.
  public static let maximumPayload = 1_200

  private var last = PacketBuffer()
  private var spare = PacketBuffer()
  private var lastSequence: UInt16 = 0

  /// Nothing was sent yet.
  public init() {}

  /// Adds the packet before to `packet`, and remembers its payload for the next one. It stays as it is where the two do
  /// not follow each other, or the format has no room for so much.
  /// - Parameters:
  ///   - packet: With a header as ``PacketBuffer/writeRTPHeader(marker:payloadType:sequence:timestamp:source:)`` makes it.
  ///   - redundancy: The payload type of packets that carry others.
  public func repeatLast(in packet: PacketBuffer, as redundancy: UInt8) {
    guard let header = RTPHeader(packet), header.payloadOffset == RTPHeader.size else { return }
    spare.copy(packet, from: 0, count: packet.count, to: 0)
    spare.count = packet.count
    defer {
      swap(&last, &spare)
      lastSequence = header.sequence
    }
    guard lastSequence &+ 1 == header.sequence, let earlier = RTPHeader(last), earlier.payloadCount > 0,
      earlier.source == header.source, earlier.payloadType == header.payloadType
    else { return }
    let distance = header.timestamp &- earlier.timestamp
    let headers = RedundantPayload.copyHeaderSize + RedundantPayload.ownHeaderSize
    guard distance > 0, distance <= RedundantPayload.maximumTimestampOffset,
      earlier.payloadCount <= RedundantPayload.maximumCopySize,
      headers + earlier.payloadCount + header.payloadCount <= PacketRepeater.maximumPayload
    else { return }
    packet[1] = packet[1] & 0x80 | redundancy
    packet.count = RTPHeader.size
    packet.append(
      integer: 0x8000_0000 | UInt32(header.payloadType) << 24 | distance << 10 | UInt32(earlier.payloadCount))
    packet.append(header.payloadType)
    append(last, earlier, to: packet)
    append(spare, header, to: packet)
  }

  private func append(_ sent: PacketBuffer, _ header: RTPHeader, to packet: PacketBuffer) {
    packet.copy(sent, from: header.payloadOffset, count: header.payloadCount, to: packet.count)
    packet.count += header.payloadCount
  }
}
