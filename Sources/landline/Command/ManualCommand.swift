import ArgumentParser
import LandlineConsole

struct ManualCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Manual pages of every command, made from what the commands say of themselves.",
    discussion: """
      landline manual calls show
      landline manual --output-dir man --configuration Config/landline.yaml

      One page (mdoc) on standard output, to be shown by man -l - or mandoc; or all of them as files. With --configuration
      also landline.yaml(5), out of the comments of that file.
      """)

  @Argument(help: "The words of a command (default: landline itself).")
  var command: [String] = []

  @Option(help: "Write every page into this folder.", completion: .directory)
  var outputDir: String?

  @Option(help: "The configuration file that says what each key means.", completion: .file())
  var configuration: String?

  @Flag(help: "Check instead that each command has an example and that the parser takes them all.")
  var examples = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    try await common.console { console in
      guard let outline = CommandOutline.whole() else {
        throw ConsoleError(.failed, code: "manual.parser", "the parser does not describe itself")
      }
      if examples {
        return try console.manualExamples(outline) { words in
          do { _ = try Landline.parseAsRoot(NegativeNumbers.marked(words)) } catch {
            throw ConsoleError.usage("usage", Landline.message(for: error))
          }
        }
      }
      guard let outputDir else { return try console.manual(command, outline) }
      return try console.manuals(outline, in: outputDir, configuration: configuration)
    }
  }
}

extension CommandOutline {
  /// All commands as the parser describes them.
  static func whole() -> CommandOutline? {
    do {
      _ = try Landline.parseAsRoot(["--experimental-dump-help"])
      return nil
    } catch {
      return CommandOutline(dump: Landline.fullMessage(for: error))
    }
  }
}
