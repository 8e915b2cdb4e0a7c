import LandlineDigest

/// Comparison of hexadecimal digests.
enum Secret {
  /// Without regard to case, in a time that depends on the lengths alone.
  static func equal(_ left: String, _ right: String) -> Bool {
    ConstantTime.equal(lowered(left), lowered(right))
  }

  /// Sets the bit that tells letters apart by case; on digits it is set already.
  private static func lowered(_ text: String) -> [UInt8] { text.utf8.map { $0 | 0x20 } }
}
