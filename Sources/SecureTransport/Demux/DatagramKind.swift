/// What a datagram on a media port is, told by its first byte (RFC 7983 section 7) and, between RTP and RTCP, by the
/// second (RFC 5761 section 4).
public enum DatagramKind: Hashable, Sendable {
  case stun
  case dtls
  case rtp
  case rtcp
  /// ZRTP, TURN channel data, unassigned, or of a length that nothing of the above has.
  case other

  /// Bytes of the shortest one.
  @inlinable var minimumCount: Int {
    switch self {
    case .stun: 20
    case .dtls: 13
    case .rtp: 12
    case .rtcp: 8
    case .other: 0
    }
  }

  /// Looks at the length first, then at two bytes.
  @inlinable public static func of(_ packet: PacketBuffer) -> DatagramKind {
    let count = packet.count
    guard count >= 2, count <= PacketBuffer.maximumDatagram else { return .other }
    let kind: DatagramKind =
      switch packet[0] {
      case 128...191: 192...223 ~= packet[1] ? .rtcp : .rtp
      case 0...3: .stun
      case 20...63: .dtls
      default: .other
      }
    return count >= kind.minimumCount ? kind : .other
  }

  /// Why a datagram of no kind is dropped: its first byte, or its length.
  static func reason(_ packet: PacketBuffer) -> DropReason {
    guard packet.count > 0, packet.count <= PacketBuffer.maximumDatagram else { return .length }
    switch packet[0] {
    case 0...3, 20...63, 128...191: return .length
    default: return .kind
    }
  }
}
