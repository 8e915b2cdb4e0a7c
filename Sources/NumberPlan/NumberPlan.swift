internal import CLandlinePhoneNumber
public import CallModel

/// What national number plans say about a number. Advice only: plans change, and the installed tables are always older
/// than some of them, so nothing here may refuse a call.
///
/// The tables are those of libphonenumber as installed, built at the first question and not before.
public enum NumberPlan {
  /// What the plan says about one number.
  public struct Advice: Hashable, Sendable {
    public let type: NumberType
    /// ISO 3166 letters, such as `SE`; `001` for a country code of no region; `nil` when the plan names none.
    public let region: String?
    public let possibility: Possibility
    /// Whether the number lies in a range that the plan has given out.
    public let isValid: Bool
    /// A built-in test number: the plan was not asked.
    public let testNumber: TestNumber?

    /// Whether the number has a length that the plan allows.
    public var isPossible: Bool { possibility == .possible || possibility == .possibleLocally }
  }

  /// What a number is for, as far as its digits tell.
  public enum NumberType: String, Hashable, Sendable, CaseIterable {
    case unknown
    case fixedLine
    case mobile
    /// The plan gives both from the same ranges.
    case fixedLineOrMobile
    case tollFree
    case premiumRate
    case sharedCost
    case voip
    case personalNumber
    case pager
    /// Universal access number: one number for all sites of a company.
    case universalAccess
    case voicemail
  }

  /// Whether a number has a length that its plan allows, and why not.
  public enum Possibility: String, Hashable, Sendable, CaseIterable {
    case possible
    /// Only when dialled inside its area.
    case possibleLocally
    case tooShort
    case tooLong
    /// Between the shortest and the longest, and none of the allowed lengths.
    case lengthNotUsed
    /// The installed tables do not know the country code.
    case countryCodeUnknown
    /// The library failed; nothing is known.
    case notExamined
  }

  /// What the plan says about `number`; answered without the library for a test number.
  public static func advice(for number: E164Number) -> Advice {
    if let testNumber = number.testNumber {
      return Advice(type: .unknown, region: nil, possibility: .possible, isValid: true, testNumber: testNumber)
    }
    var text = number.description
    let answer = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { landline_phone_number_examine($0.baseAddress, $0.count) }
    }
    guard answer.status == Int32(LANDLINE_PHONE_NUMBER_PARSED.rawValue) else {
      let hasFailed = answer.status == Int32(LANDLINE_PHONE_NUMBER_FAILED.rawValue)
      return Advice(
        type: .unknown, region: nil, possibility: hasFailed ? .notExamined : .countryCodeUnknown, isValid: false,
        testNumber: nil)
    }
    return Advice(
      type: type(of: answer), region: region(of: answer), possibility: possibility(of: answer),
      isValid: answer.is_valid != 0, testNumber: nil)
  }

  /// Whether the library's tables have been asked for in this process.
  public static var isLoaded: Bool { landline_phone_number_is_loaded() != 0 }

  private static func type(of answer: landline_phone_number) -> NumberType {
    switch landline_phone_number_type(UInt32(bitPattern: answer.type)) {
    case LANDLINE_PHONE_NUMBER_FIXED_LINE: .fixedLine
    case LANDLINE_PHONE_NUMBER_MOBILE: .mobile
    case LANDLINE_PHONE_NUMBER_FIXED_LINE_OR_MOBILE: .fixedLineOrMobile
    case LANDLINE_PHONE_NUMBER_TOLL_FREE: .tollFree
    case LANDLINE_PHONE_NUMBER_PREMIUM_RATE: .premiumRate
    case LANDLINE_PHONE_NUMBER_SHARED_COST: .sharedCost
    case LANDLINE_PHONE_NUMBER_VOIP: .voip
    case LANDLINE_PHONE_NUMBER_PERSONAL_NUMBER: .personalNumber
    case LANDLINE_PHONE_NUMBER_PAGER: .pager
    case LANDLINE_PHONE_NUMBER_UAN: .universalAccess
    case LANDLINE_PHONE_NUMBER_VOICEMAIL: .voicemail
    default: .unknown
    }
  }

  private static func possibility(of answer: landline_phone_number) -> Possibility {
    switch landline_phone_number_possibility(UInt32(bitPattern: answer.possibility)) {
    case LANDLINE_PHONE_NUMBER_POSSIBLE: .possible
    case LANDLINE_PHONE_NUMBER_POSSIBLE_LOCALLY: .possibleLocally
    case LANDLINE_PHONE_NUMBER_TOO_SHORT: .tooShort
    case LANDLINE_PHONE_NUMBER_TOO_LONG: .tooLong
    case LANDLINE_PHONE_NUMBER_INVALID_COUNTRY_CODE: .countryCodeUnknown
    default: .lengthNotUsed
    }
  }

  private static func region(of answer: landline_phone_number) -> String? {
    let letters = withUnsafeBytes(of: answer.region) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return letters.isEmpty ? nil : letters
  }
}
