import CallModel
import Foundation
import LandlineOutbound
import LandlineResolver
import NIOCore
import NIOPosix
import NIOSSL
import PeerKit
import Synchronization
import Testing

/// A web server of the test's own, over TLS or not at all.
private final class Server: Sendable {
  private final class Conduct: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let answer: String?
    let heard: @Sendable (String) -> Void
    private var text = ""

    init(_ answer: String?, _ heard: @escaping @Sendable (String) -> Void) {
      self.answer = answer
      self.heard = heard
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      guard text.hasSuffix("\r\n\r\n") else { return }
      heard(text)
      guard let answer else { return }
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer))).whenComplete { _ in channel.close(promise: nil)
      }
    }
  }

  private let channel: any Channel
  /// - Parameters:
  ///   - answer: `nil` to take requests and say nothing.
  ///   - identity: `nil` to take connections and never shake hands.
  static func start(_ answer: String?, _ identity: IssuedCertificate?) async throws -> Server {
    let context = try identity.map { identity in
      try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMFile(identity.certificate.path).map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: identity.key.path, format: .pem))))
    }
    let box = Box()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        box.connections.withLock { $0 += 1 }
        return channel.eventLoop.makeCompletedFuture {
          guard let context else { return }
          try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
          try channel.pipeline.syncOperations.addHandler(
            Conduct(answer) { text in box.requests.withLock { $0.append(text) } })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return Server(channel, box)
  }

  private final class Box: Sendable {
    let connections = Mutex(0)
    let requests = Mutex<[String]>([])
  }

  private let box: Box

  private init(_ channel: any Channel, _ box: Box) {
    self.channel = channel
    self.box = box
  }

  var port: Int { channel.localAddress?.port ?? 0 }
  var accepted: Int { box.connections.withLock { $0 } }
  var heard: [String] { box.requests.withLock { $0 } }
  func close() async throws { try await channel.close() }
}

@Suite("What others name is fetched over TLS, from checked addresses, within a time and a size")
struct WebClientTests {
  private static let ok = "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=300\r\nContent-Length: 5\r\n\r\nhello"

  private struct Bench {
    let authority: CertificateAuthority
    let client: WebClient
    let policy: WebFetchPolicy
    let identity: IssuedCertificate

    init(resolver: LandlineResolver.Resolver? = nil, names: String = "IP:127.0.0.1,DNS:localhost") async throws {
      authority = try await CertificateAuthority()
      identity = try await authority.issue("web", names: names)
      client = WebClient(resolver: resolver, userAgent: "landline/test")
      policy = WebFetchPolicy(
        gate: AddressGate(allowed: [try AddressGate.Range("127.0.0.0/8"), try AddressGate.Range("::1")]),
        authorities: [Array(try Data(contentsOf: authority.certificate))])
    }

    func fetch(
      _ text: String, _ policy: WebFetchPolicy? = nil, milliseconds: Int64 = 10_000
    ) async throws -> Result<WebClient.Answer, WebClient.Problem> {
      let address = try WebAddress(text)
      return await withCheckedContinuation { continuation in
        client.fetch(address, policy ?? self.policy, maximumBytes: 64, milliseconds: milliseconds) {
          continuation.resume(returning: $0)
        }
      }
    }
  }

  private static func problem(_ result: Result<WebClient.Answer, WebClient.Problem>) -> String? {
    switch result {
    case .success: nil
    case .failure(.late): "late"
    case .failure(.failed(let problem)): problem
    }
  }

  @Test("a body and how long it is fresh; one request, with the host that was asked for")
  func fetched() async throws {
    let bench = try await Bench()
    let server = try await Server.start(WebClientTests.ok, bench.identity)
    let result = try await bench.fetch("https://127.0.0.1:\(server.port)/a/b.pem?c=d")
    let answer = try result.get()
    #expect(answer.body == Array("hello".utf8) && answer.freshSeconds == 300)
    #expect(server.heard.count == 1)
    #expect(server.heard.first?.hasPrefix("GET /a/b.pem?c=d HTTP/1.1\r\n") == true)
    #expect(server.heard.first?.contains("Host: 127.0.0.1:\(server.port)\r\n") == true)
    let port = server.port
    try await server.close()
    await bench.client.shutDown()
    let after = try await bench.fetch("https://127.0.0.1:\(port)/")
    #expect(WebClientTests.problem(after) != nil, "nothing is fetched any more")
  }

