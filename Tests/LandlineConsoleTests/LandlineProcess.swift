import Foundation
import PeerKit
import Testing

/// The built `landline`, or `landline-lab`, run in a folder of its own that holds a copy of the scenario's ledger.
struct LandlineProcess {
  struct Result: Sendable {
    var output: String
    var diagnostics: String
    var status: Int32
  }

  let folder: URL

  /// In memory where the system offers it: hundreds of commands need not wait for a disk.
  static let temporary =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory

  /// - Parameter hasLedger: whether the folder starts with the scenario's ledger.
  init(hasLedger: Bool = true) async throws {
    folder = Self.temporary.appendingPathComponent("landline-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard hasLedger else { return }
    for (name, content) in try await ScenarioFiles.shared.contents() {
      try content.write(to: folder.appendingPathComponent(name))
    }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Beside the test bundle.
  static let executable = built("landline")
  static let lab = built("landline-lab")

  private static func built(_ name: String) -> URL {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name)
  }

  func run(
    _ arguments: [String], of program: URL = LandlineProcess.executable, environment: [String: String] = [:]
  ) async throws -> Result {
    try await Self.run(program, arguments, in: folder, environment: environment)
  }

  static func run(
    _ executable: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:]
  ) async throws -> Result {
    var variables = ProcessInfo.processInfo.environment.filter { name, _ in
      !["LANDLINE_DATABASE", "LANDLINE_NOW", "LANDLINE_RECORD", "NO_COLOR", "PAGER", "XDG_STATE_HOME"].contains(name)
    }
    variables["LANDLINE_DATABASE"] = LedgerScenario.fileName
    variables["LANDLINE_NOW"] = LedgerScenario.now
    variables["USER"] = "alice"
    variables["HOME"] = folder.path
    variables["COLUMNS"] = "80"
    variables["LC_ALL"] = "C.UTF-8"
    variables.merge(environment) { _, new in new }
    let result = try await PeerProcess.run(executable, arguments, environment: variables, startedIn: folder)
    return Result(output: result.output, diagnostics: result.diagnostics, status: result.status)
  }
}

/// The scenario's ledger, built once and kept in memory.
actor ScenarioFiles {
  static let shared = ScenarioFiles()
  private var built: Task<[String: Data], any Error>?

  func contents() async throws -> [String: Data] {
    if let built { return try await built.value }
    let task = Task {
      let folder = LandlineProcess.temporary.appendingPathComponent("landline-scenario-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await LedgerScenario.build(in: folder)
      var contents: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        contents[name] = try Data(contentsOf: folder.appendingPathComponent(name))
      }
      return contents
    }
    built = task
    return try await task.value
  }
}
