import CallModel

/// Where tags, branches, Call-IDs and nonces come from: the system's secure generator in a gateway, a seeded one in a
/// simulation. The only randomness a core sees.
public struct IdentifierSource: Sendable {
  /// Random bits of an identifier.
  public static let bits = 128

  private let draw: @Sendable () -> UInt64

  /// - Parameter draw: 64 random bits a call.
  public init(_ draw: @escaping @Sendable () -> UInt64) { self.draw = draw }

  /// Reads the system's secure generator, in blocks.
  public static let system = IdentifierSource { SecureRandomNumberGenerator().next() }

  /// 128 bits as 32 lower-case hexadecimal digits: a token that may stand in any header.
  public func token() -> String { token(behind: "") }

  /// The same behind a prefix.
  func token(behind prefix: String) -> String {
    let first = draw()
    let second = draw()
    return String(unsafeUninitializedCapacity: prefix.utf8.count + 32) { buffer in
      var count = 0
      func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
      }
      func appendDigits(_ number: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
          let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
          append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
      }
      prefix.utf8.forEach(append)
      appendDigits(first)
      appendDigits(second)
      return count
    }
  }

  /// 64 random bits.
  public func number() -> UInt64 { draw() }
}
