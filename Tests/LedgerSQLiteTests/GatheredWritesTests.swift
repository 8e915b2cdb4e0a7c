import Foundation
import LandlineSQLite
import Testing

@Suite("One write for the log's part of a commit") struct GatheredWritesTests {
  private static let rowBytes = 2_000

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gathered-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("file.db").path)
  }

  /// - Parameter cachePages: few, so that a large transaction writes to the log before its end.
  private func open(_ path: String, gathersWrites: Bool = true, cachePages: Int = 2_000) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, mode: .create, gathersWrites: gathersWrites)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = \(cachePages)")
    try connection.execute("CREATE TABLE IF NOT EXISTS kept(name TEXT PRIMARY KEY, bytes BLOB) STRICT")
    return connection
  }

  private func insert(_ count: Int, _ prefix: String, into connection: SQLiteConnection) throws {
    for number in 0..<count {
      try connection.statement("INSERT INTO kept(name, bytes) VALUES($1, $2)").bind(1, "\(prefix)\(number)")
        .bind(2, [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Self.rowBytes)).run()
    }
  }

  private func isSound(_ connection: SQLiteConnection) throws -> Bool {
    let check = try connection.statement("PRAGMA integrity_check")
    defer { check.reset() }
    return try check.step() && check.text(0) == "ok"
  }

  @Test("what is committed is there for others at once, however long the commit is", arguments: [1, 10, 400])
  func commits(_ rows: Int) throws {
    try withFolder { path in
      let writer = try open(path)
      let reader = try SQLiteConnection(path: path, mode: .readOnly)
      for round in 1...3 {
        try WriteTransaction(writer).run { try insert(rows, "\(round)-", into: writer) }
        #expect(try reader.integer("SELECT COUNT(*) FROM kept") == Int64(round * rows))
      }
      #expect(try isSound(reader))
      writer.checkpoint()
      #expect(try reader.integer("SELECT SUM(length(bytes)) FROM kept") == Int64(3 * rows * Self.rowBytes))
    }
  }

  @Test("a transaction that the cache has no room for reads what it wrote, and is whole")
  func spills() throws {
    try withFolder { path in
      let writer = try open(path, cachePages: 5)
      try WriteTransaction(writer).run {
        try insert(300, "a", into: writer)
        #expect(try writer.integer("SELECT SUM(length(bytes)) FROM kept") == Int64(300 * Self.rowBytes))
        try writer.execute("UPDATE kept SET bytes = zeroblob(100)")
      }
      #expect(try writer.integer("SELECT SUM(length(bytes)) FROM kept") == 30_000)
      #expect(try isSound(SQLiteConnection(path: path, mode: .readOnly)))
    }
  }

  @Test("what was undone does not overwrite what others committed in its place", arguments: 1...40)
  func undone(_ rows: Int) throws {
    try withFolder { path in
      let writer = try open(path, cachePages: 5)
      let other = try open(path, gathersWrites: false)
      // An empty log: undoing the transaction reads nothing of it, which would write what waits.
      try other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try WriteTransaction(writer).run(commits: false) { try insert(rows, "undone", into: writer) }
      try WriteTransaction(other).run { try insert(2 * rows, "theirs", into: other) }
      try WriteTransaction(writer).run { try insert(1, "ours", into: writer) }
      let reader = try SQLiteConnection(path: path, mode: .readOnly)
      #expect(try isSound(reader))
      #expect(try reader.integer("SELECT COUNT(*) FROM kept") == Int64(2 * rows + 1))
    }
  }

  @Test("a connection that ends in the middle of a transaction leaves nothing of it")
  func closed() throws {
    try withFolder { path in
      let other = try open(path, gathersWrites: false)
      let writer = try open(path, cachePages: 5)
      try other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try writer.execute("BEGIN IMMEDIATE")
      try insert(20, "undone", into: writer)
      writer.close()
      try WriteTransaction(other).run { try insert(3, "theirs", into: other) }
      #expect(try isSound(other))
      #expect(try other.integer("SELECT COUNT(*) FROM kept") == 3)
    }
  }
}
