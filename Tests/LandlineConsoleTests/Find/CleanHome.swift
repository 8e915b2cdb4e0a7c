import Foundation
import Glibc
import PeerKit

/// A user who was never here: an empty home, no variable of ours, the built `landline` on the path.
final class CleanHome: Sendable {
  let folder: TemporaryFolder
  var path: String { folder.url.path }

  init() throws { folder = try TemporaryFolder("home") }

  private var variables: [String: String] {
    [
      "HOME": path, "USER": "alice", "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "200",
      "PATH": LandlineProcess.executable.deletingLastPathComponent().path + ":/usr/sbin:/usr/bin:/sbin:/bin",
    ]
  }

  func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> LandlineProcess.Result {
    let result = try await PeerProcess.run(
      LandlineProcess.executable, arguments, environment: variables.merging(more) { $1 }, startedIn: folder.url)
    return LandlineProcess.Result(output: result.output, diagnostics: result.diagnostics, status: result.status)
  }

  /// A line of a shell, as it is typed.
  func shell(_ line: String) async throws -> LandlineProcess.Result {
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", line], environment: variables, startedIn: folder.url)
    return LandlineProcess.Result(output: result.output, diagnostics: result.diagnostics, status: result.status)
  }

  /// Starts a command and leaves it running.
  func start(_ line: String) throws -> PeerProcess {
    try PeerProcess(
      path: "/bin/bash", ["-c", "exec \(line)"], environment: variables, startedIn: folder.url,
      in: TemporaryFolder("landline"))
  }

  /// Starts a gateway and waits until other commands can find it.
  func gateway(_ line: String) async throws -> (process: PeerProcess, entry: Entry) {
    let former = Set(entries.map(\.process))
    let process = try start(line)
    let entry = try await Deadline(seconds: 30).first("gateway by \(line): \(process.diagnostics)") {
      () throws -> Entry? in
      if let status = process.exitStatus {
        throw PeerFailure("\(line) ended with \(status): \(process.diagnostics) \(process.output)")
      }
      return entries.first { !former.contains($0.process) }
    }
    return (process, entry)
  }

  /// What a running gateway has written down, as far as tests ask.
  struct Entry: Decodable, Sendable {
    struct Places: Decodable, Sendable {
      struct Environment: Decodable, Sendable { var name: String, ledger: String }
      var url: String?
      var state: String
      var control: String
      var configuration: String
      var environments: [Environment]
    }
    var process: Int32
    var places: Places
  }

  var running: String { "\(path)/.local/state/landline/running" }

  var entries: [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: running)) ?? []
    return names.filter { $0.hasSuffix(".json") }.compactMap { name in
      FileManager.default.contents(atPath: "\(running)/\(name)")
        .flatMap { try? JSONDecoder().decode(Entry.self, from: $0) }
    }
  }

  /// Every file below the home with this ending.
  func files(_ ending: String) -> [String] {
    (FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []).filter { $0.hasSuffix(ending) }
      .sorted()
  }
}
