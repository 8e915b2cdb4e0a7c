public import CallModel

/// The user fragment and password of one end (RFC 8839 section 5.4).
public struct ICECredentials: Hashable, Sendable {
  /// 4 to 256 characters.
  public static let userFragmentLength = 4...256
  /// 22 to 256 characters.
  public static let passwordLength = 22...256

  /// The value of `ice-ufrag`.
  public let userFragment: String
  /// The value of `ice-pwd`; hidden in logs.
  public let password: Redacted<String>

  /// `nil` when a length is out of range or a character is not one of `A-Z a-z 0-9 + /`.
  public init?(userFragment: String, password: String) {
    guard ICECredentials.userFragmentLength.contains(userFragment.utf8.count),
      ICECredentials.passwordLength.contains(password.utf8.count),
      userFragment.utf8.allSatisfy(ICECredentials.isICECharacter),
      password.utf8.allSatisfy(ICECredentials.isICECharacter)
    else { return nil }
    self.userFragment = userFragment
    self.password = Redacted(password)
  }

  /// Fresh ones of 48 and 144 random bits, six a letter; RFC 8445 section 5.3 asks for 24 and 128.
  /// - Parameter draw: 64 bits from the system's generator.
  public init(draw: () -> UInt64) {
    userFragment = ICECredentials.letters(8, draw)
    password = Redacted(ICECredentials.letters(24, draw))
  }

  private static func letters(_ count: Int, _ draw: () -> UInt64) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(count)
    while text.count < count {
      var word = draw()
      for _ in 0..<10 where text.count < count {
        text.append(alphabet[Int(word & 63)])
        word >>= 6
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func isICECharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
    // Outside the grammar, seen from conference servers, harmless in a STUN user name.
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="): true
    default: false
    }
  }
}
