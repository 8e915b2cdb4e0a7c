import CallModel
import SIPCore
import Testing

/// Checking credentials, and client against server.
struct DigestServerTests {
  static let start = Instant(seconds: 1_700_000_000)
  static let key = Redacted([UInt8](repeating: 7, count: 32))
  static let realm = "carrier \"one\" \\ é"
  static let register = DigestRequest(method: "REGISTER", uri: "sip:example.com", body: Array("body".utf8))

  static func server(
    _ algorithms: [DigestAlgorithm] = [.sha256, .md5], _ qualities: [QualityOfProtection] = [.authentication],
    lifetime: Int64 = 60_000, tracked: Int = 64, key: Redacted<[UInt8]> = key
  ) throws -> DigestServer {
    try DigestServer(
      realm: realm, key: key,
      policy: DigestServer.Policy(
        algorithms: algorithms, qualities: qualities, nonceLifetime: lifetime, trackedNonces: tracked))
  }

  static func password(_ username: String) -> Redacted<String>? { username == "alice" ? Redacted("s3cr\"et\\") : nil }

  static func client(_ username: String = "alice", _ secret: String = "s3cr\"et\\") -> DigestClient {
    DigestClient(account: DigestAccount(username: username, password: Redacted(secret), realm: realm))
  }

  static func check(
    _ server: inout DigestServer, _ authorization: DigestAuthorization, _ request: DigestRequest = register,
    at now: Instant = start
  ) -> DigestVerdict {
    server.check(authorization.fields.map(\.value), of: request, now: now, password: password)
  }

  static func challenges(_ server: inout DigestServer) -> [DigestChallenge] { server.challenges(now: start) }

  static func challenged(
    _ client: inout DigestClient, by server: inout DigestServer, at now: Instant = start, isStale: Bool = false,
    previous: DigestAuthorization? = nil
  ) throws -> DigestAuthorization {
    try client.answer(
      server.challenges(now: now, isStale: isStale).map { DigestField(.userAgent, $0.description) }, to: register,
      previous: previous, cnonce: "0a4f113b")
  }

