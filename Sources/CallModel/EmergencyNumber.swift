/// A short code that reaches an emergency service: dialled without `+` or country code, never refused for credit or caps.
///
/// The set is the codes most widely used for police, fire and ambulance. Some of them mean something else in some
/// countries (118 is a directory service in Germany), so an operator may pass the set of the countries served.
public struct EmergencyNumber: Hashable, Sendable, CustomStringConvertible {
  /// Most digits of a code.
  public static let maximumDigits = 6

  /// 112 (GSM and Europe), 911 (North America), 999 (United Kingdom and others), 000 (Australia), 111 (New Zealand),
  /// 110, 118 and 119 (East Asia, parts of Europe), 100 to 102 and 108 (South Asia, Eastern Europe), 113 to 117 and
  /// 122, 120, 155, 158 (parts of Europe, the Middle East and China), 190 to 195 (Latin America and others),
  /// 995, 997 and 998 (Singapore, Gulf states).
  public static let defaultCodes: Set<String> = [
    "000", "100", "101", "102", "108", "110", "111", "112", "113", "114", "115", "117", "118", "119", "120", "122",
    "155", "158", "190", "191", "192", "193", "194", "195", "911", "995", "997", "998", "999",
  ]

  public let code: String

  /// - Throws: ``InvalidValue`` with rules `emergency.digit` and `emergency.code`.
  public init(_ text: some StringProtocol, among codes: Set<String> = EmergencyNumber.defaultCodes) throws(InvalidValue)
  {
    func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "emergency number", rule: "emergency.\(rule)", offset: offset, problem: problem,
        accepted: "a short code of the emergency set, without + or country code, such as 112")
    }
    var offset = 0
    for byte in text.utf8 {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        throw refusal("digit", offset, "\(InvalidValue.name(of: byte)) is not a digit 0 to 9")
      }
      offset += 1
      guard offset <= EmergencyNumber.maximumDigits else {
        throw refusal("code", nil, "it is too long for a short code")
      }
    }
    let code = String(text)
    guard codes.contains(code) else { throw refusal("code", nil, "the digits are not in the set of emergency codes") }
    self.code = code
  }

  public var description: String { code }
}
