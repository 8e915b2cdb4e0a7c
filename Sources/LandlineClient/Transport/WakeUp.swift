import CallModel
import NIOCore

/// The one timer of something that says itself when it is due next; on its event loop.
final class WakeUp {
  private let eventLoop: any EventLoop
  private var pending: (at: MonotonicInstant, task: Scheduled<Void>)?

  init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// An earlier time that was set stays: whoever is woken then says anew when it is due.
  /// - Parameter due: `nil` for never.
  func set(_ due: MonotonicInstant?, _ act: @escaping () -> Void) {
    if let pending, let due, pending.at <= due { return }
    cancel()
    guard let due else { return }
    let task = eventLoop.assumeIsolated().scheduleTask(deadline: Clock.deadline(due)) { [weak self] in
      guard let self else { return }
      self.pending = nil
      act()
    }
    pending = (due, task)
  }

  func cancel() {
    pending?.task.cancel()
    pending = nil
  }
}
