/// One `;name=value` of a URI or a header field.
public struct SIPParameter: Hashable, Sendable {
  /// In lower case: names are compared without regard to case (RFC 3261 section 7.3.1).
  public let name: String
  /// As written, without the quotes of a quoted string; `nil` for a parameter without a value.
  public let value: String?

  /// Puts the name into lower case and checks nothing.
  public init(_ name: String, _ value: String? = nil) {
    self.name = name.lowercased()
    self.value = value
  }
}

extension [SIPParameter] {
  /// The first parameter with this name, given in lower case.
  public subscript(name: String) -> SIPParameter? { first { $0.name == name } }
}
