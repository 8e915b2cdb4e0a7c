import Foundation
import LedgerCore

/// What `landline-lab simulate` does, without its argument parsing.
public enum SimulationCommand {
  /// Operations on one ledger before the next starts with the next seed.
  public static let defaultChunk = 10_000
  /// Operations that one command may ask for.
  public static let maximumOperations = 1_000_000_000

  /// Exit statuses, as every command of the program gives them.
  public enum Status {
    /// Every check held.
    public static let success: Int32 = 0
    /// The run could not be done, for a reason other than the ledger's file or its books.
    public static let internalError: Int32 = 1
    /// The run ended with a ``SimulationViolation``.
    public static let booksBroken: Int32 = 6
    /// The store gave no answer, or its file could not be opened.
    public static let databaseUnavailable: Int32 = 7
  }

  /// Runs operations in chunks; the first has the seed given, each further one the seed after.
  /// - Parameters:
  ///   - operations: in all, 1 to ``maximumOperations``; more or less is taken as the nearest.
  ///   - directory: where ledgers are made; a broken one is left there. `nil` for memory, where nothing is left.
  ///   - json: the result as one JSON object instead of a table.
  ///   - output: takes the result, for standard output.
  ///   - errors: takes progress and problems, for standard error.
  /// - Returns: the exit status.
  public static func run(
    operations: Int, seed: UInt64, chunk: Int = SimulationCommand.defaultChunk, directory: String? = nil,
    json: Bool = false, output: @escaping @Sendable (String) -> Void, errors: @escaping @Sendable (String) -> Void
  ) async -> Int32 {
    let total = min(max(operations, 1), maximumOperations)
    let size = min(max(chunk, 1), total)
    var options = SimulationOptions(directory: directory)
    options.keepsBrokenLedger = directory != nil
    var sum: SimulationReport?
    var chunkSeed = seed
    var left = total
    while left > 0 {
      let count = min(size, left)
      let done = total - left
      do {
        let report = try await LedgerSimulation.run(
          seed: chunkSeed, operations: count, options: options,
          progress: { errors("\(min(done + $0, total)) of \(total) operations\r") })
        if sum == nil { sum = report } else { sum?.add(report) }
      } catch let violation as SimulationViolation {
        errors("\n\(violation)\nrepeat: \(replayCommand(seed: chunkSeed, operations: count))\n")
        if json { output(violationJSON(violation, seed: chunkSeed, operations: count) + "\n") }
        return Status.booksBroken
      } catch let error as LedgerUnavailable {
        errors("\n\(error)\n")
        return Status.databaseUnavailable
      } catch {
        errors("\n\(error)\n")
        return Status.internalError
      }
      left -= count
      chunkSeed &+= 1
    }
    errors("\n")
    if let sum { output(json ? reportJSON(sum, seed: seed, chunk: size) + "\n" : table(sum, seed: seed, chunk: size)) }
    return Status.success
  }

  /// Kills workers of this very program and checks what they left.
  /// - Parameter executable: path of the running program.
  /// - Returns: the exit status.
  public static func kill(
    executable: String, kills: Int, seed: UInt64, directory: String? = nil, json: Bool = false,
    output: (String) -> Void, errors: (String) -> Void
  ) async -> Int32 {
    do {
      let report = try await KillTrial.parent(
        executable: executable, seed: seed, kills: kills, directory: directory,
        progress: { errors("\($0) of \(kills) kills survived\r") })
      errors("\n")
      if json {
        output(
          """
          {"seed":\(seed),"kills":\(report.kills),"acknowledged":\(report.acknowledged),\
          "unacknowledged":\(report.unacknowledged),"transfers":\(report.transfers),\
          "seconds":\(decimal(report.seconds, places: 3)),"sound":true}

          """)
      } else {
        output(
          """
          kills            \(report.kills)
          acknowledged     \(report.acknowledged) answers, all recorded
          unacknowledged   \(report.unacknowledged) answers recorded besides
          transfers        \(report.transfers)
          books            sound after every kill
          time             \(decimal(report.seconds, places: 1)) s

          """)
      }
      return Status.success
    } catch let violation as SimulationViolation {
      errors("\n\(violation)\nrepeat: landline-lab simulate --kill \(kills) --seed \(seed)\n")
      return Status.booksBroken
    } catch let error as LedgerUnavailable {
      errors("\n\(error)\n")
      return Status.databaseUnavailable
    } catch {
      errors("\n\(error)\n")
      return Status.internalError
    }
  }

