public import CallModel

/// A URI of a request line, a name-addr or a Contact.
///
/// `==` compares the spelling; ``isEquivalent(to:)`` follows RFC 3261 section 19.1.4.
public struct SIPURI: Hashable, Sendable {
  /// What comes before the first colon, in lower case.
  public enum Scheme: String, Hashable, Sendable {
    case sip, sips, tel
    /// Any other one, of From and To alone (RFC 3261 section 8.2.2.1): the whole URI stands in ``SIPURI/user`` as written.
    case other
  }

  /// For `other`, the scheme itself is the beginning of ``user``.
  public var scheme: Scheme
  /// With its escapes as written. A tel URI keeps its number here and has no host.
  public var user: String?
  /// `nil` only for tel and other schemes.
  public var host: SIPHost?
  /// `nil` where none is written: the answer from DNS or the transport's default counts (RFC 3263 section 4.2).
  public var port: UInt16?
  /// Of the URI itself, such as `transport=tcp`; not those of the header field around it.
  public var parameters: [SIPParameter]
  /// `?name=value` header fields, escapes as written: they stand in the Contact of a redirection and in Refer-To.
  public var headers: [SIPParameter]

  /// Checks nothing; a message with a URI that breaks the grammar cannot be built.
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
