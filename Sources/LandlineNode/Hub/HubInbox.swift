package import AppProtocol
package import CallModel
import NIOCore
import Synchronization

/// What the connections of apps tell the hub, in order, until its loop takes it: a few at a time, so that SIP, media and
/// ledgers have their turn in between however many apps speak at once.
package final class HubInbox: Sendable {
  package enum Entry: Sendable {
    case opened(ConnectionID, any AppConnection, host: SIPHost)
    /// A message and when it came.
    case text([UInt8], ConnectionID, since: MonotonicInstant)
    case violated(ConnectionID, closeCode: UInt16, String)
    case ponged(ConnectionID)
    case clogged(ConnectionID)
    case closed(ConnectionID)
  }

  /// Most that the loop takes at a time.
  package static let batch = 256
  /// Most messages that wait, of all apps together; the limits of each connection count only what was taken.
  package static let maximumWaiting = 65_536

  private struct State {
    var waiting = CircularBuffer<Entry>()
    var isClosed = false
  }

  private let state = Mutex(State())
  /// Rings for the loop to take what waits.
  package let bell: LoopBell

  package init(_ bell: LoopBell) { self.bell = bell }

  /// - Returns: `false` where nothing more is taken: after the end, or for a message that finds too many before it.
  package func put(_ entry: Entry) -> Bool {
    let isTaken = state.withLock { state in
      if case .text = entry, state.waiting.count >= Self.maximumWaiting { return false }
      guard !state.isClosed else { return false }
      state.waiting.append(entry)
      return true
    }
    if isTaken { bell.ring() }
    return isTaken
  }

  /// The next of what waits.
  package func nextBatch() -> [Entry] {
    let (taken, isEmpty) = state.withLock { state in
      let count = min(state.waiting.count, Self.batch)
      let taken = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      return (taken, state.waiting.isEmpty)
    }
    if !isEmpty { bell.ring() }
    return taken
  }

  /// Everything that waits; nothing is taken afterwards.
  package func close() -> [Entry] {
    bell.close()
    return state.withLock { state in
      state.isClosed = true
      defer { state.waiting.removeAll() }
      return Array(state.waiting)
    }
  }
}
