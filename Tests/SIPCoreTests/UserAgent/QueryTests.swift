import CallModel
import SIPCore
import Testing

/// OPTIONS and REGISTER of ours.
@Suite struct QueryTests {
  static let challenge = "WWW-Authenticate: Digest realm=\"t\", nonce=\"n1\", algorithm=MD5, qop=\"auth\""
  static let account = DigestAccount(username: "user", password: Redacted("secret"))

  struct Ping: Sendable, CustomTestStringConvertible {
    let name: String
    var paths = "a"
    var limits = UserAgentLimits.standard
    let script: String
    var testDescription: String { name }
  }

  static let pings: [Ping] = [
    Ping(
      name: "answered",
      script: """
        -> OPTIONS 1 a [Accept: application/sdp] [Contact:]
        <- 200 x for OPTIONS
        == query 200
        """),
    Ping(
      name: "challenged",
      script: """
        -> OPTIONS 1 a
        <- 401 x for OPTIONS | \(challenge)
        -> OPTIONS 2 a [Authorization: Digest username="user"]
        <- 200 y for OPTIONS
        == query 200
        """),
    Ping(
      name: "a wrong password is not tried again",
      script: """
        -> OPTIONS 1 a
        <- 401 x for OPTIONS | \(challenge)
        -> OPTIONS 2 a
        <- 401 y for OPTIONS | \(challenge)
        == query 401
        """),
    Ping(
      name: "the next path after 503, a lost connection and silence", paths: "abca",
      script: """
        -> OPTIONS 1 a
        <- 503 x for OPTIONS
        -> OPTIONS 2 b
        lost
        -> OPTIONS 3 c
        wait 32000
        -> OPTIONS 4 a
        wait 32000
        == query none timeout
        """),
    Ping(
      name: "the next path after a short silence", paths: "ab", limits: OutgoingCallTests.patience(3_000),
      script: """
        -> OPTIONS 1 a
        wait 3000
        -> OPTIONS 2 b
        <- 404 x for OPTIONS
        == query 404
        """),
    Ping(
      name: "nowhere to go", paths: "",
      script: """
        ?? sip:example.com
        locate
        == query none transport
        """),
    Ping(
      name: "looked for", paths: "",
      script: """
        ?? sip:example.com
        locate b
        -> OPTIONS 1 b
        <- 200 x for OPTIONS
        == query 200
        """),
  ]

  @Test(arguments: pings) func ping(_ ping: Ping) {
    let ladder = Ladder(limits: ping.limits)
    var plan = OutgoingQuery(
      target: Ladder.uri("sip:example.com"), paths: Ladder.paths(ping.paths),
      from: NameAddress(Ladder.uri("sip:gateway@example.net")))
    plan.account = QueryTests.account
    ladder.command(.ping(QueryID(1), plan))
    ladder.run(ping.script)
    ladder.advance(64_000)
    #expect(ladder.drainLines().isEmpty)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "left behind: \(ladder.agent.holdings)")
  }

  @Test func theAllowOfAnAnswerIsReported() {
    let ladder = Ladder()
    let plan = OutgoingQuery(
      target: Ladder.uri("sip:example.com"), paths: Ladder.paths("a"),
      from: NameAddress(Ladder.uri("sip:gateway@example.net")))
    var effects: [UserAgentEffect] = []
    ladder.agent.handle(.ping(QueryID(1), plan), at: ladder.now, into: &effects)
    guard case .send(_, let path, let message)? = effects.first, let transaction = message.transaction else {
      Issue.record("nothing was sent")
      return
    }
    #expect(path == Ladder.paths["a"])
    effects.removeAll()
    ladder.agent.transportFailed(transaction, at: ladder.now.advanced(byMilliseconds: 7), into: &effects)
    guard case .event(.queryAnswered(_, let outcome))? = effects.first else {
      Issue.record("no outcome")
      return
    }
    #expect(outcome.failure == .transport)
    #expect(outcome.status == nil)
    #expect(outcome.roundTripMilliseconds == 7)
  }

  struct Register: Sendable, CustomTestStringConvertible {
    let name: String
    var paths = "a"
    let script: String
    var testDescription: String { name }
  }

  static let bound = "Contact: <sip:trunk@198.51.100.1:5060;transport=tcp>;expires=600"

  static let registers: [Register] = [
    Register(
      name: "registered, refreshed and removed",
      script: """
        == registering
        -> REGISTER 1 a [Expires: 3600] [sip:trunk@198.51.100.1:5060]
        <- 401 x for REGISTER | \(challenge)
        -> REGISTER 2 a [Authorization: Digest username="user"]
        <- 200 y for REGISTER | \(bound)
        == registered 600
        wait 541000
        -> REGISTER 3 a [nc=00000002]
        <- 200 y for REGISTER | \(bound)
        == registered 600
        unregister
        -> REGISTER 4 a [Expires: 0]
        <- 200 y for REGISTER
        == unregistered
        """),
    Register(
      name: "wrong credentials are final",
      script: """
        == registering
        -> REGISTER 1 a
        <- 401 x for REGISTER | \(challenge)
        -> REGISTER 2 a
        <- 401 x for REGISTER | \(challenge)
        == registration failed credentials
        wait 7200000
        """),
    Register(
      name: "the next path, and a later try when none answers", paths: "ab",
      script: """
        == registering
        -> REGISTER 1 a
        lost
        -> REGISTER 1 b
        lost
        == retrying unreachable
        wait 31000
        == registering
        -> REGISTER 2 a
        <- 200 y for REGISTER | \(bound)
        == registered 600
        unregister
        -> REGISTER 3 a
        <- 200 y for REGISTER
        == unregistered
        """),
    Register(
      name: "the registrar is looked for again", paths: "",
      script: """
        ?? sip:example.com
        locate
        == retrying unreachable
        wait 30000
        ?? sip:example.com
        locate a
        == registering
        -> REGISTER 1 a
        <- 403 x for REGISTER
        == registration failed refused
        """),
  ]

  @Test(arguments: registers) func register(_ register: Register) {
    let ladder = Ladder()
    let plan = OutgoingRegistration(
      registrar: Ladder.uri("sip:example.com"), paths: Ladder.paths(register.paths),
      address: NameAddress(Ladder.uri("sip:trunk@example.com")), contactUser: "trunk", account: QueryTests.account)
    ladder.command(.register(QueryID(1), plan))
    ladder.run(register.script)
    ladder.advance(64_000)
    #expect(ladder.drainLines().isEmpty)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "left behind: \(ladder.agent.holdings)")
  }
}
