import CallEngine
import CallModel
import CallStory
import Logging
import Synchronization

/// The way of finished calls' records to their stores, in order. A store that is away is asked again; money does not wait
/// for it.
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
  private static let retryMilliseconds: Int64 = 1000
  private static let retriesAtEnd = 3

  private struct State {
    var waiting: [(entry: Entry, store: (any CallRecordStore)?)] = []
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

  private func next() async -> (entry: Entry, store: (any CallRecordStore)?)? {
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
    while let (entry, store) = await next() {
      var tries = 0
      while true {
        do {
          switch entry {
          case .record(let record): try await store?.keep(record)
          case .statistics(let figures, let call): try await store?.add(figures, to: call)
          case .trace(let trace, let call, let store):
            try await store.keep(trace: trace.encoded(), of: call, at: NodeClock.wallClock())
          }
          break
        } catch {
          tries += 1
          log.warning(
            "a call's record has to wait", metadata: ["call": "\(entry.call)", "problem": "\(error)"])
          if state.withLock({ $0.isClosed }), tries >= Self.retriesAtEnd {
            log.error("a call's record is lost", metadata: ["call": "\(entry.call)"])
            break
          }
          try? await Task.sleep(for: .milliseconds(Self.retryMilliseconds))
        }
      }
    }
  }
}
