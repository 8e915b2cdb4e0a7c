import CallModel
import Foundation

/// The folder where gateways of one user say where they are: one file for each, for its user alone.
struct RunningGateways: Sendable {
  /// Files that are looked at, and bytes of one.
  static let maximumFiles = 256
  static let maximumBytes = 1 << 20

  let folder: String

  /// - Parameter stateFolder: `~/.local/state`.
  init(stateFolder: String) { folder = "\(stateFolder)/landline/running" }

  private func file(_ process: Int32) -> String { "\(folder)/\(process).json" }

  /// Writes down where a gateway is. Whoever reads meanwhile sees the former text or this one.
  func write(_ pointer: GatewayPointer) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let data = try encoder.encode(pointer)
    let path = file(pointer.process)
    let new = "\(path).new"
    guard FileManager.default.createFile(atPath: new, contents: data, attributes: [.posixPermissions: 0o600]) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: new])
    }
    guard rename(new, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// The entry of this process.
  func removeOwn() { unlink(file(getpid())) }

  /// The gateways that run, the newest first. What those that were killed left behind is removed.
  /// - Returns: what is to be said about files that are of no use.
  func read() -> (running: [GatewayPointer], notes: [String]) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return ([], []) }
    var running: [GatewayPointer] = []
    var notes: [String] = []
    for name in names.sorted().prefix(Self.maximumFiles) where name.hasSuffix(".json") {
      let path = "\(folder)/\(name)"
      guard let pointer = RunningGateways.pointer(path) else {
        notes.append("\(path) is ignored: it is no entry of a gateway that only its user can read")
        continue
      }
      // Of another machine or container that has the same home: its processes cannot be seen from here.
      guard pointer.host == RunningGateways.host else { continue }
      if RunningGateways.startTicks(of: pointer.process) == pointer.startTicks {
        running.append(pointer)
      } else {
        unlink(path)
        notes.append("\(pointer.name), has ended without saying so: its entry is removed")
      }
    }
    running.sort { ($0.startTicks, $0.process) > ($1.startTicks, $1.process) }
    return (running, notes)
  }

  /// - Returns: `nil` for a file that another user could have written or that is none of ours.
  private static func pointer(_ path: String) -> GatewayPointer? {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      attributes[.type] as? FileAttributeType == .typeRegular,
      (attributes[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid(),
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 == 0,
      let handle = FileHandle(forReadingAtPath: path)
    else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: maximumBytes) else { return nil }
    return try? JSONDecoder().decode(GatewayPointer.self, from: data)
  }

  /// When a process started; `nil` where there is none (proc_pid_stat(5), field 22).
  static func startTicks(of process: Int32) -> UInt64? {
    guard process > 0, let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      // The program's name stands in parentheses and may hold anything.
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    // A process that nobody has waited for yet has ended all the same.
    return fields.count > 19 && !["Z", "X"].contains(fields[0]) ? UInt64(fields[19]) : nil
  }

  /// The name of this machine and the namespace of its processes (pid_namespaces(7)).
  static let host: String = {
    let namespace = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? ""
    let name = (try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)) ?? ""
    return "\(name.prefix { !$0.isNewline }) \(namespace)"
  }()

  /// The entry of this process.
  static func ownPointer(command: String, _ places: GatewayPlaces) -> GatewayPointer? {
    let process = getpid()
    return startTicks(of: process).map {
      GatewayPointer(command: command, host: host, process: process, startTicks: $0, places: places)
    }
  }
}
