public import Foundation
import Glibc
import Synchronization

/// What of a test's own is still there when the test is over: sockets, files, programs, and what a gateway counts.
///
/// Tests run side by side in one process, so no total of it says anything about one test. Things are told apart by what
/// is a test's alone: its ports, its folders, its gateway. What nobody asked for is found when the process ends
/// (``watchProcess()``).
public struct LeftOvers: Sendable {
  /// Local ports that no socket of this process may have.
  public var ports: Set<UInt16> = []
  /// Of which protocols: a test that has a port of TCP alone may see another's of UDP with the same number.
  public var protocols: Set<String> = ["udp", "tcp"]
  /// No file below them may be open, and no program may have been started there.
  public var folders: [URL] = []
  /// What the thing under test says that it holds, asked again until all of it is 0.
  public var counts: @Sendable () async throws -> [String: Int] = { [:] }

  public init(
    ports: some Sequence<UInt16> = [], protocols: Set<String> = ["udp", "tcp"], folders: [URL] = [],
    counts: @escaping @Sendable () async throws -> [String: Int] = { [:] }
  ) {
    self.ports = Set(ports)
    self.protocols = protocols
    self.folders = folders
    self.counts = counts
  }

  /// What is there now, by name; empty when nothing is.
  public func found() async throws -> [String] {
    let held = try await counts().filter { $0.value != 0 }.map { "\($0.value) \($0.key)" }
    return held.sorted() + Self.sockets(on: ports, of: protocols) + folders.flatMap { Self.openFiles(under: $0.path) }
      + Self.programs(in: folders)
  }

  /// Waits until nothing is there: sockets are closed a moment after they are told to.
  /// - Throws: ``PeerFailure`` that names what stays.
  public func areNone(within seconds: Double = 8) async throws {
    Self.watchProcess()
    let deadline = Deadline(seconds: seconds)
    var left = try await found()
    while !left.isEmpty, !deadline.hasPassed {
      try await Task.sleep(for: .milliseconds(10))
      left = try await found()
    }
    let (checks, stays) = Self.tally.withLock { tally in
      tally.checks += 1
      tally.found += left
      return (tally.checks, left)
    }
    guard stays.isEmpty else { throw PeerFailure("left over at check \(checks): \(stays.joined(separator: ", "))") }
  }

  // MARK: What this process has

  /// Sockets of this process with a local port (proc(5), /proc/net), as `udp 5060`.
  public static func sockets(on ports: Set<UInt16>, of protocols: Set<String> = ["udp", "tcp"]) -> [String] {
    guard !ports.isEmpty else { return [] }
    return sockets().filter { ports.contains($0.port) && protocols.contains($0.protocolName) }.map {
      "\($0.protocolName) \($0.port)"
    }
  }

  /// Local ports of this process; of TCP the listening ones.
  public static func boundPorts(_ protocolName: String) -> Set<UInt16> {
    Set(
      sockets().filter { $0.protocolName == protocolName && ($0.isListening || protocolName == "udp") }.map(\.port))
  }

  /// Names of files in the folder, however deep, that this process has open.
  public static func openFiles(under folder: String) -> [String] {
    descriptors().filter { $0 == folder || $0.hasPrefix("\(folder)/") }
  }

  /// Programs that this process has started and that have not been waited for, whose arguments name one of the folders.
  static func programs(in folders: [URL]) -> [String] {
    guard !folders.isEmpty else { return [] }
    return children().filter { program in folders.contains { program.contains($0.path) } }
  }

  package struct Socket: Equatable, Sendable {
    var protocolName: String
    var port: UInt16
    /// 0 where it is not connected.
    var peer: UInt16
    var isListening = false

    package init(protocolName: String, port: UInt16, peer: UInt16 = 0, isListening: Bool = false) {
      self.protocolName = protocolName
      self.port = port
      self.peer = peer
      self.isListening = isListening
    }
  }

