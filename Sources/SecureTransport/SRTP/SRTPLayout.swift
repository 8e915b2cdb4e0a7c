import SDPCore

/// Where the parts of a protected packet stand (RFC 3711 sections 3.1 and 3.4, RFC 7714 sections 8.2 and 9.2).
struct SRTPLayout {
  static let rtpHeader = 12
  static let rtcpHeader = 8
  /// The E flag and the index of SRTCP.
  static let word = 4

  let isGCM: Bool
  let rtpTag: Int
  let rtcpTag: Int
  let identifier: [UInt8]
  /// Bytes that protection adds.
  let rtpOverhead: Int
  let rtcpOverhead: Int

  init(_ suite: CryptoSuite, identifier: SRTPMasterKey.Identifier?) {
    self.identifier = identifier?.bytes ?? []
    switch suite {
    case .aesGCM128, .aesGCM256: (isGCM, rtpTag, rtcpTag) = (true, 16, 16)
    case .aesCM128HMAC80, .aesCM192HMAC80, .aesCM256HMAC80: (isGCM, rtpTag, rtcpTag) = (false, 10, 10)
    // The short tag is for RTP alone (RFC 4568 section 6.2.2).
    case .aesCM128HMAC32, .aesCM192HMAC32, .aesCM256HMAC32: (isGCM, rtpTag, rtcpTag) = (false, 4, 10)
    }
    rtpOverhead = rtpTag + self.identifier.count
    rtcpOverhead = rtcpTag + self.identifier.count + SRTPLayout.word
  }

  // Offsets behind `count` bytes of plain packet.
  func rtpTag(behind count: Int) -> Int { isGCM ? count : count + identifier.count }
  func rtpIdentifier(behind count: Int) -> Int { isGCM ? count + rtpTag : count }
  func rtcpTag(behind count: Int) -> Int { isGCM ? count : count + SRTPLayout.word + identifier.count }
  func rtcpWord(behind count: Int) -> Int { isGCM ? count + rtcpTag : count }
  func rtcpIdentifier(behind count: Int) -> Int { rtcpWord(behind: count) + SRTPLayout.word }

  func writeIdentifier(into packet: PacketBuffer, at offset: Int) {
    for index in identifier.indices { packet[offset + index] = identifier[index] }
  }

  func hasIdentifier(_ packet: PacketBuffer, at offset: Int) -> Bool {
    for index in identifier.indices where packet[offset + index] != identifier[index] { return false }
    return true
  }

  /// Bytes of the RTP header with contributing sources and extension, all of which stay readable
  /// (RFC 3550 section 5.1). `nil` unless it is version 2 and lies within `limit` bytes.
  @inline(__always) static func headerCount(_ packet: PacketBuffer, within limit: Int) -> Int? {
    guard limit >= rtpHeader else { return nil }
    let first = packet[0]
    guard first >> 6 == 2 else { return nil }
    var count = rtpHeader + 4 * Int(first & 0x0F)
    if first & 0x10 != 0 {
      guard limit >= count + 4 else { return nil }
      count += 4 + 4 * Int(packet.integer(at: count + 2, as: UInt16.self))
    }
    return count <= limit ? count : nil
  }

  @inline(__always) static func isRTCP(_ packet: PacketBuffer, within limit: Int) -> Bool {
    limit >= rtcpHeader && packet[0] >> 6 == 2
  }
}
