/// What a simulation did and saw. Two runs of one seed differ in their times only.
public struct SimulationReport: Hashable, Sendable {
  /// Of the first ledger; each further one has the next.
  public var seed: UInt64
  /// Operations that the ledger answered.
  public var operations = 0
  /// Answers by operation and outcome: `authorise granted`, `settle replayed`, `topup refused accountClosed`.
  public var outcomes: [String: Int] = [:]
  /// Batches of operations handed to the store, with those that a fault was to hit.
  public var batches = 0
  /// Commits that failed, with nothing recorded.
  public var lostCommits = 0
  /// Commits whose answers were lost.
  public var lostAnswers = 0
  /// Stores given up in mid-work and opened anew.
  public var crashes = 0
  /// Times that a gateway stopped its heartbeat.
  public var nodeDeaths = 0
  /// Runs of the ledger's recovery, with those that a fault cut short.
  public var recoveries = 0
  /// Calls of dead gateways that recovery settled or voided.
  public var recoveredCalls = 0
  /// Rows deleted as too old to keep; each time the model expected the same number.
  public var prunedRows = 0
  /// Operations that were rehearsed, then performed, with the same answer.
  public var rehearsals = 0
  /// Times that the wall clock was set, by up to an hour forward or back.
  public var clockSteps = 0
  /// Checks of every rule of the books, with all answers and open holds compared to the model's.
  public var fullVerifications = 0
  /// Checks in between: the quick form of the rules, and all balances compared to the model's.
  public var quickVerifications = 0
  /// Transfers in the ledger at the last check, summed over the ledgers of several runs.
  public var transfers: Int64 = 0
  /// Seconds that verifications and comparisons took, of ``seconds`` in all.
  public var verifySeconds = 0.0
  /// Seconds on the real clock, checks included.
  public var seconds = 0.0
  /// Hash over every answer in order, in hexadecimal.
  public var digest = ""

  /// Counts of nothing yet; a run fills them.
  public init(seed: UInt64) { self.seed = seed }

  /// Operations a second, verification not counted; 0 for a run of no length.
  public var operationsPerSecond: Double {
    let worked = seconds - verifySeconds
    return worked > 0 ? Double(operations) / worked : 0
  }

  /// The same run without its times: what two runs of one seed have in common.
  public var withoutTimes: SimulationReport {
    var copy = self
    copy.seconds = 0
    copy.verifySeconds = 0
    return copy
  }

  /// Adds another run's counts; the digest covers both.
  public mutating func add(_ other: SimulationReport) {
    operations += other.operations
    outcomes.merge(other.outcomes, uniquingKeysWith: +)
    batches += other.batches
    lostCommits += other.lostCommits
    lostAnswers += other.lostAnswers
    crashes += other.crashes
    nodeDeaths += other.nodeDeaths
    recoveries += other.recoveries
    recoveredCalls += other.recoveredCalls
    prunedRows += other.prunedRows
    rehearsals += other.rehearsals
    clockSteps += other.clockSteps
    fullVerifications += other.fullVerifications
    quickVerifications += other.quickVerifications
    transfers += other.transfers
    verifySeconds += other.verifySeconds
    seconds += other.seconds
    var both = OutcomeDigest()
    both.add(digest)
    both.add(other.digest)
    digest = both.text
  }
}

/// FNV-1a over texts, 64 bits: tells two sequences apart, protects nothing.
struct OutcomeDigest {
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ text: String) {
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ 0xFF) &* 0x100_0000_01B3
  }

  mutating func add(_ number: Int64) {
    for shift in stride(from: Int64(0), to: 64, by: 8) {
      hash = (hash ^ UInt64(truncatingIfNeeded: number >> shift) & 0xFF) &* 0x100_0000_01B3
    }
  }

  var text: String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
