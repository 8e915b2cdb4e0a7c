/// Writes one STUN message into a packet, attribute by attribute.
///
/// SOFTWARE is never sent: it tells strangers what to attack.
package struct STUNWriter {
  package let packet: PacketBuffer
  private let transaction: STUNTransaction

  package init(
    _ packet: PacketBuffer, _ kind: STUNMessage.Kind, method: UInt16 = STUNMessage.bindingMethod,
    transaction: STUNTransaction
  ) {
    self.packet = packet
    self.transaction = transaction
    let kind = UInt16(kind.rawValue)
    packet.count = 0
    packet.append(
      integer: method & 0xF | (method & 0x70) << 1 | (method & 0xF80) << 2 | (kind & 1) << 4 | (kind & 2) << 7)
    packet.append(integer: UInt16(0))
    packet.append(integer: STUNMessage.magicCookie)
    packet.append(integer: transaction.high)
    packet.append(integer: transaction.low)
  }

  /// Value and padding, with the length in the header brought up to date.
  package func append(_ type: UInt16, _ value: some Collection<UInt8>) {
    open(type, value.count)
    for byte in value { packet.append(byte) }
    close()
  }

  package func append(_ type: STUNAttribute, _ value: some Collection<UInt8>) { append(type.rawValue, value) }

  package func append<Value: FixedWidthInteger & BitwiseCopyable>(_ type: STUNAttribute, integer value: Value) {
    append(type.rawValue, integer: value)
  }

  package func append<Value: FixedWidthInteger & BitwiseCopyable>(_ type: UInt16, integer value: Value) {
    open(type, MemoryLayout<Value>.size)
    packet.append(integer: value)
    close()
  }

  /// XOR-MAPPED-ADDRESS (RFC 8489 section 14.2).
  package func appendMappedAddress(_ address: MediaAddress) {
    append(STUNAttribute.xorMappedAddress.rawValue, xored: address)
  }

  /// An attribute that is written as XOR-MAPPED-ADDRESS is.
  package func append(_ type: UInt16, xored address: MediaAddress) {
    let cookie = STUNMessage.magicCookie
    open(type, address.ipv4 == nil ? 20 : 8)
    packet.append(integer: UInt16(address.ipv4 == nil ? 2 : 1))
    packet.append(integer: address.port ^ UInt16(cookie >> 16))
    if let ipv4 = address.ipv4 {
      packet.append(integer: ipv4 ^ cookie)
    } else {
      packet.append(integer: address.high ^ (UInt64(cookie) << 32 | UInt64(transaction.high)))
      packet.append(integer: address.low ^ transaction.low)
    }
    close()
  }

  /// ERROR-CODE (RFC 8489 section 14.8).
  package func append(_ error: STUNError) {
    open(STUNAttribute.errorCode.rawValue, 4 + error.reason.utf8CodeUnitCount)
    packet.append(integer: UInt16(0))
    packet.append(UInt8(error.rawValue / 100))
    packet.append(UInt8(error.rawValue % 100))
    error.reason.withUTF8Buffer { for byte in $0 { packet.append(byte) } }
    close()
  }

  /// UNKNOWN-ATTRIBUTES (RFC 8489 section 14.9): the first `count` of `types`.
  package func appendUnknown(_ types: SIMD8<UInt16>, count: Int) {
    open(STUNAttribute.unknownAttributes.rawValue, count * 2)
    for index in 0..<count { packet.append(integer: types[index]) }
    close()
  }

  /// MESSAGE-INTEGRITY over all that was written so far.
  package func appendIntegrity(_ key: STUNIntegrity) {
    let end = packet.count
    open(STUNAttribute.messageIntegrity.rawValue, STUNIntegrity.count)
    packet.count += STUNIntegrity.count
    close()
    key.write(in: packet, count: end, at: end + 4)
  }

  /// FINGERPRINT; always the last one.
  package func appendFingerprint() {
    let end = packet.count
    append(.fingerprint, integer: UInt32(0))
    packet.store(STUNChecksum.of(packet, count: end), at: end + 4)
  }

  private func open(_ type: UInt16, _ count: Int) {
    packet.append(integer: type)
    packet.append(integer: UInt16(count))
  }

  private func close() {
    while packet.count & 3 != 0 { packet.append(0) }
    packet.store(UInt16(packet.count - STUNMessage.headerCount), at: 2)
  }
}

/// The errors an ICE agent answers with (RFC 8489 section 18.4, RFC 8445 section 16.2).
package enum STUNError: Int, Sendable {
  case badRequest = 400
  case unauthenticated = 401
  case unknownAttribute = 420
  case roleConflict = 487

  var reason: StaticString {
    switch self {
    case .badRequest: "Bad Request"
    case .unauthenticated: "Unauthenticated"
    case .unknownAttribute: "Unknown Attribute"
    case .roleConflict: "Role Conflict"
    }
  }
}
