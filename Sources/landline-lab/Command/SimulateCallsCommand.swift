import ArgumentParser
import Foundation
import LandlineArguments
import LandlineConsole
import SimulationKit

/// `landline-lab simulate calls --seed S`: the whole gateway; with `--account`, calls of one account in a ledger of one's own.
struct SimulateCallsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls",
    abstract: "The whole gateway under faults, in virtual time; or calls of one account in a ledger.",
    discussion: """
      Apps, gateway, trunks and ledger with their real cores; clock, network, disk, carriers and people decided by the
      seed. A broken rule ends the run with status 1, what led there, and the command that repeats it bit for bit. With
      --canary, a bug is planted, which the rules must find.

      With --account, nothing but calls of this account: held, answered, extended, settled, priced by its plan and booked
      in the ledger, from the present on; use a ledger that is made for it.

      landline-lab simulate calls --seed 1 --seeds 100
      landline-lab simulate calls --seed 1 --canary doubleSettle
      landline-lab simulate calls --account acme --calls 200 --seed 7
      """)

  @Option(help: "The same seed gives the same run.")
  var seed: UInt64 = 1

  @Option(help: "How many seeds, one after the other.")
  var seeds = 1

  @Option(help: "Virtual hours of each seed in which calls are made.")
  var hours = GatewayReport.defaultHours

  @Option(
    help: "A bug to plant: \(GatewayCanary.allCases.map(\.rawValue).joined(separator: ", ")).",
    completion: .list(GatewayCanary.allCases.map(\.rawValue)))
  var canary: String?

  @Option(
    help: "Who pays: calls of this account in the ledger, and nothing of the gateway.",
    completion: AccountCompletion.names)
  var account: String?

  @Option(help: "With --account: how many calls.")
  var calls = 200

  @Option(help: "With --account: seconds within which all calls start.")
  var window: Int64 = 60

  @Option(help: "With --account: calls in a hundred that nobody answers.")
  var unanswered = 0

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func validate() throws {
    guard (1...GatewayCommand.maximumSeeds).contains(seeds) else {
      throw ValidationError("--seeds accepts 1 to \(GatewayCommand.maximumSeeds)")
    }
    let accepted = GatewaySimulation.hoursAccepted
    guard accepted.contains(hours) else {
      throw ValidationError("--hours accepts \(accepted.lowerBound) to \(accepted.upperBound)")
    }
    if let canary, GatewayCanary(rawValue: canary) == nil {
      throw ValidationError(
        "\"\(canary)\" is no bug that can be planted; accepted: "
          + GatewayCanary.allCases.map(\.rawValue).joined(separator: ", "))
    }
    if account != nil, canary != nil || seeds != 1 {
      throw ValidationError("--account takes neither --canary nor --seeds")
    }
  }

  func run() async throws {
    if let account {
      return try await common.console {
        try await $0.rehearse(account: account, calls: calls, seed: seed, window: window, unanswered: unanswered)
      }
    }
    let status = GatewayCommand.run(
      seed: seed, seeds: seeds, hours: hours, canary: canary.flatMap { GatewayCanary(rawValue: $0) },
      json: try common.settings().format == .json,
      output: { FileHandle.standardOutput.write(Data($0.utf8)) },
      errors: { text in
        // Progress overwrites its own line; where nobody watches, it is left out.
        if text.hasSuffix("\r"), isatty(STDERR_FILENO) == 0 { return }
        FileHandle.standardError.write(Data(text.utf8))
      })
    if status != 0 { throw ExitCode(status) }
  }
}
