import Foundation

/// The rows of the scoreboard that the simulation measures, as JSON lines in the file that `LANDLINE_SCOREBOARD` names.
enum GatewayScoreboard {
  /// Rules of the oracles by row: a row passes when none of its rules was broken.
  private static let rows: [(row: String, unit: String, target: String, rules: [String])] = [
    ("D16", "seeds with a broken rule", "0", []),
    ("M1", "micro-units off zero", "0", ["balances", "ledger", "ledger I1", "ledger I2", "ledger I3"]),
    ("M2", "books with credits lost or made", "0", ["balances", "ledger", "ledger I5", "ledger I6", "price"]),
    ("M3", "double charges", "0", ["holds", "steps", "ledger I7", "ledger I8"]),
    ("M4", "overspends", "0", ["balances", "ledger I6"]),
    ("M5", "calls with sound past their grant", "0", ["overrun"]),
    ("M6", "holds left", "0", ["holds", "rest"]),
    ("M7", "unanswered calls charged", "0", ["unanswered"]),
    ("M10", "records that differ", "0", ["records", "record = ledger", "media = ledger"]),
    ("M12", "calls dialled without a hold", "0", ["fail closed"]),
  ]

  /// A run is a soak from so many virtual hours on.
  private static let soakHours = 8

  static func record(_ report: GatewayReport, hours: Int, violation: GatewayViolation?) {
    guard let path = ProcessInfo.processInfo.environment["LANDLINE_SCOREBOARD"], !path.isEmpty else { return }
    let size = report.seeds >= 10_000 ? "full" : "ci"
    let faults = report.faults.values.reduce(0, +)
    let detail =
      "\(report.seeds) seeds, \(report.calls) calls, \(String(format: "%.0f", report.callHours)) call-hours, "
      + "\(faults) faults that \(report.struck) calls were in, "
      + "\(String(format: "%.0f", report.callHoursPerSecond)) call-hours a second of one core, digest \(report.digest)"
      + (violation.map { "; \($0.replay)" } ?? "")
    var lines = rows.map { row in
      let isBroken = violation.map { row.rules.isEmpty || row.rules.contains($0.rule) } ?? false
      return line(
        row.row, figure: isBroken ? "1" : "0", unit: row.unit, target: row.target, passed: !isBroken, size, detail,
        isGate: true)
    }
    if hours >= soakHours {
      lines.append(
        line(
          "E4", figure: violation == nil ? "0" : "1",
          unit: "broken rules in \(hours) h of one gateway's virtual time", target: "0", passed: violation == nil,
          size, detail, isGate: true))
    }
    guard let file = FileHandle(forWritingAtPath: path) ?? create(path) else { return }
    defer { try? file.close() }
    // A board that cannot be written is the runner's to notice; the run itself is sound.
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: Data(lines.joined().utf8))
  }

  private static func create(_ path: String) -> FileHandle? {
    FileManager.default.createFile(atPath: path, contents: nil) ? FileHandle(forWritingAtPath: path) : nil
  }

  private static func line(
    _ row: String, figure: String, unit: String, target: String, passed: Bool, _ size: String, _ detail: String,
    isGate: Bool
  ) -> String {
    let quoted = GatewayCommand.quoted
    return "{\"row\":\(quoted(row)),\"figure\":\(quoted(figure)),\"unit\":\(quoted(unit)),\"target\":\(quoted(target)),"
      + "\"passed\":\(passed),\"size\":\(quoted(size)),\"detail\":\(quoted("simulator: " + detail)),\"gate\":\(isGate)}\n"
  }
}
