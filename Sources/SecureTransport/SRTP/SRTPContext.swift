import CallModel
public import SDPCore

/// One master key in one direction (RFC 3711, RFC 6188, RFC 7714): protects what is sent or opens what is received, in
/// place, for any number of sources up to a limit.
///
/// Nothing is allocated per packet. A packet that may not be sent or does not open is left as it was, so that another key
/// can be tried on it; the numbers of a source move only with a packet that is authentic.
public final class SRTPContext {
  /// Whether a key protects packets of ours or opens those of the peer.
  public enum Direction: Hashable, Sendable {
    case send, receive
  }

  /// Sources (SSRC) that one key can have. Whoever comes after them is refused: to forget one of them would let its old
  /// packets pass again.
  public static let maximumSources = SRTPStreams.maximumSources
  /// Most RTCP packets that one key may protect (RFC 3711 section 9.2).
  public static let maximumControlLifetime: UInt64 = 1 << 31

  static let maximumControlIndex: UInt64 = 0x7FFF_FFFF
  static let encryptedFlag: UInt32 = 0x8000_0000

  /// Of the key; decides the lengths of key and authentication tag.
  public let suite: CryptoSuite
  /// Fixed: the other direction has a key and a context of its own.
  public let direction: Direction
  /// Bytes that are added to a packet of RTP: its tag, and the key's identifier.
  public var rtpOverhead: Int { layout.rtpOverhead }
  // One of the two is there.
  private let libcrypto: LibcryptoTransform?
  private let libsrtp: LibsrtpTransform?
  private let layout: SRTPLayout
  private var packetsLeft: UInt64
  private var controlPacketsLeft: UInt64

  /// Throws ``TransportFailure/key`` when the key does not have the length of the suite, or the transform does
  /// not have the suite (libsrtp: AES-192).
  public init(
    _ suite: CryptoSuite, _ key: SRTPMasterKey, _ direction: Direction, transform: SRTPTransform = .libcrypto
  ) throws(TransportFailure) {
    let bytes = key.keyAndSalt.exposed
    let seals = direction == .send
    layout = SRTPLayout(suite, identifier: key.identifier)
    switch transform {
    case .libcrypto:
      guard let made = LibcryptoTransform(suite, keyAndSalt: bytes, layout: layout) else { throw .key }
      (libcrypto, libsrtp) = (made, nil)
    case .libsrtp:
      guard let made = LibsrtpTransform(suite, keyAndSalt: bytes, layout: layout, seals: seals) else { throw .key }
      (libcrypto, libsrtp) = (nil, made)
    }
    self.suite = suite
    self.direction = direction
    packetsLeft = min(key.lifetime ?? SRTPMasterKey.maximumLifetime, SRTPMasterKey.maximumLifetime)
    controlPacketsLeft = min(packetsLeft, SRTPContext.maximumControlLifetime)
  }

  /// Session keys in place of a master key, for the packets of RFC 7714; GCM only.
  package init(sessionKeyAndSalt bytes: [UInt8], _ suite: CryptoSuite, _ direction: Direction) throws(TransportFailure)
  {
    layout = SRTPLayout(suite, identifier: nil)
    guard layout.isGCM,
      let made = LibcryptoTransform(
        suite, keyAndSalt: bytes, layout: layout, areSessionKeys: true)
    else { throw .key }
    (libcrypto, libsrtp) = (made, nil)
    self.suite = suite
    self.direction = direction
    packetsLeft = SRTPMasterKey.maximumLifetime
    controlPacketsLeft = SRTPContext.maximumControlLifetime
  }

  /// The key has protected as many RTP or RTCP packets as it may; nothing passes any more (RFC 3711 section 9.2).
  public var isExhausted: Bool { packetsLeft == 0 || controlPacketsLeft == 0 }

  /// Grows the packet by tag and key name. `false`: it may not be sent, because it is not RTP of version 2, its number was
  /// used before, there is no room, or the key is exhausted.
  public func protectRTP(_ packet: PacketBuffer) -> Bool {
    guard direction == .send, !isExhausted, packet.count + layout.rtpOverhead <= PacketBuffer.capacity,
      let header = SRTPLayout.headerCount(packet, within: packet.count)
    else { return false }
    let done = libcrypto?.protectRTP(packet, header: header) ?? libsrtp?.protectRTP(packet) ?? false
    if done { packetsLeft -= 1 }
    return done
  }

  /// As ``protectRTP(_:)``, for an RTCP compound.
  public func protectRTCP(_ packet: PacketBuffer) -> Bool {
    guard direction == .send, !isExhausted, packet.count + layout.rtcpOverhead <= PacketBuffer.capacity,
      SRTPLayout.isRTCP(packet, within: packet.count)
    else { return false }
    let done = libcrypto?.protectRTCP(packet) ?? libsrtp?.protectRTCP(packet) ?? false
    if done { controlPacketsLeft -= 1 }
    return done
  }

  /// The packet holds SRTP; when ``SRTPVerdict/opened``, plain RTP.
  public func unprotectRTP(_ packet: PacketBuffer) -> SRTPVerdict {
    let count = packet.count - layout.rtpOverhead
    guard let header = SRTPLayout.headerCount(packet, within: count) else { return .length }
    guard direction == .receive, !isExhausted else { return .exhausted }
    let verdict =
      libcrypto?.unprotectRTP(packet, header: header, count: count) ?? libsrtp?.unprotectRTP(packet) ?? .exhausted
    if verdict == .opened { packetsLeft -= 1 }
    return verdict
  }

  /// The packet holds SRTCP; when ``SRTPVerdict/opened``, a plain RTCP compound.
  public func unprotectRTCP(_ packet: PacketBuffer) -> SRTPVerdict {
    let count = packet.count - layout.rtcpOverhead
    guard SRTPLayout.isRTCP(packet, within: count) else { return .length }
    guard direction == .receive, !isExhausted else { return .exhausted }
    let verdict = libcrypto?.unprotectRTCP(packet, count: count) ?? libsrtp?.unprotectRTCP(packet) ?? .exhausted
    if verdict == .opened { controlPacketsLeft -= 1 }
    return verdict
  }

  /// Goes on with a source as if its latest packet had been `sequence` under the roll-over counter `rollover`, and its
  /// latest RTCP packet `controlIndex`, which libsrtp cannot take over. The packet `sequence` itself still passes.
  package func resume(_ source: UInt32, rollover: UInt32, sequence: UInt16, controlIndex: UInt32 = 0) -> Bool {
    libcrypto?.resume(source, index: UInt64(rollover) << 16 | UInt64(sequence), controlIndex: controlIndex)
      ?? libsrtp?.resume(source, rollover: rollover) ?? false
  }
}