  /// All algorithms with all qualities: accepted, counted on, refused when replayed, changed, or of another password.
  @Test(arguments: DigestAlgorithm.allCases, [nil, QualityOfProtection.authentication, .authenticationWithIntegrity])
  func roundTrip(algorithm: DigestAlgorithm, quality: QualityOfProtection?) throws {
    var server = try DigestServerTests.server([algorithm], quality.map { [$0] } ?? [])
    var client = DigestServerTests.client()
    let first = try DigestServerTests.challenged(&client, by: &server)
    #expect(first.entries.map(\.credentials.algorithm) == [algorithm])
    #expect(first.entries.map(\.credentials.quality) == [quality])

    var otherMethod = DigestServerTests.register
    otherMethod.method = "INVITE"
    #expect(
      DigestServerTests.check(&server, first, otherMethod) == .challenge(.wrongCredentials))
    var otherBody = DigestServerTests.register
    otherBody.body = []
    var copy = server
    #expect(
      DigestServerTests.check(&copy, first, otherBody)
        == (quality == .authenticationWithIntegrity ? .challenge(.wrongCredentials) : .accepted(username: "alice")))

    #expect(DigestServerTests.check(&server, first) == .accepted(username: "alice"))
    #expect(DigestServerTests.check(&server, first) == .challenge(.replayed))
    let second = try #require(DigestClientTests.next(&client, DigestServerTests.register, "another"))
    #expect(
      DigestServerTests.check(&server, second)
        == (quality == nil ? .challenge(.replayed) : .accepted(username: "alice")))

    var wrong = DigestServerTests.client("alice", "wrong")
    let guess = try DigestServerTests.challenged(&wrong, by: &server)
    #expect(DigestServerTests.check(&server, guess) == .challenge(.wrongCredentials))
    let refused = #expect(throws: DigestRefusal.self) {
      _ = try DigestServerTests.challenged(&wrong, by: &server, previous: guess)
    }
    #expect(refused?.reason == .wrongCredentials(realm: DigestServerTests.realm))
  }

  @Test func unknownUser() throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client("mallory")
    let answer = try DigestServerTests.challenged(&client, by: &server)
    #expect(DigestServerTests.check(&server, answer) == .challenge(.wrongCredentials))
    #expect(server.trackedNonceCount == 0)
  }

  /// Age in milliseconds → verdict, at and past the limits.
  @Test(arguments: [(0, true), (60_000, true), (60_001, false), (-2_000, true), (-2_001, false)] as [(Int64, Bool)])
  func nonceAge(age: Int64, isGood: Bool) throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client()
    let answer = try DigestServerTests.challenged(&client, by: &server)
    let verdict = DigestServerTests.check(&server, answer, at: DigestServerTests.start.advanced(byMilliseconds: age))
    #expect(verdict == (isGood ? .accepted(username: "alice") : .challenge(.staleNonce)))
  }

  /// A server that started anew: the client learns that only the nonce is old, and gets through.
  @Test func staleThenAccepted() throws {
    var old = try DigestServerTests.server()
    var server = try DigestServerTests.server(key: Redacted([UInt8](repeating: 8, count: 32)))
    var client = DigestServerTests.client()
    let first = try DigestServerTests.challenged(&client, by: &old)
    let verdict = DigestServerTests.check(&server, first)
    #expect(verdict == .challenge(.staleNonce))
    #expect(DigestFault.staleNonce.isStale && DigestFault.replayed.isStale && !DigestFault.wrongCredentials.isStale)
    let second = try DigestServerTests.challenged(&client, by: &server, isStale: true, previous: first)
    #expect(DigestServerTests.check(&server, second) == .accepted(username: "alice"))
  }

  /// Only who has the password hears that a nonce is stale.
  @Test func aForgedNonceWithAWrongPasswordIsNotCalledStale() throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client("alice", "wrong")
    let answer = try client.answer(
      [
        DigestField(
          .userAgent,
          DigestChallenge(
            realm: DigestServerTests.realm, nonce: "forged", algorithm: .sha256, qualities: [.authentication]
          ).description)
      ],
      to: DigestServerTests.register, previous: nil, cnonce: "c")
    #expect(DigestServerTests.check(&server, answer) == .challenge(.wrongCredentials))
  }

  @Test func nonceCountsMustGrow() throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client()
    var requests = [try DigestServerTests.challenged(&client, by: &server)]
    for _ in 0..<4 { requests.append(try #require(DigestClientTests.next(&client, DigestServerTests.register, "c"))) }
    for (number, verdict) in [
      (1, DigestVerdict.accepted(username: "alice")), (0, .challenge(.replayed)), (1, .challenge(.replayed)),
      (4, .accepted(username: "alice")), (3, .challenge(.replayed)), (4, .challenge(.replayed)),
    ] {
      #expect(DigestServerTests.check(&server, requests[number]) == verdict, "count \(number + 1)")
    }
  }

  /// The table is full: the oldest nonces are called stale, never replayed, and the newest still count.
  @Test func trackedNoncesAreBounded() throws {
    var server = try DigestServerTests.server(tracked: 16)
    var used: [(DigestClient, DigestAuthorization)] = []
    for _ in 0..<100 {
      var client = DigestServerTests.client()
      let answer = try DigestServerTests.challenged(&client, by: &server)
      #expect(DigestServerTests.check(&server, answer) == .accepted(username: "alice"))
      #expect(server.trackedNonceCount <= 16)
      used.append((client, answer))
    }
    for (_, answer) in used { #expect(DigestServerTests.check(&server, answer) == .challenge(.replayed)) }
    var (client, _) = try #require(used.last)
    let next = try #require(DigestClientTests.next(&client, DigestServerTests.register, "c"))
    #expect(DigestServerTests.check(&server, next) == .accepted(username: "alice"))
  }

  /// Signed URI, Request-URI, whether they name the same.
  @Test(
    arguments: [
      ("sip:bob@example.com", "sip:bob@example.com", true), ("sip:bob@example.com", "sip:bob@EXAMPLE.com", true),
      ("sip:bob@example.com", "SIP:b%6Fb@example.com", true), ("sip:bob@example.com", "sip:Bob@example.com", false),
      ("sip:bob@example.com", "sips:bob@example.com", false), ("sip:bob@example.com", "sip:example.com", false),
      ("sip:-@example.com", "sip:example.com", false), ("sip:example.com", "sip:Example.com", true),
      ("sip:bob@example.com", "sip:bob@example.com:5060", false),
      ("sip:bob@example.com;transport=tcp", "sip:bob@example.com", true),
      ("sip:bob@example.com;transport=tcp", "sip:bob@example.com;transport=UDP", false),
      ("sip:bob@example.com;transport=tcp;lr", "sip:bob@example.com;lr;Transport=TCP", true),
      ("sip:bob@example.com", "sip:bob@example.com;maddr=192.0.2.1", false),
      ("sip:bob@example.com;user=phone", "sip:bob@example.com", false),
      ("sip:bob@example.com?Subject=x", "sip:bob@EXAMPLE.com?Subject=x", false),
      ("tel:+15551230002", "tel:+15551230002", true), ("tel:+15551230002", "tel:+1-5551230002", false),
      ("", "sip:bob@example.com", false), ("sip:bob@example.com;;", "sip:bob@Example.com;;", false),
    ])
  func uriRule(signed: String, requested: String, isSame: Bool) throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client()
    let answer = try client.answer(
      server.challenges(now: DigestServerTests.start).map { DigestField(.userAgent, $0.description) },
      to: DigestRequest(method: "INVITE", uri: signed), previous: nil, cnonce: "c")
    let verdict = DigestServerTests.check(
      &server, answer, DigestRequest(method: "INVITE", uri: requested))
    if isSame {
      #expect(verdict == .accepted(username: "alice"))
    } else if case .malformed(let problem) = verdict {
      #expect(problem.rule == "digest.uri")
    } else {
      Issue.record("\(verdict)")
    }
  }

  /// Weaker than offered is not taken, even if the password is right.
  @Test func biddingDown() throws {
    let strict = try DigestServerTests.server([.sha256])
    for (algorithm, quality, fault) in [
      (DigestAlgorithm.md5, QualityOfProtection?.some(.authentication), DigestFault.algorithm),
      (.sha256, nil, .quality), (.sha256, .authenticationWithIntegrity, .quality),
    ] {
      var server = strict
      let nonce = try #require(DigestServerTests.challenges(&server).first).nonce
      var client = DigestServerTests.client()
      let challenge = DigestChallenge(
        realm: DigestServerTests.realm, nonce: nonce, algorithm: algorithm, qualities: quality.map { [$0] } ?? [])
      let answer = try client.answer(
        [DigestField(.userAgent, challenge.description)], to: DigestServerTests.register, previous: nil, cnonce: "c")
      #expect(DigestServerTests.check(&server, answer) == .challenge(fault))
    }
  }

  @Test func whatElseARequestMayCarry() throws {
    var server = try DigestServerTests.server()
    var client = DigestServerTests.client()
    let right = try #require(try DigestServerTests.challenged(&client, by: &server).fields.first).value
    let foreign = right.replacing("realm=\"carrier", with: "realm=\"other")
    func verdict(_ fields: [String], _ method: String = "REGISTER") -> DigestVerdict {
      var copy = server
      return copy.check(
        fields, of: DigestRequest(method: method, uri: "sip:example.com"), now: DigestServerTests.start,
        password: DigestServerTests.password)
    }
    #expect(verdict([]) == .challenge(.absent))
    #expect(verdict(["Basic dTpw"]) == .challenge(.absent))
    #expect(verdict([foreign]) == .challenge(.absent))
    #expect(verdict([foreign, "Basic dTpw", right]) == .accepted(username: "alice"))
    #expect(verdict(["Digest x", right]) == .accepted(username: "alice"))
    #expect(verdict([right], "ACK") == .notChallenged)
    #expect(verdict([right], "CANCEL") == .notChallenged)
    #expect(verdict(Array(repeating: foreign, count: 8) + [right]) == .challenge(.absent))
    for (fields, rule) in [
      ([right, right], "digest.repeated"), (["Digest x"], "digest.equals"),
      ([right + ", nc=00000001"], "digest.duplicate"),
    ] {
      guard case .malformed(let problem) = verdict(fields) else {
        Issue.record("\(rule)")
        continue
      }
      #expect(problem.rule == rule)
    }
  }

  @Test func aServerNeedsAKeyAndAnAlgorithm() {
    let short = #expect(throws: InvalidValue.self) {
      _ = try DigestServerTests.server(key: Redacted([UInt8](repeating: 1, count: 31)))
    }
    #expect(short?.rule == "digest.key")
    let none = #expect(throws: InvalidValue.self) { _ = try DigestServerTests.server([]) }
    #expect(none?.rule == "digest.offer")
  }

  @Test func challengesAreListedByPreference() throws {
    var server = try DigestServerTests.server([.sha512t256, .sha256, .md5])
    let first = server.challenges(now: DigestServerTests.start)
    #expect(first.map(\.algorithm) == [.sha512t256, .sha256, .md5])
    #expect(Set(first.map(\.nonce)).count == 1)
    #expect(DigestServerTests.challenges(&server).first?.nonce != first.first?.nonce)
  }
}
