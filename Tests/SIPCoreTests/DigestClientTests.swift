import CallModel
import SIPCore
import Testing

/// Answering challenges: choice, refusal, loops, realms.
struct DigestClientTests {
  static let invite = DigestRequest(method: "INVITE", uri: "sip:b@example.com", body: Array("v=0".utf8))

  static func client(realm: String? = nil, limits: DigestLimits = .standard) -> DigestClient {
    DigestClient(account: DigestAccount(username: "u", password: Redacted("p"), realm: realm), limits: limits)
  }

  static func challenge(
    _ nonce: String, realm: String = "a", scope: DigestScope = .userAgent, _ more: String = #", qop="auth""#
  ) -> DigestField {
    DigestField(scope, #"Digest realm="\#(realm)", nonce="\#(nonce)"\#(more)"#)
  }

  static func answer(
    _ client: inout DigestClient, _ challenges: [DigestField], after previous: DigestAuthorization? = nil,
    to request: DigestRequest = invite
  ) -> Result<DigestAuthorization, DigestRefusal> {
    Result { () throws(DigestRefusal) in
      try client.answer(challenges, to: request, previous: previous, cnonce: "c")
    }
  }

  static func next(_ client: inout DigestClient, _ request: DigestRequest, _ cnonce: String) -> DigestAuthorization? {
    client.authorization(for: request, cnonce: cnonce)
  }

  static func accept(
    _ client: inout DigestClient, _ information: DigestInformation, scope: DigestScope,
    for authorization: DigestAuthorization
  ) -> Bool {
    client.accept(information, scope: scope, for: authorization)
  }

  static func reason(_ result: Result<DigestAuthorization, DigestRefusal>) -> DigestRefusal.Reason? {
    guard case .failure(let refusal) = result else { return nil }
    #expect(!refusal.description.isEmpty)
    return refusal.reason
  }

  /// Strongest first, whatever the order; of equals the topmost.
  @Test(
    arguments: [
      (["MD5", "SHA-256", "SHA-512-256"], "SHA-512-256"), (["SHA-512-256", "SHA-256", "MD5"], "SHA-512-256"),
      (["SHA-256", "MD5"], "SHA-256"), (["MD5", "sha-256"], "SHA-256"), (["MD5-sess", "MD5"], "MD5-sess"),
      (["MD5", "MD5-sess"], "MD5"), (["X", "MD5", "SHA-256-sess"], "SHA-256-sess"),
    ])
  func choice(offered: [String], chosen: String) throws {
    var client = DigestClientTests.client()
    let fields = offered.map { DigestClientTests.challenge("n", ", algorithm=\($0), qop=\"auth\"") }
    let authorization = try DigestClientTests.answer(&client, fields).get()
    #expect(authorization.entries.map(\.credentials.algorithmToken) == [chosen])
    #expect(authorization.skipped.count == offered.count - 1)
  }

  @Test(
    arguments: [
      (#", qop="auth,auth-int""#, QualityOfProtection.authentication),
      (#", qop="AUTH-INT""#, .authenticationWithIntegrity),
      (#", qop="other, auth-int""#, .authenticationWithIntegrity), (#", qop=auth"#, .authentication),
      (#", qop=" , ""#, nil), ("", nil),
    ])
  func quality(written: String, chosen: QualityOfProtection?) throws {
    var client = DigestClientTests.client()
    let authorization = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n", written)]).get()
    #expect(authorization.entries.map(\.credentials.quality) == [chosen])
  }

  @Test func onlyUnknownQualities() {
    var client = DigestClientTests.client()
    let result = DigestClientTests.answer(&client, [DigestClientTests.challenge("n", #", qop="token""#)])
    #expect(DigestClientTests.reason(result) == .nothingToAnswer)
  }

  @Test func anAccountMayForbidAlgorithms() {
    var client = DigestClient(
      account: DigestAccount(username: "u", password: Redacted("p"), algorithms: [.sha256, .sha512t256]))
    let result = DigestClientTests.answer(&client, [DigestClientTests.challenge("n")])
    #expect(DigestClientTests.reason(result) == .nothingToAnswer)
  }

  /// The same nonce again, or another one to a fresh answer: the password is wrong.
  @Test(arguments: ["n1", "n2"])
  func wrongCredentials(second nonce: String) throws {
    var client = DigestClientTests.client()
    let first = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n1")]).get()
    let again = DigestClientTests.answer(&client, [DigestClientTests.challenge(nonce)], after: first)
    #expect(DigestClientTests.reason(again) == .wrongCredentials(realm: "a"))
    #expect(DigestClientTests.next(&client, DigestClientTests.invite, "c") == nil, "what was refused is forgotten")
  }

  @Test func staleIsTriedOnce() throws {
    var client = DigestClientTests.client()
    let stale = #", qop="auth", stale=TRUE"#
    let first = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n1")]).get()
    let second = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n2", stale)], after: first).get()
    #expect(second.entries.map(\.credentials.nonce) == ["n2"])
    #expect(second.entries.map(\.credentials.nonceCount) == [1])
    let third = DigestClientTests.answer(&client, [DigestClientTests.challenge("n3", stale)], after: second)
    #expect(DigestClientTests.reason(third) == .staleAgain(realm: "a"))
    var other = DigestClientTests.client()
    let unchanged = try DigestClientTests.answer(&other, [DigestClientTests.challenge("n1")]).get()
    let result = DigestClientTests.answer(&other, [DigestClientTests.challenge("n1", stale)], after: unchanged)
    #expect(DigestClientTests.reason(result) == .staleAgain(realm: "a"))
    var refused = DigestClientTests.client()
    let one = try DigestClientTests.answer(&refused, [DigestClientTests.challenge("n1")]).get()
    let two = try DigestClientTests.answer(&refused, [DigestClientTests.challenge("n2", stale)], after: one).get()
    let three = DigestClientTests.answer(&refused, [DigestClientTests.challenge("n3")], after: two)
    #expect(DigestClientTests.reason(three) == .wrongCredentials(realm: "a"))
  }

  /// A nonce of an earlier request may be forgotten without a word: one more try, then the password is wrong.
  @Test func aKeptNonceIsForgotten() throws {
    var client = DigestClientTests.client()
    _ = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n1")]).get()
    let kept = try #require(DigestClientTests.next(&client, DigestClientTests.invite, "d"))
    #expect(kept.entries.map(\.credentials.nonceCount) == [2])
    let answered = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n2")], after: kept).get()
    let again = DigestClientTests.answer(&client, [DigestClientTests.challenge("n3")], after: answered)
    #expect(DigestClientTests.reason(again) == .wrongCredentials(realm: "a"))
  }

  /// A proxy, then the peer behind it: the repeated request carries both, the proxy's count goes on.
  @Test func proxyThenPeer() throws {
    var client = DigestClientTests.client()
    let first = try DigestClientTests.answer(
      &client, [DigestClientTests.challenge("p1", realm: "proxy", scope: .proxy)]
    ).get()
    let second = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n1")], after: first).get()
    #expect(second.entries.map(\.scope) == [.userAgent, .proxy])
    #expect(second.entries.map(\.credentials.nonceCount) == [1, 2])
    #expect(second.rounds == 2)
    let wrong = DigestClientTests.answer(
      &client, [DigestClientTests.challenge("p1", realm: "proxy", scope: .proxy)], after: second)
    #expect(DigestClientTests.reason(wrong) == .wrongCredentials(realm: "proxy"))
  }

  /// A peer in a dialog challenges our BYE in the name of the trunk, or of any other realm.
  @Test func noCredentialsForAForeignRealm() throws {
    var client = DigestClientTests.client(realm: "trunk.example")
    let bye = DigestRequest(method: "BYE", uri: "sip:attacker@192.0.2.66")
    for realm in ["evil", "Trunk.example", "trunk.example ", "trunk.exampl\\e2", ""] {
      for scope in DigestScope.allCases {
        let result = DigestClientTests.answer(
          &client, [DigestClientTests.challenge("n", realm: realm, scope: scope)], to: bye)
        #expect(DigestClientTests.reason(result) == .foreignRealm, "\(realm)")
      }
    }
    #expect(DigestClientTests.next(&client, bye, "c") == nil)
    let both = try DigestClientTests.answer(
      &client,
      [DigestClientTests.challenge("n", realm: "evil"), DigestClientTests.challenge("n", realm: "trunk.example")]
    ).get()
    #expect(both.entries.map(\.credentials.realm) == ["trunk.example"])
    #expect(both.skipped.map(\.reason) == [.foreignRealm])
    // A client of another peer knows nothing of the trunk's account.
    var peer = DigestClient(account: DigestAccount(username: "x", password: Redacted("y"), realm: "peer.example"))
    let leak = DigestClientTests.answer(&peer, [DigestClientTests.challenge("n", realm: "trunk.example")], to: bye)
    #expect(DigestClientTests.reason(leak) == .foreignRealm)
  }

  /// Precomposed and decomposed letters look equal and are different realms.
  @Test func realmsAreComparedByBytes() {
    var client = DigestClientTests.client(realm: "caf\u{E9}")
    let result = DigestClientTests.answer(&client, [DigestClientTests.challenge("n", realm: "cafe\u{301}")])
    #expect(DigestClientTests.reason(result) == .foreignRealm)
  }

  @Test(arguments: ["ACK", "CANCEL"])
  func neverAgain(method: String) {
    var client = DigestClientTests.client()
    let request = DigestRequest(method: method, uri: "sip:b@example.com")
    let result = DigestClientTests.answer(&client, [DigestClientTests.challenge("n")], to: request)
    #expect(DigestClientTests.reason(result) == .methodCannotBeRepeated)
    _ = DigestClientTests.answer(&client, [DigestClientTests.challenge("n")])
    #expect(DigestClientTests.next(&client, request, "c") == nil)
  }

  @Test func nothingToAnswer() {
    var client = DigestClientTests.client()
    #expect(DigestClientTests.reason(DigestClientTests.answer(&client, [])) == .noChallenge)
    for value in ["", "Digest", "Basic realm=\"a\"", "Bearer realm=\"a\"", "Digest realm=\"a\"", "Digest nonce=\"a\""] {
      let result = DigestClientTests.answer(&client, [DigestField(.proxy, value)])
      #expect(DigestClientTests.reason(result) == .nothingToAnswer, "\(value)")
    }
  }

  /// A server that asks for ever, each time for another realm.
  @Test func roundsAndRealmsAreBounded() throws {
    var limits = DigestLimits.standard
    limits.realms = 3
    limits.rounds = 5
    limits.challenges = 4
    var client = DigestClientTests.client(limits: limits)
    var previous: DigestAuthorization?
    for round in 1...5 {
      let authorization = try DigestClientTests.answer(
        &client, [DigestClientTests.challenge("n", realm: "r\(round)")], after: previous
      ).get()
      #expect(authorization.entries.count <= 3)
      previous = authorization
    }
    let result = DigestClientTests.answer(&client, [DigestClientTests.challenge("n", realm: "r6")], after: previous)
    #expect(DigestClientTests.reason(result) == .tooManyRounds)
    let many = try DigestClientTests.answer(
      &client, (0..<9).map { DigestClientTests.challenge("n", realm: "s\($0)") }
    ).get()
    #expect(many.entries.count == 4)
    #expect(many.skipped.map(\.reason) == [.tooMany])
    #expect(DigestClientTests.next(&client, DigestClientTests.invite, "c")?.entries.count == 3)
  }

  /// The key of a -sess algorithm stays as it was while its nonce lives.
  @Test func sessionKeepsItsCnonce() throws {
    var client = DigestClientTests.client()
    let first = try client.answer(
      [DigestClientTests.challenge("n1", ", algorithm=SHA-256-sess, qop=\"auth\"")], to: DigestClientTests.invite,
      previous: nil, cnonce: "first")
    #expect(
      !DigestClientTests.accept(
        &client, try DigestInformation(parsing: "rspauth=\"00\""), scope: .userAgent, for: first))
    #expect(
      DigestClientTests.accept(
        &client, try DigestInformation(parsing: "nextnonce=\"n2\""), scope: .userAgent, for: first))
    let next = try #require(DigestClientTests.next(&client, DigestClientTests.invite, "second")?.entries.first)
    #expect(next.credentials.cnonce == "first")
    #expect(next.credentials.nonce == "n1")
    #expect(next.credentials.nonceCount == 2)
  }

  @Test func theNextNonceNeedsARightProof() throws {
    var client = DigestClientTests.client()
    let first = try DigestClientTests.answer(&client, [DigestClientTests.challenge("n1")]).get()
    let credentials = try #require(first.entries.first).credentials
    let keyHash = try #require(
      DigestComputation.keyHash(
        .md5, username: "u", realm: "a", password: Redacted("p"), nonce: "n1", cnonce: "c"))
    let proof = try #require(
      DigestComputation.response(
        .md5, keyHash: keyHash, request: DigestRequest(method: "", uri: credentials.uri), nonce: "n1",
        quality: .authentication, nonceCount: 1, cnonce: "c"))
    let forged = try DigestInformation(parsing: #"nextnonce="evil", rspauth="\#(credentials.response)", qop=auth"#)
    #expect(!DigestClientTests.accept(&client, forged, scope: .userAgent, for: first))
    let real = try DigestInformation(
      parsing: #"qop=auth, rspauth="\#(proof)", cnonce="c", nc=00000001, nextnonce="n2""#)
    #expect(!DigestClientTests.accept(&client, real, scope: .proxy, for: first))
    #expect(DigestClientTests.accept(&client, real, scope: .userAgent, for: first))
    let next = try #require(DigestClientTests.next(&client, DigestClientTests.invite, "d")?.entries.first)
    #expect(next.credentials.nonce == "n2")
    // The response comes once more, late: the count of n2 goes on.
    #expect(DigestClientTests.accept(&client, real, scope: .userAgent, for: first))
    let later = try #require(DigestClientTests.next(&client, DigestClientTests.invite, "d")?.entries.first)
    #expect(later.credentials.nonceCount == 2)
  }
}
