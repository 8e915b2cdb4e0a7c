/// A response to an INVITE of ours that the gate or the parser refused: whoever waits must not take it for silence.
public struct UnreadableResponse: Hashable, Sendable {
  /// As its status line says, 100 to 699; 0 where that is the fault.
  public let status: Int
  /// The rule that it broke.
  public let rule: GateRule

  public init(status: Int, rule: GateRule) {
    self.status = status
    self.rule = rule
  }

  /// For a failure: the rule's stable name first, as ``init(warning:)`` reads it.
  public var warning: String {
    let status = status == 0 ? "a response" : "a response \(status)"
    return "\(rule.rawValue): \(status) could not be read (\(rule.reason))"
  }

  /// - Returns: `nil` for a text that ``warning`` has not made.
  public init?(warning: String) {
    let parts = warning.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let rule = GateRule(rawValue: String(parts[0])) else { return nil }
    let words = parts[1].split(separator: " ", maxSplits: 3)
    self.init(status: words.count > 2 ? Int(words[2]) ?? 0 : 0, rule: rule)
  }
}
