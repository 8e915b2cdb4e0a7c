import AppProtocol
import CallModel
import DoorKit
import LandlineHTTP
import LandlineNode
import Logging
import Synchronization
import Testing

/// A development gateway lets this machine's own pages in without a key, and nobody else's.
@Suite struct LocalSignInTests {
  struct Row: Sendable {
    var peer: String?
    var host: String?
    var fields: [String]
    var isLocal: Bool

    init(_ peer: String?, _ host: String?, _ fields: [String], _ isLocal: Bool) {
      (self.peer, self.host, self.fields, self.isLocal) = (peer, host, fields, isLocal)
    }
  }

  static let rows: [Row] = [
    Row("127.0.0.1", "localhost:8080", [], true),
    Row("::1", "[::1]:8080", [], true),
    Row("127.9.9.9", "127.0.0.1", [], true),
    Row("::ffff:127.0.0.1", "LOCALHOST", [], true),
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: same-origin", "origin: http://localhost:8080"], true),
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: none"], true),
    Row("127.0.0.1", "localhost:8080", ["origin: http://localhost:8080"], true),
    // Other machines, whatever they call us.
    Row("192.0.2.1", "localhost:8080", [], false),
    Row("::ffff:192.0.2.1", "localhost", [], false),
    Row("2001:db8::1", "[::1]", [], false),
    Row("", "localhost", [], false),
    Row(nil, "localhost", [], false),
    Row("128.0.0.1", "localhost", [], false),
    Row("::ffff:127.0.0.1.evil", "evil", [], false),
    // Names of somebody else's that lead here: DNS rebinding.
    Row("127.0.0.1", "evil.example", [], false),
    Row("127.0.0.1", "localhost.evil.example", [], false),
    Row("127.0.0.1", "127.0.0.1.evil.example:8080", [], false),
    Row("127.0.0.1", "evil.example:8080", [], false),
    Row("127.0.0.1", "localhost:80a", [], false),
    Row("127.0.0.1", "localhost:", [], false),
    Row("127.0.0.1", "localhost:8080@evil.example", [], false),
    Row("127.0.0.1", "localhost.", [], false),
    Row("127.0.0.1", "[::1]evil", [], false),
    Row("127.0.0.1", "0.0.0.0", [], false),
    Row("127.0.0.1", nil, [], false),
    Row("127.0.0.1", "", [], false),
    Row("127.0.0.1", "localhost:123456", [], false),
    // Pages of others, on other machines and on other ports of this one.
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: cross-site"], false),
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: same-site"], false),
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: same-origin", "sec-fetch-site: cross-site"], false),
    Row("127.0.0.1", "localhost:8080", ["origin: http://localhost:3000"], false),
    Row("127.0.0.1", "localhost:8080", ["origin: http://evil.example"], false),
    Row("127.0.0.1", "localhost:8080", ["origin: null"], false),
    Row("127.0.0.1", "localhost:8080", ["origin: file://"], false),
    Row("127.0.0.1", "localhost:8080", ["origin: http://localhost:8080", "origin: http://evil.example"], false),
    Row("127.0.0.1", "localhost:8080", ["sec-fetch-site: none", "origin: http://evil.example"], false),
  ]

  @Test(arguments: rows) func whoIsOnThisMachine(_ row: Row) {
    let fields = row.fields.map { field in
      let parts = field.split(separator: ": ", maxSplits: 1)
      return (name: String(parts[0]), value: String(parts[1]))
    }
    let request = RESTRequest(
      method: "POST", path: "/v1/sign-in", headers: fields, peer: row.peer, host: row.host)
    #expect(PageOrigin.isLocal(request) == row.isLocal)
  }

