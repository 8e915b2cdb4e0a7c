/// A telephone that registers with the gateway itself: a device of one user.
public struct DeskPhone: Hashable, Sendable {
  /// Most telephones of one environment.
  public static let maximumPhones = 10_000
  /// Characters of a name.
  public static let maximumNameLength = 64
  /// Characters of a password.
  public static let passwordLength = 12...128

  /// The user name that it registers and calls with; no other telephone of the gateway has it.
  public let name: String
  /// Key of the application that the user belongs to.
  public var application: String
  /// Whose device it is.
  public var user: UserID
  /// Country calling code of the numbers that are dialled without one; `nil` where `+` or `00` has to stand in front.
  public var country: Int?
  /// What is kept in place of its password.
  public var keys: PhoneKeys

  public init(name: String, application: String, user: UserID, country: Int? = nil, keys: PhoneKeys) {
    self.name = name
    self.application = application
    self.user = user
    self.country = country
    self.keys = keys
  }

  /// How records and stories call it.
  public var deviceName: String { DeskPhone.deviceName(name) }

  /// How records and stories call the telephone of a name.
  public static func deviceName(_ name: String) -> String { "desk phone \(name)" }

  /// Reads a name: letters, digits, `.`, `-` and `_`, at most ``maximumNameLength``.
  /// - Throws: ``InvalidValue`` with rule `phone.name`.
  public static func name(_ text: String) throws(InvalidValue) -> String {
    let others = ".-_".utf8
    guard (1...maximumNameLength).contains(text.utf8.count),
      text.utf8.allSatisfy({ SIPCharacter.isDigit($0) || isLetter($0) || others.contains($0) })
    else {
      throw refusal(
        "name", "it is no name of a telephone",
        "1 to \(maximumNameLength) letters, digits, dots, hyphens and underscores, such as lobby")
    }
    return text
  }

  /// Reads a country calling code.
  /// - Throws: ``InvalidValue`` with rule `phone.country`.
  public static func country(_ code: Int) throws(InvalidValue) -> Int {
    guard CountryCallingCode.assigned.contains(code) else {
      throw refusal("country", "\(code) is no country's calling code", "a code such as 46")
    }
    return code
  }

  /// Reads a password: printable ASCII without blanks, for it is typed on telephones.
  /// - Throws: ``InvalidValue`` with rule `phone.password`.
  public static func password(_ text: String) throws(InvalidValue) -> Redacted<String> {
    guard passwordLength.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw refusal(
        "password", "it is no password for a telephone",
        "\(passwordLength.lowerBound) to \(passwordLength.upperBound) printable ASCII characters without blanks")
    }
    return Redacted(text)
  }

  /// A password of 125 random bits that can be typed: 25 letters and digits, none of which looks like another
  /// (Crockford's base 32).
  /// - Parameter draw: 64 random bits each time.
  public static func newPassword(draw: () -> UInt64) -> String {
    let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    var text: [UInt8] = []
    for letters in [12, 13] {
      var word = draw()
      for _ in 0..<letters {
        text.append(alphabet[Int(word & 31)])
        word >>= 5
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func refusal(_ rule: String, _ problem: String, _ accepted: String) -> InvalidValue {
    InvalidValue(kind: "desk phone", rule: "phone.\(rule)", offset: nil, problem: problem, accepted: accepted)
  }
}

/// What is kept of a telephone's password (RFC 7616 section 3.4.2): who has it can answer challenges of this realm, and
/// learns no password.
public struct PhoneKeys: Hashable, Sendable {
  /// The realm of every telephone; it stands in the hashes, so that it can never change.
  public static let realm = "landline"

  /// H(name:realm:password) with SHA-256, 64 hexadecimal digits in lower case.
  public var sha256: Redacted<String>
  /// The same with MD5, 32 digits; empty where it cannot be computed.
  public var md5: Redacted<String>

  public init(sha256: Redacted<String>, md5: Redacted<String>) {
    self.sha256 = sha256
    self.md5 = md5
  }
}
