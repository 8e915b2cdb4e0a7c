extension PeerProcess {
  /// What a program came to that ended by itself.
  public struct Result: Sendable {
    public let status: Int32
    public let output: String
    public let diagnostics: String
  }

  /// Runs a program with nothing to read, in a folder of its own, until it ends. No thread waits with it.
  public static func run(
    _ program: PeerProgram, _ arguments: [String], within seconds: Double = 60
  ) async throws -> Result {
    let process = try PeerProcess(program, arguments, in: TemporaryFolder(program.rawValue))
    let status = try await process.exited(within: seconds)
    return Result(status: status, output: process.output, diagnostics: process.diagnostics)
  }
}
