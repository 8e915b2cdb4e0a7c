import CallEngine
import CallModel
import LandlineSQLite
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: recordings")
struct RecordingStoreTests {
  private let environment = "production"

  /// Of a call, begun so many seconds after ``GatewayFile/now``.
  private func row(
    _ id: String, at seconds: Int64 = 0, call: String = "c1", account: String = "anna",
    state: Recording.State = .complete, environment: String = "production"
  ) -> Recording {
    var row = Recording(
      id: RecordingID(unchecked: id), subject: .call(CallID(unchecked: call)), environment: environment,
      account: AccountName(unchecked: account), format: .wav,
      startedAt: GatewayFile.now.advanced(byMilliseconds: seconds * 1000))
    row.state = state
    return row
  }

  private func ids(_ store: SQLiteGatewayStore, _ query: RecordingQuery) async throws -> [String] {
    try await store.recordings(query).map(\.id.text)
  }

  private func query(limit: Int = 50, _ change: (inout RecordingQuery) -> Void = { _ in }) -> RecordingQuery {
    var query = RecordingQuery(environment: environment, limit: limit)
    change(&query)
    return query
  }

  @Test("every part of a row comes back, from the next opening too; rows are replaced and removed by their id")
  func whole() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    var call = row("r1", at: 1, state: .running)
    let conference = Recording(
      id: RecordingID(unchecked: "r2@x"),
      subject: .conference(application: "app", try ConferenceID("weekly-\"42\"")), environment: environment,
      account: AccountName(unchecked: "bob"), format: .opus, startedAt: GatewayFile.now)
    let other = row("r1", environment: "sandbox")
    for each in [call, conference, other] { try await store.keep(each) }
    await store.close()
    store = try file.open()
    #expect(try await store.recordings(query()) == [call, conference])
    #expect(try await store.recording(call.id, environment: environment) == call)
    #expect(try await store.recording(conference.id, environment: environment) == conference)
    #expect(try await store.recording(conference.id, environment: "sandbox") == nil)
    #expect(try await store.recordings(RecordingQuery(environment: "other")).isEmpty)
    for state in Recording.State.allCases {
      call.state = state
      call.milliseconds = 86_400_000
      call.bytes = 5_000_000_000
      try await store.keep(call)
      #expect(try await store.recording(call.id, environment: environment) == call)
    }
    #expect(try await store.removeRecording(call.id, environment: environment))
    #expect(try await !store.removeRecording(call.id, environment: environment))
    #expect(try await store.recordings(query()) == [conference])
    #expect(try await store.recordings(RecordingQuery(environment: "sandbox")) == [other])
    await store.close()
  }

  @Test("newest first, page by page, each once, also where many begin in the same moment")
  func pages() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let rows = (0..<25).map { row("r\($0)", at: Int64($0 / 10)) }
    for row in rows.shuffled() { try await store.keep(row) }
    let expected = rows.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }.map(\.id.text)
    #expect(try await ids(store, query()) == expected)
    for limit in [1, 4, 25, 26] {
      var found: [String] = []
      while true {
        let page = try await ids(
          store, query(limit: limit) { $0.after = found.last.map { RecordingID(unchecked: $0) } })
        #expect(page.count <= limit)
        guard !page.isEmpty else { break }
        found += page
      }
      #expect(found == expected)
    }
    #expect(try await ids(store, query { $0.after = RecordingID(unchecked: "none") }).isEmpty)
    await store.close()
  }

  @Test("by account, call, state and start, and all of them together")
  func filters() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let conference = Recording(
      id: RecordingID(unchecked: "k"), subject: .conference(application: "app", try ConferenceID("k")),
      environment: environment, account: AccountName(unchecked: "anna"), format: .opus,
      startedAt: GatewayFile.now.advanced(byMilliseconds: 9000))
    for each in [
      row("a", at: 0), row("b", at: 1, call: "c2"), row("c", at: 2, account: "bob"),
      row("d", at: 3, state: .running), row("e", at: 4, call: "c2", state: .running), conference,
    ] { try await store.keep(each) }
    #expect(try await ids(store, query { $0.account = AccountName(unchecked: "anna") }) == ["k", "e", "d", "b", "a"])
    #expect(try await ids(store, query { $0.call = CallID(unchecked: "c2") }) == ["e", "b"])
    #expect(try await ids(store, query { $0.state = .running }) == ["k", "e", "d"])
    #expect(try await ids(store, query { $0.state = .failed }).isEmpty)
    let third = GatewayFile.now.advanced(byMilliseconds: 2000)
    #expect(try await ids(store, query { $0.before = third }) == ["b", "a"])
    let all = query {
      $0.account = AccountName(unchecked: "anna")
      $0.call = CallID(unchecked: "c2")
      $0.state = .complete
      $0.before = third
      $0.after = RecordingID(unchecked: "e")
    }
    #expect(try await ids(store, all) == ["b"])
    await store.close()
  }

  @Test("a store of the version before gets the table, and what it holds stays")
  func upgrade() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    try await store.keep(GatewayFile.record("c1"))
    await store.close()
    let version = try SQLiteDoor.integer("PRAGMA user_version", path: file.path)
    try SQLiteDoor.execute("DROP TABLE recording; PRAGMA user_version = \(version - 1)", path: file.path)
    store = try file.open()
    #expect(try SQLiteDoor.integer("PRAGMA user_version", path: file.path) == version)
    #expect(try await store.record(CallID(unchecked: "c1")) != nil)
    try await store.keep(row("r1"))
    #expect(try await ids(store, query()) == ["r1"])
    await store.close()
  }

  @Test("a row that no version wrote is told, never taken")
  func corrupt() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let good = #"{"format":"wav","channels":2,"milliseconds":0,"bytes":0}"#
    for (call, state, document) in [
      ("'c1'", "complete", "{}"), ("'c1'", "complete", "x"), ("'c1'", "lost", good), ("NULL", "complete", good),
      ("'/'", "complete", good), ("'c1'", "complete", good.replacing("wav", with: "mp3")),
    ] {
      try SQLiteDoor.execute(
        "INSERT OR REPLACE INTO recording VALUES('production', 'r1', 'anna', \(call), 0, '\(state)', '\(document)')",
        path: file.path)
      let error = await #expect(throws: LedgerUnavailable.self) { try await store.recordings(query()) }
      #expect(error?.cause == .corrupt)
      await #expect(throws: LedgerUnavailable.self) {
        try await store.recording(RecordingID(unchecked: "r1"), environment: environment)
      }
    }
    await store.close()
  }
}
