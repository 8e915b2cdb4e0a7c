import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import Testing

/// Which files are opened as a ledger, and which are left alone.
@Suite("Opening a file")
struct SchemaTests {
  private static func cause(_ body: () throws -> Void) -> LedgerUnavailable.Cause? {
    do {
      try body()
      return nil
    } catch {
      return (error as? LedgerUnavailable)?.cause
    }
  }

  @Test("a new file, or an empty one, becomes a ledger of this version", arguments: [false, true])
  func migration(_ exists: Bool) async throws {
    let file = try LedgerFile()
    if exists { try Data().write(to: URL(fileURLWithPath: file.path)) }
    let store = try file.open()
    #expect(try await store.read { try $0.head() } == .empty)
    await store.close()
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == 3)
    #expect(try SQLiteDoor.integer("PRAGMA application_id", path: file.path) == 0x4C6E_646C)
    let tables = """
      SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('ledger_head', 'account', 'hold',
        'hold_grant', 'transfer', 'entry', 'account_event', 'op', 'counter', 'node')
      """
    #expect(try SQLiteDoor.integer(tables, path: file.path) == 10)
    #expect(try file.verify().isSound)
    // Opened again, nothing is migrated.
    let again = try file.open()
    await again.close()
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == 3)
  }

  @Test("a ledger of the first version is taken along: a call that was up then is recovered by the wall clock")
  func firstVersion() async throws {
    let file = try LedgerFile()
    let before = try file.open()
    _ = try await before.registerNode(file.node, at: file.now)
    for operation in [
      file.create("acme"), try file.topup("acme", 1_000_000), try file.authorise("acme", "c1"),
      file.call("acme", "c1", .answer),
    ] { #expect(try await before.perform(operation).refusal == nil) }
    _ = try await before.beat(file.node, epoch: 1, at: file.now.advanced(byMilliseconds: 7000))
    await before.close()
    try SQLiteDoor.execute(
      """
      ALTER TABLE hold DROP COLUMN answered_uptime; ALTER TABLE node DROP COLUMN uptime;
      ALTER TABLE account_event DROP COLUMN reason; PRAGMA user_version = 1
      """, path: file.path)

    let store = try file.open()
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == 3)
    let restart = file.now.advanced(byMilliseconds: 8000)
    _ = try await store.registerNode(file.node, at: restart)
    let recovery = try #require(try await store.recover(nil, at: restart).first)
    #expect(recovery.settled.map(\.milliseconds) == [7000])
    await store.close()
    #expect(try file.verify().isSound)
  }

  @Test("two stores that open a new file at once make one ledger")
  func simultaneous() async throws {
    let file = try LedgerFile()
    let path = file.path
    let stores = try await withThrowingTaskGroup(of: SQLiteLedgerStore.self) { group in
      for _ in 0..<4 {
        group.addTask { try SQLiteLedgerStore.open(path: path, options: .init(flush: .normal), createIfMissing: true) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (index, store) in stores.enumerated() {
      #expect(try await store.perform(file.create("acme-\(index)")).refusal == nil)
    }
    for store in stores { await store.close() }
    #expect(try file.verify().counts.accounts == 4)
  }

  @Test("somebody else's database is refused and left as it was, byte for byte")
  func foreign() throws {
    let file = try LedgerFile()
    try SQLiteDoor.execute("CREATE TABLE contacts(name TEXT); INSERT INTO contacts VALUES('Ada')", path: file.path)
    let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
    #expect(Self.cause { _ = try file.open() } == .corrupt)
    #expect(Self.cause { _ = try SQLiteLedgerReader.open(path: file.path) } == .corrupt)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["ledger.db"])
  }

  @Test("3.3 row 62: strict opening refuses books that contradict themselves, and no others")
  func strictOpening() async throws {
    let file = try await LedgerFile.varied()
    var options = SQLiteLedgerStore.Options(flush: .normal)
    options.verifiesAtOpen = true
    await (try file.open(options)).close()
    try SQLiteDoor.execute("UPDATE account SET posted = posted + 1 WHERE kind = 'prepaid'", path: file.path)
    #expect(Self.cause { _ = try file.open(options) } == .corrupt)
    // Without it the file opens: an operator must be able to look.
    await (try file.open()).close()
  }

  @Test("a ledger of a newer version is refused by name")
  func newer() async throws {
    let file = try LedgerFile()
    await (try file.open()).close()
    try SQLiteDoor.execute("PRAGMA user_version = 99", path: file.path)
    #expect(Self.cause { _ = try file.open() } == .newer)
    #expect(Self.cause { _ = try SQLiteLedgerReader.open(path: file.path) } == .newer)
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == 99)
  }

  @Test("a file that is no database is refused", arguments: [1, 100, 5000])
  func noDatabase(_ bytes: Int) throws {
    let file = try LedgerFile()
    let text = Data(repeating: UInt8(ascii: "x"), count: bytes)
    try text.write(to: URL(fileURLWithPath: file.path))
    #expect(Self.cause { _ = try file.open() } == .corrupt)
    #expect(Self.cause { _ = try SQLiteLedgerReader.open(path: file.path) } == .corrupt)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == text)
  }

  @Test("a damaged page is answered as corrupt, not as money")
  func damagedPage() async throws {
    let file = try await LedgerFile.varied()
    var data = try Data(contentsOf: URL(fileURLWithPath: file.path))
    for page in 1..<data.count / 4096 {
      data.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(repeating: 0xA5, count: 4096))
    }
    try data.write(to: URL(fileURLWithPath: file.path))
    #expect(Self.cause { _ = try file.verify() } == .corrupt)
  }

  @Test("a missing file is created only when asked")
  func missing() throws {
    let file = try LedgerFile()
    #expect(
      Self.cause { _ = try SQLiteLedgerStore.open(path: file.path, createIfMissing: false) } == .missing)
    #expect(Self.cause { _ = try SQLiteLedgerReader.open(path: file.path) } == .missing)
    let nowhere = file.folder.appendingPathComponent("no/such/folder/ledger.db").path
    #expect(Self.cause { _ = try SQLiteLedgerStore.open(path: nowhere, createIfMissing: true) } == .missing)
    #expect(Self.cause { _ = try SQLiteLedgerStore.open(path: file.folder.path, createIfMissing: true) } != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path).isEmpty)
  }

  @Test(
    "a file that may not be written is refused as not permitted", .enabled(if: geteuid() != 0, "root may write all"))
  func notPermitted() async throws {
    let file = try LedgerFile()
    await (try file.open()).close()
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
    #expect(Self.cause { _ = try file.open() } == .notPermitted)
    let locked = try LedgerFile()
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: locked.folder.path)
    #expect(Self.cause { _ = try locked.open() } == .notPermitted)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: locked.folder.path)
  }
}
