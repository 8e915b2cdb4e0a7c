import ArgumentParser
import Foundation
import SimulationKit

/// `landline-lab simulate books --ops N --seed S`: what `simulate` does without a further word.
struct SimulateBooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "books",
    abstract: "Random operations, faults and crashes on ledgers of its own, held against a model.",
    discussion: """
      Every answer and every balance is checked; a broken rule ends the run with status 6, the operations that led
      there, and the command that repeats it.

      landline-lab simulate books --ops 1000000 --seed 1
      landline-lab simulate books --kill 50 --seed 1
      """)

  @Option(name: .customLong("ops"), help: "Operations in all.")
  var operations = SimulationCommand.defaultChunk

  @Option(help: "The same seed gives the same run.")
  var seed: UInt64 = 1

  @Option(help: "Operations on one ledger; the next has the next seed.")
  var chunk = SimulationCommand.defaultChunk

  @Option(
    name: .customLong("dir"), help: "Folder for the ledgers; a broken one is left there (default: memory).",
    completion: .directory)
  var directory: String?

  @Option(help: "Instead: kill this many working processes, one after the other, and check what each left.")
  var kill: Int?

  @Option(help: .hidden)
  var worker: String?

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    guard (1...SimulationCommand.maximumOperations).contains(operations), chunk >= 1 else {
      throw ValidationError("--ops and --chunk accept 1 to \(SimulationCommand.maximumOperations)")
    }
    guard kill.map({ (1...KillTrial.maximumKills).contains($0) }) ?? true else {
      throw ValidationError("--kill accepts 1 to \(KillTrial.maximumKills)")
    }
  }

  func run() async throws {
    let status: Int32
    if let worker {
      status = await SimulationCommand.work(path: worker, seed: seed, errors: SimulateBooksCommand.errors)
    } else if let kill {
      status = await SimulationCommand.kill(
        executable: Bundle.main.executablePath ?? CommandLine.arguments[0], kills: kill, seed: seed,
        directory: directory, json: json, output: SimulateBooksCommand.output, errors: SimulateBooksCommand.errors)
    } else {
      status = await SimulationCommand.run(
        operations: operations, seed: seed, chunk: chunk, directory: directory, json: json,
        output: SimulateBooksCommand.output, errors: SimulateBooksCommand.errors)
    }
    if status != 0 { throw ExitCode(status) }
  }

  @Sendable private static func output(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

  /// Progress overwrites its own line; where nobody watches, it is left out.
  @Sendable private static func errors(_ text: String) {
    if text.hasSuffix("\r"), isatty(STDERR_FILENO) == 0 { return }
    FileHandle.standardError.write(Data(text.utf8))
  }
}
