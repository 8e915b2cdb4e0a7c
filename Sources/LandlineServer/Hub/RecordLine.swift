import CallEngine
import Logging
import Synchronization

/// The way of finished calls' records to their stores, in order. A store that is away is asked again; money does not wait
/// for it.
final class RecordLine: Sendable {
  /// Most records that wait; above, the oldest is given up with a line in the log. The ledger still has its call.
  static let maximumWaiting = 10_000
  private static let retryMilliseconds: Int64 = 1000
  private static let retriesAtEnd = 3

  private struct State {
    var waiting: [(record: CallRecord, store: any CallRecordStore)] = []
    var wakeUp: CheckedContinuation<Void, Never>?
    var isClosed = false
    var task: Task<Void, Never>?
  }

  private let log: Logger
  private let state = Mutex(State())

  init(log: Logger) { self.log = log }

  func start() {
    let task = Task { await self.run() }
    state.withLock { $0.task = task }
  }

  func submit(_ record: CallRecord, _ store: any CallRecordStore) {
    let lost = state.withLock { state in
      state.waiting.append((record, store))
      state.wakeUp?.resume()
      state.wakeUp = nil
      return state.waiting.count > Self.maximumWaiting ? state.waiting.removeFirst().record.call.id : nil
    }
    if let lost { log.error("a call's record is lost: too many wait", metadata: ["call": "\(lost)"]) }
  }

  func close() async {
    state.withLock { state in
      state.isClosed = true
      state.wakeUp?.resume()
      state.wakeUp = nil
    }
    await state.withLock { $0.task }?.value
  }

  private func next() async -> (record: CallRecord, store: any CallRecordStore)? {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      state.withLock { state in
        if !state.waiting.isEmpty || state.isClosed {
          continuation.resume()
        } else {
          state.wakeUp = continuation
        }
      }
    }
    return state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
  }

  private func run() async {
    while let (record, store) = await next() {
      var tries = 0
      while true {
        do {
          try await store.keep(record)
          break
        } catch {
          tries += 1
          log.warning(
            "a call's record has to wait", metadata: ["call": "\(record.call.id)", "problem": "\(error)"])
          if state.withLock({ $0.isClosed }), tries >= Self.retriesAtEnd {
            log.error("a call's record is lost", metadata: ["call": "\(record.call.id)"])
            break
          }
          try? await Task.sleep(for: .milliseconds(Self.retryMilliseconds))
        }
      }
    }
  }
}
