import CallEngine
import CallModel
import Synchronization

/// Recordings in memory, whose sound is a row of numbers.
final class FakeRecordings: RecordingLibrary, RecordingStore {
  struct State: Sendable {
    var rows: [Recording] = []
    var shortage: String?
    var bytes = 1_000
    /// Where the sound cannot be read any further; `nil`: it can.
    var damage: Int?
  }

  struct Sound: RecordingSound {
    let byteCount: Int64
    let damage: Int?
    func read(from offset: Int64, count: Int) throws -> [UInt8] {
      let end = min(Int(offset) + count, Int(byteCount))
      if let damage, damage < end { throw CancellationError() }
      return (Int(offset)..<max(end, Int(offset))).map { UInt8(truncatingIfNeeded: $0) }
    }
  }

  private let state = Mutex(State())

  func with<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer { state.withLock { body(&$0) } }

  var store: any RecordingStore { self }
  var shortage: String? { with { $0.shortage } }

  func sound(of recording: Recording) throws -> any RecordingSound {
    with { Sound(byteCount: Int64($0.bytes), damage: $0.damage) }
  }

  func remove(_ id: RecordingID) async throws -> Bool { try await removeRecording(id, environment: "production") }

  func keep(_ recording: Recording) async throws { with { $0.rows.append(recording) } }

  func recording(_ id: RecordingID, environment: String) async throws -> Recording? {
    with { $0.rows.first { $0.id == id && $0.environment == environment } }
  }

  func recordings(_ query: RecordingQuery) async throws -> [Recording] {
    with { state in
      let sorted = state.rows.sorted { $0.id.text > $1.id.text }.filter { row in
        query.account.map { $0 == row.account } ?? true && query.call.map { .call($0) == row.subject } ?? true
          && query.after.map { row.id.text < $0.text } ?? true
      }
      return Array(sorted.prefix(query.limit))
    }
  }

  func removeRecording(_ id: RecordingID, environment: String) async throws -> Bool {
    with { state in
      let before = state.rows.count
      state.rows.removeAll { $0.id == id }
      return state.rows.count < before
    }
  }
}
