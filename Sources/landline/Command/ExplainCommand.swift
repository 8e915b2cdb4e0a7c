import ArgumentParser
import LandlineConsole

struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "What a status, a cause, a failure code or a refusal means, and what to do.",
    discussion: """
      landline explain 488                  a SIP status
      landline explain cause 65             a Q.850 cause; q850:65 too
      landline explain sip.media            a failure code
      landline explain insufficientCredit   a refusal
      """)

  @Argument(help: "488, cause 65, sip.media or insufficientCredit.", completion: .list(Console.explainableNames))
  var code: [String]

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws { try await common.console { try await $0.explain(code.joined(separator: " ")) } }
}
