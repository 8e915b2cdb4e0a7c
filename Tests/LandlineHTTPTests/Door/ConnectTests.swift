import AppProtocol
import CallModel
import DoorKit
import Foundation
import LandlineHTTP
import NIOCore
import PeerKit
import Testing

/// Who may open a WebSocket, and how (RFC 6455 section 4.2).
@Suite struct ConnectTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var name: String
    var request: String
    var status: Int
    var code: String
    var testDescription: String { name }
  }

  static let refusals: [Refusal] = [
    Refusal(name: "query", request: RawPeer.upgrade(path: "/v1/connect?token=x"), status: 400, code: "connect.query"),
    Refusal(name: "method", request: RawPeer.upgrade(method: "PUT"), status: 405, code: "http.method"),
    Refusal(name: "version", request: RawPeer.upgrade(version: "8"), status: 426, code: "connect.upgrade"),
    Refusal(name: "short key", request: RawPeer.upgrade(key: "AAAA"), status: 400, code: "connect.key"),
    Refusal(
      name: "key of other letters", request: RawPeer.upgrade(key: "dGhlIHNhbXBsZSBub25jZ!=="), status: 400,
      code: "connect.key"),
    Refusal(name: "no protocol", request: RawPeer.upgrade(subprotocol: nil), status: 400, code: "connect.protocol"),
    Refusal(
      name: "other protocol", request: RawPeer.upgrade(subprotocol: "landline.v2, sip"), status: 400,
      code: "connect.protocol"),
    Refusal(
      name: "foreign origin", request: RawPeer.upgrade(extra: ["Origin: https://evil.example"]), status: 403,
      code: "connect.origin"),
    Refusal(
      name: "null origin", request: RawPeer.upgrade(extra: ["Origin: null"]), status: 403, code: "connect.origin"),
    Refusal(
      name: "two origins",
      request: RawPeer.upgrade(extra: ["Origin: http://gateway.example.com", "Origin: https://evil.example"]),
      status: 403, code: "connect.origin"),
    Refusal(
      name: "other port of the same host", request: RawPeer.upgrade(extra: ["Origin: http://gateway.example.com:81"]),
      status: 403, code: "connect.origin"),
    Refusal(
      name: "body", request: RawPeer.upgrade(extra: ["Content-Length: 4"]), status: 400, code: "connect.body"),
    Refusal(
      name: "no upgrade", request: "GET /v1/connect HTTP/1.1\r\nHost: a\r\n\r\n", status: 426, code: "connect.upgrade"),
    Refusal(name: "no HTTP", request: "\u{1}\u{2}garbage\r\n\r\n", status: 400, code: "http.malformed"),
    Refusal(name: "no host", request: "GET /livez HTTP/1.1\r\n\r\n", status: 400, code: "http.malformed"),
    Refusal(
      name: "two lengths",
      request: "POST /v1/calls HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      status: 400, code: "http.malformed"),
    Refusal(
      name: "large body", request: "POST /v1/calls HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", status: 413,
      code: "http.bodyLarge"),
    Refusal(
      name: "large field",
      request: "GET /livez HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", status: 431,
      code: "http.headersLarge"),
    Refusal(
      name: "many fields",
      request: "GET /livez HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 100))\r\n", status: 431,
      code: "http.headersLarge"),
    Refusal(
      name: "long target", request: "GET /\(String(repeating: "x", count: 5000)) HTTP/1.1\r\nHost: a\r\n\r\n",
      status: 414,
      code: "http.targetLong"),
  ]

  @Test(arguments: refusals) func refusesWithAProblem(_ refusal: Refusal) async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write(refusal.request)
      let answer = try #require(await peer.response())
      #expect(answer.status == refusal.status)
      #expect(answer.body.contains("\"code\":\"\(refusal.code)\""))
      #expect(answer.head.lowercased().contains("content-type: application/problem+json"))
      // The connection ends with the answer.
      #expect(await peer.rest().isEmpty)
    }
    #expect(acceptor.counts.opened == 0)
  }

  @Test(arguments: [
    [], ["Origin: http://gateway.example.com"], ["Origin: http://GATEWAY.example.com:80/"],
    ["Origin: https://app.example.com"], ["Sec-WebSocket-Extensions: permessage-deflate"],
  ])
  func opens(_ extra: [String]) async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.allowedOrigins = ["https://App.example.com"]
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write(RawPeer.upgrade(subprotocol: "other, landline.v1", extra: extra))
      let head = try #require(await peer.head()).lowercased()
      #expect(head.hasPrefix("http/1.1 101"))
      // The example of RFC 6455 section 1.3.
      #expect(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
      #expect(head.contains("sec-websocket-protocol: landline.v1"))
      #expect(!head.contains("sec-websocket-extensions"))
      try await peer.write(RawPeer.text("echo hello"))
      #expect(await peer.frame()?.text == "hello")
    }
    #expect(acceptor.counts == (1, 1))
  }

  @Test func aPageThatIsRefusedMayReadWhyAndWhatLetsItIn() async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) { port, _ in
      // As the page asks once its WebSocket did not open.
      let peer = try await RawPeer.connect(port)
      try await peer.write("GET /v1/connect HTTP/1.1\r\nHost: a\r\nOrigin: https://shop.example:8443\r\n\r\n")
      let answer = try #require(await peer.response())
      #expect(answer.status == 403)
      #expect(answer.head.lowercased().contains("access-control-allow-origin: https://shop.example:8443\r\n"))
      #expect(answer.body.contains("http.origins: [\\\"https://shop.example:8443\\\"]"), "\(answer.body)")
      #expect(answer.body.contains("--origin https://shop.example:8443"))
      // What is no origin is not repeated.
      for origin in ["https://\u{E9}vil.example", String(repeating: "o", count: 300)] {
        let peer = try await RawPeer.connect(port)
        try await peer.write("GET /v1/connect HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\n\r\n")
        let answer = try #require(await peer.response())
        #expect(answer.status == 403 && !answer.head.lowercased().contains("access-control"), "\(answer.head)")
        #expect(!answer.body.contains(origin))
      }
    }
    #expect(acceptor.counts.opened == 0)
  }

  @Test(
    arguments: [
      ("null", true), ("http://localhost:3000", true), ("https://127.0.0.1", true), ("http://[::1]:5173", true),
      ("http://evil.example", false), ("http://localhost.evil.example", false),
      ("http://127.0.0.1.evil.example", false),
      ("http://evil@localhost", false), ("file://localhost", false), ("http://localhost:1:2", false),
    ])
  func aDevelopmentGatewayAdmitsPagesOfThisMachine(_ origin: String, _ isAdmitted: Bool) async throws {
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor) {
      $0.signsInLocally = true
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write(RawPeer.upgrade(extra: ["Origin: \(origin)"]))
      let head = try #require(await peer.head()).lowercased()
      #expect(head.hasPrefix("http/1.1 101") == isAdmitted, "\(head)")
    }
    #expect(acceptor.counts.opened == (isAdmitted ? 1 : 0))
  }

  @Test func tellsWhereAConnectionComesFromAndThatItEnded() async throws {
    let acceptor = RecordingAcceptor()
    var events = acceptor.events.makeAsyncIterator()
    try await RunningDoor.with(acceptor) { port, _ in
      let peer = try #require(try await RawPeer.open(port))
      try await peer.channel.close()
    }
    #expect(await events.next() == .opened(ConnectionID(1), host: .ipv4(0x7F00_0001)))
    #expect(await events.next() == .closed(ConnectionID(1)))
  }

  @Test func answers503WhenTheAcceptorTakesNoMore() async throws {
    let acceptor = RecordingAcceptor(maximum: 1)
    try await RunningDoor.with(acceptor) { port, _ in
      let first = try #require(try await RawPeer.open(port))
      let second = try await RawPeer.connect(port)
      try await second.write(RawPeer.upgrade())
      let answer = try #require(await second.response())
      #expect(answer.status == 503)
      #expect(answer.body.contains("\"retryable\":true"))
      try await first.write(RawPeer.text("echo still"))
      #expect(await first.frame()?.text == "still")
    }
  }

  @Test func speaksTLS() async throws {
    let certificates = try await CertificateFolder.shared()
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.certificate = .init(chainPath: certificates.server.certificate.path, keyPath: certificates.server.key.path)
    } _: { port, _ in
      let peer = try await RawPeer.connect(port, trusting: certificates.authority.path)
      try await peer.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await peer.response()?.status == 200)
      let webSocket = try await RawPeer.connect(port, trusting: certificates.authority.path)
      try await webSocket.write(RawPeer.upgrade(extra: ["Origin: https://gateway.example.com"]))
      #expect(await webSocket.head()?.hasPrefix("HTTP/1.1 101") == true)
      try await webSocket.write(RawPeer.text("echo secret"))
      #expect(await webSocket.frame()?.text == "secret")
      // Plain HTTP gets no answer in plain text.
      let plain = try await RawPeer.connect(port)
      try await plain.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(!String(decoding: await plain.rest(), as: UTF8.self).contains("HTTP/1.1 200"))
    }
  }

  @Test func keepsHTTPConnectionsAndPipelines() async throws {
    try await RunningDoor.with(RecordingAcceptor()) { port, _ in
      let peer = try await RawPeer.connect(port)
      let request = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
      try await peer.write(request + request + request)
      for _ in 0..<3 { #expect(await peer.response()?.status == 200) }
      try await peer.write("HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await peer.head()?.hasPrefix("HTTP/1.1 200") == true)
      try await peer.write(RawPeer.upgrade())
      #expect(await peer.response()?.body.contains("connect.late") == true)
    }
  }
}
