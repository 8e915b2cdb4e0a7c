package import CallModel
package import NIOCore
package import NIOHTTP1

/// Sends one GET and reads its answer, within a number of bytes; tells its result once.
package final class WebAnswerHandler: ChannelInboundHandler {
  package typealias InboundIn = HTTPClientResponsePart
  package typealias OutboundOut = HTTPClientRequestPart

  /// What turns bytes into parts of an answer; in front of the handler.
  package static var codec: [any ChannelHandler] {
    [HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))]
  }

  private let address: WebAddress
  private let maximumBytes: Int
  private let userAgent: String
  private var tell: ((Result<WebAnswer, WebProblem>) -> Void)?
  private var answer: WebAnswer?

  package init(
    _ address: WebAddress, maximumBytes: Int, userAgent: String,
    _ tell: @escaping (Result<WebAnswer, WebProblem>) -> Void
  ) {
    self.address = address
    self.maximumBytes = maximumBytes
    self.userAgent = userAgent
    self.tell = tell
  }

  package func channelActive(context: ChannelHandlerContext) {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target)
    head.headers.add(name: "Host", value: "\(address.host)" + (address.port == 443 ? "" : ":\(address.port)"))
    head.headers.add(name: "User-Agent", value: userAgent)
    head.headers.add(name: "Accept", value: "*/*")
    head.headers.add(name: "Connection", value: "close")
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // An interim response (RFC 9110 section 15.2).
      guard head.status.code >= 200, answer == nil else { return }
      switch head.status.code {
      case 200: break
      case 300..<400:
        return end(.failure(.failed("it answered \(head.status.code), and redirections are not followed")))
      default: return end(.failure(.failed("it answered \(head.status.code)")))
      }
      answer = WebAnswer(
        body: [], freshSeconds: CacheControl.freshSeconds(head.headers[canonicalForm: "cache-control"]))
      if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }), length > maximumBytes {
        refuse()
      }
    case .body(let buffer):
      guard tell != nil, answer != nil else { return }
      guard (answer?.body.count ?? 0) + buffer.readableBytes <= maximumBytes else { return refuse() }
      answer?.body.append(contentsOf: buffer.readableBytesView)
    case .end:
      guard let answer else { return }
      end(.success(answer))
    }
  }

  private func refuse() { end(.failure(.failed("it holds more than \(maximumBytes) bytes"))) }

  package func channelInactive(context: ChannelHandlerContext) {
    end(.failure(.failed("the connection ended before the answer")))
    context.fireChannelInactive()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(.failure(.failed(ErrorText.text(error))))
    context.close(promise: nil)
  }

  private func end(_ result: Result<WebAnswer, WebProblem>) {
    tell?(result)
    tell = nil
  }
}

/// What Cache-Control says of an answer (RFC 9111 section 5.2.2).
enum CacheControl {
  /// Seconds for which the answer may be used without another question; `nil` where nothing is said.
  static func freshSeconds(_ values: [Substring]) -> Int64? {
    var seconds: Int64?
    for value in values {
      let parts = value.split(separator: "=", maxSplits: 1).map { $0.lowercased().filter { $0 != "\"" && $0 != " " } }
      switch parts.first {
      case "no-store", "no-cache": return 0
      case "max-age":
        // More digits than any number of seconds that counts: as long as may be.
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
          return 0
        }
        seconds = min(seconds ?? .max, Int64(parts[1]) ?? .max)
      default: continue
      }
    }
    return seconds
  }
}
