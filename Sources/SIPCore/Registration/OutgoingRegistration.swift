/// A registration of ours with a trunk (RFC 3261 section 10).
public struct OutgoingRegistration: Sendable {
  /// The registrar's domain as the Request-URI.
  public var registrar: SIPURI
  /// Top first; where ``paths`` is empty, the first one is looked for in place of the registrar.
  public var routes: [SIPURI]
  /// As in ``OutgoingCall/paths``.
  public var paths: [SIPPath]
  /// To and From: the address of record.
  public var address: NameAddress
  /// User part of the Contact.
  public var contactUser: String
  /// `nil` leaves challenges unanswered.
  public var account: DigestAccount?
  /// Seconds asked for.
  public var expires: UInt32

  /// Asks for an hour unless told otherwise; the registrar may grant another time.
  public init(
    registrar: SIPURI, routes: [SIPURI] = [], paths: [SIPPath] = [], address: NameAddress, contactUser: String,
    account: DigestAccount?, expires: UInt32 = 3600
  ) {
    self.registrar = registrar
    self.routes = routes
    self.paths = paths
    self.address = address
    self.contactUser = contactUser
    self.account = account
    self.expires = expires
  }
}
