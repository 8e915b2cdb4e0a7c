import Synchronization

/// Events as they come, for tests that wait for one of them.
public final class Recorder<Event: Sendable>: Sendable {
  public struct Missed: Error, CustomStringConvertible {
    public let description: String
  }

  private struct Waiter {
    let isDone: @Sendable ([Event]) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var events: [Event] = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  public init() {}

  public var events: [Event] { state.withLock { $0.events } }

  public func append(_ event: Event) {
    let done = state.withLock { state in
      state.events.append(event)
      let done = state.waiters.filter { $0.value.isDone(state.events) }
      for key in done.keys { state.waiters[key] = nil }
      return Array(done.values)
    }
    for waiter in done { waiter.continuation.resume(returning: true) }
  }

  /// The first result of `find` over everything so far, now or when more has come.
  public func wait<Result: Sendable>(
    for what: String, seconds: Int = 20, _ find: @escaping @Sendable ([Event]) -> Result?
  ) async throws -> Result {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let timeout = Task {
      try await Task.sleep(for: .seconds(seconds))
      state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }
    defer { timeout.cancel() }
    _ = await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if find(state.events) != nil { return true }
        state.waiters[number] = Waiter(isDone: { find($0) != nil }, continuation: continuation)
        return false
      }
      if isDone { continuation.resume(returning: true) }
    }
    guard let result = find(events) else { throw Missed(description: "\(what): not among \(events)") }
    return result
  }

  public func wait(for what: String, count: Int, where matches: @escaping @Sendable (Event) -> Bool) async throws {
    try await wait(for: what) { $0.count(where: matches) >= count ? () : nil }
  }
}

/// Waits until something is so that nobody announces.
public func eventually(_ what: String, seconds: Int = 20, _ isSo: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(seconds)
  while !(try await isSo()) {
    guard ContinuousClock.now < end else { throw PeerFailure("\(what): not in \(seconds) s") }
    try await Task.sleep(for: .milliseconds(2))
  }
}
