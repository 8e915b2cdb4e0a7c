import CallModel
import Foundation
import Synchronization

/// Keeps credentials in one file that only its owner can read (mode 0600), replaced as a whole with each change.
public final class FileCredentialStorage: CredentialStorage {
  /// Bytes of a file that is read.
  public static let maximumBytes = 1 << 20

  /// Why the file cannot be used.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Of the file as it was given.
    public let path: String
    /// What is wrong, in words that follow the path: `is no ordinary file`.
    public let problem: String
    /// `/home/alice/credentials: is no ordinary file`.
    public var description: String { "\(path): \(problem)" }
  }

  private struct Entry: Codable {
    var application: String
    var user: String
    var device: String
    var id: String?
    var secret: String?
    var expiresAt: Int64?
    var sequence: UInt64
  }

  /// A second file, the same with `.new` behind it, exists for a moment while credentials are saved.
  public let path: String
  /// One reader or writer at a time, so that no change is lost.
  private let turn = Mutex<Void>(())

  /// Reads and makes no file yet: that is done when credentials are loaded or saved.
  public init(path: String) { self.path = path }

  /// `nil` where there is no file, or nothing of this owner in it.
  /// - Throws: ``Failure`` for a file that cannot be used, such as one that others can read.
  public func load(_ owner: CredentialOwner) async throws -> KeptCredentials? {
    try turn.withLock { _ in try entries() }.first(where: FileCredentialStorage.isOf(owner)).map { entry in
      KeptCredentials(
        id: entry.id, secret: entry.secret.map { Redacted($0) },
        expiresAt: entry.expiresAt.map { Instant(milliseconds: $0) }, sequence: entry.sequence)
    }
  }

  /// Replaces the file as a whole; entries of other owners stay.
  /// - Throws: ``Failure`` where the old file cannot be used or the new one cannot be written.
  public func save(_ credentials: KeptCredentials, for owner: CredentialOwner) async throws {
    try turn.withLock { _ in
      var entries = try entries()
      entries.removeAll(where: FileCredentialStorage.isOf(owner))
      entries.append(
        Entry(
          application: owner.application, user: owner.user, device: owner.device, id: credentials.id,
          secret: credentials.secret?.exposed, expiresAt: credentials.expiresAt?.milliseconds,
          sequence: credentials.sequence))
      try write(try JSONEncoder().encode(entries))
    }
  }

  private static func isOf(_ owner: CredentialOwner) -> (Entry) -> Bool {
    { $0.application == owner.application && $0.user == owner.user && $0.device == owner.device }
  }

  /// None when there is no file yet.
  private func entries() throws -> [Entry] {
    let handle = open(path, O_RDONLY | O_CLOEXEC)
    guard handle >= 0 else {
      if errno == ENOENT { return [] }
      throw failure("cannot be opened")
    }
    defer { close(handle) }
    var facts = stat()
    guard fstat(handle, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw Failure(path: path, problem: "is no ordinary file")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw Failure(path: path, problem: "can be read by others: its mode must be 0600")
    }
    guard facts.st_size <= FileCredentialStorage.maximumBytes else { throw Failure(path: path, problem: "is too long") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= FileCredentialStorage.maximumBytes {
      let count = read(handle, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("cannot be read") }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    do {
      return try JSONDecoder().decode([Entry].self, from: Data(bytes))
    } catch {
      throw Failure(path: path, problem: "is not a file of credentials")
    }
  }

  /// Written beside, made durable, then put in place, so that a crash leaves the old file or the new one.
  private func write(_ data: Data) throws {
    let beside = path + ".new"
    let handle = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard handle >= 0 else { throw failure("cannot be written") }
    do {
      defer { close(handle) }
      // A file that was left behind keeps its mode otherwise.
      guard fchmod(handle, 0o600) == 0 else { throw failure("cannot be written") }
      let bytes = [UInt8](data)
      var written = 0
      while written < bytes.count {
        let count = bytes.withUnsafeBytes {
          Foundation.write(handle, $0.baseAddress?.advanced(by: written), $0.count - written)
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure("cannot be written") }
        written += count
      }
      guard fsync(handle) == 0 else { throw failure("cannot be written") }
    }
    guard rename(beside, path) == 0 else { throw failure("cannot be replaced") }
  }

  private func failure(_ what: String) -> Failure {
    Failure(path: path, problem: "\(what): \(String(cString: strerror(errno)))")
  }
}
