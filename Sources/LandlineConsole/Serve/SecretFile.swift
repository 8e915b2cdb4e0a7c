import CallModel
import Foundation

/// Files that only their owner may read.
enum SecretFile {
  /// - Throws: ``ConsoleError`` where nothing can be written.
  static func write(_ text: String, to path: String) throws {
    let files = FileManager.default
    if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
    guard files.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
      throw ConsoleError(.notPermitted, code: "file", "a file cannot be written", at: path)
    }
  }

  /// Makes a file that is not there yet.
  static func writeOnce(_ path: String, _ make: () -> String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    try write(make(), to: path)
  }

  /// Base64 of so many random bytes.
  static func random(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64.encode((0..<count).map { _ in UInt8.random(in: .min...(.max), using: &generator) })
  }
}
