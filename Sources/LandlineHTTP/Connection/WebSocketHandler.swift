import AppProtocol
import CallModel
import LandlineNode
import NIOCore
import NIOWebSocket

/// One WebSocket (RFC 6455) on its event loop: frames in, whole text messages to the acceptor, and back.
final class WebSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// Most bytes of a close frame's reason (RFC 6455 section 5.5 less the code).
  static let maximumReasonBytes = 123

  private enum Phase {
    /// The upgrade's response is on its way: what is sent waits.
    case upgrading
    case open
    /// The peer broke the protocol; the acceptor shall close.
    case violated
    /// Our close frame is sent.
    case closing
    case closed
  }

  let budget: OutgoingBudget
  private let limits: HTTPDoorConfiguration.Limits
  private let acceptor: any AppConnectionAcceptor
  private let loop: any EventLoop
  private var id: ConnectionID?
  private var context: ChannelHandlerContext?
  private var phase = Phase.upgrading
  private var waiting: [[UInt8]] = []
  private var pendingClose: (code: UInt16, reason: String)?
  /// The message whose fragments are coming in.
  private var message: [UInt8]?
  private var fragments = 0
  private var deadline: Scheduled<Void>?
  /// The door was told to end.
  private var isEnding = false

  init(limits: HTTPDoorConfiguration.Limits, acceptor: any AppConnectionAcceptor, loop: any EventLoop) {
    self.limits = limits
    self.acceptor = acceptor
    self.loop = loop
    budget = OutgoingBudget(limit: limits.outgoingBytes)
  }

  /// Offers the connection to the acceptor, before the upgrade is answered.
  /// - Returns: `false` when it takes no more.
  func open(from host: SIPHost) -> Bool {
    id = acceptor.opened(WebSocketConnection(self, on: loop), host: host)
    return id != nil
  }

  /// The connection is gone, whether it ever became a WebSocket or not.
  func ended() {
    guard let id else { return }
    self.id = nil
    phase = .closed
    deadline?.cancel()
    deadline = nil
    waiting = []
    message = nil
    acceptor.closed(id)
  }

  // MARK: - From the acceptor

  func send(_ texts: ArraySlice<[UInt8]>) {
    let bytes = texts.reduce(0) { $0 + $1.count }
    switch phase {
    case .upgrading: waiting += texts
    case .open, .violated:
      write(texts.map { WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: $0)) }, bytes)
    case .closing, .closed: budget.release(bytes)
    }
  }

  func clog() {
    guard let id, phase == .open || phase == .upgrading || phase == .violated else { return }
    acceptor.clogged(id)
  }

  func ping() {
    guard phase == .open else { return }
    write([WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())], 0)
  }

  func close(code: UInt16, reason: String) {
    switch phase {
    case .upgrading: if pendingClose == nil { pendingClose = (code, reason) }
    case .open, .violated:
      var data = ByteBuffer()
      data.writeInteger(code)
      data.writeString(WebSocketHandler.cut(reason))
      sendClose(data)
    case .closing, .closed: break
    }
  }

  private static func cut(_ reason: String) -> String {
    var text = String.UnicodeScalarView()
    var bytes = 0
    for scalar in reason.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= maximumReasonBytes else { break }
      text.append(scalar)
    }
    return String(text)
  }

  /// - Parameter endsConnection: the peer has said goodbye; the server ends the connection first (RFC 6455 section 7.1.1).
  private func sendClose(_ data: ByteBuffer, endsConnection: Bool = false) {
    guard let context else { return }
    phase = .closing
    message = nil
    let written = loop.makePromise(of: Void.self)
    let bound = NIOLoopBound(self, eventLoop: loop)
    if endsConnection { written.futureResult.whenComplete { _ in bound.value.context?.close(promise: nil) } }
    context.writeAndFlush(
      wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)), promise: written)
    // A peer that neither reads nor answers does not keep the connection.
    schedule(isEnding ? limits.goodbyeMilliseconds : limits.closeMilliseconds) { $0.context?.close(promise: nil) }
  }

  /// Writes frames in one piece.
  /// - Parameter bytes: of the budget, given back once the last frame is written.
  private func write(_ frames: [WebSocketFrame], _ bytes: Int) {
    guard let context else {
      budget.release(bytes)
      return
    }
    var written: EventLoopPromise<Void>?
    if bytes > 0 {
      let promise = loop.makePromise(of: Void.self)
      let budget = budget
      promise.futureResult.whenComplete { _ in budget.release(bytes) }
      written = promise
    }
    for frame in frames.dropLast() { context.write(wrapOutboundOut(frame), promise: nil) }
    if let last = frames.last { context.write(wrapOutboundOut(last), promise: written) }
    context.flush()
  }

  private func schedule(_ milliseconds: Int64, _ body: @escaping @Sendable (WebSocketHandler) -> Void) {
    deadline?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    deadline = loop.scheduleTask(in: .milliseconds(milliseconds)) { body(bound.value) }
  }

  // MARK: - From the peer

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    guard phase == .upgrading else { return }
    phase = .open
    let texts = waiting
    waiting = []
    if !texts.isEmpty { send(texts[...]) }
    if let pendingClose { close(code: pendingClose.code, reason: pendingClose.reason) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch phase {
    case .open: received(frame)
    case .closing:
      if frame.opcode == .connectionClose { context.close(promise: nil) }
    case .upgrading, .violated, .closed: break
    }
  }

  private func received(_ frame: WebSocketFrame) {
    guard frame.maskKey != nil else { return violate(1002, "a frame without a mask") }
    guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return violate(1002, "a reserved bit is set") }
    switch frame.opcode {
    case .text:
      guard message == nil else { return violate(1002, "a message inside a message") }
      fragments = 0
      message = []
      append(frame)
    case .continuation:
      guard message != nil else { return violate(1002, "a continuation of nothing") }
      append(frame)
    case .binary: violate(1003, "binary messages have no meaning here")
    case .ping: pong(frame)
    case .pong:
      if let id { acceptor.ponged(id) }
    case .connectionClose: answerClose(frame)
    default: violate(1002, "an unknown kind of frame")
    }
  }

  private func append(_ frame: WebSocketFrame) {
    guard var bytes = message else { return }
    let data = frame.unmaskedData
    fragments += 1
    guard data.readableBytes <= limits.messageBytes - bytes.count else {
      return violate(1009, "a message of more than \(limits.messageBytes) bytes")
    }
    guard fragments <= limits.fragmentsPerMessage else {
      return violate(1009, "a message of more than \(limits.fragmentsPerMessage) fragments")
    }
    message = nil
    bytes.append(contentsOf: data.readableBytesView)
    guard frame.fin else {
      message = bytes
      return
    }
    guard (try? UTF8Span(validating: bytes.span)) != nil else { return violate(1007, "a text that is not UTF-8") }
    guard let id, !acceptor.received(bytes, on: id) else { return }
    violate(CloseCode.tryAgainLater.rawValue, "the gateway has more to do than it can")
  }

  private func pong(_ frame: WebSocketFrame) {
    let data = frame.unmaskedData
    // What a peer makes us say counts like what we say.
    switch budget.admit(data.readableBytes + 2) {
    case .admitted: write([WebSocketFrame(fin: true, opcode: .pong, data: data)], data.readableBytes + 2)
    case .clogs: clog()
    case .refused: break
    }
  }

  private func answerClose(_ frame: WebSocketFrame) {
    let data = frame.unmaskedData
    if data.readableBytes > 0 {
      guard let code = data.getInteger(at: data.readerIndex, as: UInt16.self),
        WebSocketHandler.isCode(code)
      else { return violate(1002, "a close frame without a code that may be sent") }
      let reason = data.readableBytesView.dropFirst(2)
      guard String(validating: reason, as: UTF8.self) != nil else {
        return violate(1007, "a reason that is not UTF-8")
      }
      var answer = ByteBuffer()
      answer.writeInteger(code)
      sendClose(answer, endsConnection: true)
    } else {
      sendClose(ByteBuffer(), endsConnection: true)
    }
  }

  /// Codes that may stand in a frame (RFC 6455 section 7.4, IANA registry).
  private static func isCode(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  private func violate(_ code: UInt16, _ problem: String) {
    guard phase == .open, let id else { return }
    phase = .violated
    message = nil
    schedule(limits.violationMilliseconds) { $0.close(code: code, reason: problem) }
    acceptor.violated(id, closeCode: code, problem)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error as? NIOWebSocketError {
    case .some(.invalidFrameLength): violate(1009, "a frame of more than \(limits.frameBytes) bytes")
    case .some: violate(1002, "a control frame that is fragmented or too long")
    case nil: context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    ended()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      isEnding = true
      switch phase {
      case .upgrading, .open, .violated:
        schedule(limits.goodbyeMilliseconds) { $0.close(code: 1001, reason: "the gateway ends") }
      // A peer that has our goodbye and does not answer it keeps nobody waiting.
      case .closing: schedule(limits.goodbyeMilliseconds) { $0.context?.close(promise: nil) }
      case .closed: break
      }
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }
}
