import Foundation
import PeerKit

/// A gateway that runs beside the commands that are tried on it.
struct GatewayProcess {
  let folder: TemporaryFolder
  let process: PeerProcess
  /// `ws://127.0.0.1:PORT`.
  let url: String
  private let variables: [String: String]

  /// `landline dev` in a home of its own.
  static func dev(_ arguments: [String] = []) async throws -> GatewayProcess {
    let folder = try TemporaryFolder("gateway")
    let process = try PeerProcess(
      path: LandlineProcess.executable.path, ["dev", "--port", "0"] + arguments,
      environment: ["HOME": folder.url.path, "PATH": "/usr/bin:/bin"], startedIn: folder.url, in: folder)
    try await process.says("Landline runs at http://", within: 40)
    let text = try String(
      contentsOf: folder.url.appendingPathComponent(".local/state/landline/dev/environment"), encoding: .utf8)
    var variables: [String: String] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("export ") {
      let parts = line.dropFirst(7).split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      variables[String(parts[0])] = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "'"))
    }
    return GatewayProcess(
      folder: folder, process: process, url: variables["LANDLINE_URL"] ?? "", variables: variables)
  }

  var stateFolder: URL { folder.url.appendingPathComponent(".local/state/landline/dev") }

  /// A command with what `landline dev` says to source.
  func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> LandlineProcess.Result {
    var all = variables
    all["HOME"] = folder.url.path
    all["PATH"] = "/usr/bin:/bin"
    all.merge(environment) { _, new in new }
    let result = try await PeerProcess.run(
      LandlineProcess.executable, arguments, environment: all, startedIn: folder.url, within: 60)
    return LandlineProcess.Result(output: result.output, diagnostics: result.diagnostics, status: result.status)
  }

  /// A line of a shell, in which `landline` is the command; pipes are told by their first part's status.
  func shell(_ line: String) async throws -> LandlineProcess.Result {
    var all = variables
    all["HOME"] = folder.url.path
    all["PATH"] = "\(LandlineProcess.executable.deletingLastPathComponent().path):/usr/bin:/bin"
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", line], environment: all, startedIn: folder.url, within: 60)
    return LandlineProcess.Result(output: result.output, diagnostics: result.diagnostics, status: result.status)
  }
}
