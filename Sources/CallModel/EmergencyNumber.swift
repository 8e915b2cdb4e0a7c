/// A short code that reaches an emergency service: dialled without `+` or country code, never refused for credit.
///
/// The same code means different things in different countries (118 is the ambulance in Italy, a directory service in
/// Germany), so which codes are free is a matter of where the caller is, or of the operator's configuration.
public struct EmergencyNumber: Hashable, Sendable, CustomStringConvertible {
  /// Most digits of a code.
  public static let maximumDigits = 6

  /// The code of mobile networks everywhere (3GPP TS 22.101) and of the European Union: free wherever nothing else is
  /// configured.
  public static let everywhere: Set<String> = ["112"]
  /// Every code that some country has.
  public static let known: Set<String> = byCountryCode.values.reduce(into: everywhere) { $0.formUnion($1) }

  private static let byCountryCode: [Int: Set<String>] = Dictionary(
    EmergencyNumberTable.text.split(separator: "\n").compactMap { row in
      let words = row.split(separator: " ").map(String.init)
      return words.first.flatMap { Int($0) }.map { ($0, Set(words.dropFirst())) }
    }, uniquingKeysWith: { $0.union($1) })

  /// Those of the country where a caller is, by the number that it shows, with those of ``everywhere``.
  public static func codes(ofCaller number: E164Number?) -> Set<String> {
    everywhere.union(number.flatMap { byCountryCode[$0.countryCode] } ?? [])
  }

  /// 1 to ``maximumDigits`` digits, such as `112`.
  public let code: String

  /// - Throws: ``InvalidValue`` with rules `emergency.digit` and `emergency.code`.
  public init(_ text: some StringProtocol, among codes: Set<String> = EmergencyNumber.known) throws(InvalidValue) {
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

  /// The bare digits of ``code``.
  public var description: String { code }
}
