import CLandlineTLS

/// The value of MESSAGE-INTEGRITY (RFC 8489 section 14.5): HMAC-SHA1 over the message up to the attribute.
enum STUNIntegrity {
  /// Bytes of the code.
  static let count = 20

  /// Compares the code at `offset` with that of all bytes before `end`, in constant time.
  static func isValid(in packet: PacketBuffer, count: Int, at offset: Int, key: [UInt8]) -> Bool {
    packet.check(offset, STUNIntegrity.count)
    return withCode(of: packet, count: count, key: key) { code in
      CRYPTO_memcmp(code, packet.base + offset, STUNIntegrity.count) == 0
    }
  }

  /// Writes the code of the first `count` bytes to `offset`.
  static func write(in packet: PacketBuffer, count: Int, at offset: Int, key: [UInt8]) {
    packet.check(offset, STUNIntegrity.count)
    _ = withCode(of: packet, count: count, key: key) { code in
      (packet.base + offset).copyMemory(from: code, byteCount: STUNIntegrity.count)
      return true
    }
  }

  /// False when the library gives no code; the body has not run then.
  private static func withCode(
    of packet: PacketBuffer, count: Int, key: [UInt8], _ body: (UnsafeRawPointer) -> Bool
  ) -> Bool {
    packet.check(0, count)
    return withUnsafeTemporaryAllocation(byteCount: Int(EVP_MAX_MD_SIZE), alignment: 8) { room in
      guard let code = room.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
      var length: UInt32 = 0
      let bytes = packet.base.assumingMemoryBound(to: UInt8.self)
      guard HMAC(EVP_sha1(), key, CInt(key.count), bytes, count, code, &length) != nil,
        length == UInt32(STUNIntegrity.count)
      else { return false }
      return body(UnsafeRawPointer(code))
    }
  }
}
