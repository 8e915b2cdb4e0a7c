import Foundation
import Glibc
import Synchronization

/// Speaks to baresip's control port: JSON texts in netstrings (`12:hello world!,`) over TCP.
final class ControlConnection: Sendable {
  private let descriptor: Int32
  /// What arrived and is no whole netstring yet, and every text that was one.
  private let arrived = Mutex<(rest: [UInt8], texts: [String])>(([], []))

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | closesAtExec, 0)
    guard withLoopback(port, { connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw PeerFailure("no connection to the control port \(port)")
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  func send(command: String, parameters: String) throws {
    let object = ["command": command, "params": parameters, "token": "t"]
    let text = try JSONEncoder().encode(object)
    let bytes = Array("\(text.count):".utf8) + text + [UInt8(ascii: ",")]
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      throw PeerFailure("the control port does not take \(command)")
    }
  }

  /// Every text so far, events and responses alike.
  func texts() -> [String] {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    return arrived.withLock { arrived in
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { break }
        arrived.rest += buffer[0..<count]
      }
      while let colon = arrived.rest.firstIndex(of: UInt8(ascii: ":")),
        let length = Int(String(decoding: arrived.rest[..<colon], as: UTF8.self)),
        arrived.rest.count > colon + 1 + length
      {
        arrived.texts.append(String(decoding: arrived.rest[(colon + 1)..<(colon + 1 + length)], as: UTF8.self))
        arrived.rest.removeFirst(colon + length + 2)
      }
      return arrived.texts
    }
  }
}
