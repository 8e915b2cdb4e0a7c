import Synchronization

/// One deed after a time, unless it is cancelled before.
final class CallTimer: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  func start(milliseconds: Int64, _ act: @escaping @Sendable () -> Void) {
    task.withLock { task in
      task?.cancel()
      task = Task {
        do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { return }
        act()
      }
    }
  }

  func cancel() { task.withLock { $0?.cancel() } }
}
