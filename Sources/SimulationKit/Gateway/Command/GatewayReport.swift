/// What a simulation of the whole gateway did and saw. Two runs of one seed differ in their times only.
public struct GatewayReport: Hashable, Sendable {
  public var seed: UInt64
  public var seeds = 0
  /// Calls that apps asked for.
  public var calls = 0
  public var answered = 0
  /// Milliseconds of trunk legs from their answer to their end, of all calls: signalling and billing.
  public var callMilliseconds: Int64 = 0
  /// Inputs that any core took.
  public var steps = 0
  /// By name, with how often.
  public var faults: [String: Int] = [:]
  /// Legs of trunks that were up or being set up when a fault came, of all faults of the plan.
  public var struck = 0
  /// Requests for calls that were refused before there was a call, by failure.
  public var refusals: [String: Int] = [:]
  /// How calls ended, by cause.
  public var ends: [String: Int] = [:]
  public var sent = 0
  public var lost = 0
  public var duplicated = 0
  public var reordered = 0
  public var ledgerOperations = 0
  public var holds = 0
  /// Calls settled or voided by recovery.
  public var recovered = 0
  public var records = 0
  /// What the oracles looked at, by rule.
  public var checks: [String: Int] = [:]
  public var virtualMilliseconds: Int64 = 0
  /// On the clock, and of the processor.
  public var seconds = 0.0
  public var processorSeconds = 0.0
  /// Over every input, message, operation and effect in order.
  public var digest = ""

  public init(seed: UInt64) { self.seed = seed }

  public var callHours: Double { Double(callMilliseconds) / 3_600_000 }
  /// For each second of one core.
  public var callHoursPerSecond: Double { processorSeconds > 0 ? callHours / processorSeconds : 0 }

  /// For comparing runs.
  public var withoutTimes: GatewayReport {
    var report = self
    report.seconds = 0
    report.processorSeconds = 0
    return report
  }

  public mutating func add(_ other: GatewayReport) {
    seeds += other.seeds
    calls += other.calls
    answered += other.answered
    callMilliseconds += other.callMilliseconds
    steps += other.steps
    struck += other.struck
    faults.merge(other.faults, uniquingKeysWith: +)
    refusals.merge(other.refusals, uniquingKeysWith: +)
    ends.merge(other.ends, uniquingKeysWith: +)
    checks.merge(other.checks, uniquingKeysWith: +)
    sent += other.sent
    lost += other.lost
    duplicated += other.duplicated
    reordered += other.reordered
    ledgerOperations += other.ledgerOperations
    holds += other.holds
    recovered += other.recovered
    records += other.records
    virtualMilliseconds += other.virtualMilliseconds
    seconds += other.seconds
    processorSeconds += other.processorSeconds
    if seeds == other.seeds {
      digest = other.digest
    } else {
      var both = OutcomeDigest()
      both.add(digest)
      both.add(other.digest)
      digest = both.text
    }
  }
}

/// The gateway broke a rule: which seed, when in it, what, and what led there.
public struct GatewayViolation: Error, Sendable, CustomStringConvertible {
  public let seed: UInt64
  public let hours: Int
  public let canary: GatewayCanary?
  public let atMilliseconds: Int64
  /// The oracle's name.
  public let rule: String
  public let detail: String
  /// Oldest first.
  public let trace: [String]

  /// The command that does the run once more.
  public var replay: String {
    "landline-lab simulate calls --seed \(seed)" + (hours == GatewaySimulation.defaultHours ? "" : " --hours \(hours)")
      + (canary.map { " --canary \($0.rawValue)" } ?? "")
  }

  public var description: String {
    (["seed \(seed), \(atMilliseconds) ms: \(rule): \(detail)"] + trace.map { "  \($0)" }).joined(separator: "\n")
  }
}
