/// Cuts the bytes of a TCP or TLS connection to a TURN server into what was sent (RFC 8656 section 12.5): STUN messages, and
/// data of channels, which is padded to four bytes there.
///
/// Only the beginning says how long something is, so a beginning that is neither ends the connection: nothing behind it can
/// be found again. What is longer than any packet of ours is passed over, as its length is known.
struct TURNStreamReader {
  enum Frame {
    case message(PacketBuffer)
    case data(channel: UInt16)
  }

  /// What begins with other bits than these is neither (RFC 8656 section 12.3, RFC 7983 section 7).
  static let channels: ClosedRange<UInt16> = 0x4000...0x7FFF
  /// The bytes that tell the length: of STUN those of its header, of channel data all of its header.
  private static let beginning = 4

  /// What has come of the present frame; of channel data without its header once that is read.
  let packet = PacketBuffer()
  private var head: UInt32 = 0
  private var headCount = 0
  /// Bytes of the frame that are still to come into `packet`, and those behind it that are of no use.
  private var wanted = 0
  private var passed = 0

  /// Takes bytes as they come.
  /// - Parameter take: told of each whole frame; its bytes are in ``packet``, until it returns.
  /// - Returns: `false` where the bytes are none of TURN's.
  mutating func read(_ bytes: some Sequence<UInt8>, _ take: (Frame) -> Void) -> Bool {
    for byte in bytes {
      if headCount < TURNStreamReader.beginning {
        head = head << 8 | UInt32(byte)
        headCount += 1
        guard headCount < TURNStreamReader.beginning || begin() else { return false }
      } else if wanted > 0 {
        packet.append(byte)
        wanted -= 1
      } else {
        passed -= 1
      }
      if headCount == TURNStreamReader.beginning, wanted == 0, passed == 0 { finish(take) }
    }
    return true
  }

  private var isMessage: Bool { head >> 30 == 0 }

  /// The length is known.
  private mutating func begin() -> Bool {
    let length = Int(head & 0xFFFF)
    packet.count = 0
    if isMessage {
      // RFC 8489 section 5: attributes are padded, so is the whole.
      guard length & 3 == 0 else { return false }
      wanted = STUNMessage.headerCount - TURNStreamReader.beginning + length
      passed = 0
      packet.append(integer: head)
    } else {
      guard TURNStreamReader.channels.contains(UInt16(head >> 16)) else { return false }
      wanted = length
      passed = -length & 3
    }
    if wanted > PacketBuffer.maximumDatagram - packet.count { (wanted, passed) = (0, passed + wanted) }
    return true
  }

  private mutating func finish(_ take: (Frame) -> Void) {
    defer { headCount = 0 }
    if isMessage {
      // One that was too long has nothing but its beginning.
      if packet.count >= STUNMessage.headerCount { take(.message(packet)) }
    } else if packet.count > 0 {
      take(.data(channel: UInt16(head >> 16)))
    }
  }
}
