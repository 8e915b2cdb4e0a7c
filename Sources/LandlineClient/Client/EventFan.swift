import NIOCore
import Synchronization

/// Events to any number of streams. A stream that is taken late begins with what was told before, as far as it is kept.
final class EventFan<Event: Sendable>: Sendable {
  /// Events that a stream holds for a reader that does not read; the oldest give way.
  static var waiting: Int { 1024 }

  private struct State {
    var kept = CircularBuffer<Event>()
    var readers: [UInt64: AsyncStream<Event>.Continuation] = [:]
    var nextReader: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())
  private let limit: Int

  /// Keeps the latest `limit` events for streams that are taken later.
  init(keeping limit: Int) { self.limit = limit }

  func stream() -> AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(EventFan.waiting)) { continuation in
      state.withLock { state in
        for event in state.kept { continuation.yield(event) }
        guard !state.isFinished else { return continuation.finish() }
        let reader = state.nextReader
        state.nextReader += 1
        state.readers[reader] = continuation
        continuation.onTermination = { [weak self] _ in self?.forget(reader) }
      }
    }
  }

  private func forget(_ reader: UInt64) { state.withLock { _ = $0.readers.removeValue(forKey: reader) } }

  func tell(_ event: Event) {
    state.withLock { state in
      guard !state.isFinished else { return }
      if limit > 0 {
        if state.kept.count == limit { state.kept.removeFirst() }
        state.kept.append(event)
      }
      for reader in state.readers.values { reader.yield(event) }
    }
  }

  /// No more events come; every stream ends.
  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [:] }
      return state.readers.values.map { $0 }
    }
    for reader in readers { reader.finish() }
  }
}
