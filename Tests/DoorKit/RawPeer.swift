package import NIOCore
import NIOPosix
import NIOSSL

/// A TCP client that writes exactly the bytes it is told to, and knows WebSocket frames.
package final class RawPeer {
  package struct Frame: Equatable {
    package var isFinal: Bool
    package var opcode: UInt8
    package var data: [UInt8]

    package init(isFinal: Bool, opcode: UInt8, data: [UInt8]) {
      self.isFinal = isFinal
      self.opcode = opcode
      self.data = data
    }

    /// The code of a close frame.
    package var code: UInt16? { data.count >= 2 ? UInt16(data[0]) << 8 | UInt16(data[1]) : nil }
    package var text: String { String(decoding: data, as: UTF8.self) }
  }

  package let channel: any Channel
  private var chunks: AsyncStream<[UInt8]>.AsyncIterator
  private var buffer: [UInt8] = []

  private init(_ channel: any Channel, _ chunks: AsyncStream<[UInt8]>) {
    self.channel = channel
    self.chunks = chunks.makeAsyncIterator()
  }

  deinit { channel.close(promise: nil) }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let continuation: AsyncStream<[UInt8]>.Continuation

    init(_ continuation: AsyncStream<[UInt8]>.Continuation) { self.continuation = continuation }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      continuation.yield(Array(unwrapInboundIn(data).readableBytesView))
    }
    func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  /// - Parameters:
  ///   - reads: Whether anything is ever read.
  ///   - seconds: The connection's longest life.
  package static func connect(_ port: Int, reads: Bool = true, seconds: Int64 = 30) async throws -> RawPeer {
    try await connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port), reads: reads, seconds: seconds)
  }

  /// Over TLS, trusting one authority.
  package static func connect(_ port: Int, trusting authority: String) async throws -> RawPeer {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(authority)
    let context = try NIOSSLContext(configuration: configuration)
    return try await connect(
      to: try SocketAddress(ipAddress: "127.0.0.1", port: port), reads: true, seconds: 30, tls: context)
  }

  package static func connect(socket: String) async throws -> RawPeer {
    try await connect(to: try SocketAddress(unixDomainSocketPath: socket), reads: true, seconds: 30)
  }

  private static func connect(
    to address: SocketAddress, reads: Bool, seconds: Int64, tls: NIOSSLContext? = nil
  ) async throws -> RawPeer {
    let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: reads)
      .channelOption(.socketOption(.so_rcvbuf), value: reads ? 262_144 : 4096)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
          }
          try channel.pipeline.syncOperations.addHandler(Collector(continuation))
        }
      }
      .connect(to: address).get()
    // Whatever hangs ends a test, and fails it.
    channel.eventLoop.scheduleTask(in: .seconds(seconds)) { channel.close(promise: nil) }
    return RawPeer(channel, stream)
  }

  package func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }
  package func write(_ text: String) async throws { try await write(Array(text.utf8)) }
  /// Does not wait until the bytes are sent.
  package func post(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  private func fill() async -> Bool {
    guard let chunk = await chunks.next() else { return false }
    buffer += chunk
    return true
  }

  /// The next line that holds a text; `nil` when the connection ends first.
  package func line(containing text: String) async -> String? {
    while true {
      while let end = buffer.firstIndex(of: 0x0A) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        if line.contains(text) { return line }
      }
      guard await fill() else { return nil }
    }
  }

  /// Everything until the connection ends.
  package func rest() async -> [UInt8] {
    while await fill() {}
    defer { buffer = [] }
    return buffer
  }

  /// A response's head without its last line end; `nil` when the connection ends first.
  package func head() async -> String? {
    while true {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<end.upperBound)
        return text
      }
      guard await fill() else { return nil }
    }
  }

  /// A response: status, head, and the body by its Content-Length.
  package func response() async -> (status: Int, head: String, body: String)? {
    guard let head = await head() else { return nil }
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let length =
      head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
    while buffer.count < length { guard await fill() else { return nil } }
    let body = String(decoding: buffer[..<length], as: UTF8.self)
    buffer.removeFirst(length)
    return (status, head, body)
  }

  /// The next frame; `nil` when the connection ends first.
  package func frame() async -> Frame? {
    while true {
      if let frame = nextBufferedFrame() { return frame }
      guard await fill() else { return nil }
    }
  }

  private func nextBufferedFrame() -> Frame? {
    guard buffer.count >= 2 else { return nil }
    var length = Int(buffer[1] & 0x7F)
    var start = 2
    if length == 126 {
      guard buffer.count >= 4 else { return nil }
      length = Int(buffer[2]) << 8 | Int(buffer[3])
      start = 4
    } else if length == 127 {
      guard buffer.count >= 10 else { return nil }
      length = buffer[2..<10].reduce(0) { $0 << 8 | Int($1) }
      start = 10
    }
    guard buffer.count >= start + length else { return nil }
    let frame = Frame(
      isFinal: buffer[0] & 0x80 != 0, opcode: buffer[0] & 0x7F, data: Array(buffer[start..<start + length]))
    buffer.removeFirst(start + length)
    return frame
  }

  /// - Parameter first: the frame's first octet: flags and kind.
  package static func frame(_ first: UInt8, _ data: [UInt8], isMasked: Bool = true, length: Int? = nil) -> [UInt8] {
    let length = length ?? data.count
    let mask: UInt8 = isMasked ? 0x80 : 0
    var bytes = [first]
    if length < 126 {
      bytes.append(mask | UInt8(length))
    } else if length < 65536 {
      bytes += [mask | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
    } else {
      bytes.append(mask | 127)
      for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(length >> shift & 0xFF)) }
    }
    let key: [UInt8] = [0x11, 0x22, 0x33, 0x44]
    if isMasked { bytes += key }
    bytes += isMasked ? data.enumerated().map { $1 ^ key[$0 & 3] } : data
    return bytes
  }

  package static func text(_ text: String) -> [UInt8] { frame(0x81, Array(text.utf8)) }

  /// The request of an upgrade.
  package static func upgrade(
    path: String = "/v1/connect", method: String = "GET", version: String = "13",
    key: String = "dGhlIHNhbXBsZSBub25jZQ==", subprotocol: String? = "landline.v1", extra: [String] = []
  ) -> String {
    var lines = [
      "\(method) \(path) HTTP/1.1", "Host: gateway.example.com", "Upgrade: websocket",
      "Connection: keep-alive, Upgrade",
      "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: \(version)",
    ]
    if let subprotocol { lines.append("Sec-WebSocket-Protocol: \(subprotocol)") }
    return (lines + extra).joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// A WebSocket that is open.
  package static func open(_ port: Int, reads: Bool = true, seconds: Int64 = 30) async throws -> RawPeer? {
    let peer = try await connect(port, reads: reads, seconds: seconds)
    try await peer.write(upgrade())
    guard reads else { return peer }
    guard let head = await peer.head(), head.hasPrefix("HTTP/1.1 101") else { return nil }
    return peer
  }
}
