import SDPCore

/// A STUN message (RFC 8489 section 5), read in place: what an ICE agent needs of it.
///
/// The packet must stay as it is while the message is in use. A message whose FINGERPRINT is wrong is none.
public struct STUNMessage {
  package enum Kind: UInt8, Sendable {
    case request, indication, success, failure
  }

  package static let headerCount = 20
  package static let magicCookie: UInt32 = 0x2112_A442
  package static let bindingMethod: UInt16 = 0x001
  /// Attributes of one message; with more it is not looked at.
  package static let maximumAttributes = 32
  /// Two user fragments of the longest kind and the colon between them (RFC 8445 section 7.2.2).
  package static let maximumUserName = 513
  /// Attributes listed in a 420 response; the peer learns of further ones with its next try.
  package static let maximumUnknown = 8

  package let packet: PacketBuffer
  package let kind: Kind
  package let method: UInt16
  package let transaction: STUNTransaction
  /// Where the value of the first USERNAME stands.
  package private(set) var userName: Range<Int>?
  package private(set) var priority: UInt32?
  package private(set) var nominates = false
  /// The tie breaker of a peer in the controlling role.
  package private(set) var controlling: UInt64?
  /// The tie breaker of a peer in the controlled role.
  package private(set) var controlled: UInt64?
  package private(set) var mappedAddress: MediaAddress?
  package private(set) var errorCode: Int?
  package private(set) var hasFingerprint = false
  /// Attributes that must be understood and are not, in order.
  package private(set) var unknown = SIMD8<UInt16>()
  package private(set) var unknownCount = 0
  /// Where MESSAGE-INTEGRITY begins.
  package private(set) var integrityOffset: Int?

  /// Reads one datagram. `nil`: not STUN, or not well formed.
  package init?(_ packet: PacketBuffer) {
    guard let header = STUNMessage.header(packet), let kind = Kind(rawValue: UInt8(header >> 7 & 2 | header >> 4 & 1))
    else { return nil }
    self.packet = packet
    self.kind = kind
    method = header & 0xF | header >> 1 & 0x70 | header >> 2 & 0xF80
    transaction = STUNTransaction(
      high: packet.integer(at: 8, as: UInt32.self), low: packet.integer(at: 12, as: UInt64.self))
    var offset = STUNMessage.headerCount
    for _ in 0..<STUNMessage.maximumAttributes where offset < packet.count {
      guard let next = read(at: offset) else { return nil }
      offset = next
    }
    guard offset == packet.count else { return nil }
  }

  /// The first two bytes, when the rest of the header and the length are those of a STUN message.
  private static func header(_ packet: PacketBuffer) -> UInt16? {
    guard packet.count >= headerCount, packet.count <= PacketBuffer.maximumDatagram, packet.count & 3 == 0,
      packet[0] < 4, Int(packet.integer(at: 2, as: UInt16.self)) == packet.count - headerCount,
      packet.integer(at: 4, as: UInt32.self) == magicCookie
    else { return nil }
    return packet.integer(at: 0, as: UInt16.self)
  }

  /// The end of the value of the attribute at `offset`, or `nil` when it runs past the packet.
  private static func valueRange(_ packet: PacketBuffer, at offset: Int) -> Range<Int>? {
    let value = offset + 4
    guard value <= packet.count else { return nil }
    let length = Int(packet.integer(at: offset + 2, as: UInt16.self))
    return length <= packet.count - value ? value..<value + length : nil
  }

  /// Takes the attribute at `offset`; the offset of the next one, or `nil` when it is not well formed.
  private mutating func read(at offset: Int) -> Int? {
    guard let value = STUNMessage.valueRange(packet, at: offset) else { return nil }
    // The packet and all offsets are multiples of four, so the padding is inside.
    let next = (value.upperBound + 3) & ~3
    let type = packet.integer(at: offset, as: UInt16.self)
    let attribute = STUNAttribute(rawValue: type)
    if attribute == .fingerprint {
      guard value.count == 4, next == packet.count,
        packet.integer(at: value.lowerBound, as: UInt32.self) == STUNChecksum.of(packet, count: offset)
      else { return nil }
      hasFingerprint = true
    } else if integrityOffset == nil {
      guard readValue(attribute, type, value, at: offset) else { return nil }
    }
    // Nothing else behind the integrity counts (RFC 8489 section 14.5): anyone could have added it.
    return next
  }

