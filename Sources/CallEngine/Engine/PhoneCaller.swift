public import AppProtocol
public import CallModel
public import SIPCore

/// How a telephone of a user is reached: what it registered.
public struct PhoneReach: Hashable, Sendable {
  /// The Request-URI of calls to it.
  public var contact: SIPURI
  /// Where they are sent.
  public var path: SIPPath

  public init(contact: SIPURI, path: SIPPath) {
    self.contact = contact
    self.path = path
  }
}

/// Whose telephone calls, and who pays.
public struct PhoneCaller: Sendable {
  /// The user that it belongs to, and what the device is called.
  public var identity: AppIdentity
  /// Stands for its registration, or for a call without one.
  public var session: SessionID
  /// Of its application.
  public var environment: String
  /// Of its application.
  public var account: AccountName
  /// Numbers that the application may show; the first is shown.
  public var callerNumbers: [E164Number]
  /// Country calling code of numbers that are dialled without one; `nil` where they need it.
  public var country: Int?

  public init(
    identity: AppIdentity, session: SessionID, environment: String, account: AccountName,
    callerNumbers: [E164Number] = [], country: Int? = nil
  ) {
    self.identity = identity
    self.session = session
    self.environment = environment
    self.account = account
    self.callerNumbers = callerNumbers
    self.country = country
  }

  /// How what may be done within an hour counts the user.
  var person: String { "\(identity.application)/\(identity.user)" }

  /// What a dialled text is: `+`, or `00`, begins an international number; a code of an emergency service is one; digits, at
  /// least seven, are a national number where ``country`` says of which country; everything else is a user.
  /// - Parameter user: the user part of a Request-URI, with its escapes.
  public func dialled(_ user: String) -> (kind: Destination.Kind, text: String)? {
    guard let text = SIPURI.unescaped(user), !text.isEmpty else { return nil }
    let number = text.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { !"-.() ".utf8.contains($0) }
    let digits = number.first == UInt8(ascii: "+") ? number.dropFirst() : number[...]
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return (.user, text)
    }
    let plain = String(decoding: number, as: UTF8.self)
    if digits.count != number.count || plain.hasPrefix("00") {
      return (.phone, InboundNumberFormat.international.number(plain)?.description ?? plain)
    }
    if EmergencyNumber.known.contains(plain) { return (.phone, plain) }
    guard number.count >= PhoneCaller.leastNationalDigits else { return (.user, text) }
    guard let country else { return (.phone, plain) }
    return (.phone, InboundNumberFormat.national(countryCode: country).number(plain)?.description ?? plain)
  }

  /// Fewer digits are the name of a user.
  public static let leastNationalDigits = 7

  /// A user's id as the user part of a URI.
  static func escaped(_ user: String) -> String {
    var text = ""
    for byte in user.utf8 {
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      if isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.!~*'()+".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return text
  }
}
