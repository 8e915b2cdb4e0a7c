public import CallModel

/// A master key with its salt, and how long and under which name it is used (RFC 4568 section 6.1).
public struct SRTPMasterKey: Hashable, Sendable {
  /// The name of the key inside each packet (RFC 3711 section 3.1), in network order.
  public struct Identifier: Hashable, Sendable {
    /// Bytes that an identifier may have.
    public static let lengths = 1...128
    /// As long as in each packet, filled with zeros at the front.
    public let bytes: [UInt8]
  }

  /// Most packets one key may protect: 2^48 (RFC 3711 section 9.2).
  public static let maximumLifetime: UInt64 = 1 << 48

  /// Key, then salt.
  public let keyAndSalt: Redacted<[UInt8]>
  /// Packets; `nil`: the maximum.
  public let lifetime: UInt64?
  /// `nil`: packets carry none.
  public let identifier: Identifier?

  /// Nothing is checked: key and salt must have the lengths of their suite.
  public init(keyAndSalt: [UInt8], lifetime: UInt64? = nil, identifier: Identifier? = nil) {
    self.keyAndSalt = Redacted(keyAndSalt)
    self.lifetime = lifetime
    self.identifier = identifier
  }
}
