/// One `a=` line (RFC 8866 section 5.13): a flag (`rtcp-mux`) or a name with a value (`ptime:20`).
///
/// Unknown ones are kept as they are, so that a description can be printed again.
public struct SessionAttribute: Hashable, Sendable {
  public var name: String
  public var value: String?

  public init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }
}

extension SessionAttribute: CustomStringConvertible {
  /// The value of the line.
  public var description: String { value.map { "\(name):\($0)" } ?? name }
}
