/// The ledger broke a rule: which run, where in it, what, and what led there.
public struct SimulationViolation: Error, Sendable, CustomStringConvertible {
  /// Operations of the account that the trace shows.
  public static let traceLength = 24

  /// Seed of the run on this one ledger: a command of several ledgers counts up from its own.
  public let seed: UInt64
  /// Operations that the run was to do: part of what makes it repeatable.
  public let operations: Int
  /// Operations done before.
  public let step: Int
  /// What was wrong, for people.
  public let detail: String
  /// The last operations of the account concerned, or of all, oldest first.
  public let trace: [String]
  /// Where the broken ledger was left, if it was.
  public var ledger: String?

  /// One line with the seed, the step and the problem, then the trace, indented, and where the ledger was left.
  public var description: String {
    var lines = ["seed \(seed), step \(step) of \(operations): \(detail)"]
    if !trace.isEmpty { lines.append("last operations:") }
    lines += trace.map { "  \($0)" }
    if let ledger { lines.append("ledger left at \(ledger)") }
    return lines.joined(separator: "\n")
  }
}
