import NIOCore
import Synchronization

/// The way from other threads to a run's event loop. It is shut before the loop ends: a loop that has ended takes nothing,
/// and what comes late, such as an answer of the app's server, has no effect any more.
final class LoopDoor: Sendable {
  let eventLoop: any EventLoop
  private let isOpen = Mutex(true)

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Does something on the loop, in the order of the calls; nothing once the door is shut.
  func execute(_ deed: @escaping @Sendable () -> Void) {
    isOpen.withLock { isOpen in
      guard isOpen else { return }
      eventLoop.execute(deed)
    }
  }

  /// - Returns: The end of what was begun on the loop; `nil` where the door is shut.
  func submit(_ deed: @escaping @Sendable () -> EventLoopFuture<Void>) -> EventLoopFuture<Void>? {
    isOpen.withLock { isOpen in isOpen ? eventLoop.flatSubmit(deed) : nil }
  }

  /// - Returns: Whether it was open.
  func shut() -> Bool {
    isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
  }
}
