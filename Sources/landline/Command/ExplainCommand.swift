import ArgumentParser
import LandlineConsole

struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "What happened in a call; what a status, a cause or a failure code means.",
    discussion: """
      landline explain CALL-ID              a call: its messages, sound and money, and what to conclude
      landline explain 488                  a SIP status
      landline explain cause 65             a Q.850 cause; q850:65 too
      landline explain sip.media            a failure code
      landline explain insufficientCredit   a refusal

      A call is read from the gateway that runs, else from the files beside the ledger.
      """)

  @Argument(
    help: "The id of a call, 488, cause 65, sip.media or insufficientCredit.",
    completion: .list(Console.explainableNames))
  var code: [String]

  @Flag(help: "Hide telephone numbers but for country code and last two digits.")
  var masked = false

  @OptionGroup(title: "Gateway")
  var gateway: ControlOptions

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    let options = StoryOptions(control: gateway.control, environment: gateway.environment, isMasked: masked)
    try await common.console { try await $0.explain(code.joined(separator: " "), options) }
  }
}
