import AppProtocol
import CallEngine
import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import RecordsSQLite

/// A gateway's store in a folder of its own.
final class GatewayFile: Sendable {
  let folder: URL
  static let now = Instant(seconds: 1_795_000_000)

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("gateway-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { folder.appendingPathComponent("gateway.db").path }

  func open() throws -> SQLiteGatewayStore {
    try SQLiteGatewayStore.open(path: path, createIfMissing: true) { GatewayFile.now }
  }

  /// The store as it lies on disk now: what a crash would leave.
  func copy() throws -> GatewayFile {
    let copy = try GatewayFile()
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
    }
    return copy
  }

  func count(_ table: String) throws -> Int64 { try SQLiteDoor.integer("SELECT count(*) FROM \(table)", path: path) }

  /// A plain record of a call that began so many seconds after ``now``.
  static func record(
    _ id: String, at seconds: Int64 = 0, environment: String = "production", account: String = "anna",
    destination: String = "+46701234567", cause: CallEndCause = .hungUp
  ) -> CallRecord {
    let start = now.advanced(byMilliseconds: seconds * 1000)
    let call = CallSnapshot(
      id: CallID(unchecked: id), environment: environment, account: AccountName(unchecked: account), application: nil,
      user: nil, kind: .phone, destination: destination, state: .ended, startedAt: start, currency: .eur)
    return CallRecord(
      call: call,
      summary: CallSummary(
        startedAt: start, endedAt: start.advanced(byMilliseconds: 60_000), cause: cause, currency: "EUR"))
  }
}