  /// The worker's side of ``kill(executable:kills:seed:directory:json:output:errors:)``: works until it is killed.
  /// - Returns: the exit status, once the ledger or the parent is gone.
  public static func work(path: String, seed: UInt64, errors: (String) -> Void) async -> Int32 {
    do {
      try await KillTrial.worker(path: path, seed: seed)
      return Status.success
    } catch let error as LedgerUnavailable {
      errors("\(error)\n")
      return Status.databaseUnavailable
    } catch {
      errors("\(error)\n")
      return Status.internalError
    }
  }

  /// The command that does one run once more.
  public static func replayCommand(seed: UInt64, operations: Int) -> String {
    "landline-lab simulate --ops \(operations) --seed \(seed) --chunk \(operations)"
  }

  // MARK: Text

  private static func decimal(_ value: Double, places: Int) -> String { String(format: "%.\(places)f", value) }

  private static func facts(_ report: SimulationReport) -> [(name: String, label: String, value: Int)] {
    [
      ("operations", "operations", report.operations), ("batches", "batches", report.batches),
      ("lost_commits", "lost commits", report.lostCommits), ("lost_answers", "lost answers", report.lostAnswers),
      ("crashes", "crashes", report.crashes), ("node_deaths", "node deaths", report.nodeDeaths),
      ("recoveries", "recoveries", report.recoveries), ("recovered_calls", "recovered calls", report.recoveredCalls),
      ("pruned_rows", "pruned rows", report.prunedRows), ("rehearsals", "rehearsals", report.rehearsals),
      ("clock_steps", "clock steps", report.clockSteps),
      ("full_verifications", "full checks", report.fullVerifications),
      ("quick_verifications", "quick checks", report.quickVerifications),
      ("transfers", "transfers", Int(report.transfers)),
    ]
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func table(_ report: SimulationReport, seed: UInt64, chunk: Int) -> String {
    var lines = [padded("seed", 18) + "\(seed)", padded("chunk", 18) + "\(chunk)"]
    for fact in facts(report) { lines.append(padded(fact.label, 18) + "\(fact.value)") }
    lines.append(padded("speed", 18) + "\(Int(report.operationsPerSecond)) operations/s")
    lines.append(
      padded("time", 18)
        + "\(decimal(report.seconds, places: 1)) s, of which checks \(decimal(report.verifySeconds, places: 1)) s")
    lines.append(padded("digest", 18) + report.digest)
    lines.append(padded("books", 18) + "sound")
    lines.append("")
    let width = (report.outcomes.keys.map(\.count).max() ?? 0) + 2
    for (outcome, count) in report.outcomes.sorted(by: { $0.key < $1.key }) {
      lines.append(padded(outcome, width) + "\(count)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func reportJSON(_ report: SimulationReport, seed: UInt64, chunk: Int) -> String {
    var fields = ["\"seed\":\(seed)", "\"chunk\":\(chunk)"]
    fields += facts(report).map { "\"\($0.name)\":\($0.value)" }
    fields.append("\"operations_per_second\":\(Int(report.operationsPerSecond))")
    fields.append("\"seconds\":\(decimal(report.seconds, places: 3))")
    fields.append("\"verify_seconds\":\(decimal(report.verifySeconds, places: 3))")
    fields.append("\"digest\":\"\(report.digest)\"")
    fields.append("\"sound\":true")
    let outcomes = report.outcomes.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\($0.value)" }
    fields.append("\"outcomes\":{\(outcomes.joined(separator: ","))}")
    return "{\(fields.joined(separator: ","))}"
  }

  private static func violationJSON(_ violation: SimulationViolation, seed: UInt64, operations: Int) -> String {
    let trace = violation.trace.map { quoted($0) }.joined(separator: ",")
    return "{\"seed\":\(seed),\"step\":\(violation.step),\"sound\":false,\"problem\":\(quoted(violation.detail)),"
      + "\"repeat\":\(quoted(replayCommand(seed: seed, operations: operations))),\"trace\":[\(trace)]}"
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
