import ArgumentParser

struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "A completion script for bash, zsh or fish.",
    discussion: """
      landline completion bash

      As a file that bash finds: ~/.local/share/bash-completion/completions/landline
      """)

  @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
  var shell: String

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw ValidationError("\"\(shell)\" is no shell known here; accepted: bash, zsh or fish")
    }
    print(Landline.completionScript(for: shell))
  }
}
