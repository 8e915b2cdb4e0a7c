public import CallEngine
public import CallModel
import Foundation
import LandlineSQLite
import LedgerCore

extension SQLiteGatewayStore: RecordingStore {
  /// What queries ask for stands in columns beside the document; a row of the same id is replaced.
  public func keep(_ recording: Recording) async throws {
    try SQLiteGatewayStore.check(recording.environment, kind: "environment")
    if case .conference(let application, _) = recording.subject {
      try SQLiteGatewayStore.check(application, kind: "application key")
    }
    let call: String? = if case .call(let id) = recording.subject { id.text } else { nil }
    let document = RecordingDocument(recording).text
    try await change { connection in
      try connection.statement(
        """
        INSERT INTO recording(environment, id, account, call, started_at, state, document)
        VALUES($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT(environment, id) DO UPDATE SET account = excluded.account, call = excluded.call,
          started_at = excluded.started_at, state = excluded.state, document = excluded.document
        """
      ).bind(1, recording.environment).bind(2, recording.id.text).bind(3, recording.account.text).bind(4, call)
        .bind(5, recording.startedAt.milliseconds).bind(6, recording.state.rawValue).bind(7, document).run()
    }
  }

  /// `nil` also for one of another environment.
  /// - Throws: ``LedgerUnavailable``; `corrupt` for a row that no version could have written.
  public func recording(_ id: RecordingID, environment: String) async throws -> Recording? {
    try await readNewest { connection in
      let statement = try connection.statement(
        "SELECT \(SQLiteGatewayStore.recordingColumns) FROM recording WHERE environment = $1 AND id = $2"
      ).bind(1, environment).bind(2, id.text)
      defer { statement.reset() }
      return try statement.step() ? try SQLiteGatewayStore.recording(statement) : nil
    }
  }

  /// Newest first; of one start, the greatest id first. Nothing follows a recording that is not there any more.
  /// - Throws: ``LedgerUnavailable``; `corrupt` for a row that no version could have written.
  public func recordings(_ query: RecordingQuery) async throws -> [Recording] {
    try await readNewest { connection in
      let statement = try SQLiteGatewayStore.select(connection, query)
      defer { statement.reset() }
      var rows: [Recording] = []
      while try statement.step() { rows.append(try SQLiteGatewayStore.recording(statement)) }
      return rows
    }
  }

  /// - Returns: `false` where there is no such row.
  public func removeRecording(_ id: RecordingID, environment: String) async throws -> Bool {
    try await change { connection in
      try connection.statement("DELETE FROM recording WHERE environment = $1 AND id = $2")
        .bind(1, environment).bind(2, id.text).run()
      return connection.changes == 1
    }
  }

  // MARK: Reading

  private static let recordingColumns = "environment, id, account, call, started_at, state, document"

  /// The statement of a query: fixed texts only, every value is bound.
  private static func select(_ connection: SQLiteConnection, _ query: RecordingQuery) throws -> SQLiteStatement {
    var conditions = ["environment = ?"]
    var bindings: [(SQLiteStatement, Int32) -> Void] = [{ $0.bind($1, query.environment) }]
    func add(_ condition: String, _ bind: @escaping (SQLiteStatement, Int32) -> Void) {
      conditions.append(condition)
      bindings.append(bind)
    }
    if let account = query.account { add("account = ?") { $0.bind($1, account.text) } }
    if let call = query.call { add("call = ?") { $0.bind($1, call.text) } }
    if let state = query.state { add("state = ?") { $0.bind($1, state.rawValue) } }
    if let before = query.before { add("started_at < ?") { $0.bind($1, before.milliseconds) } }
    if let after = query.after {
      add("(started_at, id) < (SELECT started_at, id FROM recording WHERE environment = ? AND id = ?)") {
        $0.bind($1, query.environment)
      }
      bindings.append { $0.bind($1, after.text) }
    }
    let statement = try connection.statement(
      """
      SELECT \(recordingColumns) FROM recording WHERE \(conditions.joined(separator: " AND "))
      ORDER BY started_at DESC, id DESC LIMIT ?
      """)
    for (index, bind) in bindings.enumerated() { bind(statement, Int32(index + 1)) }
    let limit = min(max(query.limit, 1), RecordingQuery.maximumLimit)
    return statement.bind(Int32(bindings.count + 1), Int64(limit))
  }

  private static func recording(_ statement: SQLiteStatement) throws -> Recording {
    let id = statement.text(1)
    do {
      let document = try JSONDecoder().decode(RecordingDocument.self, from: Data(statement.text(6).utf8))
      var recording = Recording(
        id: try RecordingID(validating: id), subject: try document.subject(call: statement.optionalText(3)),
        environment: statement.text(0), account: AccountName(unchecked: statement.text(2)),
        format: try document.known(RecordingFormat(rawValue: document.format), "format"),
        startedAt: Instant(milliseconds: statement.int64(4)))
      recording.state = try document.known(Recording.State(rawValue: statement.text(5)), "state")
      recording.channels = document.channels
      recording.milliseconds = document.milliseconds
      recording.bytes = document.bytes
      return recording
    } catch {
      throw LedgerUnavailable(.corrupt, "the row of the recording \(id) cannot be read: \(error)")
    }
  }
}

/// What of a recording no query asks for: JSON that later versions may add to.
struct RecordingDocument: Decodable {
  var application: String?
  var conference: String?
  var format: String
  var channels: Int
  var milliseconds: Int64
  var bytes: Int64

  init(_ recording: Recording) {
    if case .conference(let application, let conference) = recording.subject {
      self.application = application
      self.conference = conference.text
    }
    format = recording.format.rawValue
    channels = recording.channels
    milliseconds = recording.milliseconds
    bytes = recording.bytes
  }

  /// - Parameter call: as it stands in the row; `nil` for a conference.
  func subject(call: String?) throws -> Recording.Subject {
    if let call { return .call(try CallID(validating: call)) }
    return .conference(
      application: try known(application, "application"), try ConferenceID(try known(conference, "conference")))
  }

  /// A value that every version writes.
  func known<Value>(_ value: Value?, _ name: String) throws(InvalidValue) -> Value {
    guard let value else {
      throw InvalidValue(
        kind: "recording", rule: "recording.\(name)", offset: nil, problem: "its \(name) is none",
        accepted: "a row that this version or an older one wrote")
    }
    return value
  }

  /// JSON with the names of the properties; what has no value is left out.
  var text: String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.optional("application", application)
      writer.optional("conference", conference)
      writer.member("format", format)
      writer.member("channels", channels)
      writer.member("milliseconds", milliseconds)
      writer.member("bytes", bytes)
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
