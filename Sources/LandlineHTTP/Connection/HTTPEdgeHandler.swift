import CallModel
import NIOCore
import NIOHTTP1

/// Between the HTTP/1.1 codec and whatever answers: deadlines for every step of a request, refusals of what is no HTTP,
/// and the decision about WebSockets.
///
/// Removed from the pipeline when the connection becomes a WebSocket.
final class HTTPEdgeHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let limits: HTTPDoorConfiguration.Limits
  private let connect: ConnectRequest
  private let webSocket: WebSocketHandler
  private let host: SIPHost
  private let requestLimit: RequestLimit?
  private var deadline: Scheduled<Void>?
  private var requests = 0
  /// Requests passed on and not yet answered.
  private var unanswered = 0
  private var isReadingBody = false
  /// The connection ends after the responses that are due.
  private var isEnding = false
  /// What still comes in is of no interest.
  private var isDeaf = false
  private var responseEndsConnection = false

  init(
    limits: HTTPDoorConfiguration.Limits, connect: ConnectRequest, webSocket: WebSocketHandler, host: SIPHost,
    requests: RequestLimit?
  ) {
    self.limits = limits
    self.connect = connect
    self.webSocket = webSocket
    self.host = host
    requestLimit = requests
  }

  func handlerAdded(context: ChannelHandlerContext) { expect(limits.headMilliseconds, context) }

  func handlerRemoved(context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = nil
  }

  /// One deadline at a time: whoever misses it loses the connection.
  private func expect(_ milliseconds: Int64, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDeaf else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      requests += 1
      if let problem = refusal(of: head) {
        return unanswered > 0 ? context.close(promise: nil) : answer(problem, head, context)
      }
      unanswered += 1
      isReadingBody = true
      expect(limits.bodyMilliseconds, context)
      if head.headers[canonicalForm: "Expect"].contains(where: { $0.lowercased() == "100-continue" }) {
        context.writeAndFlush(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
      }
    case .body: break
    case .end:
      isReadingBody = false
      expect(limits.responseMilliseconds, context)
    }
    context.fireChannelRead(data)
  }

  private func refusal(of head: HTTPRequestHead) -> Problem? {
    let client = requestLimit?.proxies.client(of: host, forwarded: head.headers["X-Forwarded-For"]) ?? host
    // Before anything else is looked at: every request counts, whatever is wrong with it.
    if let problem = requestLimit?.refusal(client) { return problem }
    guard head.uri.utf8.count <= limits.targetBytes else {
      return Problem(.targetLong, "the path and query are too long")
    }
    // A length that is given twice, or beside chunks, is how one request is hidden in another (RFC 9112 section 11.2).
    let lengths = head.headers["Content-Length"]
    guard lengths.count <= 1, lengths.isEmpty || !head.headers.contains(name: "Transfer-Encoding") else {
      return Problem(.requestMalformed, "the length of the body is given more than once")
    }
    if let length = lengths.first.flatMap({ Int($0) }), length > limits.bodyBytes {
      return Problem(.bodyLarge, "the body has more than \(limits.bodyBytes) bytes")
    }
    guard head.version != .http1_1 || head.headers["Host"].count == 1 else {
      return Problem(.requestMalformed, "HTTP/1.1 wants one Host field")
    }
    guard ConnectRequest.concerns(head) else { return nil }
    if let problem = connect.problem(head, isFirst: requests == 1) { return problem }
    return webSocket.open(from: client) ? nil : Problem(.connectionsExhausted, "the gateway takes no more connections")
  }

  /// Answers in place of the handlers behind, and ends the connection.
  private func answer(_ problem: Problem, _ request: HTTPRequestHead?, _ context: ChannelHandlerContext) {
    isDeaf = true
    let path = request.map { $0.uri.prefix { $0 != "?" && $0 != "#" } }.map { String($0) }
    let body = problem.body(instance: path)
    var head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: problem.code.status))
    for (name, value) in Problem.commonHeaders { head.headers.add(name: name, value: value) }
    for (name, value) in problem.headers where name != "Connection" { head.headers.add(name: name, value: value) }
    head.headers.add(name: "Content-Length", value: String(body.count))
    head.headers.add(
      name: "Connection", value: problem.headers.contains { $0.0 == "Connection" } ? "Upgrade, close" : "close")
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request?.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
    let channel = context.channel
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in
      // The peer may still be sending: a reset would destroy the answer that it has not read.
      channel.close(mode: .output, promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    expect(limits.bodyMilliseconds, context)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      responseEndsConnection = head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "close" }
      // The upgrade's response is no answer to count.
      context.write(data, promise: promise)
    case .body:
      // A stream may last: each part that is taken gives it time for the next.
      let written = promise ?? context.eventLoop.makePromise(of: Void.self)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      written.futureResult.whenSuccess {
        let (handler, context) = bound.value
        handler.progressed(context)
      }
      context.write(data, promise: written)
    case .end:
      let written = promise ?? context.eventLoop.makePromise(of: Void.self)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      let ends = responseEndsConnection
      written.futureResult.whenComplete { _ in
        let (handler, context) = bound.value
        handler.answered(ends: ends, context)
      }
      context.write(data, promise: written)
    }
  }

  private func progressed(_ context: ChannelHandlerContext) {
    if !isEnding, !isReadingBody, unanswered > 0 { expect(limits.responseMilliseconds, context) }
  }

  private func answered(ends: Bool, _ context: ChannelHandlerContext) {
    unanswered -= 1
    guard !ends, !isEnding || unanswered > 0 else { return context.close(promise: nil) }
    if unanswered == 0, !isReadingBody { expect(limits.idleMilliseconds, context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isDeaf else { return }
    guard unanswered == 0, let error = error as? HTTPParserError else { return context.close(promise: nil) }
    answer(
      error == .headerOverflow
        ? Problem(.headersLarge, "the header fields have more than \(limits.headerBytes) bytes or are too many")
        : Problem(.requestMalformed, "this is no HTTP/1.1 request"), nil, context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      isEnding = true
      if unanswered == 0 {
        context.close(promise: nil)
      } else {
        expect(limits.goodbyeMilliseconds, context)
      }
    case ChannelEvent.inputClosed:
      if isDeaf || unanswered == 0 { context.close(promise: nil) }
      context.fireUserInboundEventTriggered(event)
    default: context.fireUserInboundEventTriggered(event)
    }
  }
}
