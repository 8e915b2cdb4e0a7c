public import CallModel

/// A URI of a request line, a name-addr or a Contact.
///
/// `==` compares the spelling; ``isEquivalent(to:)`` follows RFC 3261 section 19.1.4.
public struct SIPURI: Hashable, Sendable {
  public enum Scheme: String, Hashable, Sendable {
    case sip, sips, tel
    /// Any other one, of From and To alone (RFC 3261 section 8.2.2.1): the whole URI stands in ``SIPURI/user`` as written.
    case other
  }

  public var scheme: Scheme
  /// With its escapes as written. A tel URI keeps its number here and has no host.
  public var user: String?
  /// `nil` only for tel and other schemes.
  public var host: SIPHost?
  public var port: UInt16?
  public var parameters: [SIPParameter]
  /// `?name=value` header fields, escapes as written: they stand in the Contact of a redirection and in Refer-To.
  public var headers: [SIPParameter]

  public init(
    scheme: Scheme, user: String?, host: SIPHost?, port: UInt16? = nil, parameters: [SIPParameter] = [],
    headers: [SIPParameter] = []
  ) {
    self.scheme = scheme
    self.user = user
    self.host = host
    self.port = port
    self.parameters = parameters
    self.headers = headers
  }
}
