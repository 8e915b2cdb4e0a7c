import Glibc
import Synchronization

/// The generated key of a request that may be on its way to the ledger: whoever interrupts the command is told it, as
/// the same command with this key cannot take effect twice.
package enum PendingKey {
  /// Bytes of the longest line.
  private static let capacity = 256
  // Made once and never freed: a signal handler may read it at any time, and may not allocate.
  nonisolated(unsafe) private static let line = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
  /// Bytes of ``line`` that are valid; 0 where no request is under way.
  private static let count = Atomic(0)

  static func begin(_ key: String) {
    let text = Array(
      "landline: interrupted; whether it took effect is not known\nfix: repeat the command with --key \(key)\n".utf8)
    guard text.count <= capacity else { return }
    for (index, byte) in text.enumerated() { line[index] = byte }
    count.store(text.count, ordering: .releasing)
  }

  static func end() { count.store(0, ordering: .releasing) }

  /// For a signal handler: writes the line to standard error.
  /// - Returns: `false` where no request is under way.
  package static func report() -> Bool {
    let count = count.load(ordering: .acquiring)
    guard count > 0 else { return false }
    _ = write(STDERR_FILENO, line, count)
    return true
  }
}
