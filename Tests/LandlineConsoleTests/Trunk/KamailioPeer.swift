import Foundation
import Glibc

/// A Kamailio process that answers OPTIONS over TLS on 127.0.0.1.
final class KamailioPeer {
  let port: UInt16
  private let process: pid_t
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
    process = try KamailioPeer.start(
      ["-DD", "-E", "-f", file.path, "-Y", folder.path, "-w", folder.path, "-m", "32", "-M", "8"],
      log: folder.appendingPathComponent("log").path)
    try await FreePort.waitUntilBound(port, isDatagram: false)
  }

  /// What it said, for failures.
  var log: String { (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? "" }

  struct NotStarted: Error { let code: Int32 }

  /// Not by Foundation, whose watch over a child Kamailio closes with all other descriptors it finds open.
  private static func start(_ arguments: [String], log: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Signals that this process ignores or holds back would reach neither it nor its children.
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    // A group of its own, so that its children can be ended with it.
    posix_spawnattr_setpgroup(&attributes, 0)
    var words: [UnsafeMutablePointer<CChar>?] = (["kamailio"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/usr/sbin/kamailio", &actions, &attributes, &words, environ)
    guard code == 0 else { throw NotStarted(code: code) }
    return process
  }

  deinit {
    // The whole group, and not by request: one that comes while it starts its children is lost.
    kill(-process, SIGKILL)
    waitpid(process, nil, 0)
    try? FileManager.default.removeItem(at: folder)
  }
}
