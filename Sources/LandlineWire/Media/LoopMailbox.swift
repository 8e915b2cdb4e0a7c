import CLandlineSockets
package import CallModel
import Glibc
import Synchronization

/// Commands from other threads to one loop. The loop takes the lock only when there are some, and is woken only when it
/// waits.
package final class LoopMailbox<Command: Sendable>: Sendable {
  private struct State {
    var commands: [Command] = []
    var isClosed = false
    var refused: UInt64 = 0
  }

  private let state: Mutex<State>
  private let capacity: Int
  private let hasCommands = Atomic(false)
  /// Whether the loop waits, or is about to, and nobody has woken it yet.
  private let isAsleep = Atomic(false)
  /// What the loop waits on, edge-triggered: it is never read. Valid for the life of the mailbox.
  package let descriptor: Int32

  package init(capacity: Int) throws(InvalidValue) {
    self.capacity = capacity
    descriptor = landline_wake_open()
    guard descriptor >= 0 else {
      throw .media(
        "media.descriptors", "no event descriptor: \(reason(-descriptor))", accepted: "a higher limit of open files")
    }
    state = Mutex(State())
  }

  deinit { landline_descriptor_close(descriptor) }

  /// - Parameters:
  ///   - isAlwaysTaken: for what ends something. There can be no more of those than of what was begun.
  ///   - wakes: `false` where the sender has more, and calls ``wake()`` after the last.
  /// - Returns: `false` when there is no room or the loop has ended.
  package func post(_ command: Command, isAlwaysTaken: Bool = false, wakes: Bool = true) -> Bool {
    let isTaken = state.withLock { state in
      guard !state.isClosed else { return false }
      guard isAlwaysTaken || state.commands.count < capacity else {
        state.refused += 1
        return false
      }
      state.commands.append(command)
      if state.commands.count == 1 { hasCommands.store(true, ordering: .sequentiallyConsistent) }
      return true
    }
    // Outside the lock, which the loop takes first of all.
    if isTaken, wakes { wake() }
    return isTaken
  }

  /// Wakes the loop if there are commands and it sleeps.
  package func wake() {
    guard isWaiting, isAsleep.exchange(false, ordering: .sequentiallyConsistent) else { return }
    landline_wake(descriptor)
  }

  /// The loop is about to wait: from now on it has to be woken.
  /// - Returns: `false` when there are commands already, and it must not wait.
  package func willSleep() -> Bool {
    // In this order, and the sender looks in the other one: at least one of the two sees the other.
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    guard isWaiting else { return true }
    didWake()
    return false
  }

  /// The loop waits no longer: it looks at ``isWaiting`` before it waits again.
  package func didWake() { isAsleep.store(false, ordering: .sequentiallyConsistent) }

  /// Whether there are commands, without the lock.
  package var isWaiting: Bool { hasCommands.load(ordering: .sequentiallyConsistent) }

  /// Moves all commands, in order, into an empty array, whose room is used for the next ones.
  package func drain(into commands: inout [Command]) {
    state.withLock { state in
      swap(&state.commands, &commands)
      hasCommands.store(false, ordering: .sequentiallyConsistent)
    }
  }

  package var refused: UInt64 { state.withLock { $0.refused } }

  /// Ends it; nothing is taken any more.
  /// - Returns: What was waiting.
  package func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      defer { state.commands = [] }
      return state.commands
    }
  }
}

/// What an error number means.
func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
