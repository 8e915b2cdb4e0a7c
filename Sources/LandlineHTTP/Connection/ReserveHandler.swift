import LandlineWire
import Logging
import NIOCore

/// Turns connections away at the listener while almost no descriptor is left, and accepts no more until those are closed.
///
/// Each child has a loop of its own and closes there: a listener that went on could take the last descriptor in the meantime.
final class ReserveHandler: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  /// Connections that are accepted before it is looked again.
  private static let mostAtOnce: UInt = 4

  /// Between two lines in the log.
  private static let silence = TimeAmount.seconds(10)

  private let logger: Logger
  private var turnedAway = 0
  private var toldAt: NIODeadline?
  private var closing = 0
  private var wantsToRead = false

  private init(_ logger: Logger) { self.logger = logger }

  /// Guards a listener that is open already.
  static func guardListener(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Void> {
    channel.setOption(.maxMessagesPerRead, value: mostAtOnce).flatMapThrowing {
      try channel.pipeline.syncOperations.addHandler(ReserveHandler(logger), position: .first)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard DescriptorReserve.isReached else { return context.fireChannelRead(data) }
    let child = unwrapInboundIn(data)
    closing += 1
    tell()
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    child.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
      let (handler, context) = bound.value
      handler.closed(context)
    }
    child.close(promise: nil)
  }

  private func tell() {
    turnedAway += 1
    let now = NIODeadline.now()
    if let toldAt, now - toldAt < Self.silence { return }
    logger.warning(
      "connections are turned away", metadata: ["count": "\(turnedAway)", "reason": "\(DescriptorReserve.advice)"])
    turnedAway = 0
    toldAt = now
  }

  func read(context: ChannelHandlerContext) {
    if closing > 0 { wantsToRead = true } else { context.read() }
  }

  private func closed(_ context: ChannelHandlerContext) {
    closing -= 1
    guard closing == 0, wantsToRead else { return }
    wantsToRead = false
    context.read()
  }
}
