/// One `a=` line (RFC 8866 section 5.13): a flag (`rtcp-mux`) or a name with a value (`ptime:20`).
///
/// Unknown ones are kept as they are, so that a description can be printed again.
public struct SessionAttribute: Hashable, Sendable {
  /// What stands before the colon; upper and lower case differ.
  public var name: String
  /// What stands after the colon; `nil` for a flag.
  public var value: String?

  /// A flag where no value is given.
  public init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }
}

extension SessionAttribute: CustomStringConvertible {
  /// Whether the value, if there is one, is a secret.
  var isSecret: Bool { name == "crypto" || name == "ice-pwd" || name == "key-mgmt" }
  /// What a log has in place of a secret.
  static let hidden = "<redacted>"

  /// The value of the line.
  public var text: String { value.map { "\(name):\($0)" } ?? name }
  /// ``text`` for a log: keys and passwords are hidden.
  public var description: String { value != nil && isSecret ? "\(name):\(SessionAttribute.hidden)" : text }
}
