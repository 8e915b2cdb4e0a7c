/// What ``MediaBench`` found.
public struct MediaBenchReport: BenchReport {
  /// One row of processor time.
  struct Cost: Sendable, Encodable {
    var row: MediaBench.Row
    var landline: [MediaTrial] = []
    var anchor: [MediaTrial] = []
    var floor: [MediaTrial] = []
    var landlineProbe: ProbeCall.Result?
    var anchorProbe: ProbeCall.Result?
    var counts: Counts?

    /// Ours over the other of the same round; rounds in which either lost packets do not count.
    static func ratios(_ ours: [MediaTrial], _ others: [MediaTrial]) -> Spread? {
      let ratios = zip(ours, others).filter { $0.isCounted && $1.isCounted && $1.cpuMicrosecondsPerCallSecond > 0 }
        .map { $0.cpuMicrosecondsPerCallSecond / $1.cpuMicrosecondsPerCallSecond }
      return ratios.isEmpty ? nil : Spread(ratios)
    }
    var toAnchor: Spread? { Self.ratios(landline, anchor) }
    var toFloor: Spread? { Self.ratios(landline, floor) }

    enum CodingKeys: CodingKey {
      case row, landline, anchor, floor, landlineProbe, anchorProbe, counts, toAnchor, toFloor
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(row, forKey: .row)
      try container.encode(landline, forKey: .landline)
      try container.encode(anchor, forKey: .anchor)
      try container.encode(floor, forKey: .floor)
      try container.encodeIfPresent(landlineProbe, forKey: .landlineProbe)
      try container.encodeIfPresent(anchorProbe, forKey: .anchorProbe)
      try container.encodeIfPresent(counts, forKey: .counts)
      try container.encodeIfPresent(toAnchor, forKey: .toAnchor)
      try container.encodeIfPresent(toFloor, forKey: .toFloor)
    }
  }

  /// In the steady state, for each packet that comes in.
  struct Counts: Sendable, Encodable {
    var allocationsPerPacket: Double?
    /// Of user space; `nil` where the machine does not count them.
    var instructionsPerPacket: Double?
  }

