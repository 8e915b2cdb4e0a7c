/// What a registrar's response says, as far as ``RegistrationMachine`` reads it.
package struct RegistrationResponse: Sendable {
  package var status: Int
  package var phrase: String
  package var contacts: [NameAddress]
  /// Seconds of Expires.
  package var expires: UInt32?
  /// Seconds of Min-Expires.
  package var minimumExpires: UInt32?
  package var retryAfterSeconds: Int?
  package var challenges: [DigestField]
  /// Authentication-Info and Proxy-Authentication-Info.
  package var information: [DigestField]

  package init(
    status: Int, phrase: String = "", contacts: [NameAddress] = [], expires: UInt32? = nil,
    minimumExpires: UInt32? = nil, retryAfterSeconds: Int? = nil, challenges: [DigestField] = [],
    information: [DigestField] = []
  ) {
    self.status = status
    self.phrase = phrase
    self.contacts = contacts
    self.expires = expires
    self.minimumExpires = minimumExpires
    self.retryAfterSeconds = retryAfterSeconds
    self.challenges = challenges
    self.information = information
  }

  /// `nil` for a request. Values that cannot be read count as absent.
  package init?(_ message: SIPMessage) {
    guard case .response(let status, let phrase) = message.startLine else { return nil }
    func fields(_ name: (DigestScope) -> String) -> [DigestField] {
      DigestScope.allCases.flatMap { scope in message.values(name(scope)).map { DigestField(scope, $0) } }
    }
    self.init(
      status: status, phrase: phrase, contacts: message.contacts,
      expires: message.value("Expires").flatMap(FieldNumber.read),
      minimumExpires: message.value("Min-Expires").flatMap(FieldNumber.read),
      retryAfterSeconds: message.value("Retry-After").flatMap { try? RetryAfter(parsing: $0) }?.seconds,
      // A 401 asks for the user agent's credentials and a 407 for a proxy's, but forking proxies collect both
      // (RFC 3261 section 22.3).
      challenges: fields(\.challengeFieldName), information: fields(\.informationFieldName))
  }
}
