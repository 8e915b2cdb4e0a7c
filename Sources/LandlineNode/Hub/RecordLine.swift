package import CallEngine
package import CallModel
package import CallStory
package import Logging
import Synchronization

/// The way of finished calls' records to their stores; what concerns one call, in order. A store that is away is asked
/// again; money does not wait for it.
package final class RecordLine: Sendable {
  package enum Entry: Sendable {
    case record(CallRecord, any CallRecordStore)
    /// What an app measured of a call whose record went before.
    case statistics([String: Double], CallID, any CallRecordStore)
    case trace(CallTrace, CallID, any CallTraceStore)

    var call: CallID {
      switch self {
      case .record(let record, _): record.call.id
      case .statistics(_, let call, _), .trace(_, let call, _): call
      }
    }

    /// - Parameter completion: called once, on any thread; `nil`: it is kept.
    fileprivate func keep(_ completion: @escaping @Sendable ((any Error)?) -> Void) {
      switch self {
      case .record(let record, let store): store.submit(record, completion)
      case .statistics(let figures, let call, let store): store.submit(figures, to: call, completion)
      case .trace(let trace, let call, let store):
        store.submit({ trace.encoded() }, of: call, at: NodeClock.wallClock(), completion)
      }
    }
  }

  /// Most entries that are not kept yet; one more is given up with a line in the log. The ledger still has its call.
  package static let maximumWaiting = 10_000
  package static let retriesAtEnd = 3

  private struct State {
    /// The first of each is at its store, or waits for another try.
    var entries: [CallID: [Entry]] = [:]
    var count = 0
    var isClosed = false
    /// Whoever waits until all is kept.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let log: Logger
  private let retryMilliseconds: Int64
  private let state = Mutex(State())

  /// - Parameter retryMilliseconds: how long a store that keeps nothing is left alone.
  package init(log: Logger, retryMilliseconds: Int64 = 1000) {
    self.log = log
    self.retryMilliseconds = retryMilliseconds
  }

  package func submit(_ entry: Entry) {
    let (isFirst, isLost) = state.withLock { state in
      guard state.count < Self.maximumWaiting else { return (false, true) }
      state.count += 1
      state.entries[entry.call, default: []].append(entry)
      return (state.entries[entry.call]?.count == 1, false)
    }
    if isFirst { keep(entry, tries: 0) }
    if isLost { log.error("a call's record is lost: too many wait", metadata: ["call": "\(entry.call)"]) }
  }

  /// Whether it has been told to end.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// - Returns: when all is kept, or given up after some more tries.
  package func close() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        state.isClosed = true
        if state.count > 0 { state.waiting.append(continuation) }
        return state.count == 0
      }
      if isEmpty { continuation.resume() }
    }
  }

  private func keep(_ entry: Entry, tries: Int) {
    entry.keep { error in
      guard let error else { return self.goOn(after: entry) }
      self.failed(entry, tries: tries + 1, error)
    }
  }

  private func goOn(after entry: Entry) {
    let (next, waiting) = state.withLock { state in
      state.count -= 1
      state.entries[entry.call]?.removeFirst()
      let next = state.entries[entry.call]?.first
      if next == nil { state.entries[entry.call] = nil }
      guard state.count == 0 else { return (next, [CheckedContinuation<Void, Never>]()) }
      defer { state.waiting = [] }
      return (next, state.waiting)
    }
    if let next { keep(next, tries: 0) }
    for continuation in waiting { continuation.resume() }
  }

  private func failed(_ entry: Entry, tries: Int, _ error: any Error) {
    log.log(
      level: tries == 1 ? .warning : .debug, "a call's record has to wait",
      metadata: ["call": "\(entry.call)", "problem": "\(error)"])
    if isClosed, tries >= Self.retriesAtEnd {
      log.error("a call's record is lost", metadata: ["call": "\(entry.call)"])
      return goOn(after: entry)
    }
    Task {
      try? await Task.sleep(for: .milliseconds(retryMilliseconds))
      keep(entry, tries: tries)
    }
  }
}