  /// What a second media thread adds.
  package struct Scaling: Sendable, Encodable {
    /// What two threads are to carry of what one does.
    static let goal = 1.85

    package var oneThread: [MediaTrial] = []
    /// With twice the calls.
    package var twoThreads: [MediaTrial] = []

    package init() {}

    /// Calls that two threads carry for each that one does, from the processor time of a call in the same round.
    package var factor: Spread? {
      guard let cost = Cost.ratios(twoThreads, oneThread) else { return nil }
      return Spread([2 / cost.lowest, 2 / cost.median, 2 / cost.highest])
    }

    enum CodingKeys: CodingKey { case oneThread, twoThreads, factor }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(oneThread, forKey: .oneThread)
      try container.encode(twoThreads, forKey: .twoThreads)
      try container.encodeIfPresent(factor, forKey: .factor)
    }
  }

  struct Delay: Sendable, Encodable {
    var landline: [MediaTrial] = []
    var anchor: [MediaTrial] = []
    var floor: [MediaTrial] = []
    /// By workload.
    var landlineProbes: [String: ProbeCall.Result] = [:]
    var anchorProbes: [String: ProbeCall.Result] = [:]
  }

  struct Slope: Sendable, Encodable {
    var few: Int
    var many: Int
    var kibibytesPerCall: Double
  }

  struct Memory: Sendable, Encodable {
    var workload: MediaWorkload
    var landline: Slope
    var anchor: Slope?
  }

  struct Growth: Sendable, Encodable {
    var finishedCalls: Int
    var kibibytesPerCall: Double
  }

  var costs: [Cost] = []
  var scaling: Scaling?
  var delay: Delay?
  var memory: [Memory] = []
  var growth: Growth?
  var conferences: [Conference] = []
  var tones: Tones?
  /// What was left out and why, a line each.
  public var notes: [String] = []

  /// Processor time, threads, delay, memory and conferences, each where it was measured, then the notes.
  public var table: String {
    var parts: [String] = []
    if !costs.isEmpty { parts.append(costTable) }
    for cost in costs { parts += lines(of: cost) }
    if let scaling { parts += table(of: scaling) }
    if let delay { parts.append(table(of: delay)) }
    if !memory.isEmpty { parts.append(memoryTable) }
    if let growth {
      parts.append(
        "KiB left of each of \(growth.finishedCalls) finished calls: "
          + BenchTable.number(growth.kibibytesPerCall, decimals: 3))
    }
    if !conferences.isEmpty { parts += conferenceTexts }
    if let tones { parts += tones.lines }
    return (parts + notes).joined(separator: "\n\n")
  }

  private var costTable: String {
    var table = BenchTable([
      "CPU us of a call-second", "calls", "median [lowest-highest]", "calls/core", "worst loss %", "ours/this",
      "counted",
    ])
    for cost in costs {
      for (name, trials, ratio) in [
        ("landline", cost.landline, nil), ("rtpengine", cost.anchor, cost.toAnchor),
        ("floor", cost.floor, cost.toFloor),
      ] where !trials.isEmpty {
        let good = trials.filter(\.isCounted)
        let spread = Spread((good.isEmpty ? trials : good).map(\.cpuMicrosecondsPerCallSecond))
        table.append([
          "\(cost.row.rawValue) \(name)", "\(trials[0].calls)", spread.text(decimals: 0),
          BenchTable.number(spread.median > 0 ? 1e6 / spread.median : 0, decimals: 0),
          BenchTable.number((trials.map(\.loss).max() ?? 0) * 100, decimals: 3),
          ratio.map { $0.text(decimals: 3) } ?? "", "\(good.count) of \(trials.count)",
        ])
      }
    }
    return table.text
  }

  private func lines(of cost: Cost) -> [String] {
    var lines: [String] = []
    for (name, probe) in [("landline", cost.landlineProbe), ("rtpengine", cost.anchorProbe)] {
      guard let probe else { continue }
      lines.append(
        "\(cost.row.rawValue) \(name), probe call: \(probe.isGood ? "good" : "below 4.0"); to the trunk "
          + "\(Self.text(probe.aToB)); to the app \(Self.text(probe.bToA))")
    }
    for (name, trials) in [("landline", cost.landline), ("rtpengine", cost.anchor)] {
      let delays = trials.compactMap(\.delay)
      guard !delays.isEmpty else { continue }
      lines.append(
        "\(cost.row.rawValue) \(name), delay in ms: mean \(Spread(delays.map(\.mean)).text(decimals: 2)), p99 "
          + "\(Spread(delays.map(\.p99)).text(decimals: 2)), most \(Spread(delays.map(\.most)).text(decimals: 2))")
    }
    if let counts = cost.counts {
      let allocations = counts.allocationsPerPacket.map { BenchTable.number($0, decimals: 4) } ?? "not counted"
      let instructions =
        counts.instructionsPerPacket.map { BenchTable.number($0, decimals: 0) } ?? "not counted by this machine"
      lines.append(
        "\(cost.row.rawValue) landline, each packet: allocations \(allocations), instructions \(instructions)")
    }
    return lines
  }

  private static func text(_ direction: ProbeCall.Direction) -> String {
    func number(_ value: Double?) -> String { value.map { BenchTable.number($0, decimals: 2) } ?? "-" }
    return
      "PESQ \(number(direction.pesq)) of what went in (\(number(direction.original)) of the original, codecs alone "
      + "\(number(direction.codecOnly))), \(direction.received) of \(direction.sent) packets"
  }

  private func table(of scaling: Scaling) -> [String] {
    var table = BenchTable([
      "B9 CPU us of a call-second", "calls", "median [lowest-highest]", "worst loss %", "counted",
    ])
    for (name, trials) in [("one media thread", scaling.oneThread), ("two media threads", scaling.twoThreads)] {
      guard let first = trials.first else { continue }
      table.append([
        name, "\(first.calls)", Spread(trials.map(\.cpuMicrosecondsPerCallSecond)).text(decimals: 0),
        BenchTable.number((trials.map(\.loss).max() ?? 0) * 100, decimals: 3),
        "\(trials.count(where: \.isCounted)) of \(trials.count)",
      ])
    }
    let verdict =
      scaling.factor.map {
        "two threads carry \($0.text(decimals: 2)) times the calls of one (goal \(Scaling.goal): "
          + "\($0.median >= Scaling.goal ? "met" : "missed"))"
      } ?? "every round lost packets: nothing is known of two threads"
    return [table.text, "B9: " + verdict]
  }

  private func table(of delay: Delay) -> String {
    var table = BenchTable(["B5 delay, ms", "mean", "p99", "most", "sound beyond its packets"])
    func number(_ value: Double) -> String { BenchTable.number(value, decimals: 2) }
    for (name, trials) in [("landline", delay.landline), ("rtpengine", delay.anchor), ("floor", delay.floor)] {
      let delays = trials.compactMap(\.delay)
      guard !delays.isEmpty else { continue }
      table.append([
        "relay, stamped packets, \(name)", Spread(delays.map(\.mean)).text(decimals: 2),
        Spread(delays.map(\.p99)).text(decimals: 2), number(Spread(delays.map(\.most)).highest), "",
      ])
    }
    for (name, probes) in [("landline", delay.landlineProbes), ("rtpengine", delay.anchorProbes)] {
      for (workload, probe) in probes.sorted(by: { $0.key < $1.key }) {
        for (direction, values) in [("to the trunk", probe.aToB), ("to the app", probe.bToA)] {
          guard let each = values.delay else { continue }
          table.append([
            "\(workload), probe call \(direction), \(name)", number(each.mean), number(each.p99), number(each.most),
            values.audioDelay.map(number) ?? "",
          ])
        }
      }
    }
    return table.text
  }

  private var memoryTable: String {
    var table = BenchTable(["B6 KiB of a call", "landline", "calls", "rtpengine", "calls"])
    for row in memory {
      table.append([
        row.workload.rawValue, BenchTable.number(row.landline.kibibytesPerCall, decimals: 1),
        "\(row.landline.few)-\(row.landline.many)",
        row.anchor.map { BenchTable.number($0.kibibytesPerCall, decimals: 1) } ?? "",
        row.anchor.map { "\($0.few)-\($0.many)" } ?? "",
      ])
    }
    return table.text
  }
}
