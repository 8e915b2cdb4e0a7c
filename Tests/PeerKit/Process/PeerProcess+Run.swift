public import Foundation

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
    try await PeerProcess(program, arguments, in: TemporaryFolder(program.rawValue)).result(within: seconds)
  }

  /// The same for a program that is no peer.
  public static func run(
    _ executable: URL, _ arguments: [String], environment: [String: String], startedIn start: URL,
    within seconds: Double = 120
  ) async throws -> Result {
    try await PeerProcess(
      path: executable.path, arguments, environment: environment, startedIn: start,
      in: TemporaryFolder(executable.lastPathComponent)
    ).result(within: seconds)
  }

  private func result(within seconds: Double) async throws -> Result {
    let status = try await exited(within: seconds, everyMilliseconds: 5)
    return Result(status: status, output: output, diagnostics: diagnostics)
  }
}
