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
  }

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
