package import ArgumentParser
import LandlineConsole

/// `manual` of the program whose outermost command is `Root`.
package struct ManualCommand<Root: ParsableCommand>: AsyncParsableCommand {
  package static var configuration: CommandConfiguration {
    let program = Root._commandName
    return CommandConfiguration(
      commandName: "manual", abstract: "Manual pages of every command, made from what the commands say of themselves.",
      discussion: """
        \(program) manual manual
        \(program) manual --output-dir man --configuration Config/landline.yaml

        One page (mdoc) on standard output, to be shown by man -l - or mandoc; or all of them as files. With
        --configuration also landline.yaml(5), out of the comments of that file.
        """)
  }

  @Argument(help: "The words of a command (default: the program itself).")
  var command: [String] = []

  @Option(help: "Write every page into this folder.", completion: .directory)
  var outputDir: String?

  @Option(help: "The configuration file that says what each key means.", completion: .file())
  var configuration: String?

  @Flag(help: "Check instead that each command has an example and that the parser takes them all.")
  var examples = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  package init() {}

  package func run() async throws {
    try await common.console { console in
      guard let outline = CommandOutline(of: Root.self) else {
        throw ConsoleError(.failed, code: "manual.parser", "the parser does not describe itself")
      }
      if examples {
        return try console.manualExamples(outline) { words in
          do { _ = try Root.parseAsRoot(NegativeNumbers.marked(words, of: Root.self)) } catch {
            throw ConsoleError.usage("usage", Root.message(for: error))
          }
        }
      }
      guard let outputDir else { return try console.manual(command, outline) }
      return try console.manuals(outline, in: outputDir, configuration: configuration)
    }
  }
}

extension CommandOutline {
  /// A program's commands as the parser describes them.
  init?(of root: any ParsableCommand.Type) {
    do {
      _ = try root.parseAsRoot(["--experimental-dump-help"])
      return nil
    } catch {
      self.init(dump: root.fullMessage(for: error))
    }
  }
}
