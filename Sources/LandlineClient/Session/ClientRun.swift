import NIOCore
import NIOPosix

/// One run of a client, from its start to its stop: the loop it lives on and the door to what is on that loop.
final class ClientRun: Sendable {
  private let door: LoopDoor
  /// Ours, where the app gave none.
  private let ownGroup: MultiThreadedEventLoopGroup?
  private let core: NIOLoopBoundBox<ClientCore>

  init(_ group: (any EventLoopGroup)?, _ makeCore: (LoopDoor) -> sending ClientCore) {
    ownGroup = group == nil ? MultiThreadedEventLoopGroup(numberOfThreads: 1) : nil
    // One of both is there.
    let eventLoop = (group ?? ownGroup)?.next() ?? MultiThreadedEventLoopGroup.singleton.next()
    door = LoopDoor(eventLoop)
    core = NIOLoopBoundBox.makeBoxSendingValue(makeCore(door), eventLoop: eventLoop)
  }

  /// Does something on the loop, in the order of the calls; nothing once the run is over.
  func perform(_ body: @escaping @Sendable (ClientCore) -> Void) {
    let core = core
    door.execute { body(core.value) }
  }

  /// Stops the run and waits until its sockets are closed, its timers gone and its own thread has ended.
  func shutdown(gracefully isGraceful: Bool) async {
    let core = core
    // The core's promise is kept by its own limits: an error cannot come.
    try? await door.submit { core.value.stop(gracefully: isGraceful) }?.get()
    // Whoever shuts the door ends the loop as well.
    guard door.shut(), let ownGroup else { return }
    try? await ownGroup.shutdownGracefully()
  }

  /// For a client that nobody holds any more.
  func abandon() {
    Task { await shutdown(gracefully: false) }
  }
}