  /// Through sockets: the fields as they come over a wire.
  @Test func signsInOverLoopback() async throws {
    let stores = try await RESTKit()
    try await RunningDoor.with(RecordingAcceptor(), operations: stores.operations) {
      $0.pages = .builtIn
      $0.signsInLocally = true
    } _: { port, _ in
      func ask(_ lines: String...) async throws -> (status: Int, head: String, body: String) {
        let peer = try await RawPeer.connect(port)
        try await peer.write((lines + ["\r\n"]).joined(separator: "\r\n"))
        return try #require(await peer.response())
      }
      let (post, host) = ("POST /v1/sign-in HTTP/1.1", "Host: localhost:\(port)")
      let hint = try await ask("GET /v1/me HTTP/1.1", host)
      #expect(hint.status == 401)
      #expect(hint.body.hasSuffix(#""retryable":false,"development":true}"#))
      let foreign = try await ask("GET /v1/me HTTP/1.1", "Host: evil.example")
      #expect(foreign.status == 401)
      #expect(!foreign.body.contains("development"))
      for refused in [
        "Host: evil.example", host + "\r\nOrigin: http://evil.example", host + "\r\nSec-Fetch-Site: cross-site",
        host + "\r\nHost: localhost:\(port)", "Host: evil.example\r\nHost: localhost:\(port)",
        host + "\r\nAuthorization: Bearer wrong", host + "\r\nAuthorization:",
      ] {
        let answer = try await ask(post, refused, "Content-Length: 0")
        #expect(answer.status == 400 || answer.status == 401, "\(refused)")
        #expect(!answer.head.lowercased().contains("set-cookie"), "\(refused)")
      }
      let good = try await ask(post, host, "Sec-Fetch-Site: same-origin", "Content-Length: 0")
      #expect(good.status == 200)
      #expect(good.body.contains(#""role":"operator","environment":"production""#))
      #expect(good.body.contains(#""development":true"#))
      let line = try #require(good.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
      let cookie = "Cookie: " + line.dropFirst("set-cookie: ".count).prefix { $0 != ";" }
      #expect(!line.contains("Secure"))
      #expect(try await ask("GET /v1/accounts HTTP/1.1", host, cookie).status == 200)
      let posted = try await ask(
        "POST /v1/accounts HTTP/1.1", host, cookie, "Origin: http://localhost:\(port)",
        "Content-Type: application/json",
        "Content-Length: 34", "", #"{"name":"page","currency":"EUR"  }"#)
      #expect(posted.status == 201)
    }
    await stores.close()
  }

  /// Without the switch, no trick with fields helps.
  @Test func aGatewayThatServesCustomersWantsAKey() async throws {
    let stores = try await RESTKit()
    try await RunningDoor.with(RecordingAcceptor(), operations: stores.operations) {
      $0.pages = .builtIn
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write(
        "POST /v1/sign-in HTTP/1.1\r\nHost: localhost:\(port)\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n"
      )
      let answer = try #require(await peer.response())
      #expect(answer.status == 401)
      #expect(!answer.body.contains("development"))
    }
    await stores.close()
  }

  @Test func noKeyAndNoCookieIsLoggedOrCounted() async throws {
    let lines = LogLines()
    let kit = try await RESTKit(
      applications: SignInTests.applications, logger: Logger(label: "all") { _ in LineHandler(lines: lines) })
    try await kit.makeAccount("acme")
    let cookie = try await SignInTests.cookie(kit, "operator")
    _ = try await kit.send("POST", "/v1/sign-in", as: "a-secret-that-is-wrong")
    _ = try await kit.send("GET", "/v1/me", as: nil, fields: [cookie])
    _ = try await kit.send("GET", "/v1/me", as: nil, fields: [("Cookie", "landline=forged-cookie-of-somebody")])
    let phone = try await kit.send(
      "POST", "/v1/phone-registrations", "{}", as: nil, fields: [cookie, SignInTests.own])
    let token = try #require(phone.tree["token"]?.stringValue)
    let value = String(cookie.1.dropFirst("landline=".count))
    let written = lines.all + kit.metrics.text()
    #expect(written.contains("signed in"))
    #expect(written.contains("/v1/sign-in"))
    let secrets = [
      value, "a-secret-that-is-wrong", "forged-cookie", token, String(token.suffix(20)), "Bearer",
      SignInTests.applications[1].secret.exposed,
    ]
    for secret in secrets { #expect(!written.contains(secret), "\(secret.prefix(8))…") }
    await kit.close()
  }
}