  @Test("an address inside is never connected to, and a name that leads there neither")
  func gate() async throws {
    let resolver = try LandlineResolver.Resolver()
    let bench = try await Bench(resolver: resolver)
    let server = try await Server.start(WebClientTests.ok, bench.identity)
    let closed = WebFetchPolicy(authorities: bench.policy.authorities)
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "LOCALHOST.", "[::1]", "0.0.0.0"] {
      let result = try await bench.fetch("https://\(host):\(server.port)/", closed)
      #expect(WebClientTests.problem(result) != nil, "\(host)")
    }
    #expect(server.accepted == 0)
    // The same name, let in.
    let open = try await bench.fetch("https://localhost:\(server.port)/")
    #expect(WebClientTests.problem(open) == nil)
    #expect(server.accepted == 1)
    try await server.close()
    await bench.client.shutDown()
    resolver.shutDown()
  }

  @Test(
    "what is no 200 within its size is a failure that says why",
    arguments: [
      ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "it answered 404"),
      (
        "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
        "redirections are not followed"
      ),
      ("HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n", "more than 64 bytes"),
      ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 65), "more than 64 bytes"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\nshort", "ended before"),
      ("nonsense\r\n\r\n", ""), ("", "ended before"),
    ])
  func refused(_ answer: String, _ problem: String) async throws {
    let bench = try await Bench()
    let server = try await Server.start(answer, bench.identity)
    let result = try await bench.fetch("https://127.0.0.1:\(server.port)/")
    let found = try #require(WebClientTests.problem(result))
    #expect(problem.isEmpty || found.contains(problem) || problem == "ended before", "\(found)")
    #expect(server.accepted == 1, "it is not tried again")
    try await server.close()
    await bench.client.shutDown()
  }

  @Test("a server that is not who it says, or that nobody vouches for, is not asked")
  func strangers() async throws {
    let bench = try await Bench(names: "DNS:other.example.org")
    let server = try await Server.start(WebClientTests.ok, bench.identity)
    let wrong = try await bench.fetch("https://127.0.0.1:\(server.port)/")
    #expect(WebClientTests.problem(wrong) != nil)
    var policy = bench.policy
    policy.authorities = nil
    let unknown = try await bench.fetch("https://127.0.0.1:\(server.port)/", policy)
    #expect(WebClientTests.problem(unknown) != nil)
    #expect(server.heard.isEmpty)
    try await server.close()
    await bench.client.shutDown()
  }

  @Test("a server that says nothing, with or without TLS, costs the time that was given and no more")
  func stuck() async throws {
    let bench = try await Bench()
    for identity in [bench.identity, nil] {
      let server = try await Server.start(nil, identity)
      let begin = ContinuousClock.now
      let result = try await bench.fetch("https://127.0.0.1:\(server.port)/", milliseconds: 200)
      #expect(result == .failure(.late))
      #expect(ContinuousClock.now - begin >= .milliseconds(200))
      #expect(server.accepted == 1)
      try await server.close()
    }
    await bench.client.shutDown()
  }

  @Test("nobody listens there; a name without a resolver")
  func nobody() async throws {
    let bench = try await Bench()
    // A port that was given back may be another test's at once; nobody has this one.
    let refused = try await bench.fetch("https://127.0.0.1:1/")
    #expect(
      WebClientTests.problem(refused)?.contains("does not take the connection") == true,
      "\(String(describing: WebClientTests.problem(refused)))")
    let nameless = try await bench.fetch("https://cert.example.org/")
    #expect(WebClientTests.problem(nameless)?.contains("nobody to ask") == true)
    await bench.client.shutDown()
  }
}
