import Foundation

/// Shows a long text through `$PAGER`, or `less -FRX`.
enum Pager {
  /// - Returns: `false` when there is no pager to be had: the caller writes the text itself.
  static func show(_ text: String, environment: ConsoleEnvironment) -> Bool {
    let command = environment.value("PAGER") ?? "less -FRX"
    if command == "cat" { return false }
    let pager = Process()
    pager.executableURL = URL(fileURLWithPath: "/bin/sh")
    pager.arguments = [
      "-c", "command -v \(command.split(separator: " ").first ?? "less") >/dev/null || exit 127; exec \(command)",
    ]
    let pipe = Pipe()
    pager.standardInput = pipe
    // A reader who quits early closes the pipe; that is no reason to die.
    let previous = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, previous) }
    do { try pager.run() } catch { return false }
    try? TextStream(descriptor: pipe.fileHandleForWriting.fileDescriptor).write(text)
    try? pipe.fileHandleForWriting.close()
    pager.waitUntilExit()
    return pager.terminationStatus != 127
  }
}
