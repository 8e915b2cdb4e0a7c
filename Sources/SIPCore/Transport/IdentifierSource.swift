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
  public func token() -> String {
    func digits(_ number: UInt64) -> String {
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
    return digits(draw()) + digits(draw())
  }

  /// 64 random bits.
  public func number() -> UInt64 { draw() }
}
