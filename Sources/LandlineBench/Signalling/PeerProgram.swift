import Foundation

/// A program that plays a part in a benchmark: started here, ended here.
///
/// Not Foundation's Process: that one learns of an end by a socket the program inherits, and Kamailio closes what it
/// inherits.
final class PeerProgram {
  let identifier: pid_t
  /// Set once the program was waited for.
  private var exitCode: Int32?

  /// - Parameters:
  ///   - input: a descriptor it reads from; without one there is nothing to read.
  ///   - output: a descriptor it writes to; without one what it says is lost.
  ///   - keepsDiagnostics: whether errors go there as well.
  ///   - environment: set for it beside what this process has.
  /// - Throws: ``BenchProblem`` when it cannot be started.
  init(
    _ name: String, _ arguments: [String], input: Int32? = nil, output: Int32? = nil, keepsDiagnostics: Bool = true,
    environment: [String: String] = [:]
  ) throws(BenchProblem) {
    guard let path = PeerProgram.path(name) else { throw BenchProblem("\(name) is not installed") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, given) in [(Int32(0), input), (1, output), (2, keepsDiagnostics ? output : nil)] {
      if let given {
        posix_spawn_file_actions_adddup2(&actions, given, descriptor)
      } else {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
      }
    }
    // A worker thread blocks all signals, and a program inherits what is blocked.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var identifier: pid_t = 0
    let all = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    var variables: [UnsafeMutablePointer<CChar>?] = all.map { strdup("\($0)=\($1)") }
    variables.append(nil)
    defer { for variable in variables { free(variable) } }
    let result = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
    guard result == 0 else { throw BenchProblem("\(name) does not start: \(String(cString: strerror(result)))") }
    self.identifier = identifier
  }

  deinit { end() }

  static func exists(_ name: String) -> Bool { path(name) != nil }

  private static func path(_ name: String) -> String? {
    if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
    // Servers of Debian lie where users do not look.
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin") + ":/usr/sbin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Whether it has not ended yet.
  var isRunning: Bool {
    guard exitCode == nil else { return false }
    var status: Int32 = 0
    guard waitpid(identifier, &status, WNOHANG) == identifier else { return true }
    exitCode = Self.code(status)
    return false
  }

  /// Waits for its end.
  /// - Returns: Its exit code; 128 and more for a signal.
  @discardableResult
  func wait() -> Int32 {
    if let exitCode { return exitCode }
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    let code = Self.code(status)
    exitCode = code
    return code
  }

  private static func code(_ status: Int32) -> Int32 {
    status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// - Parameter signal: Kamailio ends its children when asked politely; SIPp would finish its calls first.
  func end(_ signal: Int32 = SIGKILL) {
    guard exitCode == nil else { return }
    kill(identifier, signal)
    wait()
  }

  /// Processor seconds of the program and its children so far (proc(5), stat fields 14 and 15).
  var processorSeconds: Double {
    let own = identifier
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    var ticks = 0
    for pid in all.compactMap({ Int32($0) }) {
      guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        let bracket = stat.lastIndex(of: ")")
      else { continue }
      // Behind the name: state, parent, …; the times are the 12th and 13th from there.
      let fields = stat[stat.index(after: bracket)...].split(separator: " ")
      guard fields.count > 12, pid == own || Int32(fields[1]) == own else { continue }
      ticks += (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// A UDP port on loopback that nobody has.
  static func freePort() throws(BenchProblem) -> UInt16 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard socket >= 0 else { throw BenchProblem("no socket can be made") }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
      }
    }
    guard result == 0 else { throw BenchProblem("no port of 127.0.0.1 can be had") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits until a UDP port of loopback is taken, as /proc/net/udp tells.
  static func waitForPort(_ port: UInt16, seconds: Double) throws(BenchProblem) {
    let written = String(format: ":%04X ", Int(port))
    let end = ProcessClock.monotonicSeconds() + seconds
    while ProcessClock.monotonicSeconds() < end {
      if wholeText("/proc/net/udp").contains(written) { return }
      usleep(10_000)
    }
    throw BenchProblem("nothing listens on port \(port) after \(seconds) s")
  }

  /// Reads to the end: the system hands such tables out a page at a time.
  private static func wholeText(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
