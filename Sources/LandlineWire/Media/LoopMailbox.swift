import CLandlineSockets
package import CallModel
import Glibc
import Synchronization

/// Commands from other threads to one loop. The loop takes the lock only when there are some.
package final class LoopMailbox<Command: Sendable>: Sendable {
  private struct State {
    var commands: [Command] = []
    /// Negative: the loop has ended.
    var wake: Int32
    var refused: UInt64 = 0
  }

  private let state: Mutex<State>
  private let capacity: Int
  private let hasCommands = Atomic(false)
  /// What the loop waits on. Valid until ``close()``.
  package let descriptor: Int32

  package init(capacity: Int) throws(InvalidValue) {
    self.capacity = capacity
    descriptor = landline_wake_open()
    guard descriptor >= 0 else {
      throw .media(
        "media.descriptors", "no event descriptor: \(reason(-descriptor))", accepted: "a higher limit of open files")
    }
    state = Mutex(State(wake: descriptor))
  }

  deinit { _ = close() }

  /// - Parameter isAlwaysTaken: for what ends something. There can be no more of those than of what was begun.
  /// - Returns: `false` when there is no room or the loop has ended.
  package func post(_ command: Command, isAlwaysTaken: Bool = false) -> Bool {
    state.withLock { state in
      guard state.wake >= 0 else { return false }
      guard isAlwaysTaken || state.commands.count < capacity else {
        state.refused += 1
        return false
      }
      state.commands.append(command)
      if state.commands.count == 1 {
        hasCommands.store(true, ordering: .sequentiallyConsistent)
        landline_wake(state.wake)
      }
      return true
    }
  }

  /// Whether there are commands, without the lock.
  package var isWaiting: Bool { hasCommands.load(ordering: .sequentiallyConsistent) }

  /// Moves all commands, in order, into an empty array, whose room is used for the next ones.
  package func drain(into commands: inout [Command]) {
    state.withLock { state in
      // Inside the lock: a wake that outlived its command would keep the loop awake for ever.
      landline_wake_clear(descriptor)
      swap(&state.commands, &commands)
      hasCommands.store(false, ordering: .sequentiallyConsistent)
    }
  }

  package var refused: UInt64 { state.withLock { $0.refused } }

  /// Ends it; nothing is taken any more.
  /// - Returns: What was waiting.
  package func close() -> [Command] {
    state.withLock { state in
      guard state.wake >= 0 else { return [] }
      landline_descriptor_close(state.wake)
      state.wake = -1
      defer { state.commands = [] }
      return state.commands
    }
  }
}

/// What an error number means.
func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
