/// An address with a display name and header parameters: From, To, Contact, Route, P-Asserted-Identity
/// (RFC 3261 section 20.10).
public struct NameAddress: Hashable, Sendable {
  /// Without quotes and escapes.
  public var displayName: String?
  /// Always in angle brackets when sent.
  public var uri: SIPURI
  /// Parameters of the header field, not of the URI.
  public var parameters: [SIPParameter]

  /// Checks nothing; a message with a value that cannot stand in it cannot be built.
  public init(_ uri: SIPURI, displayName: String? = nil, parameters: [SIPParameter] = []) {
    self.displayName = displayName
    self.uri = uri
    self.parameters = parameters
  }

  /// The tag among ``parameters``; `nil` as long as that end has not chosen one.
  public var tag: String? { parameters["tag"]?.value }
}
