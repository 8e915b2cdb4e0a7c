import ArgumentParser
import Foundation
import SimulationKit

/// `landline-lab simulate sip --calls N --seed S`.
struct SimulateSIPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sip",
    abstract: "Calls between two SIP agents over a bad network, in virtual time.",
    discussion: """
      Both sides must tell the same story of every call and be left with nothing; a broken rule ends the run with status
      6, what the call sent and heard, and the command that repeats it.

      landline-lab simulate sip --calls 1000 --seed 1
      landline-lab simulate sip --calls 1000 --seed 1 --loss 10 --duplicate 5 --reorder 10 --cuts 1
      """)

  @Option(help: "Calls in all.")
  var calls = 1000

  @Option(help: "The same seed gives the same run.")
  var seed: UInt64 = 1

  @Option(help: "Calls between one pair of agents; the next pair has the next seed.")
  var chunk = SignallingOptions.defaultChunk

  @Option(help: "Datagrams in a hundred that are lost.")
  var loss = 0.0

  @Option(help: "Datagrams in a hundred that arrive twice.")
  var duplicate = 0.0

  @Option(help: "Datagrams in a hundred that later ones overtake.")
  var reorder = 0.0

  @Option(help: "Datagrams in a hundred that arrive damaged.")
  var damage = 0.0

  @Option(help: "How often at most the network is cut in one direction, for each pair of agents.")
  var cuts = 0

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    let most = SignallingOptions.maximumCalls
    guard (1...most).contains(calls), (1...most).contains(chunk) else {
      throw ValidationError("--calls and --chunk accept 1 to \(most)")
    }
    let highest = Double(SignallingOptions.maximumPerThousand) / 10
    guard [loss, duplicate, reorder, damage].allSatisfy({ (0...highest).contains($0) }) else {
      throw ValidationError("--loss, --duplicate, --reorder and --damage accept 0 to \(highest)")
    }
    guard (0...100).contains(cuts) else { throw ValidationError("--cuts accepts 0 to 100") }
  }

  func run() throws {
    var options = SignallingOptions()
    options.lostPerThousand = UInt64((loss * 10).rounded())
    options.duplicatedPerThousand = UInt64((duplicate * 10).rounded())
    options.reorderedPerThousand = UInt64((reorder * 10).rounded())
    options.damagedPerThousand = UInt64((damage * 10).rounded())
    options.cuts = cuts
    let status = SignallingCommand.run(
      calls: calls, seed: seed, chunk: chunk, options: options, json: json,
      output: { FileHandle.standardOutput.write(Data($0.utf8)) },
      errors: { text in
        // Progress overwrites its own line; where nobody watches, it is left out.
        if text.hasSuffix("\r"), isatty(STDERR_FILENO) == 0 { return }
        FileHandle.standardError.write(Data(text.utf8))
      })
    if status != 0 { throw ExitCode(status) }
  }
}
