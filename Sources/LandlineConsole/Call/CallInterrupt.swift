import Dispatch
import Glibc
import Synchronization

/// Ctrl-C, and the request of a supervisor to end: the first hangs up, the second ends the process.
// Unchecked for `sources` alone, which only the command that watches touches, before and after the call.
final class CallInterrupt: @unchecked Sendable {
  private struct State {
    var wasAsked = false
    var act: (@Sendable () -> Void)?
  }

  private var sources: [any DispatchSourceSignal] = []
  private let state = Mutex(State())

  var wasAsked: Bool { state.withLock { $0.wasAsked } }

  func watch() {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [weak self] in self?.asked() }
      source.resume()
      sources.append(source)
    }
  }

  /// What the first signal does from now on; at once where it came already.
  func does(_ act: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.act = act
      return state.wasAsked
    }
    if isLate { act() }
  }

  private func asked() {
    let act = state.withLock { state in
      defer { state.wasAsked = true }
      if state.wasAsked { _exit(ExitStatus.interrupted.rawValue) }
      return state.act
    }
    act?()
  }

  /// Signals end the process again.
  func unwatch() {
    state.withLock { $0.act = nil }
    for source in sources { source.cancel() }
    sources = []
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}
