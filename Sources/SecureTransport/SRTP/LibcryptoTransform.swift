import CLandlineTLS
import SDPCore

/// Numbers, windows and layout of SRTP in Swift, ciphers and tags through OpenSSL.
///
/// State moves only after a packet is authentic. A packet that is refused is left as it was.
final class LibcryptoTransform {
  private let keys: OpaquePointer
  private let layout: SRTPLayout
  private var streams = SRTPStreams()

  init?(_ suite: CryptoSuite, keyAndSalt: [UInt8], layout: SRTPLayout, areSessionKeys: Bool = false) {
    let keys = keyAndSalt.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      guard bytes.count == suite.keyLength + suite.saltLength, let key = bytes.baseAddress else { return nil }
      let salt = key + suite.keyLength
      if areSessionKeys {
        return landline_srtp_new_from_session_key(key, suite.keyLength, salt, suite.saltLength)
      }
      return landline_srtp_new(
        key, suite.keyLength, salt, suite.saltLength, layout.isGCM ? 1 : 0, layout.rtpTag)
    }
    guard let keys else { return nil }
    self.keys = keys
    self.layout = layout
  }

  deinit { landline_srtp_free(keys) }

  /// `header` bytes of the packet stay readable; there is room for what is added.
  func protectRTP(_ packet: PacketBuffer, header: Int) -> Bool {
    let source = packet.integer(at: 8, as: UInt32.self)
    guard let slot = streams.find(source) ?? streams.add(source),
      let index = streams[slot].rtp.estimate(packet.integer(at: 2, as: UInt16.self)), streams[slot].rtp.admits(index)
    else { return false }
    let count = packet.count
    guard
      landline_srtp_seal_rtp(
        keys, packet.octets, PacketBuffer.capacity, header, count, layout.rtpTag(behind: count), source, index) == 1
    else { return false }
    layout.writeIdentifier(into: packet, at: layout.rtpIdentifier(behind: count))
    packet.count = count + layout.rtpOverhead
    streams[slot].rtp.mark(index)
    return true
  }

  /// The plain packet is `count` bytes long, `header` of them readable.
  func unprotectRTP(_ packet: PacketBuffer, header: Int, count: Int) -> SRTPVerdict {
    let source = packet.integer(at: 8, as: UInt32.self)
    let sequence = packet.integer(at: 2, as: UInt16.self)
    let known = streams.find(source)
    var index = UInt64(sequence)
    if let known {
      guard let estimate = streams[known].rtp.estimate(sequence) else { return .exhausted }
      guard streams[known].rtp.admits(estimate) else { return .replay }
      index = estimate
    }
    guard layout.hasIdentifier(packet, at: layout.rtpIdentifier(behind: count)),
      landline_srtp_open_rtp(
        keys, packet.octets, PacketBuffer.capacity, header, count, layout.rtpTag(behind: count), source, index) == 1
    else { return .authentication }
    guard let slot = known ?? streams.add(source) else { return .exhausted }
    packet.count = count
    streams[slot].rtp.mark(index)
    return .opened
  }

  func protectRTCP(_ packet: PacketBuffer) -> Bool {
    let source = packet.integer(at: 4, as: UInt32.self)
    guard let slot = streams.find(source) ?? streams.add(source) else { return false }
    let index = streams[slot].rtcp.highest + 1
    guard index <= SRTPContext.maximumControlIndex else { return false }
    let count = packet.count
    packet.store(SRTPContext.encryptedFlag | UInt32(index), at: layout.rtcpWord(behind: count))
    guard
      landline_srtp_seal_rtcp(
        keys, packet.octets, PacketBuffer.capacity, count, layout.rtcpWord(behind: count),
        layout.rtcpTag(behind: count), source, UInt32(index)) == 1
    else { return false }
    layout.writeIdentifier(into: packet, at: layout.rtcpIdentifier(behind: count))
    packet.count = count + layout.rtcpOverhead
    streams[slot].rtcp.mark(index)
    return true
  }

  func unprotectRTCP(_ packet: PacketBuffer, count: Int) -> SRTPVerdict {
    let source = packet.integer(at: 4, as: UInt32.self)
    let wordOffset = layout.rtcpWord(behind: count)
    let word = packet.integer(at: wordOffset, as: UInt32.self)
    let index = word & ~SRTPContext.encryptedFlag
    // Every suite here encrypts: a packet that says it is not encrypted is refused. GCM says so after the replay check, as
    // libsrtp does.
    let isEncrypted = word & SRTPContext.encryptedFlag != 0
    guard layout.hasIdentifier(packet, at: layout.rtcpIdentifier(behind: count)), isEncrypted || layout.isGCM else {
      return .authentication
    }
    let known = streams.find(source)
    if let known, !streams[known].rtcp.admits(UInt64(index)) { return .replay }
    guard isEncrypted,
      landline_srtp_open_rtcp(
        keys, packet.octets, PacketBuffer.capacity, count, wordOffset, layout.rtcpTag(behind: count), source, index)
        == 1
    else { return .authentication }
    guard let slot = known ?? streams.add(source) else { return .exhausted }
    packet.count = count
    streams[slot].rtcp.mark(UInt64(index))
    return .opened
  }

  func resume(_ source: UInt32, index: UInt64, controlIndex: UInt32) -> Bool {
    guard let slot = streams.find(source) ?? streams.add(source) else { return false }
    streams[slot].rtp = ReplayWindow(resumedAt: index)
    streams[slot].rtcp = ReplayWindow(resumedAt: UInt64(controlIndex))
    return true
  }
}

extension PacketBuffer {
  /// The whole room, for the shim.
  fileprivate var octets: UnsafeMutablePointer<UInt8> {
    base.assumingMemoryBound(to: UInt8.self)
  }
}

/// Key derivation alone (RFC 3711 section 4.3); `nil` when a length is out of range.
package enum SRTPKeyDerivation {
  package static func derive(key: [UInt8], salt: [UInt8], label: UInt8, count: Int) -> [UInt8]? {
    var result = [UInt8](repeating: 0, count: count)
    let done = landline_srtp_derive(key, key.count, salt, salt.count, label, &result, count)
    return done == 1 ? result : nil
  }
}
