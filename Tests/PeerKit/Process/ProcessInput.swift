import Foundation
import Glibc

/// What goes into the standard input of a program.
final class ProcessInput: Sendable {
  /// The program's end.
  let programEnd: Int32
  private let ownEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    // Not a pipe: writing into one that nobody reads any more would end the tests.
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | closesAtExec, 0, &ends) == 0 else {
      throw PeerFailure("no sockets can be made")
    }
    (programEnd, ownEnd) = (ends[0], ends[1])
  }

  deinit { close(ownEnd) }

  /// To be called once the program has started: without it nobody would notice its end.
  func started() { close(programEnd) }

  /// - Returns: `false` where the program reads no more.
  func write(_ bytes: some Sequence<UInt8>) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(ownEnd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
