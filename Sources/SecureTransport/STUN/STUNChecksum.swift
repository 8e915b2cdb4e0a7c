/// The value of FINGERPRINT (RFC 8489 section 14.7): CRC-32 of ISO 3309, exclusive-ored.
enum STUNChecksum {
  private static let exclusiveOr: UInt32 = 0x5354_554E

  private static let table = ContiguousArray<UInt32>(
    (0..<256).map { (byte: UInt32) in
      (0..<8).reduce(byte) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    })

  /// Of the first `count` bytes.
  static func of(_ packet: PacketBuffer, count: Int) -> UInt32 {
    packet.check(0, count)
    let bytes = UnsafeRawBufferPointer(start: packet.base, count: count)
    return table.withUnsafeBufferPointer { table in
      var value: UInt32 = 0xFFFF_FFFF
      for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
      return value ^ 0xFFFF_FFFF ^ exclusiveOr
    }
  }
}
