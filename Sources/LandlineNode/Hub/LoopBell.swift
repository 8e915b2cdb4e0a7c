import Glibc
package import NIOCore
import NIOPosix
import Synchronization

/// Calls a loop from any thread, through a descriptor of its own.
///
/// A loop of NIO does all tasks that there are, those that come meanwhile included, before it looks at a descriptor again.
/// One that gets too much from other threads is in time with everything scheduled and reads no SIP at all. What comes in
/// masses rings instead: the loop hears it when it looks at its descriptors, and so everything else has its turn between
/// two rings. How long a ring waits tells how long the loop takes to come round.
package final class LoopBell: Sendable {
  private struct State {
    var entrance: CInt
    var channel: (any Channel)?
    /// Whether a byte is on its way: never more than one.
    var isRinging = false
  }

  private let state: Mutex<State>

  private init(entrance: CInt) { state = Mutex(State(entrance: entrance)) }

  /// - Parameter heard: what the loop does at a ring. What rings once it has begun is heard after it.
  /// - Throws: where the system has no descriptors left.
  package static func open(
    on eventLoop: any EventLoop, heard: @escaping @Sendable () -> Void
  ) async throws -> LoopBell {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw IOError(errnoCode: errno, reason: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let exit = ends[0]
    let bell = LoopBell(entrance: ends[1])
    let opened = NIOPipeBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Ear(bell, heard))
        }
      }
      .takingOwnershipOfDescriptor(input: exit)
    do {
      let channel = try await opened.get()
      bell.state.withLock { $0.channel = channel }
    } catch {
      // It is ours again.
      Glibc.close(exit)
      bell.close()
      throw error
    }
    return bell
  }

  /// May be called from any thread; does nothing while a ring was not heard yet, and after the end.
  package func ring() {
    state.withLock { state in
      guard !state.isRinging, state.entrance >= 0 else { return }
      var byte: UInt8 = 0
      state.isRinging = write(state.entrance, &byte, 1) == 1
    }
  }

  package func close() {
    let channel = state.withLock { state in
      if state.entrance >= 0 { Glibc.close(state.entrance) }
      state.entrance = -1
      defer { state.channel = nil }
      return state.channel
    }
    channel?.close(promise: nil)
  }

  private final class Ear: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let bell: LoopBell
    private let heard: @Sendable () -> Void

    init(_ bell: LoopBell, _ heard: @escaping @Sendable () -> Void) {
      self.bell = bell
      self.heard = heard
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      bell.state.withLock { $0.isRinging = false }
      heard()
    }
  }
}
