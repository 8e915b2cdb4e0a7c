import Foundation

/// What `landline-lab simulate sip` does, without its argument parsing.
public enum SignallingCommand {
  /// The status of a run in which a rule was broken.
  public static let violated: Int32 = 6

  /// Runs calls in chunks, each between a new pair of agents.
  /// - Parameters:
  ///   - calls: in all, 1 to ``SignallingOptions/maximumCalls``; more or less is taken as the nearest.
  ///   - json: the result as one JSON object instead of a table.
  ///   - output: takes the result, for standard output.
  ///   - errors: takes progress and problems, for standard error.
  /// - Returns: the exit status.
  public static func run(
    calls: Int, seed: UInt64, chunk: Int = SignallingOptions.defaultChunk, options: SignallingOptions = .calm,
    json: Bool = false, output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    let total = min(max(calls, 1), SignallingOptions.maximumCalls)
    do throws(SignallingViolation) {
      let report = try SignallingSimulation.run(
        seed: seed, calls: total, chunk: chunk, options: options,
        progress: { if $0 % 1000 < chunk { errors("\($0) of \(total) calls\r") } })
      errors("\(report.calls) of \(total) calls\n")
      output(json ? object(report) + "\n" : table(report))
      return 0
    } catch {
      let again = replayCommand(error, options)
      errors("\n\(error)\nrepeat: \(again)\n")
      if json {
        output(
          "{\"seed\":\(error.seed),\"calls\":\(error.calls),\"at_milliseconds\":\(error.atMilliseconds),\"sound\":false,"
            + "\"problem\":\(quoted(error.detail)),\"repeat\":\(quoted(again)),"
            + "\"trace\":[\(error.trace.map(quoted).joined(separator: ","))]}\n")
      }
      return violated
    }
  }

  /// The command that does one run once more.
  public static func replayCommand(_ violation: SignallingViolation, _ options: SignallingOptions) -> String {
    var command =
      "landline-lab simulate sip --calls \(violation.calls) --chunk \(violation.calls) --seed \(violation.seed)"
    func add(_ name: String, _ perThousand: UInt64) {
      if perThousand > 0 { command += " --\(name) \(decimal(Double(perThousand) / 10, places: 1))" }
    }
    add("loss", options.lostPerThousand)
    add("duplicate", options.duplicatedPerThousand)
    add("reorder", options.reorderedPerThousand)
    add("damage", options.damagedPerThousand)
    if options.cuts > 0 { command += " --cuts \(options.cuts)" }
    return command
  }

  // MARK: Text

  private static func decimal(_ value: Double, places: Int) -> String { String(format: "%.\(places)f", value) }

  private static func facts(_ report: SignallingReport) -> [(name: String, value: Int)] {
    [
      ("calls", report.calls), ("established", report.established), ("sent", report.sent), ("lost", report.lost),
      ("duplicated", report.duplicated), ("reordered", report.reordered), ("damaged", report.damaged),
    ]
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func table(_ report: SignallingReport) -> String {
    var lines = [padded("seed", 14) + "\(report.seed)"]
    for fact in facts(report) { lines.append(padded(fact.name, 14) + "\(fact.value)") }
    lines.append(padded("virtual time", 14) + "\(report.virtualMilliseconds / 1000) s")
    lines.append(padded("time", 14) + "\(decimal(report.seconds, places: 1)) s")
    lines.append(padded("speed", 14) + "\(Int(report.callsPerSecond)) calls/s")
    lines.append(padded("digest", 14) + report.digest)
    lines.append(padded("agents", 14) + "agree")
    for (title, counts) in [("events", report.events), ("messages", report.messages), ("ends", report.outcomes)] {
      lines += ["", title]
      for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
        lines.append("  " + padded("\(count)", 8) + name)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func object(_ report: SignallingReport) -> String {
    var fields = ["\"seed\":\(report.seed)"] + facts(report).map { "\"\($0.name)\":\($0.value)" }
    fields.append("\"virtual_milliseconds\":\(report.virtualMilliseconds)")
    fields.append("\"seconds\":\(decimal(report.seconds, places: 3))")
    fields.append("\"calls_per_second\":\(Int(report.callsPerSecond))")
    fields.append("\"digest\":\"\(report.digest)\"")
    fields.append("\"sound\":true")
    for (title, counts) in [("events", report.events), ("messages", report.messages), ("ends", report.outcomes)] {
      let pairs = counts.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\($0.value)" }
      fields.append("\"\(title)\":{\(pairs.joined(separator: ","))}")
    }
    return "{\(fields.joined(separator: ","))}"
  }

  /// A JSON string (RFC 8259 7).
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20: result += "\\u" + String(format: "%04x", scalar.value)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
