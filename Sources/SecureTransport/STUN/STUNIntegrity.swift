import CLandlineTLS

/// The key of MESSAGE-INTEGRITY (RFC 8489 section 14.5): HMAC-SHA1 over the message up to the attribute. Set up once for
/// all messages of a leg, since the library takes longer for that than for a message. Belongs to one thread.
package final class STUNIntegrity {
  /// Bytes of the code.
  static let count = 20

  /// `nil` without memory: then nothing is valid.
  private let context: OpaquePointer?

  /// For short-term credentials the key is the password.
  package init(_ key: [UInt8]) { context = landline_hmac_new(key, key.count) }

  package convenience init(_ password: String) { self.init(Array(password.utf8)) }

  deinit { if let context { landline_hmac_free(context) } }

  /// Compares the code at `offset` with that of the first `count` bytes, in constant time.
  func isValid(in packet: PacketBuffer, count: Int, at offset: Int) -> Bool {
    packet.check(offset, STUNIntegrity.count)
    return withCode(of: packet, count: count) { code in
      CRYPTO_memcmp(code, packet.base + offset, STUNIntegrity.count) == 0
    }
  }

  /// Writes the code of the first `count` bytes to `offset`.
  func write(in packet: PacketBuffer, count: Int, at offset: Int) {
    packet.check(offset, STUNIntegrity.count)
    _ = withCode(of: packet, count: count) { code in
      (packet.base + offset).copyMemory(from: code, byteCount: STUNIntegrity.count)
      return true
    }
  }

  /// False when the library gives no code; the body has not run then.
  private func withCode(of packet: PacketBuffer, count: Int, _ body: (UnsafeRawPointer) -> Bool) -> Bool {
    packet.check(0, count)
    guard let context else { return false }
    return withUnsafeTemporaryAllocation(byteCount: STUNIntegrity.count, alignment: 8) { room in
      guard let code = room.baseAddress?.assumingMemoryBound(to: UInt8.self),
        landline_hmac_code(context, packet.base, count, code)
      else { return false }
      return body(UnsafeRawPointer(code))
    }
  }
}
