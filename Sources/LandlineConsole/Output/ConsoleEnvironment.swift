import Foundation

/// What the process finds around it, gathered once.
package struct ConsoleEnvironment: Sendable {
  /// The name of the program.
  package var program: String
  package var variables: [String: String]
  package var standardOutputIsTerminal: Bool
  /// Both standard input and standard error: a question can be asked and answered.
  package var canAsk: Bool
  /// The words behind the command's name, as they were typed.
  package var commandLine: [String]
  /// Lines on the terminal.
  package var screenLines: Int
  /// Columns on the terminal; 0 where there is none.
  package var screenColumns: Int

  package init(
    variables: [String: String], standardOutputIsTerminal: Bool, canAsk: Bool, screenLines: Int, screenColumns: Int = 0,
    commandLine: [String] = [], program: String = ConsoleEnvironment.usualProgram
  ) {
    self.program = program
    self.commandLine = commandLine
    self.variables = variables
    self.standardOutputIsTerminal = standardOutputIsTerminal
    self.canAsk = canAsk
    self.screenLines = screenLines
    self.screenColumns = screenColumns
  }

  /// Columns of a page: the terminal's, else what `COLUMNS` says, else ``usualColumns``.
  var columns: Int {
    if screenColumns > 0 { return screenColumns }
    return value("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? ConsoleEnvironment.usualColumns
  }

  private static let usualColumns = 100
  package static let usualProgram = "landline"

  package static func process() -> ConsoleEnvironment {
    var size = winsize()
    let isTerminal = isatty(STDOUT_FILENO) == 1
    if isTerminal { _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) }
    return ConsoleEnvironment(
      variables: ProcessInfo.processInfo.environment, standardOutputIsTerminal: isTerminal,
      canAsk: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1, screenLines: Int(size.ws_row),
      screenColumns: Int(size.ws_col), commandLine: Array(CommandLine.arguments.dropFirst()),
      program: CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? usualProgram)
  }

  /// A variable that is set and not empty.
  func value(_ name: String) -> String? {
    guard let value = variables[name], !value.isEmpty else { return nil }
    return value
  }
}
