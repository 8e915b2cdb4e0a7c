public import Foundation
import Glibc
import Synchronization

/// A running program, leader of a process group of its own that ends with this object at the latest. Its output goes to
/// files in its folder.
public final class PeerProcess: Sendable {
  /// The system's `timeout` runs every program, so that none outlives a killed test run for long.
  public static let mostSeconds = 180

  public let folder: TemporaryFolder
  public let name: String
  private let process: pid_t
  private let status = Mutex<Int32?>(nil)

  /// - Parameter arguments: without the program's name.
  public convenience init(_ program: PeerProgram, _ arguments: [String], in folder: TemporaryFolder) throws {
    guard let path = program.path else { throw PeerFailure(program.absence) }
    try self.init(path: path, arguments, environment: nil, startedIn: folder.url, in: folder)
  }

  /// - Parameters:
  ///   - environment: `nil` for a small one.
  ///   - start: the folder it starts in.
  ///   - folder: where its output goes.
  ///   - input: the descriptor it reads as its standard input; without one there is nothing to read.
  ///   - name: what it is called; `nil`: as the file of the program.
  ///   - seconds: how long it may run.
  public init(
    path: String, _ arguments: [String], environment: [String: String]?, startedIn start: URL,
    in folder: TemporaryFolder, input: Int32? = nil, name: String? = nil, seconds: Int = mostSeconds
  ) throws {
    guard let watchdog = PeerProgram.timeout.path else { throw PeerFailure(PeerProgram.timeout.absence) }
    self.folder = folder
    let name = name ?? URL(fileURLWithPath: path).lastPathComponent
    self.name = name
    // `env` and `timeout` are of one package.
    process = try Self.spawn(
      ["/usr/bin/env", "-C", start.path, watchdog, "--kill-after=1", String(seconds), path] + arguments,
      environment: environment ?? Self.smallEnvironment(folder.url.path), in: folder.url.path, input: input)
    let process = process
    Self.names.withLock { $0[process] = name }
  }

  private static let names = Mutex<[pid_t: String]>([:])
  /// The programs that were started and have not been ended, with their names.
  static var running: [pid_t: String] { names.withLock { $0 } }

  deinit { end() }

  public var output: String { folder.text("stdout") }
  public var diagnostics: String { folder.text("stderr") }

  /// The exit status, 128 + n for signal n; `nil` while it runs.
  public var exitStatus: Int32? {
    status.withLock { known in
      if let known { return known }
      var word: Int32 = 0
      guard waitpid(process, &word, WNOHANG) == process else { return nil }
      known = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + (word & 0x7F)
      return known
    }
  }

  public func exited(within seconds: Double, everyMilliseconds pause: Int = 10) async throws -> Int32 {
    try await Deadline(seconds: seconds).first("end of \(name)", everyMilliseconds: pause) { exitStatus }
  }

  /// Waits for a line of output that contains `text`.
  public func says(_ text: String, within seconds: Double = 20) async throws {
    try await waits(for: "line with \"\(text)\" from \(name)", within: seconds) {
      output.contains(text) || diagnostics.contains(text)
    }
  }

  /// Waits until it listens on a port, for UDP or TCP.
  public func listens(on port: UInt16, within seconds: Double = 20) async throws {
    try await waits(for: "port \(port) opened by \(name)", within: seconds) { Self.isOpen(port) }
  }

  private func waits(for what: String, within seconds: Double, _ condition: () -> Bool) async throws {
    let deadline = Deadline(seconds: seconds)
    while !condition() {
      let said = (diagnostics + output).lastLines(5)
      if let exitStatus { throw PeerFailure("\(name) ended with \(exitStatus) at once: \(said)") }
      guard !deadline.hasPassed else { throw PeerFailure("no \(what) within \(seconds) s; it said: \(said)") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Asks the whole group to end, as Control-C does.
  public func interrupt() { _ = kill(-process, SIGINT) }

  /// Ends the whole group, without mercy; harmless when it has ended.
  public func end() {
    _ = Self.names.withLock { $0.removeValue(forKey: process) }
    // The group may still have members when the leader is gone.
    _ = kill(-process, SIGKILL)
    status.withLock { known in
      guard known == nil else { return }
      var word: Int32 = 0
      _ = waitpid(process, &word, 0)
      known = 128 + SIGKILL
    }
  }

  private static func isOpen(_ port: UInt16) -> Bool {
    let wanted =
      ":" + String(repeating: "0", count: 4 - String(port, radix: 16).count)
      + String(port, radix: 16, uppercase: true)
    func local(_ table: String, _ state: String?) -> Bool {
      return SystemTable.text("/proc/net/\(table)").split(separator: "\n").dropFirst().contains { line in
        let cells = line.split(separator: " ")
        return cells.count > 3 && cells[1].hasSuffix(wanted) && (state == nil || cells[3] == state ?? "")
      }
    }
    // 0A is LISTEN.
    return local("udp", nil) || local("udp6", nil) || local("tcp", "0A") || local("tcp6", "0A")
  }

  private static func spawn(
    _ arguments: [String], environment: [String: String], in folder: String, input: Int32?
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, "\(folder)/stdout", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, "\(folder)/stderr", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A thread that runs tests blocks signals, libraries ignore some, and programs inherit both: the timers of some
    // live on SIGALRM.
    var nothingBlocked = sigset_t()
    sigemptyset(&nothingBlocked)
    posix_spawnattr_setsigmask(&attributes, &nothingBlocked)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    posix_spawnattr_setpgroup(&attributes, 0)
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, arguments[0], &actions, &attributes, words, variables)
    guard result == 0 else { throw PeerFailure("no program was started: \(String(cString: strerror(result)))") }
    return process
  }

  private static func smallEnvironment(_ folder: String) -> [String: String] {
    ["HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "dumb", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
  }
}

extension String {
  /// The end of a log, on one line.
  public func lastLines(_ count: Int) -> String {
    split(separator: "\n").suffix(count).joined(separator: " | ")
  }
}
