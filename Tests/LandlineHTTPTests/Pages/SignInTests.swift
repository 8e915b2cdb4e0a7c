import AppProtocol
import CallModel
import LandlineHTTP
import LandlineNode
import Testing

/// Who is let in, with which proof, and for how long.
@Suite struct SignInTests {
  static let applications = [
    AppCredentials(
      key: "00000000-0000-4000-8000-000000000001", secret: Redacted("c2VjcmV0LXNlY3JldC1zZQ=="),
      environment: "production", account: AccountName(unchecked: "other")),
    AppCredentials(
      key: "00000000-0000-4000-8000-000000000002", secret: Redacted("YW5vdGhlci1zZWNyZXQtcw=="),
      environment: "production", account: AccountName(unchecked: "acme")),
  ]
  static let own = ("Sec-Fetch-Site", "same-origin")

  /// Signs in and gives the cookie as a browser sends it back.
  static func cookie(_ kit: RESTKit, _ key: String) async throws -> (String, String) {
    let answer = try await kit.send("POST", "/v1/sign-in", as: key)
    #expect(answer.status == 200)
    let cookie = try #require(answer.headers["set-cookie"])
    return ("Cookie", String(cookie.prefix { $0 != ";" }))
  }

  @Test func theCookieIsForOurOwnPagesAlone() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    let answer = try await kit.send("POST", "/v1/sign-in", as: "operator")
    let me = try await kit.send("GET", "/v1/me")
    #expect(answer.tree == me.tree)
    #expect(
      me.text
        == #"{"role":"operator","environment":"production","account":null,"actor":"rest:alice","development":false,"phone":true,"payer":"other","currency":null}"#
    )
    let cookie = try #require(answer.headers["set-cookie"])
    let parts = cookie.split(separator: "; ").map(String.init)
    #expect(Array(parts.dropFirst()) == ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=28800"])
    let value = try #require(parts.first?.split(separator: "=").last)
    // 256 bits in Base64url, which no cookie's grammar objects to.
    #expect(value.utf8.count == 43)
    #expect(value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    #expect(answer.headers["cache-control"] == "no-store")
    #expect(!answer.text.contains(value))
    await kit.close()
  }

  /// Everything that a page may be given, by what stands for its reader.
  @Test func whatEachRoleMayReach() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    try await kit.makeAccount("acme", credit: "1")
    try await kit.makeAccount("other")
    // route: operator, owner, application, nobody
    let table: [(String, String, String?, [Int])] = [
      ("GET", "/v1/me", nil, [200, 200, 200, 401]), ("GET", "/v1/accounts", nil, [200, 200, 200, 401]),
      ("GET", "/v1/accounts/acme", nil, [200, 200, 200, 401]),
      ("GET", "/v1/accounts/other", nil, [200, 404, 404, 401]),
      ("GET", "/v1/accounts/acme/history", nil, [200, 200, 200, 401]),
      ("GET", "/v1/accounts/other/history", nil, [200, 404, 404, 401]),
      ("GET", "/v1/calls", nil, [200, 200, 200, 401]), ("GET", "/v1/calls?account=other", nil, [200, 404, 404, 401]),
      ("GET", "/v1/live-calls", nil, [200, 200, 200, 401]), ("GET", "/v1/trunks", nil, [200, 403, 403, 401]),
      ("GET", "/v1/numbers", nil, [200, 200, 200, 401]),
      ("GET", "/v1/status", nil, [200, 403, 403, 401]),
      ("POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, [201, 403, 403, 401]),
      ("POST", "/v1/accounts/acme/lock", nil, [200, 403, 403, 401]),
      ("POST", "/v1/accounts", #"{"name":"new","currency":"EUR"}"#, [201, 403, 403, 401]),
      ("POST", "/v1/phone-registrations", "{}", [201, 201, 201, 401]),
      ("POST", "/v1/phone-registrations", #"{"account":"other"}"#, [201, 404, 404, 401]),
      ("POST", "/v1/phone-registrations", #"{"user":"alice"}"#, [403, 403, 403, 401]),
      ("GET", "/v1/users/alice", nil, [200, 200, 404, 401]),
      ("DELETE", "/v1/live-calls/none", nil, [404, 404, 404, 401]),
    ]
    for (method, uri, body, statuses) in table {
      for (role, status) in zip(["operator", "owner", "app", "nobody"], statuses) {
        let who = role == "nobody" ? nil : role
        let byKey = try await kit.send(method, uri, body, key: "k-\(uri.count)", as: who)
        #expect(byKey.status == status, "\(method) \(uri) with the key of \(role)")
        // An application has no page's session: its proof is a signature.
        guard role == "operator" || role == "owner" else { continue }
        let cookie = try await Self.cookie(kit, role)
        let byCookie = try await kit.send(
          method, uri, body, key: "k-\(uri.count)", as: nil, fields: [cookie, Self.own])
        #expect(byCookie.status == status, "\(method) \(uri) with the cookie of \(role)")
      }
    }
    let owner = try await kit.send("GET", "/v1/me", as: "owner")
    #expect(
      owner.text
        == #"{"role":"owner","environment":"production","account":"acme","actor":"owner:ann","development":false,"phone":true,"payer":"acme","currency":"EUR"}"#
    )
    #expect(try await kit.send("GET", "/v1/accounts", as: "owner").tree["accounts"]?.elements.count == 1)
    await kit.close()
  }

  @Test func onlyAPageOfThisHostActsWithTheCookie() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    let cookie = try await Self.cookie(kit, "operator")
    let host = "127.0.0.1"
    // The host of requests inside the process is given with each.
    let rows: [([(String, String)], Int)] = [
      ([], 403), ([("Sec-Fetch-Site", "same-origin")], 201), ([("Sec-Fetch-Site", "same-site")], 403),
      ([("Sec-Fetch-Site", "cross-site")], 403), ([("Sec-Fetch-Site", "none")], 403),
      ([("Sec-Fetch-Site", "cross-site"), ("Origin", "http://\(host)")], 403),
      ([("Origin", "null")], 403), ([("Origin", "https://evil.example")], 403),
      ([("Origin", "http://\(host):3000")], 403),
    ]
    for (fields, status) in rows {
      let answer = try await kit.send("POST", "/v1/phone-registrations", "{}", as: nil, fields: [cookie] + fields)
      #expect(answer.status == status, "\(fields)")
      if status == 403 { #expect(answer.code == "auth.crossSite") }
      // Reading does nothing, and no other page can see the answer.
      #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [cookie] + fields).status == 200, "\(fields)")
      // Whoever has the key has no need of the cookie.
      let byKey = try await kit.send("POST", "/v1/phone-registrations", "{}", fields: fields)
      #expect(byKey.status == 201, "\(fields)")
    }
    let refused = try await kit.send("DELETE", "/v1/sign-in", as: nil, fields: [cookie])
    #expect(refused.status == 403)
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [cookie]).status == 200)
    let out = try await kit.send("DELETE", "/v1/sign-in", as: nil, fields: [cookie, Self.own])
    #expect(out.status == 204)
    #expect(out.headers["set-cookie"] == "landline=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [cookie]).status == 401)
    #expect(try await kit.send("DELETE", "/v1/sign-in", as: nil).status == 204)
    await kit.close()
  }

  @Test func aCookieThatWasNotGivenIsNone() async throws {
    let kit = try await RESTKit()
    let (_, good) = try await Self.cookie(kit, "operator")
    let forged = [
      "landline=", "landline", "landline=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", String(good.dropLast()),
      good + "A", good.replacing("landline=", with: "Landline="), good.replacing("landline=", with: "xlandline="),
      "landline=" + String(repeating: "A", count: 4000),
      Array(repeating: "landline=x", count: 5).joined(separator: "; ") + "; " + good,
    ]
    for cookie in forged {
      let answer = try await kit.send("GET", "/v1/me", as: nil, fields: [("Cookie", cookie)])
      #expect(answer.status == 401, "\(cookie.prefix(80))")
    }
    // A neighbour on the same host set one of the same name, and other cookies stand beside.
    for cookie in ["landline=x; \(good)", "a=b; \(good); c=d", "a=\"b\";\(good)"] {
      #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [("Cookie", cookie)]).status == 200, "\(cookie)")
    }
    // An Authorization field counts alone.
    #expect(try await kit.send("GET", "/v1/me", as: "wrong", fields: [("Cookie", good)]).status == 401)
    await kit.close()
  }

  @Test func aSessionEnds() async throws {
    let kit = try await RESTKit()
    let idle = try await Self.cookie(kit, "operator")
    kit.clock.advance(seconds: 7199)
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [idle]).status == 200)
    kit.clock.advance(seconds: 7200)
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [idle]).status == 401)
    let busy = try await Self.cookie(kit, "operator")
    for _ in 0..<7 {
      kit.clock.advance(seconds: 3600)
      #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [busy]).status == 200)
    }
    kit.clock.advance(seconds: 3600)
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [busy]).status == 401)
    // Signing in again ends the one before.
    let first = try await Self.cookie(kit, "operator")
    let again = try await kit.send("POST", "/v1/sign-in", as: "operator", fields: [first])
    #expect(again.status == 200)
    #expect(again.headers["set-cookie"]?.hasPrefix(first.1) == false)
    #expect(try await kit.send("GET", "/v1/me", as: nil, fields: [first]).status == 401)
    await kit.close()
  }

  @Test func aKeyThatIsTakenAwayEndsItsSessions() async throws {
    let keys = [OperatorKeys.Key(environment: "production", name: "alice", key: Redacted("one"))]
    let digest = RESTService.digest(Array("one".utf8))
    let sessions = PageSessions(draw: { .random(in: 0 ... .max) })
    let now = Instant(seconds: 1_000_000)
    let id = PageSessions.ID(sessions.begin(.key(digest), at: now))
    guard case .key(let kept)? = sessions.use(id, at: now)?.ground else {
      Issue.record("the session stands on its key")
      return
    }
    #expect(await OperatorKeys(keys).principal(ofKey: kept)?.actor == "rest:alice")
    #expect(await OperatorKeys([]).principal(ofKey: kept) == nil)
    let owner = OperatorKeys.Key(
      environment: "production", name: "ann", account: AccountName(unchecked: "acme"), key: Redacted("two"))
    let principal = await OperatorKeys(keys + [owner]).principal(ofKey: RESTService.digest(Array("two".utf8)))
    #expect(principal == FakeAuthenticator.owner)
  }

  @Test func sessionsAreBounded() {
    let sessions = PageSessions(draw: { .random(in: 0 ... .max) })
    let start = Instant(seconds: 1_000_000)
    let first = PageSessions.ID(sessions.begin(.development("x"), at: start))
    let second = PageSessions.ID(sessions.begin(.development("x"), at: start))
    for index in 0..<PageSessions.maximumSessions {
      let now = start.advanced(byMilliseconds: Int64(index + 1))
      #expect(sessions.use(first, at: now) != nil)
      _ = sessions.begin(.development("x"), at: now)
    }
    #expect(sessions.count == PageSessions.maximumSessions)
    // The one that nobody used made room.
    #expect(sessions.use(second, at: start) == nil)
    #expect(sessions.use(first, at: start) != nil)
  }

  @Test func wrongKeysAreLimitedAndTheLimitIsNoOracle() async throws {
    let kit = try await RESTKit()
    for _ in 0..<SignInGate.burst {
      let answer = try await kit.send("POST", "/v1/sign-in", as: "wrong")
      #expect(answer.status == 401)
      #expect(answer.headers["set-cookie"] == nil)
    }
    for key in ["wrong", "operator"] {
      let answer = try await kit.send("POST", "/v1/sign-in", as: key)
      #expect(answer.status == 429)
      #expect(answer.headers["retry-after"] == "6")
      #expect(
        answer.text
          == #"{"type":"/errors/auth.attempts","title":"There were too many attempts to sign in","status":429,"detail":"too many attempts from this address","instance":"/v1/sign-in","code":"auth.attempts","fix":"wait as long as Retry-After says","retryable":true}"#
      )
    }
    kit.clock.advance(seconds: 6)
    // Good keys cost nothing.
    for _ in 0..<20 { #expect(try await kit.send("POST", "/v1/sign-in", as: "operator").status == 200) }
    await kit.close()
  }

  @Test func peersAreToldApartAndTheirTableIsBounded() {
    let gate = SignInGate()
    let now = Instant(seconds: 1_000_000)
    func exhaust(_ peer: String?) { for _ in 0..<SignInGate.burst { #expect(gate.countTry(by: peer, at: now) == nil) } }
    exhaust("192.0.2.1")
    #expect(gate.countTry(by: "192.0.2.1", at: now) == 6)
    #expect(gate.countTry(by: "192.0.2.2", at: now) == nil)
    // A network of IPv6 is one peer, however its address is written.
    exhaust("2001:db8:1:2::1")
    #expect(gate.countTry(by: "2001:db8:1:2:ffff:ffff:ffff:ffff", at: now) == 6)
    #expect(gate.countTry(by: "2001:db8:1:3::1", at: now) == nil)
    exhaust("::1")
    #expect(gate.countTry(by: "::2", at: now) == 6)
    exhaust(nil)
    #expect(gate.countTry(by: nil, at: now) == 6)
    // The clock was set back by an hour: nobody waits longer than everything taken.
    let earlier = now.advanced(byMilliseconds: -3_600_000)
    #expect(gate.countTry(by: "192.0.2.1", at: earlier).map { $0 <= 6 } ?? true)
    for index in 0..<SignInGate.maximumPeers * 2 {
      _ = gate.countTry(by: "10.\(index / 65536).\(index / 256 % 256).\(index % 256)", at: now)
    }
    #expect(gate.peerCount <= SignInGate.maximumPeers + 1)
    // Strangers share one place then, and it is used up.
    #expect(gate.countTry(by: "203.0.113.9", at: now) != nil)
    // Later everybody has a place again.
    let later = now.advanced(byMilliseconds: 120_000)
    #expect(gate.countTry(by: "203.0.113.9", at: later) == nil)
  }

  @Test func aPhoneGetsATokenThatItsGatewayTakes() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    try await kit.makeAccount("acme")
    let cookie = try await Self.cookie(kit, "owner")
    let answer = try await kit.send("POST", "/v1/phone-registrations", "{}", as: nil, fields: [cookie, Self.own])
    #expect(answer.status == 201)
    #expect(answer.tree["account"] == .string("acme"))
    #expect(answer.tree["application_key"] == .string(Self.applications[1].key))
    let user = try #require(answer.tree["user"]?.stringValue)
    #expect(user == "web-ann")
    let token = try #require(answer.tree["token"]?.stringValue)
    let secret = Self.applications[1].secret.exposed
    let read = try #require(
      ApplicationToken(
        token, application: Self.applications[1].key, user: user, secret: secret, clock: kit.clock.now))
    #expect(read.instanceExpiresAt.map { $0 > kit.clock.now } == true)
    for offset: Int64 in [0, 200] {
      let clock = kit.clock.now.advanced(byMilliseconds: offset * 1000)
      #expect(
        ApplicationToken(
          token, application: Self.applications[1].key, user: user, secret: secret, clock: clock) != nil)
    }
    let late = kit.clock.now.advanced(byMilliseconds: 400_000)
    #expect(
      ApplicationToken(token, application: Self.applications[1].key, user: user, secret: secret, clock: late) == nil)
    // The same browser is the same device, another is another; the cookie cannot be told from it.
    let same = try await kit.send("POST", "/v1/phone-registrations", "{}", as: nil, fields: [cookie, Self.own])
    #expect(same.tree["device"] == answer.tree["device"])
    #expect(same.tree["token"] != answer.tree["token"])
    let other = try await Self.cookie(kit, "owner")
    let second = try await kit.send("POST", "/v1/phone-registrations", "{}", as: nil, fields: [other, Self.own])
    #expect(second.tree["device"] != answer.tree["device"])
    await kit.close()
  }

  @Test func withoutAnApplicationThereIsNoPhone() async throws {
    let kit = try await RESTKit(applications: [Self.applications[0]])
    try await kit.makeAccount("acme")
    #expect(try await kit.send("GET", "/v1/me", as: "owner").tree["phone"] == .boolean(false))
    let answer = try await kit.send("POST", "/v1/phone-registrations", "{}", as: "owner")
    #expect(answer.status == 409)
    #expect(
      answer.text
        == #"{"type":"/errors/phone.application","title":"No application can carry the phone","status":409,"detail":"no application pays with acme","instance":"/v1/phone-registrations","code":"phone.application","fix":"an application with this account in the environment's configuration","retryable":false}"#
    )
    await kit.close()
  }

  @Test func aVisitorIsToldWhoHeIsAndNeverRefused() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    let stranger = try await kit.send("GET", "/v1/sign-in", as: nil)
    #expect(stranger.status == 200)
    #expect(stranger.text == #"{"me":null,"development":false}"#)
    let cookie = try await Self.cookie(kit, "operator")
    let known = try await kit.send("GET", "/v1/sign-in", as: nil, fields: [cookie])
    #expect(known.tree["me"] == (try await kit.send("GET", "/v1/me").tree))
    #expect(try await kit.send("GET", "/v1/sign-in", as: "wrong").tree["me"] == .null)
    await kit.close()
  }

  @Test func withoutPagesNobodySignsIn() async throws {
    let kit = try await RESTKit(pages: .none, signsInLocally: true)
    for (method, uri) in [("POST", "/v1/sign-in"), ("DELETE", "/v1/sign-in"), ("GET", "/"), ("GET", "/landline.js")] {
      #expect(try await kit.send(method, uri, as: nil).status == 404, "\(method) \(uri)")
    }
    #expect(try await kit.send("GET", "/v1/me").status == 200)
    await kit.close()
  }
}
