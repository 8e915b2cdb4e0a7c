import Dispatch
import Glibc
import Synchronization

/// Where the signal handler leaves word: the writing end of a pipe, -1 while nobody watches. A handler reaches globals alone.
private let bell = Atomic<Int32>(-1)

/// Only what POSIX allows in a handler.
private let ring: @convention(c) (Int32) -> Void = { _ in
  let before = errno
  var one: UInt8 = 1
  _ = write(bell.load(ordering: .relaxed), &one, 1)
  errno = before
}

/// Ctrl-C, and the request of a supervisor to end: the first one hangs up and ends the command soon, the second one ends the
/// process at once.
// Unchecked for `source` alone, which only the command that watches touches, before and after the call.
final class CallInterrupt: @unchecked Sendable {
  /// Milliseconds that a gateway has to end the call in good order.
  static let patienceMilliseconds = 180
  /// Milliseconds after which the process ends, whatever still goes on.
  static let longestMilliseconds = 270

  private struct State {
    var wasAsked = false
    var hangUp: (@Sendable () -> Void)?
    var cutOff: (@Sendable () -> Void)?
    var last: (@Sendable () -> Void)?
    var isWatching = false
    var former: [(number: Int32, handler: __sighandler_t?)] = []
  }

  private var source: (any DispatchSourceRead)?
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "landline.call.interrupt")
  /// The limits run out even while what hangs up still waits for something.
  private let limits = DispatchQueue(label: "landline.call.interrupt.limits")

  var wasAsked: Bool { state.withLock { $0.wasAsked } }

  /// No signal is lost from here to ``unwatch()``: one that comes before anybody looks waits in the pipe.
  func watch() {
    var ends: [Int32] = [-1, -1]
    // Without a pipe an interrupt ends the process as it does elsewhere.
    guard pipe(&ends) == 0 else { return }
    let (reading, writing) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    bell.store(writing, ordering: .relaxed)
    let source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: queue)
    source.setEventHandler { [weak self] in
      var bytes: [UInt8] = [0, 0]
      let count = read(reading, &bytes, bytes.count)
      for _ in 0..<max(count, 0) { self?.asked() }
    }
    source.setCancelHandler {
      close(reading)
      close(writing)
    }
    source.resume()
    self.source = source
    state.withLock { state in
      state.isWatching = true
      state.former = [SIGINT, SIGTERM].map { ($0, signal($0, ring)) }
    }
  }

  /// What the first signal does from now on, at once where it came already; and what is done where that is not enough.
  /// - Parameters:
  ///   - hangUp: ends things in good order.
  ///   - cutOff: ends them without waiting for the gateway.
  func does(_ hangUp: @escaping @Sendable () -> Void, cutOff: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.hangUp = hangUp
      state.cutOff = cutOff
      return state.wasAsked
    }
    if isLate { hangUp() }
  }

  /// Done before the process ends without waiting any longer.
  func atLast(_ last: @escaping @Sendable () -> Void) { state.withLock { $0.last = last } }

  private func asked() {
    let (isFirst, hangUp) = state.withLock { state in
      defer { state.wasAsked = true }
      return (!state.wasAsked, state.hangUp)
    }
    guard isFirst else { end() }
    limits.asyncAfter(deadline: .now() + .milliseconds(CallInterrupt.patienceMilliseconds)) { [self] in
      state.withLock { $0.cutOff }?()
    }
    limits.asyncAfter(deadline: .now() + .milliseconds(CallInterrupt.longestMilliseconds)) { [self] in
      // The command may have ended meanwhile, inside a process that goes on.
      if state.withLock({ $0.isWatching }) { end() }
    }
    hangUp?()
  }

  private func end() -> Never {
    state.withLock { $0.last }?()
    let text: StaticString = "landline: interrupted\n"
    _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    _exit(ExitStatus.interrupted.rawValue)
  }

  /// Signals do what they did before ``watch()``.
  func unwatch() {
    state.withLock { state in
      for (number, handler) in state.former { signal(number, handler) }
      state = State(wasAsked: state.wasAsked)
    }
    bell.store(-1, ordering: .relaxed)
    source?.cancel()
    source = nil
  }
}
