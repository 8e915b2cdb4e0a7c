import Synchronization

/// The bytes that wait to be sent on one WebSocket. Once there are too many, nothing more is taken.
final class OutgoingBudget: Sendable {
  private struct State {
    var bytes = 0
    var isClogged = false
  }

  enum Verdict { case admitted, clogs, refused }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// - Returns: ``Verdict/clogs`` exactly once.
  func admit(_ bytes: Int) -> Verdict {
    state.withLock { state in
      guard !state.isClogged else { return .refused }
      guard bytes <= limit - state.bytes else {
        state.isClogged = true
        return .clogs
      }
      state.bytes += bytes
      return .admitted
    }
  }

  func release(_ bytes: Int) { state.withLock { $0.bytes -= bytes } }
}
