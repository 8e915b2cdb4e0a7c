/// What a simulation of the whole gateway did and saw. Two runs of one seed differ in their times only.
public struct GatewayReport: Hashable, Sendable {
  /// Virtual hours in which calls are made.
  public static let defaultHours = 2

  /// Of the first run; each further one has the next.
  public var seed: UInt64
  /// Runs that are summed up here, one a seed.
  public var seeds = 0
  /// Calls that apps asked for.
  public var calls = 0
  /// Calls that the ledger knows as answered.
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
  /// Datagrams between gateway and trunks, whether or not they arrived.
  public var sent = 0
  /// Datagrams that never arrived, by chance or because the way to or from a trunk was cut.
  public var lost = 0
  /// Datagrams that arrived twice.
  public var duplicated = 0
  /// Copies that were held back for up to some seconds, so that later ones could overtake them.
  public var reordered = 0
  /// Operations put to the ledger; those of recovery are not counted.
  public var ledgerOperations = 0
  /// Holds in the ledger at the end, open and closed: one for each call that was granted credit.
  public var holds = 0
  /// Calls settled or voided by recovery.
  public var recovered = 0
  /// Call records that gateways handed out.
  public var records = 0
  /// What the oracles looked at, by rule.
  public var checks: [String: Int] = [:]
  /// Virtual time from the start of a run until its end, summed over all seeds.
  public var virtualMilliseconds: Int64 = 0
  /// On the clock, and of the processor.
  public var seconds = 0.0
  /// Processor time of the whole process, all threads together.
  public var processorSeconds = 0.0
  /// Over every input, message, operation and effect in order.
  public var digest = ""

  /// Counts of nothing yet, for ``add(_:)`` to add to.
  public init(seed: UInt64) { self.seed = seed }

  /// Hours of answered calls: ``callMilliseconds`` in another unit.
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

  /// Adds another run's counts and times; the digest covers both in this order.
  /// The first run added to nothing gives its own digest.
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
  /// Seed of the run concerned: a command of several counts up from its own.
  public let seed: UInt64
  /// Virtual hours in which the run was to make calls: part of what makes it repeatable.
  public let hours: Int
  /// The bug that was planted; `nil` where the gateway ran as it is.
  public let canary: GatewayCanary?
  /// Virtual milliseconds since the start; 0 where the run could not be set up.
  public let atMilliseconds: Int64
  /// The oracle's name.
  public let rule: String
  /// What was wrong, for people.
  public let detail: String
  /// Oldest first.
  public let trace: [String]

  /// The command that does the run once more.
  public var replay: String {
    "landline-lab simulate calls --seed \(seed)" + (hours == GatewayReport.defaultHours ? "" : " --hours \(hours)")
      + (canary.map { " --canary \($0.rawValue)" } ?? "")
  }

  /// One line with the seed, the time, the rule and the problem, then the trace, indented.
  public var description: String {
    (["seed \(seed), \(atMilliseconds) ms: \(rule): \(detail)"] + trace.map { "  \($0)" }).joined(separator: "\n")
  }
}
