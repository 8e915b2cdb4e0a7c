import CallModel
import Foundation

/// The folder of an environment's recordings.
struct RecordingFolder: Sendable {
  /// Behind the id in a file's name.
  static let suffix = ".sealed"
  /// Says whose recordings these are.
  private static let ownerName = "environment"

  let path: String

  /// Makes the folder, for its owner alone, unless it is there.
  /// - Throws: ``InvalidValue`` with rule `recording.folder`.
  init(path: String, environment: String) throws(InvalidValue) {
    self.path = path
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Self.refusal("\(path) cannot be made: \(error.localizedDescription)")
    }
    guard access(path, R_OK | W_OK | X_OK) == 0 else {
      throw Self.refusal("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    // Two environments in one folder would each remove the other's files, which have no rows of theirs.
    let owner = path + "/" + Self.ownerName
    do {
      if try Self.make(owner, environment + "\n") { return }
      let kept = try OpenFile(path: owner).text
      guard kept == environment + "\n" else {
        throw Self.refusal("\(path) holds the recordings of another environment, as \(owner) says")
      }
    } catch let error as InvalidValue {
      throw error
    } catch {
      throw Self.refusal("\(owner) cannot be read or written: \(error)")
    }
  }

  static func refusal(_ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "folder of recordings", rule: "recording.folder", offset: nil, problem: problem,
      accepted: "a folder that the gateway may write, another one for each environment")
  }

  /// Makes a file for its owner alone, whole or not at all.
  /// - Returns: `false` where there is one already.
  static func make(_ path: String, _ text: String) throws(DiskFailure) -> Bool {
    guard access(path, F_OK) != 0 else { return false }
    // Beside it first: a crash in between leaves no half of it, and of two that make it at once one is first.
    let draft = path + ".new-\(getpid())"
    let descriptor = Foundation.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskFailure("open", errno) }
    defer {
      close(descriptor)
      unlink(draft)
    }
    let disk = RecordingDisk()
    try disk.writeAll(Array(text.utf8), to: descriptor)
    guard fsync(descriptor) == 0 else { throw DiskFailure("flush", errno) }
    guard link(draft, path) == 0 else {
      guard errno == EEXIST else { throw DiskFailure("link", errno) }
      return false
    }
    return true
  }

  /// `nil` for an id that could name another place than a file of this folder.
  func path(of id: RecordingID) -> String? {
    guard (try? RecordingID(validating: id.text)) != nil else { return nil }
    return path + "/" + id.text + Self.suffix
  }

  /// A recording's file.
  struct Entry {
    var id: RecordingID
    var bytes: Int64
    var changedAt: Instant
  }

  /// All files that recordings can have; others are none of ours.
  func entries() -> [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.compactMap { name in
      guard name.hasSuffix(Self.suffix), let id = RecordingID(String(name.dropLast(Self.suffix.count))),
        let facts = facts(id)
      else { return nil }
      let at = facts.st_mtim
      return Entry(
        id: id, bytes: Int64(facts.st_size),
        changedAt: Instant(milliseconds: Int64(at.tv_sec) * 1000 + Int64(at.tv_nsec) / 1_000_000))
    }
  }

  /// Of a recording's file; 0 where there is none.
  func bytes(of id: RecordingID) -> Int64 { facts(id).map { Int64($0.st_size) } ?? 0 }

  private func facts(_ id: RecordingID) -> stat? {
    var facts = stat()
    guard let path = path(of: id), lstat(path, &facts) == 0 else { return nil }
    return facts
  }

  /// - Returns: `nil` where there is none.
  func open(_ id: RecordingID) throws(DiskFailure) -> OpenFile? {
    guard let path = path(of: id) else { return nil }
    do throws(DiskFailure) { return try OpenFile(path: path) } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }

  /// - Returns: `false` where there is none.
  func remove(_ id: RecordingID) throws(DiskFailure) -> Bool {
    guard let path = path(of: id) else { return false }
    guard unlink(path) == 0 else {
      if errno == ENOENT { return false }
      throw DiskFailure("remove", errno)
    }
    return true
  }
}

extension OpenFile {
  /// Most bytes of a file that is read as text.
  private static let maximumText = 16 * 1024

  /// Its first bytes, where they are UTF-8.
  var text: String? {
    guard let bytes = try? read(0, Self.maximumText + 1), bytes.count <= Self.maximumText else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
