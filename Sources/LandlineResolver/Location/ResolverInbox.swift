import Glibc
import SIPCore
import Synchronization

/// What callers leave for the resolver's thread, and the descriptor that wakes it.
final class ResolverInbox: Sendable {
  struct Request: Sendable {
    let uri: SIPURI
    let policy: LocationPolicy
    let observer: (@Sendable (DNSQuestion, DNSAnswer) -> Void)?
    let answer: @Sendable (LocationResult) -> Void
  }

  private struct State {
    var requests: [Request] = []
    /// Requests that have no answer yet, the waiting ones included.
    var open = 0
    var isClosed = false
    /// Of the thread; locations without a question are counted apart.
    var counts = Resolver.Counts()
    var locationsAtOnce = 0
  }

  private let limit: Int
  private let state = Mutex(State())
  /// The end of a pipe to wait on.
  let wake: Int32
  private let bell: Int32

  init(limit: Int) throws(ResolverError) {
    self.limit = limit
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .library("no descriptor: errno \(errno)") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wake = ends[0]
    bell = ends[1]
  }

  deinit {
    Glibc.close(wake)
    Glibc.close(bell)
  }

  /// - Returns: Why the request was not taken.
  func add(_ request: Request) -> LocationFailure.Kind? {
    let refusal: LocationFailure.Kind? = state.withLock { state in
      if state.isClosed { return .shutDown }
      guard state.open < limit else { return .tooManyQuestions }
      state.open += 1
      state.requests.append(request)
      return nil
    }
    if refusal == nil { signal() }
    return refusal
  }

  /// Counts a location that asks nothing.
  /// - Returns: `false` after the end.
  func countAtOnce() -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.locationsAtOnce += 1
      return true
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    signal()
  }

  /// All that waits; `nil` once the inbox is closed and empty.
  func drain() -> [Request]? {
    var ignored = [UInt8](repeating: 0, count: 256)
    while read(wake, &ignored, ignored.count) == ignored.count {}
    return state.withLock { state in
      if state.isClosed, state.requests.isEmpty { return nil }
      defer { state.requests = [] }
      return state.requests
    }
  }

  func finished(_ counts: Resolver.Counts, locations: Int) {
    state.withLock { state in
      state.open -= locations
      state.counts = counts
    }
  }

  var counts: Resolver.Counts {
    state.withLock { state in
      var counts = state.counts
      counts.locations += state.locationsAtOnce
      return counts
    }
  }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// A full pipe wakes as well as one byte more.
  private func signal() {
    var byte: UInt8 = 1
    _ = write(bell, &byte, 1)
  }
}
