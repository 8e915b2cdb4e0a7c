import Foundation

/// What `landline-lab simulate calls --seed S` does, without its argument parsing.
public enum GatewayCommand {
  /// The status of a run in which a rule was broken.
  public static let violated: Int32 = 1
  /// Most seeds of one command; more are taken as this many.
  public static let maximumSeeds = 10_000_000

  /// Runs seeds one after the other; the first that breaks a rule ends the run.
  /// - Parameters:
  ///   - seeds: how many, from `seed` on.
  ///   - hours: virtual hours of each in which calls are made.
  ///   - canary: a bug to plant.
  ///   - json: the result as one JSON object instead of a table.
  ///   - output: takes the result, for standard output.
  ///   - errors: takes progress and problems, for standard error.
  /// - Returns: the exit status.
  public static func run(
    seed: UInt64, seeds: Int = 1, hours: Int = GatewayReport.defaultHours, canary: GatewayCanary? = nil,
    json: Bool = false, output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    let count = min(max(seeds, 1), maximumSeeds)
    var sum = GatewayReport(seed: seed)
    for index in 0..<count {
      do throws(GatewayViolation) {
        sum.add(try GatewaySimulation.run(seed: seed &+ UInt64(index), hours: hours, canary: canary))
      } catch {
        errors("\n\(error)\nrepeat: \(error.replay)\n")
        if json { output(object(error) + "\n") }
        if canary == nil { GatewayScoreboard.record(sum, hours: hours, violation: error) }
        return violated
      }
      if count > 1 { errors("\(index + 1) of \(count) seeds\r") }
    }
    if count > 1 { errors("\n") }
    output(json ? object(sum) + "\n" : table(sum))
    if canary == nil { GatewayScoreboard.record(sum, hours: hours, violation: nil) }
    return 0
  }

  // MARK: Text

  private static func decimal(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func facts(_ report: GatewayReport) -> [(name: String, label: String, value: Int)] {
    [
      ("seeds", "seeds", report.seeds), ("calls", "calls", report.calls), ("answered", "answered", report.answered),
      ("records", "records", report.records), ("steps", "steps", report.steps),
      ("sent", "datagrams", report.sent), ("lost", "lost", report.lost),
      ("duplicated", "duplicated", report.duplicated),
      ("reordered", "reordered", report.reordered),
      ("ledger_operations", "ledger operations", report.ledgerOperations), ("holds", "holds", report.holds),
      ("recovered", "recovered calls", report.recovered), ("struck", "calls in faults", report.struck),
    ]
  }

  private static func counts(_ report: GatewayReport) -> [(title: String, counts: [String: Int])] {
    [("faults", report.faults), ("ends", report.ends), ("refusals", report.refusals), ("checks", report.checks)]
  }

  private static func table(_ report: GatewayReport) -> String {
    var lines = [padded("seed", 20) + "\(report.seed)"]
    lines += facts(report).map { padded($0.label, 20) + "\($0.value)" }
    lines.append(padded("call-hours", 20) + decimal(report.callHours, 2))
    lines.append(padded("virtual time", 20) + decimal(Double(report.virtualMilliseconds) / 3_600_000, 1) + " h")
    lines.append(padded("time", 20) + decimal(report.seconds, 2) + " s")
    lines.append(padded("of one core", 20) + decimal(report.processorSeconds, 2) + " s")
    lines.append(padded("speed", 20) + decimal(report.callHoursPerSecond, 1) + " call-hours/s")
    lines.append(padded("digest", 20) + report.digest)
    lines.append(padded("violations", 20) + "0")
    for (title, counts) in counts(report) {
      lines += ["", title]
      for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
        lines.append("  " + padded("\(count)", 10) + name)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func object(_ report: GatewayReport) -> String {
    var fields = ["\"seed\":\(report.seed)"] + facts(report).map { "\"\($0.name)\":\($0.value)" }
    fields.append("\"call_hours\":\(decimal(report.callHours, 3))")
    fields.append("\"virtual_milliseconds\":\(report.virtualMilliseconds)")
    fields.append("\"seconds\":\(decimal(report.seconds, 3))")
    fields.append("\"processor_seconds\":\(decimal(report.processorSeconds, 3))")
    fields.append("\"call_hours_per_second\":\(decimal(report.callHoursPerSecond, 1))")
    fields.append("\"digest\":\"\(report.digest)\"")
    fields.append("\"violations\":0")
    for (title, counts) in counts(report) {
      let pairs = counts.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\($0.value)" }
      fields.append("\"\(title)\":{\(pairs.joined(separator: ","))}")
    }
    return "{\(fields.joined(separator: ","))}"
  }

  private static func object(_ violation: GatewayViolation) -> String {
    "{\"seed\":\(violation.seed),\"hours\":\(violation.hours),\"at_milliseconds\":\(violation.atMilliseconds),"
      + "\"violations\":1,\"rule\":\(quoted(violation.rule)),\"problem\":\(quoted(violation.detail)),"
      + "\"repeat\":\(quoted(violation.replay)),\"trace\":[\(violation.trace.map(quoted).joined(separator: ","))]}"
  }

  /// A JSON string (RFC 8259 7).
  static func quoted(_ text: String) -> String {
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
