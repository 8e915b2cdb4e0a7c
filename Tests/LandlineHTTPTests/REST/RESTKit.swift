import CallModel
import Foundation
import Hummingbird
import HummingbirdTesting
import LandlineHTTP
import LandlineNode
import LedgerCore
import LedgerSQLite
import Logging
import NodeCore
import Synchronization
import Testing

/// The HTTP interface over a real ledger in a folder of its own. Every answer is held against the description.
final class RESTKit: Sendable {
  struct Answer {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
    var tree: JSONValue
    var text: String { String(decoding: body, as: UTF8.self) }
    var code: String? { tree["code"]?.stringValue }
  }

  let folder: URL
  let ledger: any LedgerStore
  let idempotency = FakeIdempotency()
  let recordings = FakeRecordings()
  let operations: FakeOperations
  let metrics = MetricsRegistry()
  let description: APIDescription
  private let application: Application<RouterResponder<RESTContext>>

  let clock: TestClock

  /// Wall-clock time as the test sets it.
  final class TestClock: Sendable {
    private let instant = Mutex(RESTService.now())
    var now: Instant { instant.withLock { $0 } }
    func advance(seconds: Int64) { instant.withLock { $0 = $0.advanced(byMilliseconds: seconds * 1000) } }
  }

  init(
    records: [CallRecordFixture] = [], pages: PageFiles = .builtIn, signsInLocally: Bool = false,
    applications: [AppCredentials] = [], logger: Logger? = nil
  ) async throws {
    let clock = TestClock()
    self.clock = clock
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("rest-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    ledger = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent("ledger.db").path, options: .init(flush: .normal), createIfMissing: true)
    var stores = EnvironmentStores(
      ledger: ledger, records: FakeRecords(records.map { $0.record }), idempotency: idempotency)
    stores.recordings = recordings
    operations = FakeOperations(stores: ["production": stores])
    var silent = Logger(label: "rest")
    silent.logLevel = .critical
    let logger = logger ?? silent
    let service = RESTService(
      operations: operations, authenticator: FakeAuthenticator(), metrics: metrics, logger: logger,
      bodyBytes: 64 * 1024, pages: pages, signsInLocally: signsInLocally,
      applications: { environment in applications.filter { $0.environment == environment } },
      testTrunk: { _, _, _ in .ok }, placeInboundCall: { [operations] order in operations.place(order) },
      clock: { clock.now })
    application = Application(responder: service.router().buildResponder(), logger: logger)
    description = try await APIDescription(application)
  }

  var folderPath: String { folder.path }
  func close() async { await ledger.close() }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func send(
    _ method: String, _ uri: String, _ body: String? = nil, key: String? = nil, as who: String? = "operator",
    type: String? = "application/json", fields: [(String, String)] = []
  ) async throws -> Answer {
    let answer = try await APIDescription.raw(
      application, method, uri, body, key: key, as: who, type: body == nil ? nil : type, fields: fields)
    // Lines are not one document.
    let isLines = answer.headers["content-type"] == "application/x-ndjson"
    let problems = isLines ? [] : description.check(method, uri, answer)
    #expect(problems.isEmpty, "\(method) \(uri): \(problems)")
    return answer
  }

  /// An account with credit.
  func makeAccount(_ name: String, credit: String? = nil) async throws {
    let made = try await send("POST", "/v1/accounts", #"{"name":"\#(name)","currency":"EUR"}"#)
    #expect(made.status == 201)
    guard let credit else { return }
    let booked = try await send(
      "POST", "/v1/accounts/\(name)/topups", #"{"amount":"\#(credit)","method":"card"}"#, key: "credit-\(name)")
    #expect(booked.status == 201)
  }
}
