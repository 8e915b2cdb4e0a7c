import Foundation

/// What the process finds around it, gathered once.
package struct ConsoleEnvironment: Sendable {
  package var variables: [String: String]
  package var standardOutputIsTerminal: Bool
  /// Both standard input and standard error: a question can be asked and answered.
  package var canAsk: Bool
  /// Lines on the terminal.
  package var screenLines: Int

  package init(variables: [String: String], standardOutputIsTerminal: Bool, canAsk: Bool, screenLines: Int) {
    self.variables = variables
    self.standardOutputIsTerminal = standardOutputIsTerminal
    self.canAsk = canAsk
    self.screenLines = screenLines
  }

  package static func process() -> ConsoleEnvironment {
    var size = winsize()
    let isTerminal = isatty(STDOUT_FILENO) == 1
    if isTerminal { _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) }
    return ConsoleEnvironment(
      variables: ProcessInfo.processInfo.environment, standardOutputIsTerminal: isTerminal,
      canAsk: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1, screenLines: Int(size.ws_row))
  }

  /// A variable that is set and not empty.
  func value(_ name: String) -> String? {
    guard let value = variables[name], !value.isEmpty else { return nil }
    return value
  }
}
