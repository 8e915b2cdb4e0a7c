import Foundation
import Testing

/// A SIPp process that serves one scenario on 127.0.0.1.
final class SIPpPeer {
  enum Transport {
    case udp, tcp
  }

  let port: UInt16
  private let process = Process()
  private let folder: URL

  static let isPresent = FileManager.default.isExecutableFile(atPath: "/usr/bin/sipp")

  init(_ scenario: TrunkScenario, _ transport: Transport = .udp) async throws {
    folder = LandlineProcess.temporary.appendingPathComponent("sipp-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("scenario.xml")
    try Data(scenario.xml.utf8).write(to: file)
    let isDatagram = transport == .udp
    port = try FreePort.find(isDatagram: isDatagram)
    var arguments = [
      "-sf", file.path, "-i", "127.0.0.1", "-p", "\(port)", "-nostdin", "-trace_err", "-error_file",
      folder.appendingPathComponent("errors.log").path, "-timeout", "60s", "-timeout_error",
    ]
    switch transport {
    case .udp: arguments += ["-t", "u1"]
    case .tcp: arguments += ["-t", "t1"]
    }
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sipp")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    try await FreePort.waitUntilBound(port, isDatagram: isDatagram)
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// What it complained of.
  var errors: String {
    (try? String(contentsOf: folder.appendingPathComponent("errors.log"), encoding: .utf8)) ?? ""
  }
}
