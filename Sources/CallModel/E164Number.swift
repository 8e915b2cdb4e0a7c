/// A telephone number in the international form of ITU-T E.164: `+` and 7 to 15 digits under an assigned country code.
///
/// Only the syntax and the country code decide. Whether a number plan knows the rest is advice, never a refusal.
public struct E164Number: Hashable, Sendable {
  /// Fewest digits after the `+`. E.164 sets no minimum; shorter texts are short codes or mistakes.
  public static let minimumDigits = 7
  /// Most digits after the `+` (E.164 section 6.1).
  public static let maximumDigits = 15

  /// The digits as an integer: at most 10¹⁵ − 1. No first digit is 0, so nothing is lost.
  public let value: UInt64
  /// 1 to 999.
  public let countryCode: Int

  /// What the number counts as where countries are allowed or refused: its country code, or the digits that tell it from
  /// others of the same code: 1876 for Jamaica, 77 for Kazakhstan.
  public var country: Int {
    guard let digits = CountryCallingCode.sharedDigits[countryCode] else { return countryCode }
    var prefix = value
    var limit: UInt64 = 1
    for _ in 0..<digits { limit *= 10 }
    while prefix >= limit { prefix /= 10 }
    return CountryCallingCode.sharing.contains(Int(prefix)) ? Int(prefix) : countryCode
  }

  /// Reads `+` and digits, and nothing else: no spaces, punctuation, letters or digits of other scripts.
  /// - Throws: ``InvalidValue`` with rules `e164.plus`, `e164.digit`, `e164.first`, `e164.short`, `e164.long`, `e164.country`.
  public init(_ text: some StringProtocol) throws(InvalidValue) {
    var value: UInt64 = 0
    var digits = 0
    var code: Int?
    var offset = 0
    for byte in text.utf8 {
      if offset == 0 {
        guard byte == UInt8(ascii: "+") else {
          throw E164Number.refusal(
            "plus", 0, "\(InvalidValue.name(of: byte)) stands where the number must begin with '+'")
        }
        offset = 1
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        throw E164Number.refusal("digit", offset, "\(InvalidValue.name(of: byte)) is not a digit 0 to 9")
      }
      guard digits > 0 || byte != UInt8(ascii: "0") else {
        throw E164Number.refusal("first", offset, "no country code begins with 0")
      }
      guard digits < E164Number.maximumDigits else {
        throw E164Number.refusal("long", offset, "more than \(E164Number.maximumDigits) digits")
      }
      value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
      digits += 1
      if code == nil, digits <= CountryCallingCode.maximumDigits, CountryCallingCode.isAssigned(Int(value)) {
        code = Int(value)
      }
      offset += 1
    }
    guard offset > 0 else { throw E164Number.refusal("plus", 0, "nothing is there") }
    guard digits >= E164Number.minimumDigits else {
      throw E164Number.refusal(
        "short", offset, "only \(digits) digits where at least \(E164Number.minimumDigits) are needed")
    }
    guard let code else { throw E164Number.refusal("country", 1, "no country code begins these digits") }
    self.value = value
    self.countryCode = code
  }

  private static func refusal(_ rule: String, _ offset: Int, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "phone number", rule: "e164.\(rule)", offset: offset, problem: problem,
      accepted: "+, a country code and the national number, \(minimumDigits) to \(maximumDigits) digits together, "
        + "such as +46701234567")
  }

  /// The digits without the `+`.
  public var digits: String { String(value) }

  /// Whether a text has the form alone: `+`, a first digit 1 to 9, 7 to 15 digits. The country code may be unassigned.
  public static func hasSyntax(_ text: some StringProtocol) -> Bool {
    do throws(InvalidValue) {
      _ = try E164Number(text)
      return true
    } catch {
      return error.rule == "e164.country"
    }
  }

  /// The number for logs: the country code, at most two digits more, and at most the last two, such as `+4670•••••67`.
  ///
  /// At least four digits stay hidden, whatever the length.
  public var masked: String {
    let digits = self.digits.utf8
    let isLong = digits.count >= 10
    let head = isLong ? 4 : String(countryCode).utf8.count
    let tail = isLong ? 2 : 0
    return "+\(String(digits.prefix(head)) ?? "")"
      + String(repeating: "•", count: digits.count - head - tail) + (String(digits.suffix(tail)) ?? "")
  }

  /// What the number does when it is one of the built-in test numbers; asked before any number plan, which calls
  /// most of them invalid.
  public var testNumber: TestNumber? { TestNumber(rawValue: value) }
}

extension E164Number: CustomStringConvertible, Comparable {
  /// `+46701234567`.
  public var description: String { "+\(value)" }

  /// The order of the digits as integers.
  public static func < (left: E164Number, right: E164Number) -> Bool { left.value < right.value }
}
