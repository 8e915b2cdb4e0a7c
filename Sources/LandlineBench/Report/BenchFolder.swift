import Foundation

/// A folder for the files of one run, removed when the run ends.
struct BenchFolder: ~Copyable {
  let path: String

  /// Makes a new folder inside `parent`.
  /// - Throws: ``BenchProblem`` when nothing can be made there.
  init(in parent: String) throws(BenchProblem) {
    path = "\(parent)/landline-bench-\(UUID().uuidString.prefix(8))"
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw BenchProblem("no folder can be made in \(parent): \(error.localizedDescription)")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Removes a database with its log and shared memory.
  func removeDatabase(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }
}

/// A folder for temporary files that lies on a disk, not in memory.
enum BenchPlaces {
  static let memoryFolder = "/dev/shm"

  /// /var/tmp outlives a restart, so it is a disk where /tmp may be memory (hier(7)).
  static var diskFolder: String {
    FileManager.default.isWritableFile(atPath: "/var/tmp") ? "/var/tmp" : FileManager.default.temporaryDirectory.path
  }

  static var hasMemoryFolder: Bool { FileManager.default.isWritableFile(atPath: memoryFolder) }
}
