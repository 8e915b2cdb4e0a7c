import CLandlineCrypto

/// Comparison of secrets in a time that tells nothing about where they differ.
public enum ConstantTime {
  /// Whether both hold the same bytes. The time depends on the lengths alone, which are not secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}
