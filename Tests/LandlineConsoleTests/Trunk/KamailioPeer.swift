import Foundation
import Glibc

/// A Kamailio process that answers OPTIONS over TLS on 127.0.0.1.
final class KamailioPeer {
  let port: UInt16
  private let process = Process()
  private let folder: URL

  static let isPresent =
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/kamailio")
    && FileManager.default.fileExists(atPath: "/usr/lib/x86_64-linux-gnu/kamailio/modules/tls.so")

  /// - Parameter wantsClient: PEM file of the authority whose certificates clients must show.
  init(certificate: String, key: String, wantsClient: String? = nil) async throws {
    folder = LandlineProcess.temporary.appendingPathComponent("kamailio-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    port = try FreePort.find(isDatagram: false)
    let tls = """
      [server:default]
      method = TLSv1.2+
      certificate = \(certificate)
      private_key = \(key)
      verify_certificate = \(wantsClient == nil ? "no" : "yes")
      require_certificate = \(wantsClient == nil ? "no" : "yes")
      \(wantsClient.map { "ca_list = \($0)" } ?? "")
      """
    let settings = folder.appendingPathComponent("tls.cfg")
    try Data(tls.utf8).write(to: settings)
    let script = """
      fork=yes
      children=1
      tcp_children=1
      log_stderror=yes
      debug=0
      enable_tls=yes
      listen=tls:127.0.0.1:\(port)
      loadmodule "/usr/lib/x86_64-linux-gnu/kamailio/modules/tls.so"
      loadmodule "/usr/lib/x86_64-linux-gnu/kamailio/modules/sl.so"
      modparam("tls", "config", "\(settings.path)")
      request_route { if (method == "OPTIONS") { sl_send_reply("200", "OK"); } else { sl_send_reply("404", "Not here"); } }
      """
    let file = folder.appendingPathComponent("kamailio.cfg")
    try Data(script.utf8).write(to: file)
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/kamailio")
    process.arguments = ["-DD", "-E", "-f", file.path, "-Y", folder.path, "-w", folder.path, "-m", "32", "-M", "8"]
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let log = folder.appendingPathComponent("log")
    try Data().write(to: log)
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    try await FreePort.waitUntilBound(port, isDatagram: false)
  }

  /// What it said, for failures.
  var log: String { (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? "" }

  deinit {
    // Its children end with it.
    if process.isRunning { process.terminate() }
    try? FileManager.default.removeItem(at: folder)
  }
}