  /// Without the pair that Foundation's `Process` keeps from its first use to the end, to wake a thread of its own: two UDP
  /// sockets that are connected to each other. A second pair is nobody's but ours.
  package static func withoutFoundationsPair(_ sockets: [Socket]) -> [Socket] {
    for one in sockets where one.protocolName == "udp" && one.peer != 0 {
      let other = Socket(protocolName: "udp", port: one.peer, peer: one.port)
      if sockets.contains(other) { return sockets.filter { $0 != one && $0 != other } }
    }
    return sockets
  }

  /// Sockets of this process that have no address and no peer, by their inode: made and never used.
  public static func unusedSockets() -> Set<String> {
    let before = inodes()
    let used = ["udp", "udp6", "tcp", "tcp6", "unix", "netlink", "raw", "raw6", "packet"].flatMap { name in
      SystemTable.text("/proc/net/\(name)").split { $0 == " " || $0 == "\n" }.map(String.init)
    }
    // One that came or went meanwhile tells nothing.
    return before.intersection(inodes()).subtracting(used)
  }

  private static func inodes() -> Set<String> {
    Set(descriptors().compactMap { $0.hasPrefix("socket:[") ? String($0.dropFirst(8).dropLast()) : nil })
  }

  private static func sockets() -> [Socket] {
    let own = inodes()
    return ["udp", "udp6", "tcp", "tcp6"].flatMap { name in
      SystemTable.text("/proc/net/\(name)").split(separator: "\n").dropFirst().compactMap { line -> Socket? in
        let cells: [Substring] = line.split(separator: " ")
        guard cells.count > 9, own.contains(String(cells[9])), let port = portNumber(of: cells[1]),
          let peer = portNumber(of: cells[2])
        else { return nil }
        // State 0A is LISTEN.
        return Socket(
          protocolName: String(name.prefix(3)), port: port, peer: peer, isListening: cells[3] == "0A")
      }
    }
  }

  /// Of `0100007F:13C4`.
  private static func portNumber(of address: Substring) -> UInt16? {
    address.split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
  }

  private static func descriptors() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
  }

  private static func children() -> [String] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.flatMap { thread -> [String] in
      SystemTable.text("/proc/self/task/\(thread)/children").split(separator: " ").compactMap { child in
        guard let line = FileManager.default.contents(atPath: "/proc/\(child)/cmdline"), !line.isEmpty else {
          return nil
        }
        return "program " + String(decoding: line.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
      }
    }
  }

  // MARK: When the process ends

  private struct Tally {
    var checks = 0
    var found: [String] = []
    var isWatching = false
  }

  private static let tally = Mutex(Tally())
  /// Threads that this project starts are named so.
  private static let threadPrefix = "landline"

  /// Looks once more when all tests of this process are over: no socket with a port, no file of a temporary folder, no
  /// program and no thread of ours may be left. Row E2 of the scoreboard says what was found, now and at every check.
  public static func watchProcess() {
    let isFirst = tally.withLock { tally in
      defer { tally.isWatching = true }
      return !tally.isWatching
    }
    guard isFirst else { return }
    atexit { LeftOvers.endOfProcess() }
  }

  private static func endOfProcess() {
    let temporary = FileManager.default.temporaryDirectory.path
    let sockets = withoutFoundationsPair(sockets()).map { "\($0.protocolName) \($0.port)" }
    let files = openFiles(under: temporary)
    let left = sockets + files + children() + threads()
    let tally = tally.withLock { $0 }
    let all = tally.found + left
    if !left.isEmpty {
      FileHandle.standardError.write(
        Data("left over at the end of the tests: \(left.joined(separator: ", "))\n".utf8))
    }
    let row = ScoreboardRow(
      "E2", figure: "\(all.count)", unit: "left-overs", target: "0", passed: all.isEmpty,
      detail: "\(ProcessInfo.processInfo.processName): \(tally.checks) checks, then the whole process"
        + (all.isEmpty ? "" : ": \(all.prefix(5).joined(separator: ", "))"),
      gate: true)
    do { try row.record() } catch { FileHandle.standardError.write(Data("\(error)\n".utf8)) }
  }

  private static func threads() -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return all.compactMap { thread in
      guard let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8),
        name.hasPrefix(threadPrefix), thread != "\(getpid())"
      else { return nil }
      return "thread \(name.dropLast())"
    }
  }
}