  /// False for a value of the wrong length. Of several attributes of one type the first counts.
  private mutating func readValue(
    _ attribute: STUNAttribute?, _ type: UInt16, _ value: Range<Int>, at offset: Int
  ) -> Bool {
    switch attribute {
    case .userName:
      guard value.count <= STUNMessage.maximumUserName else { return false }
      userName = userName ?? value
    case .messageIntegrity:
      guard value.count == STUNIntegrity.count else { return false }
      integrityOffset = offset
    case .priority:
      guard value.count == 4 else { return false }
      priority = priority ?? packet.integer(at: value.lowerBound, as: UInt32.self)
    case .useCandidate:
      guard value.isEmpty else { return false }
      nominates = true
    case .iceControlling:
      guard value.count == 8 else { return false }
      controlling = controlling ?? packet.integer(at: value.lowerBound, as: UInt64.self)
    case .iceControlled:
      guard value.count == 8 else { return false }
      controlled = controlled ?? packet.integer(at: value.lowerBound, as: UInt64.self)
    case .xorMappedAddress:
      guard let address = address(value) else { return false }
      mappedAddress = mappedAddress ?? address
    case .errorCode:
      guard value.count >= 4 else { return false }
      let code = Int(packet[value.lowerBound + 2] & 7) * 100 + Int(packet[value.lowerBound + 3])
      errorCode = errorCode ?? code
    case nil where type < STUNAttribute.firstOptional && unknownCount < STUNMessage.maximumUnknown:
      unknown[unknownCount] = type
      unknownCount += 1
    default: break
    }
    return true
  }

  /// Where the value of the first attribute of a type stands. One behind the integrity does not count.
  package func value(_ type: UInt16) -> Range<Int>? {
    var offset = STUNMessage.headerCount
    // As many steps as the message was found well formed in.
    for _ in 0..<STUNMessage.maximumAttributes where offset < integrityOffset ?? packet.count {
      guard let value = STUNMessage.valueRange(packet, at: offset) else { return nil }
      if packet.integer(at: offset, as: UInt16.self) == type { return value }
      offset = (value.upperBound + 3) & ~3
    }
    return nil
  }

  /// The value of XOR-MAPPED-ADDRESS (RFC 8489 section 14.2), and of others that are written as it is.
  package func address(_ value: Range<Int>) -> MediaAddress? {
    let start = value.lowerBound
    guard value.count >= 8 else { return nil }
    let port = packet.integer(at: start + 2, as: UInt16.self) ^ UInt16(STUNMessage.magicCookie >> 16)
    switch (packet[start + 1], value.count) {
    case (1, 8):
      return MediaAddress(ipv4: packet.integer(at: start + 4, as: UInt32.self) ^ STUNMessage.magicCookie, port: port)
    case (2, 20):
      return MediaAddress(
        high: packet.integer(at: start + 4, as: UInt64.self) ^ UInt64(STUNMessage.magicCookie) << 32
          ^ UInt64(transaction.high),
        low: packet.integer(at: start + 12, as: UInt64.self) ^ transaction.low, port: port)
    default: return nil
    }
  }

  /// True when MESSAGE-INTEGRITY is there and was made with `key`.
  package func hasIntegrity(_ key: STUNIntegrity) -> Bool {
    guard let integrityOffset else { return false }
    // The code covers a header whose length ends with the attribute itself.
    let length = packet.integer(at: 2, as: UInt16.self)
    packet.store(UInt16(integrityOffset + 4 + STUNIntegrity.count - STUNMessage.headerCount), at: 2)
    defer { packet.store(length, at: 2) }
    return key.isValid(in: packet, count: integrityOffset, at: integrityOffset + 4)
  }

  /// True when `value` begins with `fragment` and a colon.
  package func userNameNames(_ fragment: [UInt8]) -> Bool {
    guard let userName, userName.count > fragment.count,
      packet[userName.lowerBound + fragment.count] == UInt8(ascii: ":")
    else { return false }
    for position in fragment.indices where packet[userName.lowerBound + position] != fragment[position] { return false }
    return true
  }

  /// The user fragment that a binding request from an unknown address names as ours: `local` of USERNAME
  /// `local:remote`. `nil` when there is none.
  ///
  /// It only tells which leg to ask: nothing is authenticated yet.
  public static func userFragment(in packet: PacketBuffer) -> String? {
    guard header(packet) == bindingMethod else { return nil }
    var offset = headerCount
    for _ in 0..<maximumAttributes where offset < packet.count {
      guard let value = valueRange(packet, at: offset) else { return nil }
      if packet.integer(at: offset, as: UInt16.self) == STUNAttribute.userName.rawValue {
        return userFragment(in: packet, at: value)
      }
      offset = (value.upperBound + 3) & ~3
    }
    return nil
  }

  private static func userFragment(in packet: PacketBuffer, at value: Range<Int>) -> String? {
    guard value.count <= maximumUserName else { return nil }
    let bytes = UnsafeRawBufferPointer(start: packet.base + value.lowerBound, count: value.count)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), ICECredentials.userFragmentLength.contains(colon) else {
      return nil
    }
    let fragment = bytes[..<colon]
    // A printable name only: it is looked up, and may be shown.
    guard fragment.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return String(decoding: fragment, as: UTF8.self)
  }
}
