/// One question to the domain name system: all records of a kind under a name.
public struct DNSQuestion: Hashable, Sendable {
  /// The record types that locating a SIP URI needs (RFC 3263).
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Which transports a domain offers, by preference (RFC 3403).
    case naptr
    /// Which hosts offer a service (RFC 2782).
    case srv
    /// IPv4 addresses.
    case a
    /// IPv6 addresses (RFC 3596).
    case aaaa
  }

  /// Most bytes of a name without its final dot (RFC 1035 section 2.3.4).
  public static let maximumNameBytes = 253

  public let kind: Kind
  /// In lower case, without a final dot.
  public let name: String

  /// Puts the name into lower case and takes a final dot away.
  public init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = DNSQuestion.normalized(name)
  }

  /// Lower case without a final dot: how two spellings of a name compare. The root is the empty text.
  static func normalized(_ name: String) -> String {
    var bytes = name.utf8.map(MessageCharacter.lowercase)
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the text could be the name of a host: labels of letters, digits, hyphens and underscores, and no numeric
  /// address, which has no place where DNS wants a name.
  static func isHostName(_ name: String) -> Bool {
    guard !name.isEmpty, name.utf8.count <= maximumNameBytes else { return false }
    let isNumeric = name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    guard !isNumeric else { return false }
    return name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.count)
        && label.allSatisfy { byte in
          switch byte {
          case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
          default: false
          }
        }
    }
  }
}

extension DNSQuestion: CustomStringConvertible {
  /// `SRV _sip._udp.example.com`
  public var description: String { "\(kind.rawValue.uppercased()) \(name)" }
}
