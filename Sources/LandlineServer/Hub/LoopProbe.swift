package import CallModel
import Glibc
package import NIOCore
import NIOPosix

/// How long a loop takes to come back to its descriptors.
///
/// A loop of NIO does all tasks that there are, those that come meanwhile included, before it looks at a descriptor again.
/// One that gets too much from other threads, messages of apps and words of ledgers and media, is in time with everything
/// scheduled and reads no SIP at all: only something that comes through a descriptor itself tells.
package final class LoopProbe: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer

  private var entrance: CInt = -1
  private var channel: (any Channel)?
  private var isClosed = false
  /// When the byte was written that was not read yet.
  private var writtenAt: MonotonicInstant?

  package init() {}

  /// Begins to read; once, on the loop. Nothing is told where the system has no descriptors left.
  package func open(on eventLoop: any EventLoop) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let exit = ends[0]
    entrance = ends[1]
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let opened = NIOPipeBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
      }
      .takingOwnershipOfDescriptor(input: exit)
      .assumeIsolated()
    opened.whenSuccess { [self] channel in
      if isClosed { channel.close(promise: nil) } else { self.channel = channel }
    }
    // It is ours again.
    opened.whenFailure { _ in Glibc.close(exit) }
  }

  /// - Returns: how long the last byte has been waiting, in microseconds; 0 where none is, and a new one was written.
  package func ask(at now: MonotonicInstant) -> Int64 {
    if let writtenAt { return now.microseconds(since: writtenAt) }
    var byte: UInt8 = 0
    guard channel != nil, write(entrance, &byte, 1) == 1 else { return 0 }
    writtenAt = now
    return 0
  }

  package func close() {
    isClosed = true
    channel?.close(promise: nil)
    channel = nil
    if entrance >= 0 { Glibc.close(entrance) }
    entrance = -1
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) { writtenAt = nil }
}
