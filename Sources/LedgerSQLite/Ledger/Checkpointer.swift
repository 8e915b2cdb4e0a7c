import Dispatch
import Foundation
import LandlineSQLite
import Synchronization

/// Moves committed pages from the log into the database file on a thread and a connection of its own, so that no commit
/// waits for it (sqlite.org/wal.html, passive checkpoints).
final class Checkpointer: Sendable {
  private struct State {
    var isRequested = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let finished = DispatchSemaphore(value: 0)

  init(path: String) throws {
    let opened = try SQLiteConnection(path: path, mode: .readWrite)
    // A connection that has read nothing yet does not know of the log and would checkpoint nothing.
    _ = try opened.integer("SELECT count(*) FROM sqlite_schema")
    let connection = CheckpointConnection(opened)
    let thread = Thread { [self] in
      while next() { connection.value.checkpoint() }
      connection.value.close()
      finished.signal()
    }
    thread.name = "ledger-checkpoint"
    thread.start()
  }

  /// Asks for a checkpoint; several requests before it starts are one.
  func request() {
    let isNew = state.withLock { state in
      defer { state.isRequested = true }
      return !state.isRequested
    }
    if isNew { wake.signal() }
  }

  /// Ends the thread and waits until its connection is closed.
  func close() {
    state.withLock { $0.isClosed = true }
    wake.signal()
    finished.wait()
  }

  private func next() -> Bool {
    wake.wait()
    return state.withLock { state in
      state.isRequested = false
      return !state.isClosed
    }
  }
}

/// Unchecked: made on one thread, then used by the checkpoint thread alone.
private struct CheckpointConnection: @unchecked Sendable {
  let value: SQLiteConnection

  init(_ value: SQLiteConnection) { self.value = value }
}
