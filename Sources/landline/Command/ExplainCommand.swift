import ArgumentParser
import LandlineArguments
import LandlineConsole

struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "What happened in a call; what a status, a cause or a failure code means.",
    discussion: """
      landline explain CALL-ID
      landline explain 488
      landline explain cause 65
      landline explain sip.media
      landline explain insufficientCredit

      A call: its messages, sound and money, and what to conclude. A SIP status, a Q.850 cause (q850:65 too), a failure
      code, a refusal: what they mean.
      A call is read from the gateway that runs, else from the files beside the ledger.
      """)

  @Argument(
    help: "A call's id, the beginning of one or last, 488, cause 65, sip.media or insufficientCredit.",
    completion: .list(Console.explainableNames))
  var code: [String]

  @Flag(help: "Hide telephone numbers but for country code and last two digits.")
  var masked = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    let options = StoryOptions(
      control: common.gateway.control, environment: common.gateway.environment, isMasked: masked)
    try await common.console { try await $0.explain(code.joined(separator: " "), options) }
  }
}
