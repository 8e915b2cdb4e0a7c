import Foundation

/// The process that listens on a port of this machine, as far as this user may see it.
struct PortHolder: Hashable, Sendable, CustomStringConvertible {
  var process: Int32
  /// Its command line's first words; empty where it cannot be read.
  var program: String

  /// `landline dev (process 4711)`.
  var description: String { program.isEmpty ? "process \(process)" : "\(program) (process \(process))" }

  /// Bytes of a command line that are shown.
  private static let maximumProgramBytes = 80
  /// Bytes of a table of sockets that are looked through.
  private static let maximumTableBytes = 64 << 20

  static func find(_ port: UInt16, isDatagram: Bool) -> PortHolder? {
    let found = Set(["", "6"].flatMap { inodes(port, table: (isDatagram ? "udp" : "tcp") + $0, isDatagram) })
    guard !found.isEmpty else { return nil }
    let files = FileManager.default
    let wanted = Set(found.map { "socket:[\($0)]" })
    for name in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let process = Int32(name) else { continue }
      for descriptor in (try? files.contentsOfDirectory(atPath: "/proc/\(name)/fd")) ?? []
      where (try? files.destinationOfSymbolicLink(atPath: "/proc/\(name)/fd/\(descriptor)")).map(wanted.contains)
        ?? false
      {
        return PortHolder(process: process, program: program(process))
      }
    }
    return nil
  }

  /// Of sockets with this local port: of TCP those that listen (proc_pid_net(5)).
  private static func inodes(_ port: UInt16, table: String, _ isDatagram: Bool) -> [Substring] {
    let listening = "0A"
    return text(of: "/proc/self/net/\(table)").split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 9, isDatagram || fields[3] == listening,
        let number = fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }), number == port
      else { return nil }
      return fields[9]
    }
  }

  /// A file of proc(5), whose size is not told and of which each read gives a part.
  private static func text(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while bytes.count < maximumTableBytes {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[0..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The program's name without its folder, and its first argument: what it was told to be.
  private static func program(_ process: Int32) -> String {
    guard let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return "" }
    var words = data.split(separator: 0).prefix(2).map { String(decoding: $0, as: UTF8.self) }
    if let path = words.first { words[0] = path.split(separator: "/").last.map(String.init) ?? path }
    if words.count > 1, words[1].hasPrefix("-") || words[1].contains("/") { words.removeLast() }
    let text = words.joined(separator: " ").filter { !$0.isNewline }
    return String(decoding: text.utf8.prefix(maximumProgramBytes), as: UTF8.self)
  }
}
