/// What ``CallsBench`` found.
public struct CallsBenchReport: BenchReport {
  /// What a figure must keep to.
  struct Target: Sendable, Encodable {
    enum Subject: String, Sendable, Encodable { case value, ratio }
    var subject: Subject
    var limit: Double
    var isAtLeast = false
  }

  /// One line of the report.
  struct Figure: Sendable, Encodable {
    var row: CallsBench.Row
    /// What was measured, with its unit.
    var name: String
    var decimals: Int
    var landline: Spread
    var anchorName: String?
    var anchor: Spread?
    /// Ours over the anchor's of the same round.
    var ratio: Spread?
    var target: Target?

    /// `nil` without a target, or without the anchor it needs.
    var isMet: Bool? { measured.map { $0.isAtLeast ? $0.value >= $0.limit : $0.value <= $0.limit } }

    private var measured: (value: Double, limit: Double, isAtLeast: Bool)? {
      guard let target else { return nil }
      let value = target.subject == .value ? landline.median : ratio?.median
      return value.map { ($0, target.limit, target.isAtLeast) }
    }

    var targetText: String {
      guard let target else { return "" }
      let sign = target.isAtLeast ? ">=" : "<="
      return target.subject == .ratio
        ? "ratio \(sign) \(BenchTable.number(target.limit, decimals: 3))"
        : "\(sign) \(BenchTable.number(target.limit, decimals: decimals))"
    }

    /// `met`, `missed by 1.8 times`, or why nothing can be said.
    var verdict: String {
      guard target != nil else { return "" }
      guard let measured, let isMet else { return "not compared" }
      if isMet { return "met" }
      let (large, small) = measured.isAtLeast ? (measured.limit, measured.value) : (measured.value, measured.limit)
      guard small > 0 else { return "missed by \(BenchTable.number(large - small, decimals: decimals))" }
      return "missed by \(BenchTable.number(large / small, decimals: 2)) times"
    }

    enum CodingKeys: CodingKey { case row, name, landline, anchorName, anchor, ratio, target, isMet, verdict }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(row, forKey: .row)
      try container.encode(name, forKey: .name)
      try container.encode(landline, forKey: .landline)
      try container.encodeIfPresent(anchorName, forKey: .anchorName)
      try container.encodeIfPresent(anchor, forKey: .anchor)
      try container.encodeIfPresent(ratio, forKey: .ratio)
      try container.encodeIfPresent(target, forKey: .target)
      try container.encodeIfPresent(isMet, forKey: .isMet)
      if target != nil { try container.encode(verdict, forKey: .verdict) }
    }
  }

  /// One load of calls.
  struct Trial: Sendable, Encodable {
    var row: CallsBench.Row
    /// `landline` or the anchor's name, which is `telephone` where calls of two kinds are compared.
    var gateway: String
    var rate: Int
    var calls: Int
    var failed: Int
    /// Why, with how often.
    var failures: [String: Int]
    /// Of the whole gateway; `nil` where it was not what was measured.
    var cpuMicrosecondsPerCall: Double?
    /// What else was counted, by its name in ``CallBudget``.
    var countsPerCall: [String: Double]?
    /// Where the processor time went, by the name of a thread.
    var threadMicrosecondsPerCall: [String: Double]?

    /// Whether it was our gateway that bore it.
    var isOurs: Bool { [CallsBenchReport.ours, CallsBenchReport.telephone].contains(gateway) }
  }

  var figures: [Figure] = []
  var trials: [Trial] = []
  /// The disk's own write and flush of 4 KiB, beside the delays.
  var flush: FlushProbe?
  /// What was left out, or does not count because calls failed, a line each.
  public var notes: [String] = []

  /// Calls of our gateway, and those of them that did not go from `placed` to a settled end.
  package var calls: (all: Int, failed: Int) {
    trials.reduce(into: (0, 0)) {
      guard $1.isOurs else { return }
      $0.0 += $1.calls
      $0.1 += $1.failed
    }
  }

  static let ours = "landline"
  /// Calls of our gateway that go to telephones, where those are what others are compared with.
  static let telephone = "telephone"

  /// Microseconds of each call by thread, the busiest first.
  private var threadTable: BenchTable? {
    let counted = trials.filter { $0.threadMicrosecondsPerCall != nil }
    var sums: [String: Double] = [:]
    for trial in counted { sums.merge(trial.threadMicrosecondsPerCall ?? [:]) { $0 + $1 } }
    guard !sums.isEmpty else { return nil }
    let names = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    var table = BenchTable(["CPU of a call by thread, us", "rate/s"] + names)
    for trial in counted {
      table.append(
        ["\(trial.row.rawValue) \(trial.gateway)", "\(trial.rate)"]
          + names.map { BenchTable.number(trial.threadMicrosecondsPerCall?[$0] ?? 0, decimals: 0) })
    }
    return table
  }

  /// Figures with their targets and verdicts, then the trials, then the notes.
  public var table: String {
    var parts: [String] = []
    var table = BenchTable(["", "landline", "anchor", "landline/anchor", "target", "verdict"])
    for figure in figures {
      table.append([
        "\(figure.row.rawValue) \(figure.name)", figure.landline.text(decimals: figure.decimals),
        figure.anchor.map { "\(figure.anchorName ?? "") \($0.text(decimals: figure.decimals))" } ?? "",
        figure.ratio.map { $0.text(decimals: 3) } ?? "", figure.targetText, figure.verdict,
      ])
    }
    parts.append(table.text)
    if let flush {
      parts.append(
        "write and flush of 4 KiB on the ledger's disk, ms: \(flush.milliseconds.text(decimals: 2)), \(flush.count) times"
      )
    }
    if !trials.isEmpty {
      var loads = BenchTable(["trial", "rate/s", "calls", "failed", "CPU us/call", "why"])
      for trial in trials {
        loads.append([
          "\(trial.row.rawValue) \(trial.gateway)", "\(trial.rate)", "\(trial.calls)", "\(trial.failed)",
          trial.cpuMicrosecondsPerCall.map { BenchTable.number($0, decimals: 0) } ?? "",
          trial.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) x \($0.key)" }
            .joined(separator: "; "),
        ])
      }
      parts.append(loads.text)
    }
    if let threads = threadTable { parts.append(threads.text) }
    return (parts + notes).joined(separator: "\n\n")
  }
}
