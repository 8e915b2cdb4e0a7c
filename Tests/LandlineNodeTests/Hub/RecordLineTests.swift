import CallEngine
import CallModel
import LandlineNode
import Logging
import Synchronization
import Testing

/// The way of records to a store that answers when the test says so.
@Suite("The way of records to their store", .timeLimit(.minutes(1)))
struct RecordLineTests {
  private let store = SlowStore()

  private func line() -> RecordLine {
    RecordLine(log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, retryMilliseconds: 1)
  }

  private func submit(_ line: RecordLine, _ call: String, _ number: Double) {
    line.submit(.statistics(["number": number], CallID(unchecked: call), store))
  }

  @Test("what concerns one call goes in order, calls do not wait for each other")
  func order() {
    let line = line()
    submit(line, "a", 1)
    submit(line, "a", 2)
    submit(line, "b", 3)
    #expect(store.seen == ["a 1", "b 3"])
    store.answer("b 3", nil)
    #expect(store.seen == ["a 1", "b 3"])
    store.answer("a 1", nil)
    #expect(store.seen == ["a 1", "b 3", "a 2"])
    store.answer("a 2", nil)
  }

  @Test("a store that is away is asked again, and what follows of that call waits")
  func again() async {
    let line = line()
    submit(line, "a", 1)
    submit(line, "a", 2)
    for tries in 1...5 {
      await store.waits(for: tries)
      #expect(store.seen == Array(repeating: "a 1", count: tries))
      store.answer("a 1", SlowStore.Away())
    }
    await store.waits(for: 6)
    store.answer("a 1", nil)
    #expect(store.seen.last == "a 2")
    store.answer("a 2", nil)
    await line.close()
  }

  @Test("the end waits for what is on its way, and gives up what is refused again and again")
  func end() async {
    let line = line()
    submit(line, "a", 1)
    submit(line, "b", 2)
    let closing = Task {
      await line.close()
      store.note("closed")
    }
    while !line.isClosed { await Task.yield() }
    store.answer("a 1", nil)
    for tries in 1...RecordLine.retriesAtEnd {
      await store.waits(for: 1 + tries)
      store.answer("b 2", SlowStore.Away())
    }
    await closing.value
    #expect(store.seen == ["a 1"] + Array(repeating: "b 2", count: RecordLine.retriesAtEnd) + ["closed"])
  }

  @Test("one too many is given up, and the next is kept again once there is room")
  func bound() {
    let line = line()
    for number in 0..<RecordLine.maximumWaiting { submit(line, "\(number)", 0) }
    submit(line, "late", 0)
    #expect(store.seen.count == RecordLine.maximumWaiting)
    store.answer("0 0", nil)
    submit(line, "next", 0)
    #expect(store.seen.last == "next 0")
  }
}

private final class SlowStore: CallRecordStore {
  struct Away: Error {}
  typealias Completion = @Sendable ((any Error)?) -> Void

  private let state = Mutex<(seen: [String], open: [String: Completion])>(([], [:]))

  var seen: [String] { state.withLock { $0.seen } }

  func note(_ what: String) { state.withLock { $0.seen.append(what) } }

  func waits(for count: Int) async { while seen.count < count { await Task.yield() } }

  func answer(_ what: String, _ error: (any Error)?) { state.withLock { $0.open.removeValue(forKey: what) }?(error) }

  func submit(_ statistics: [String: Double], to call: CallID, _ completion: @escaping Completion) {
    let what = "\(call) \(Int(statistics["number"] ?? -1))"
    state.withLock { state in
      state.seen.append(what)
      state.open[what] = completion
    }
  }

  func submit(_ record: CallRecord, _ completion: @escaping Completion) { completion(nil) }
  func record(_ call: CallID) async throws -> CallRecord? { nil }
  func records(_ query: CallRecordQuery) async throws -> CallRecordPage { CallRecordPage(records: [], next: nil) }
  func prune(before instant: Instant) async throws -> Int { 0 }
  func dropStatistics(before instant: Instant) async throws -> Int { 0 }
}
