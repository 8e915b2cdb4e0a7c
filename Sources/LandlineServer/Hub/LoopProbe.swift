import CallModel
import Glibc
import LandlineGateway
import NIOCore
import NIOPosix

/// How long a loop takes to come back to its descriptors.
///
/// A loop of NIO does all tasks that there are, those that come meanwhile included, before it looks at a descriptor again.
/// One that gets too much from other threads, messages of apps and words of ledgers and media, is in time with everything
/// scheduled and reads no SIP at all: only something that comes through a descriptor itself tells.
final class LoopProbe: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let entrance: CInt
  private let exit: CInt
  private var channel: (any Channel)?
  /// When the byte was written that was not read yet.
  private var writtenAt: MonotonicInstant?

  /// - Returns: `nil` where the system has no descriptors left.
  init?() {
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { return nil }
    exit = ends[0]
    entrance = ends[1]
  }

  /// Begins to read; once, on the loop.
  func open(on eventLoop: any EventLoop) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    NIOPipeBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
      }
      .takingOwnershipOfDescriptor(input: exit)
      .assumeIsolated().whenSuccess { bound.value.channel = $0 }
  }

  /// - Returns: how long the last byte has been waiting, in microseconds; 0 where none is, and a new one was written.
  func ask(at now: MonotonicInstant) -> Int64 {
    if let writtenAt { return now.microseconds(since: writtenAt) }
    var byte: UInt8 = 0
    guard channel != nil, write(entrance, &byte, 1) == 1 else { return 0 }
    writtenAt = now
    return 0
  }

  func close() {
    channel?.close(promise: nil)
    channel = nil
    Glibc.close(entrance)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { writtenAt = nil }
}
