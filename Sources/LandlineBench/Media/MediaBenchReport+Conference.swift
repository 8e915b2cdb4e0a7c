extension MediaBenchReport {
  /// One row of conferences.
  package struct Conference: Sendable, Encodable {
    /// Part of Janus' processor time, and milliseconds of delay, at most: of a conference of 20 with three who speak.
    static let goal = (ratio: 1.0 / 6, delay: 45.0)

    var row: MediaBench.Row
    package var landline: [ConferenceTrial] = []
    package var anchor: [ConferenceTrial] = []
    package var landlineDelay: ConferenceTrial.Delay?
    package var anchorDelay: ConferenceTrial.Delay?

    package init(row: MediaBench.Row) { self.row = row }

    /// Ours over the anchor of the same round; rounds in which either lost packets do not count.
    package var toAnchor: Spread? {
      let ratios = zip(landline, anchor)
        .filter { $0.isCounted && $1.isCounted && $1.cpuMicrosecondsPerParticipantSecond > 0 }
        .map { $0.cpuMicrosecondsPerParticipantSecond / $1.cpuMicrosecondsPerParticipantSecond }
      return ratios.isEmpty ? nil : Spread(ratios)
    }

    enum CodingKeys: CodingKey { case row, landline, anchor, landlineDelay, anchorDelay, toAnchor }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(row, forKey: .row)
      try container.encode(landline, forKey: .landline)
      try container.encode(anchor, forKey: .anchor)
      try container.encodeIfPresent(landlineDelay, forKey: .landlineDelay)
      try container.encodeIfPresent(anchorDelay, forKey: .anchorDelay)
      try container.encodeIfPresent(toAnchor, forKey: .toAnchor)
    }
  }

  /// Two tones of full scale and one who listens.
  struct Tones: Sendable, Encodable {
    var landline: ConferenceTrial.Tones
    var anchor: ConferenceTrial.Tones?

    var lines: [String] {
      let isMet = landline.packets > 0 && landline.wraps == 0 && landline.gaps == 0
      return ["B12 landline: \(Self.text(landline)) (goal 0 and 0: \(isMet ? "met" : "missed"))"]
        + (anchor.map { ["B12 janus: \(Self.text($0))"] } ?? [])
    }

    private static func text(_ tones: ConferenceTrial.Tones) -> String {
      "\(tones.wraps) wraps and \(tones.gaps) gaps in \(tones.packets) packets of two tones of full scale"
    }
  }

  /// The table of all rows, then what else is known of each.
  var conferenceTexts: [String] {
    var table = BenchTable([
      "CPU us of a participant-second", "rooms", "people", "median [lowest-highest]", "worst loss %", "packets/s heard",
      "dBov heard", "ours/this", "counted",
    ])
    for conference in conferences {
      for (name, trials, ratio) in [
        ("landline", conference.landline, nil), ("janus", conference.anchor, conference.toAnchor),
      ] {
        guard let first = trials.first else { continue }
        let good = trials.filter(\.isCounted)
        let levels = trials.compactMap(\.level)
        table.append([
          "\(conference.row.rawValue) \(name)", "\(first.rooms)", "\(first.participants)",
          Spread((good.isEmpty ? trials : good).map(\.cpuMicrosecondsPerParticipantSecond)).text(decimals: 0),
          BenchTable.number((trials.map(\.loss).max() ?? 0) * 100, decimals: 3),
          BenchTable.number(Spread(trials.map(\.packetsPerSecond)).median, decimals: 1),
          levels.isEmpty ? "" : BenchTable.number(Spread(levels).median, decimals: 1),
          ratio.map { $0.text(decimals: 3) } ?? "", "\(good.count) of \(trials.count)",
        ])
      }
    }
    return [table.text] + conferences.flatMap(\.lines)
  }
}

extension MediaBenchReport.Conference {
  fileprivate var lines: [String] {
    var lines: [String] = []
    // The plan has marks for this row alone.
    if row == .b11, let ratio = toAnchor {
      lines.append(
        "B11: 1/\(BenchTable.number(1 / ratio.median, decimals: 1)) of janus (goal 1/6: "
          + "\(ratio.median <= Self.goal.ratio ? "met" : "missed"))")
    }
    for (name, delay) in [("landline", landlineDelay), ("janus", anchorDelay)] {
      guard let delay else { continue }
      let spread = [delay.median, delay.lowest, delay.highest].map { BenchTable.number($0, decimals: 1) }
      let verdict =
        name == "landline"
        ? " (goal \(BenchTable.number(Self.goal.delay, decimals: 0)): "
          + "\(delay.median <= Self.goal.delay ? "met" : "missed"))"
        : ""
      lines.append(
        "\(row.rawValue) \(name), delay in ms: \(spread[0]) [\(spread[1])-\(spread[2])], \(delay.heard) of "
          + "\(delay.sent) bursts heard\(verdict)")
    }
    return lines
  }
}
