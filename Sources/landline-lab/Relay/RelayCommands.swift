import Glibc
import LandlineConsole
import SimulationKit

/// Lines of standard input that change a network while it relays: `loss 5 burst 3`, `back rate 25 queue 20`, `rebind`.
struct RelayCommands {
  /// Bytes of a line at most.
  static let maximumLine = 1_000

  private(set) var forth: RelayPath
  private(set) var back: RelayPath
  private var waiting: [UInt8] = []
  /// Nothing more will come.
  private(set) var isOver = false

  init(_ path: RelayPath) {
    forth = path
    back = path
  }

  var descriptor: CInt { STDIN_FILENO }

  /// What there is to read, as lines. Asked for only when something is there, for it would wait.
  mutating func read() throws -> [String] {
    var buffer = [UInt8](repeating: 0, count: RelayCommands.maximumLine)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    guard count > 0 else {
      isOver = true
      return []
    }
    waiting += buffer[..<count]
    var lines: [String] = []
    while let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: waiting[..<end], as: UTF8.self))
      waiting.removeSubrange(...end)
    }
    guard waiting.count <= RelayCommands.maximumLine else {
      throw refusal("a line is too long", fix: "\(RelayCommands.maximumLine) bytes at most")
    }
    return lines
  }

  /// - Returns: whether each client is to get another port.
  mutating func take(_ line: String) throws -> Bool {
    var words = line.split(separator: " ").map(String.init)
    if words == ["rebind"] { return true }
    var directions: [WritableKeyPath<RelayCommands, RelayPath>] = [\.forth, \.back]
    if let first = words.first, ["forth", "back"].contains(first) {
      directions = first == "forth" ? [\.forth] : [\.back]
      words.removeFirst()
    }
    while words.count >= 2 {
      guard let value = Double(words[1]) else { throw refusal("\"\(words[1])\" is no number") }
      for direction in directions { try self[keyPath: direction].set(words[0], value) }
      words.removeFirst(2)
    }
    guard words.isEmpty else { throw refusal("\"\(words[0])\" has no value") }
    return false
  }
}

extension RelayPath {
  fileprivate mutating func set(_ name: String, _ value: Double) throws {
    switch name {
    case "delay": delay = value
    case "jitter": jitter = value
    case "loss": loss = value
    case "burst": burst = value
    case "reorder": reorder = value
    case "duplicate": duplicate = value
    case "corrupt": corrupt = value
    case "rate": rate = value == 0 ? nil : value
    case "queue": queue = value
    case "headers": headers = value
    default: throw refusal("there is no \"\(name)\"")
    }
  }
}

private func refusal(_ problem: String, fix: String? = nil) -> ConsoleError {
  ConsoleError.usage(
    "relay.command", "command: \(problem)", at: "standard input",
    fix: fix ?? "names of options with values, such as: back loss 5 burst 3; or rebind")
}
