/// Why bytes were refused as a session description: which line and column, which rule, what would be accepted.
public struct InvalidSessionDescription: Error, Hashable, Sendable {
  /// Counted from 1.
  public let line: Int
  /// Byte of the line, counted from 1.
  public let column: Int
  /// Stable dotted name of the broken rule: `sdp.media.port`, `sdp.limit.lines`.
  public let rule: String
  /// One sentence that says what is wrong. Never repeats the peer's bytes.
  public let problem: String
  /// What would be accepted, with an example.
  public let accepted: String
}

extension InvalidSessionDescription: CustomStringConvertible {
  /// `session description, line 5, column 9: the port is not a number (sdp.media.port); accepted: …`.
  public var description: String {
    "session description, line \(line), column \(column): \(problem) (\(rule)); accepted: \(accepted)"
  }
}
