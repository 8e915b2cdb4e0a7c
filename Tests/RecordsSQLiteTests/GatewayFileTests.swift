import CallEngine
import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import RecordsSQLite
import Testing

@Suite("Gateway store: its file")
struct GatewayFileTests {
  private func cause(_ path: String, create: Bool = true) -> LedgerUnavailable.Cause? {
    do throws(LedgerUnavailable) {
      _ = try SQLiteGatewayStore.open(path: path, createIfMissing: create)
      return nil
    } catch {
      return error.cause
    }
  }

  private func mode(_ path: String) throws -> Int {
    let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    return try #require((value as? NSNumber)?.intValue)
  }

  @Test("only this user may read the file, its log and its index; an older wider mode is narrowed")
  func modes() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    #expect(try await store.useNonce("n", application: "a", until: GatewayFile.now, now: GatewayFile.now))
    for suffix in ["", "-wal", "-shm"] { #expect(try mode(file.path + suffix) == 0o600, "\(suffix)") }
    await store.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    store = try file.open()
    #expect(try mode(file.path) == 0o600)
    await store.close()
  }

  @Test("a missing file is made only when asked")
  func missing() throws {
    let file = try GatewayFile()
    #expect(cause(file.path, create: false) == .missing)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(cause(file.folder.appendingPathComponent("none/gateway.db").path) == .missing)
  }

  @Test("a file that is no store stays as it was")
  func foreign() throws {
    let file = try GatewayFile()
    for content in ["x", String(repeating: "text ", count: 1000)] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: file.path))
      #expect(cause(file.path) == .corrupt)
      #expect(try String(contentsOfFile: file.path, encoding: .utf8) == content)
    }
    try FileManager.default.removeItem(atPath: file.path)
    try SQLiteDoor.execute("CREATE TABLE mine(a)", path: file.path)
    #expect(cause(file.path) == .corrupt)
    #expect(try SQLiteDoor.integer("SELECT count(*) FROM mine", path: file.path) == 0)
    #expect(try SQLiteDoor.integer("SELECT count(*) FROM sqlite_schema", path: file.path) == 1)
  }

  @Test("a ledger is no gateway's store, and the other way round")
  func ledger() async throws {
    let file = try GatewayFile()
    let ledger = try SQLiteLedgerStore.open(path: file.path, createIfMissing: true)
    await ledger.close()
    #expect(cause(file.path) == .corrupt)
    let other = try GatewayFile()
    await (try other.open()).close()
    do {
      _ = try SQLiteLedgerStore.open(path: other.path, createIfMissing: true)
      Issue.record("a gateway's store was taken for a ledger")
    } catch { #expect(error.cause == .corrupt) }
  }

  @Test("a store of a newer version is left alone")
  func newer() async throws {
    let file = try GatewayFile()
    await (try file.open()).close()
    try SQLiteDoor.execute("PRAGMA user_version = 99", path: file.path)
    #expect(cause(file.path) == .newer)
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == 99)
  }

  @Test("a damaged file says so when it is opened or asked, and never traps")
  func damaged() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    for number in 0..<400 { try await store.keep(GatewayFile.record("c\(number)", at: Int64(number))) }
    await store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
    for offset in 4096..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
    try bytes.write(to: URL(fileURLWithPath: file.path))
    let error = await #expect(throws: LedgerUnavailable.self) {
      let damaged = try file.open()
      defer { Task { await damaged.close() } }
      _ = try await damaged.record(CallID(unchecked: "c1"))
      try await damaged.keep(GatewayFile.record("c1"))
    }
    #expect(error?.cause == .corrupt)
    #expect(error?.problem.contains(file.path) == true)
  }

  @Test(
    "a folder that may not be written", .enabled(if: getuid() != 0, "the superuser may write everywhere"))
  func unwritable() throws {
    let file = try GatewayFile()
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: file.folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.folder.path) }
    #expect(cause(file.path) == .notPermitted)
  }

  @Test("a folder stands where the file should")
  func folder() throws {
    let file = try GatewayFile()
    try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
    #expect(cause(file.path) != nil)
  }

  @Test("what waits when a store closes is still done; what comes after is refused")
  func closing() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let kept = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          do {
            try await store.keep(GatewayFile.record("c\(number)"))
            return true
          } catch {
            return false
          }
        }
      }
      group.addTask {
        await store.close()
        return false
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(try file.count("call_record") == Int64(kept))
    let error = await #expect(throws: LedgerUnavailable.self) { try await store.keep(GatewayFile.record("late")) }
    #expect(error?.cause == .closed)
    let reading = await #expect(throws: LedgerUnavailable.self) { try await store.records(.init()) }
    #expect(reading?.cause == .closed)
    await store.close()
  }
}
