/// Whom a call is for, with its text checked.
public enum Destination: Hashable, Sendable {
  case phone(E164Number)
  case emergency(EmergencyNumber)
  case sip(SIPAddress)
  case user(UserID)
  case conference(ConferenceID)

  /// The four kinds of call that an app names.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case phone, sip, user, conference

    /// What the names of a call's headers may be: only what leaves by SIP needs the prefix.
    public var headerNames: CustomHeaders.Names {
      switch self {
      case .phone, .sip: .prefixed
      case .user, .conference: .tokens
      }
    }
  }

  /// The kind under which an app asks for it: a code of an emergency service counts as a phone number.
  public var kind: Kind {
    switch self {
    case .phone, .emergency: .phone
    case .sip: .sip
    case .user: .user
    case .conference: .conference
    }
  }

  /// The canonical text: `+46701234567`, `112`, `alice@example.com`, a user's or a conference's id.
  public var text: String {
    switch self {
    case .phone(let number): number.description
    case .emergency(let number): number.description
    case .sip(let address): address.description
    case .user(let user): user.text
    case .conference(let conference): conference.text
    }
  }
}

extension Destination {
  /// Reads what an app or a person wrote. A number has its E.164 form, `+` and digits, the built-in ones too; a code of an emergency service may stand in place of a number.
  /// - Parameter emergencyCodes: which codes are read as such; whether one is free is for the environment to say.
  /// - Throws: ``InvalidValue``, whose ``InvalidValue/failureCode`` is the failure to tell.
  public init(
    _ kind: Kind, _ text: String, userRules: UserID.Rules = .standard,
    emergencyCodes: Set<String> = EmergencyNumber.known
  ) throws(InvalidValue) {
    switch kind {
    case .phone:
      if let number = try? EmergencyNumber(text, among: emergencyCodes) {
        self = .emergency(number)
      } else {
        self = .phone(try E164Number(text))
      }
    case .sip: self = .sip(try SIPAddress(text))
    case .user: self = .user(try UserID(text, rules: userRules))
    case .conference: self = .conference(try ConferenceID(text))
    }
  }
}

extension InvalidValue {
  /// The failure of a call that was asked for with this value.
  public var failureCode: CallFailureCode {
    switch rule.split(separator: ".").first {
    case "header": .header
    case "sip", "user", "conference": .address
    default: .number
    }
  }
}
