import LandlineSQLite
import LedgerCore

/// One change to the store.
struct GatewayJob: WriterJob {
  /// Makes the change inside the open transaction. What it returns sends the answer, once the commit is durable.
  let apply: @Sendable (SQLiteConnection) throws -> @Sendable () -> Void
  let fail: @Sendable (any Error) -> Void
  let canWait: Bool

  var weight: Int { 1 }

  func refuse(_ reason: LedgerUnavailable) { fail(reason) }
}

/// Applies changes to the store's file, a group in one transaction.
final class GatewayWriter: GroupWork {
  /// Jobs of one commit.
  static let groupLimit = 256
  /// How long records and traces wait for others: at a hundred calls a second, forty of them share a commit.
  static let gatherMilliseconds = 200
  /// Pages of the log after which it is folded into the file: 4 MiB.
  static let checkpointPages: Int32 = 1024

  private let connection: SQLiteConnection
  private let path: String
  private let transaction: WriteTransaction

  init(connection: SQLiteConnection, path: String) throws {
    self.connection = connection
    self.path = path
    transaction = try WriteTransaction(connection)
  }

  func perform(_ group: [GatewayJob]) throws {
    let answers = try transaction.run { try group.map { try $0.apply(connection) } }
    for answer in answers { answer() }
  }

  func performAlone(_ job: GatewayJob) {
    do { try perform([job]) } catch { fail(job, error) }
  }

  func fail(_ job: GatewayJob, _ error: any Error) { job.fail(SQLiteGatewayStore.failure(error, path: path)) }

  func concernsOneOperation(_ error: any Error) -> Bool { (error as? SQLiteError)?.concernsOneOperation ?? true }

  func groupEnded() {
    if connection.logPages >= GatewayWriter.checkpointPages { connection.checkpoint() }
  }

  func close() { connection.close() }
}
