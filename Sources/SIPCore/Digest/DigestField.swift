/// The value of one header field of authentication, and whose it is.
public struct DigestField: Hashable, Sendable {
  /// Whether a user agent or a proxy asks, which decides the field's name.
  public var scope: DigestScope
  /// Without the field name, unfolded.
  public var value: String

  public init(_ scope: DigestScope, _ value: String) {
    self.scope = scope
    self.value = value
  }
}
