import CallEngine
import CallModel
import CallStory
import Logging
import NIOCore
import Synchronization

/// The way of finished calls' records to their stores; what concerns one call, in order. A store that is away is asked
/// again; money does not wait for it.
final class RecordLine: Sendable {
  enum Entry: Sendable {
    case record(CallRecord)
    /// What an app measured of a call whose record went before.
    case statistics([String: Double], CallID)
    case trace(CallTrace, CallID, any CallTraceStore)

    var call: CallID {
      switch self {
      case .record(let record): record.call.id
      case .statistics(_, let call), .trace(_, let call, _): call
      }
    }
  }

  /// Most entries that wait; above, the oldest is given up with a line in the log. The ledger still has its call.
  static let maximumWaiting = 10_000
  /// Most entries that are on their way to a store at a time, for it to keep them with one commit.
  private static let batch = 64
  private static let retryMilliseconds: Int64 = 1000
  private static let retriesAtEnd = 3

  private typealias Waiting = (entry: Entry, store: (any CallRecordStore)?)

  private struct State {
    var waiting = CircularBuffer<Waiting>()
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

  /// - Parameter store: of records; a trace brings its own.
  func submit(_ entry: Entry, _ store: (any CallRecordStore)?) {
    let lost = state.withLock { state in
      state.waiting.append((entry, store))
      state.wakeUp?.resume()
      state.wakeUp = nil
      return state.waiting.count > Self.maximumWaiting ? state.waiting.removeFirst().entry.call : nil
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

  /// - Returns: the oldest, up to the first about a call that is among them already; none at the end.
  private func next() async -> [Waiting] {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      state.withLock { state in
        if !state.waiting.isEmpty || state.isClosed {
          continuation.resume()
        } else {
          state.wakeUp = continuation
        }
      }
    }
    return state.withLock { state in
      var calls: Set<CallID> = []
      let taken = Array(state.waiting.prefix(Self.batch).prefix { calls.insert($0.entry.call).inserted })
      state.waiting.removeFirst(taken.count)
      return taken
    }
  }

  private func run() async {
    while true {
      let batch = await next()
      guard !batch.isEmpty else { return }
      await withDiscardingTaskGroup { group in
        for (entry, store) in batch { group.addTask { await self.keep(entry, store) } }
      }
    }
  }

  private func keep(_ entry: Entry, _ store: (any CallRecordStore)?) async {
    var tries = 0
    while true {
      do {
        switch entry {
        case .record(let record): try await store?.keep(record)
        case .statistics(let figures, let call): try await store?.add(figures, to: call)
        case .trace(let trace, let call, let store):
          try await store.keep(trace: trace.encoded(), of: call, at: NodeClock.wallClock())
        }
        return
      } catch {
        tries += 1
        log.log(
          level: tries == 1 ? .warning : .debug, "a call's record has to wait",
          metadata: ["call": "\(entry.call)", "problem": "\(error)"])
        if state.withLock({ $0.isClosed }), tries >= Self.retriesAtEnd {
          log.error("a call's record is lost", metadata: ["call": "\(entry.call)"])
          return
        }
        try? await Task.sleep(for: .milliseconds(Self.retryMilliseconds))
      }
    }
  }
}
