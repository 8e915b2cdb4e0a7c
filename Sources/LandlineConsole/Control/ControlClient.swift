import CallModel
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks a running gateway over its control socket: its own REST interface, on a file that only its user can open.
struct ControlClient: Sendable {
  struct Response: Sendable {
    var status: Int
    var body: [UInt8]
  }

  /// Most bytes of one answer, and of one line of a stream.
  static let maximumBytes = 16 * 1024 * 1024
  private static let connectSeconds: Int64 = 5

  let path: String

  func get(_ target: String) async throws -> Response { try await ask(.GET, target) }
  func delete(_ target: String) async throws -> Response { try await ask(.DELETE, target) }

  func put(_ target: String, _ body: JSONValue) async throws -> Response { try await ask(.PUT, target, body) }

  func patch(_ target: String, _ body: JSONValue) async throws -> Response { try await ask(.PATCH, target, body) }

  /// - Parameter key: the same in every repeat of the request.
  func post(_ target: String, _ body: JSONValue, key: String) async throws -> Response {
    try await ask(.POST, target, body, key: key)
  }

  /// Hands over a file as it comes.
  /// - Returns: the answer where it is no file but a problem; `nil` where all was handed over.
  func pieces(_ target: String, _ body: ([UInt8]) -> Void) async throws -> Response? {
    var response = Response(status: 0, body: [])
    try await exchange(.GET, target) { part in
      switch part {
      case .head(let head): response.status = Int(head.status.code)
      case .body(let bytes) where response.status == 200: body(Array(bytes.readableBytesView))
      case .body(let bytes):
        if response.body.count <= Self.maximumBytes { response.body += Array(bytes.readableBytesView) }
      case .end: return false
      }
      return true
    }
    return response.status == 200 ? nil : response
  }

  private func ask(
    _ method: HTTPMethod, _ target: String, _ body: JSONValue? = nil, key: String? = nil
  ) async throws -> Response {
    var response = Response(status: 0, body: [])
    try await exchange(method, target, sending: body, key: key) { part in
      switch part {
      case .head(let head): response.status = Int(head.status.code)
      case .body(let bytes):
        response.body += Array(bytes.readableBytesView)
        guard response.body.count <= Self.maximumBytes else {
          throw ConsoleError(.failed, code: "control.long", "the gateway's answer is too long", at: path)
        }
      case .end: return false
      }
      return true
    }
    return response
  }

  /// Hands over each line of an endless answer until the gateway ends it or the body wants no more.
  /// - Parameter content: sent with POST; `nil` for GET.
  func lines(
    _ target: String, sending content: JSONValue? = nil, _ body: (Int, [UInt8]) async throws -> Bool
  ) async throws {
    var status = 0
    var rest: [UInt8] = []
    try await exchange(content == nil ? .GET : .POST, target, sending: content) { part in
      switch part {
      case .head(let head): status = Int(head.status.code)
      case .body(let bytes):
        rest += Array(bytes.readableBytesView)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = Array(rest[..<end])
          rest.removeFirst(end + 1)
          if !line.isEmpty, try await !body(status, line) { return false }
        }
        guard rest.count <= Self.maximumBytes else {
          throw ConsoleError(.failed, code: "control.long", "a line of the gateway's answer is too long", at: path)
        }
      case .end:
        if !rest.isEmpty { _ = try await body(status, rest) }
        return false
      }
      return true
    }
  }

  private func exchange(
    _ method: HTTPMethod, _ target: String, sending content: JSONValue? = nil, key: String? = nil,
    _ body: (HTTPClientResponsePart) async throws -> Bool
  ) async throws {
    let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
    do {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(Self.connectSeconds))
        .connect(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
          }
        }
    } catch {
      throw ConsoleError(
        .notReachable, code: "control.unreachable", "no gateway answers", at: path,
        fix: "landline serve or landline dev; --control PATH or LANDLINE_CONTROL where its socket lies elsewhere")
    }
    try await channel.executeThenClose { inbound, outbound in
      var head = HTTPRequestHead(version: .http1_1, method: method, uri: target)
      head.headers = ["host": "localhost", "connection": "close", "accept": "application/json"]
      if let key { head.headers.add(name: "idempotency-key", value: key) }
      // In one piece: a gateway that answers the head at once may have closed the connection before a second one.
      var request: [HTTPClientRequestPart] = []
      if let content {
        let bytes = ByteBuffer(bytes: content.bytes)
        head.headers.add(name: "content-type", value: "application/json")
        head.headers.add(name: "content-length", value: "\(bytes.readableBytes)")
        request = [.head(head), .body(.byteBuffer(bytes)), .end(nil)]
      } else {
        request = [.head(head), .end(nil)]
      }
      try await outbound.write(contentsOf: request)
      for try await part in inbound {
        if try await !body(part) { return }
      }
    }
  }
}
