import CallModel

/// What ``MemorySlope`` found.
public struct MemorySlopeReport: BenchReport {
  /// The gateway's memory when so many calls were over, in KiB.
  struct Sample: Sendable, Encodable {
    var calls: Int
    var resident: Int
    /// Pages that the gateway alone has and has written to: its heap and its stacks.
    var own: Int
  }

  /// Micro-units of one call: less than a minute at 0.0145, by the minute.
  static let priceMicro: MicroUnits = 14_500

  /// Calls that were to be counted, without those to warm up.
  public let calls: Int
  /// Calls before the first sample.
  public let warmUpCalls: Int
  /// Calls a second, as asked for.
  public let rate: Int
  let seconds: Double
  /// Calls, those to warm up included, that did not go from `placed` to a settled end.
  public let failed: Int
  let failures: [String: Int]
  /// Bytes that a call leaves in memory of the gateway's own, and in all that is resident.
  let own: Slope
  let resident: Slope
  /// Bytes that a call may leave, as asked for.
  public let limitBytes: Double
  let samples: [Sample]
  /// KiB of the gateway's own when nothing of a call lingered any more.
  let quietKibibytes: Int
  let peakKibibytes: Int
  /// What the gateway still counted then, where that is not 0.
  public let leftOvers: [String: Double]
  let threads: Int
  let descriptors: Int
  /// What apps were told that their calls cost, and what the calls should cost.
  let toldMicro: MicroUnits
  let expectedMicro: MicroUnits
  var books = SoakBooks()
  var gatewayExit: Int32 = 0

  init(
    _ options: MemorySlope.Options, _ result: CallLoadResult, samples: [Sample], seconds: Double, costMicro: MicroUnits,
    quiet: (all: Int, own: Int), leftOvers: [String: Double], threads: Int, descriptors: Int
  ) {
    calls = options.calls
    warmUpCalls = options.warmUpCalls
    rate = options.rate
    self.seconds = seconds
    failed = result.failed
    failures = result.failures
    own = Slope(samples.map { (Double($0.calls), Double($0.own) * 1024) })
    resident = Slope(samples.map { (Double($0.calls), Double($0.resident) * 1024) })
    limitBytes = options.limit
    self.samples = samples
    quietKibibytes = quiet.own
    peakKibibytes = samples.map(\.own).max() ?? 0
    self.leftOvers = leftOvers
    self.threads = threads
    self.descriptors = descriptors
    toldMicro = costMicro
    expectedMicro = Self.priceMicro * Int64(result.calls)
  }

  /// Bytes that a call leaves.
  public var bytesPerCall: Double { own.value }
  /// Half of the interval that holds the slope with a probability of 95 %.
  public var uncertaintyBytes: Double { own.halfInterval }

  /// Whether calls leave nothing: the slope lies within the limit, or no further outside than it is uncertain. A run too
  /// short to tell a leak from noise is none.
  public var isFlat: Bool {
    own.isKnown && abs(own.value) <= limitBytes + own.halfInterval && own.halfInterval <= MemorySlopeReport.blindness
  }

  /// A slope that is not known better than this many bytes says nothing: a leak of one small object would pass.
  static let blindness = 256.0

  /// Every call went well, and cost what it should in the app's eyes and in the ledger's.
  public var isAccountedFor: Bool {
    failed == 0 && toldMicro == expectedMicro && books.isSound && books.openHolds == 0
      && books.chargedMicro == expectedMicro
  }

  /// Flat, with books that add up, nothing left over, and a gateway that ended with status 0.
  public var hasPassed: Bool { isFlat && isAccountedFor && leftOvers.isEmpty && gatewayExit == 0 }

  /// Figures with their targets and verdicts, then why calls failed.
  public var table: String {
    var table = BenchTable(["", "", "target", "verdict"])
    func bytes(_ slope: Slope) -> String {
      "\(BenchTable.number(slope.value, decimals: 1)) +- \(BenchTable.number(slope.halfInterval, decimals: 1))"
    }
    table.append(["calls, after \(warmUpCalls) others", "\(calls)", "", ""])
    table.append(["calls a second", BenchTable.number(Double(calls + warmUpCalls) / seconds, decimals: 0), "", ""])
    table.append(["calls that failed", "\(failed)", "0", failed == 0 ? "met" : "missed"])
    table.append(
      [
        "bytes left by a call, own memory", bytes(own), "0 +- \(BenchTable.number(limitBytes, decimals: 0))",
        isFlat ? "met" : own.halfInterval > Self.blindness ? "cannot be told" : "missed",
      ])
    table.append(["bytes left by a call, all resident", bytes(resident), "", ""])
    table.append([
      "KiB at the first sample, the last, in quiet",
      "\(samples.first?.own ?? 0), \(samples.last?.own ?? 0), \(quietKibibytes)", "", "",
    ])
    table.append(["threads, descriptors in quiet", "\(threads), \(descriptors)", "", ""])
    table.append([
      "left over in quiet",
      leftOvers.isEmpty
        ? "0" : leftOvers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
      "0", leftOvers.isEmpty ? "met" : "missed",
    ])
    table.append([
      "micro-units told to apps", "\(toldMicro)", "\(expectedMicro)", toldMicro == expectedMicro ? "met" : "missed",
    ])
    table.append([
      "micro-units charged in the ledger", "\(books.chargedMicro)", "\(expectedMicro)",
      books.chargedMicro == expectedMicro ? "met" : "missed",
    ])
    table.append(["open holds", "\(books.openHolds)", "0", books.openHolds == 0 ? "met" : "missed"])
    table.append(["verify --full", books.isSound ? "sound" : "broken", "sound", books.isSound ? "met" : "missed"])
    var parts = [table.text]
    if !failures.isEmpty {
      parts.append(
        failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) x \($0.key)" }
          .joined(separator: "\n"))
    }
    return parts.joined(separator: "\n\n")
  }
}
