public import CallModel

/// How calls over one trunk say who calls and whom (RFC 3323, 3325): trunks refuse calls for a From that they do not
/// expect more often than for anything else.
public struct CallerIdentityPolicy: Hashable, Sendable {
  /// The user part of From.
  public enum FromUser: Hashable, Sendable {
    case callerNumber
    /// The user of the trunk's account, or any other fixed one, as it stands in a URI.
    case fixed(String)
  }

  /// Where the caller's number stands beside From.
  public enum Assertion: Hashable, Sendable {
    case none
    /// P-Asserted-Identity: the trunk takes our word.
    case asserted
    /// P-Preferred-Identity: the trunk chooses.
    case preferred
  }

  /// How the caller's number is written in P-Asserted-Identity and P-Preferred-Identity; From always has a SIP URI.
  public enum Form: Hashable, Sendable {
    case sip, tel
    /// One of each; P-Preferred-Identity, which holds one, has the SIP URI.
    case both
  }

  /// Not used for a withheld number: From is anonymous then.
  public var fromUser: FromUser
  /// Host of From and of asserted SIP URIs.
  public var domain: SIPHost
  /// Whether the caller's name goes out beside the number; never with a withheld one.
  public var sendsDisplayName: Bool
  /// A withheld number goes only to a trunk that ``isTrusted``.
  public var assertion: Assertion
  /// Without effect where ``assertion`` is none.
  public var form: Form
  /// Of the caller's number in From and in asserted SIP URIs; tel URIs are always international.
  public var callerFormat: DialFormat
  /// Of the called number in the Request-URI.
  public var dialFormat: DialFormat
  /// Whether the trunk belongs to our trust domain (RFC 3324): only then does a withheld number go out, in the asserted
  /// field, with `Privacy: id`.
  public var isTrusted: Bool
  /// Numbers that may be shown; `nil` for any.
  public var ownedNumbers: Set<E164Number>?

  /// By default the trunk is not trusted, may show any number, and gets the caller's in From and P-Asserted-Identity.
  public init(
    fromUser: FromUser = .callerNumber, domain: SIPHost, sendsDisplayName: Bool = true,
    assertion: Assertion = .asserted, form: Form = .sip, callerFormat: DialFormat = .international,
    dialFormat: DialFormat = .international, isTrusted: Bool = false, ownedNumbers: Set<E164Number>? = nil
  ) {
    self.fromUser = fromUser
    self.domain = domain
    self.sendsDisplayName = sendsDisplayName
    self.assertion = assertion
    self.form = form
    self.callerFormat = callerFormat
    self.dialFormat = dialFormat
    self.isTrusted = isTrusted
    self.ownedNumbers = ownedNumbers
  }

  /// Who calls, as the INVITE says it.
  /// - Parameters:
  ///   - number: The caller's number.
  ///   - isWithheld: The callee is not to see it (CLIR).
  /// - Throws: ``InvalidValue`` with rule `caller.owned` for a number that the trunk may not show.
  public func identity(
    of number: E164Number, displayName: String? = nil, isWithheld: Bool = false
  ) throws(InvalidValue) -> OutgoingIdentity {
    if let ownedNumbers, !ownedNumbers.contains(number) {
      throw InvalidValue(
        kind: "caller number", rule: "caller.owned", offset: nil,
        problem: "\(number.masked) is not among the numbers that this trunk may show",
        accepted: "a number that belongs to the trunk")
    }
    let name = sendsDisplayName && !isWithheld ? displayName : nil
    let user = callerFormat.user(number)
    let addresses = [
      form == .tel ? nil : SIPURI(scheme: .sip, user: user, host: domain),
      form == .sip ? nil : SIPURI(scheme: .tel, user: number.description, host: nil),
    ].compactMap { $0.map { NameAddress($0, displayName: name) } }
    let from: NameAddress
    if isWithheld {
      // RFC 3323 section 4.1.1.3.
      from = NameAddress(
        SIPURI(scheme: .sip, user: "anonymous", host: .name("anonymous.invalid")), displayName: "Anonymous")
    } else {
      switch fromUser {
      case .callerNumber: from = NameAddress(SIPURI(scheme: .sip, user: user, host: domain), displayName: name)
      case .fixed(let user): from = NameAddress(SIPURI(scheme: .sip, user: user, host: domain), displayName: name)
      }
    }
    let isShown = !isWithheld || isTrusted
    return OutgoingIdentity(
      from: from, asserted: assertion == .asserted && isShown ? addresses : [],
      preferred: assertion == .preferred && isShown ? addresses.first : nil, privacy: isWithheld ? ["id"] : [])
  }

  /// The Request-URI for a number at this host of the trunk.
  public func target(_ number: E164Number, host: SIPHost, port: UInt16? = nil) -> SIPURI {
    SIPURI(scheme: .sip, user: dialFormat.user(number), host: host, port: port)
  }
}
