import NIOCore
import NIOPosix
import Synchronization

/// One run of a client, from its start to its stop: the loop it lives on and the door to what is on that loop.
final class ClientRun: Sendable {
  let eventLoop: any EventLoop
  /// Ours, where the app gave none.
  private let ownGroup: MultiThreadedEventLoopGroup?
  private let core: NIOLoopBoundBox<ClientCore>
  private let isOpen = Mutex(true)

  init(_ group: (any EventLoopGroup)?, _ makeCore: (any EventLoop) -> sending ClientCore) {
    ownGroup = group == nil ? MultiThreadedEventLoopGroup(numberOfThreads: 1) : nil
    // One of both is there.
    let eventLoop = (group ?? ownGroup)?.next() ?? MultiThreadedEventLoopGroup.singleton.next()
    self.eventLoop = eventLoop
    core = NIOLoopBoundBox.makeBoxSendingValue(makeCore(eventLoop), eventLoop: eventLoop)
  }

  /// Does something on the loop, in the order of the calls; nothing once the run is over.
  func perform(_ body: @escaping @Sendable (ClientCore) -> Void) {
    isOpen.withLock { isOpen in
      guard isOpen else { return }
      let core = core
      eventLoop.execute { body(core.value) }
    }
  }

  /// Stops the run and waits until its sockets are closed, its timers gone and its own thread has ended.
  func shutdown(gracefully isGraceful: Bool) async {
    let core = core
    // A loop that has ended takes nothing: somebody else stopped the run.
    let stopped = isOpen.withLock { isOpen in
      isOpen ? eventLoop.flatSubmit { core.value.stop(gracefully: isGraceful) } : nil
    }
    // The core's promise is kept by its own limits: an error cannot come.
    try? await stopped?.get()
    let wasOpen = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    guard wasOpen, let ownGroup else { return }
    try? await ownGroup.shutdownGracefully()
  }

  /// For a client that nobody holds any more.
  func abandon() {
    Task { await shutdown(gracefully: false) }
  }
}
