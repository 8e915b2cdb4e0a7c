/// What came of an address.
public struct WebAnswer: Hashable, Sendable {
  public var body: [UInt8]
  /// How long it may be used again, as Cache-Control says (RFC 9111); `nil` where that says nothing.
  public var freshSeconds: Int64?
}

/// Why nothing came.
public enum WebProblem: Error, Hashable, Sendable {
  /// It did not come in time.
  case late
  /// The words say why, for operators.
  case failed(String)
}
