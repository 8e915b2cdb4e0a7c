import CallModel

/// What ``SoakBench`` found.
public struct SoakReport: BenchReport {
  /// Calls to be held at a time, as asked for.
  public let calls: Int
  /// That the calls were held for.
  public let seconds: Double
  /// At the same time, both sides of the gateway together.
  public let legs: Spread
  /// What was done to calls and what became of them, by name, with how often.
  public let operations: [String: Int]
  /// What should not have been, with how often; empty in a good run.
  public let failures: [String: Int]
  /// Calls whose end an app was told.
  public let ended: Int
  let soundToApps: Int
  let soundToFarEnd: Int
  /// What the gateway still counted when all calls were over, where that is not 0.
  public let leftOvers: [String: Double]
  let peakKibibytes: Int
  let toldMicro: MicroUnits
  var books = SoakBooks()
  /// Its exit status after it was told to stop; 128 and the signal's number where a signal ended it.
  public internal(set) var gatewayExit: Int32 = 0

  init(
    _ options: SoakBench.Options, seconds: Double, legs: [Double], _ findings: SoakFindings,
    leftOvers: [String: Double], peakKibibytes: Int
  ) {
    calls = options.calls
    self.seconds = seconds
    self.legs = Spread(legs)
    operations = findings.operations
    failures = findings.failures
    ended = findings.ended
    soundToApps = findings.soundToApps
    soundToFarEnd = findings.soundToFarEnd
    toldMicro = findings.costMicro
    self.leftOvers = leftOvers
    self.peakKibibytes = peakKibibytes
  }

  /// All failures together; one call may have several.
  public var failed: Int { failures.values.reduce(0, +) }

  /// The ledger charged what apps were told, and keeps its rules.
  public var isAccountedFor: Bool { books.isSound && books.openHolds == 0 && books.chargedMicro == toldMicro }

  /// Without a failure, with books that add up, nothing left over, and a gateway that ended with status 0.
  public var hasPassed: Bool { failed == 0 && isAccountedFor && leftOvers.isEmpty && gatewayExit == 0 }

  /// Figures with their targets and verdicts, then operations, failures and what was left over.
  public var table: String {
    var table = BenchTable(["", "", "target", "verdict"])
    func row(_ name: String, _ value: String, _ target: String = "", _ isMet: Bool? = nil) {
      table.append([name, value, target, isMet.map { $0 ? "met" : "missed" } ?? ""])
    }
    row("legs held", legs.text(decimals: 0))
    row("seconds", BenchTable.number(seconds, decimals: 0))
    row("calls that ended", "\(ended)")
    row("packets to apps, to the far end", "\(soundToApps), \(soundToFarEnd)")
    row("the gateway's most memory, MiB", "\(peakKibibytes / 1024)")
    row("failures", "\(failed)", "0", failed == 0)
    row("left over", "\(leftOvers.values.reduce(0, +))", "0", leftOvers.isEmpty)
    row(
      "micro-units told to apps, charged", "\(toldMicro), \(books.chargedMicro)", "equal",
      toldMicro == books.chargedMicro)
    row("open holds", "\(books.openHolds)", "0", books.openHolds == 0)
    row("verify --full", books.isSound ? "sound" : "broken", "sound", books.isSound)
    row("the gateway's exit code", "\(gatewayExit)", "0", gatewayExit == 0)
    func lines(_ counts: [String: Int]) -> String {
      counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) x \($0.key)" }.joined(
        separator: "\n")
    }
    var parts = [table.text, lines(operations)]
    if !failures.isEmpty { parts.append("failures:\n\(lines(failures))") }
    if !leftOvers.isEmpty {
      parts.append(
        "left over:\n" + leftOvers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n"))
    }
    return parts.joined(separator: "\n\n")
  }
}
