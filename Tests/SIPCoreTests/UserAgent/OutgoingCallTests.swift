import CallModel
import SIPCore
import Testing

/// Calls that we place, as ladders. Names of peers are those of ``Ladder``.
@Suite struct OutgoingCallTests {
  /// One race, and what it needs that is not usual.
  struct Race: Sendable, CustomTestStringConvertible {
    let name: String
    var paths = "a"
    var limits = UserAgentLimits.standard
    var change: @Sendable (inout OutgoingCall) -> Void = { _ in }
    let script: String
    var testDescription: String { name }
  }

  static let digest = "Digest realm=\"t\", nonce=\"n1\", algorithm=MD5, qop=\"auth\""
  static let account = DigestAccount(username: "user", password: Redacted("secret"))

  static let races: [Race] = [
    Race(
      name: "a call rings, is answered and hung up; the ACK is repeated",
      script: """
        place
        -> INVITE 1 a [v=0 offer] [Contact: <sip:+15550199@198.51.100.1:5060;transport=tcp>] [User-Agent: Landline]
        <- 100
        == trying
        <- 180 x
        == progress 180
        <- 200 x sdp
        -> ACK 1 a
        == established 'v=0 peer'
        <- 200 x sdp
        -> ACK 1 a
        hangup
        -> BYE 2 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "an answer without a tag; the response to BYE has one, and counts for its request",
      script: """
        place
        -> INVITE 1 a
        <- 200 sdp
        -> ACK 1 a
        == established 'v=0 peer'
        hangup
        -> BYE 2 a
        == ended local
        <- 200 y for BYE
        wait 64000
        """),
    Race(
      name: "the peer hangs up",
      script: """
        place
        -> INVITE 1 a
        <- 200 x sdp
        -> ACK 1 a
        == established 'v=0 peer'
        <- BYE x 1
        -> 200 BYE a
        == ended remote
        wait 64000
        """),
    Race(
      name: "early media: the description of the 2xx counts, else the early one",
      script: """
        place
        -> INVITE 1 a
        <- 183 x sdp
        == trying
        == progress 183 'v=0 peer'
        <- 200 x
        -> ACK 1 a
        == established 'v=0 peer'
        hangup
        -> BYE 2 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "early media: a 2xx that says something else counts",
      script: """
        place
        -> INVITE 1 a
        <- 183 x sdp
        == trying
        == progress 183 'v=0 peer'
        <- 200 x sdp2
        -> ACK 1 a
        == established 'v=0 peer again'
        hangup
        -> BYE 2 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "16 idle minutes, and the peer that took the refreshing on itself is late: its requests are answered",
      script: """
        place
        -> INVITE 1 a [!Session-Expires]
        <- 200 x sdp | Session-Expires: 1800;refresher=uas
        -> ACK 1 a
        == established 'v=0 peer'
        wait 960000
        <- INVITE x 1 sdp2
        == offered 'v=0 peer again'
        answer
        -> 200 INVITE a [v=0 answer]
        <- ACK x 1
        wait 960000
        <- BYE x 2
        -> 200 BYE a
        == ended remote
        wait 64000
        """),
    Race(
      name: "CANCEL waits for a provisional response",
      script: """
        place
        -> INVITE 1 a
        hangup
        <- 100
        -> CANCEL 1 a
        <- 200 for CANCEL
        <- 487 x
        -> ACK 1 a
        == ended local
        wait 64000
        """),
    Race(
      name: "CANCEL crosses the 200",
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        hangup
        -> CANCEL 1 a
        <- 200 x sdp
        -> ACK 1 a
        -> BYE 2 a
        == ended local
        <- 200 for CANCEL
        <- 200 x sdp
        -> ACK 1 a
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "CANCEL that nobody answers ends after 64 T1",
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        hangup
        -> CANCEL 1 a
        wait 31000
        wait 1000
        == ended local
        wait 64000
        """),
    Race(
      name: "two forks answer: the second is acknowledged and ended",
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        <- 180 y
        == progress 180
        <- 200 x sdp
        -> ACK 1 a
        == established 'v=0 peer'
        <- 200 y sdp2
        -> ACK 1 a [tag=y]
        -> BYE 2 a [tag=y]
        <- 200 y sdp2
        -> ACK 1 a [tag=y]
        <- 200 for BYE
        wait 40000
        hangup
        -> BYE 2 a [tag=x]
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "2xx without Contact",
      script: """
        place
        -> INVITE 1 a
        <- 200 x sdp nocontact
        -> ACK 1 a
        -> BYE 2 a
        == ended failed sip.protocol 200
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "2xx without any answer",
      script: """
        place
        -> INVITE 1 a
        <- 200 x
        -> ACK 1 a
        -> BYE 2 a
        == ended failed sip.protocol 200
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "407, and credentials in the ACK and the BYE",
      change: { $0.account = account },
      script: """
        place
        -> INVITE 1 a [!Proxy-Authorization]
        <- 407 x | Proxy-Authenticate: \(digest)
        -> ACK 1 a
        -> INVITE 2 a [Proxy-Authorization: Digest username="user"] [nc=00000001]
        <- 200 y sdp
        -> ACK 2 a [Proxy-Authorization: Digest username="user"] [nc=00000001]
        == established 'v=0 peer'
        hangup
        -> BYE 3 a [Proxy-Authorization: Digest username="user"] [nc=00000002]
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "407 twice: the password is wrong",
      change: { $0.account = account },
      script: """
        place
        -> INVITE 1 a
        <- 407 x | Proxy-Authenticate: \(digest)
        -> ACK 1 a
        -> INVITE 2 a [Proxy-Authorization]
        <- 407 x | Proxy-Authenticate: \(digest)
        -> ACK 2 a
        == ended failed sip.trunkAuth 407
        wait 64000
        """),
    Race(
      name: "407 without a challenge",
      change: { $0.account = account },
      script: """
        place
        -> INVITE 1 a
        <- 407 x
        -> ACK 1 a
        == ended failed sip.trunkAuth 407
        wait 64000
        """),
    Race(
      name: "422 raises the interval",
      change: { $0.sessionTimer = SessionTimerPolicy(interval: 300) },
      script: """
        place
        -> INVITE 1 a [Session-Expires: 300]
        <- 422 x | Min-SE: 600
        -> ACK 1 a
        -> INVITE 2 a [Session-Expires: 600] [Min-SE: 600]
        <- 422 x | Min-SE: 600
        -> ACK 2 a
        == ended failed sip.negotiation 422
        wait 64000
        """),
    Race(
      name: "420 leaves the option out, once",
      script: """
        place
        -> INVITE 1 a [Supported: timer, 100rel]
        <- 420 x | Unsupported: 100rel
        -> ACK 1 a
        -> INVITE 2 a [!100rel]
        <- 420 x | Unsupported: timer
        -> ACK 2 a
        == ended failed sip.negotiation 420
        wait 64000
        """),
    Race(
      name: "3xx is followed in the order of q, each target once",
      change: { $0.maximumRedirections = 2 },
      script: """
        place
        -> INVITE 1 a
        <- 302 x | Contact: <sip:one@example.com>;q=0.2, <sip:two@example.com?Subject=no>;q=0.9 | Contact: <mailto:x@y>
        -> ACK 1 a
        ?? sip:two@example.com
        locate b
        -> INVITE 2 b [INVITE sip:two@example.com SIP/2.0]
        <- 302 x | Contact: <sip:two@example.com>
        -> ACK 2 b
        ?? sip:one@example.com
        locate c
        -> INVITE 3 c [INVITE sip:one@example.com SIP/2.0]
        <- 486 x
        -> ACK 3 c
        == ended failed sip.busy 486
        wait 64000
        """),
    Race(
      name: "credentials do not follow a redirection",
      change: {
        $0.account = account
        $0.maximumRedirections = 1
      },
      script: """
        place
        -> INVITE 1 a
        <- 407 x | Proxy-Authenticate: \(digest)
        -> ACK 1 a
        -> INVITE 2 a [Proxy-Authorization]
        <- 302 x | Contact: <sip:one@example.org>
        -> ACK 2 a
        ?? sip:one@example.org
        locate b
        -> INVITE 3 b [!Proxy-Authorization]
        <- 407 x | Proxy-Authenticate: \(digest)
        -> ACK 3 b
        == ended failed sip.trunkAuth 407
        wait 64000
        """),
    Race(
      name: "3xx is a failure where none is followed",
      script: """
        place
        -> INVITE 1 a
        <- 302 x | Contact: <sip:one@example.com>
        -> ACK 1 a
        == ended failed sip.redirect 302
        wait 64000
        """),
    Race(
      name: "sips is not redirected to sip",
      paths: "t",
      change: {
        $0.maximumRedirections = 2
        $0.target = Ladder.uri("sips:+15550100@example.com")
      },
      script: """
        place
        -> INVITE 1 t [Contact: <sips:]
        <- 302 x | Contact: <sip:one@example.com>
        -> ACK 1 t
        == ended failed sip.redirect 302
        wait 64000
        """),
    Race(
      name: "503 and a lost connection lead to the next path, a busy peer does not",
      paths: "abc",
      script: """
        place
        -> INVITE 1 a
        <- 503 x
        -> ACK 1 a
        -> INVITE 2 b
        lost
        -> INVITE 3 c
        <- 486 x
        -> ACK 3 c
        == ended failed sip.busy 486
        wait 64000
        """),
    Race(
      name: "503 on the last path",
      paths: "ab",
      script: """
        place
        -> INVITE 1 a
        <- 503 x
        -> ACK 1 a
        -> INVITE 2 b
        <- 503 x | Retry-After: 9
        -> ACK 2 b
        == ended failed sip.congestion 503
        wait 64000
        """),
    Race(
      name: "nobody answers on any path",
      paths: "ab",
      script: """
        place
        -> INVITE 1 a
        wait 32000
        -> INVITE 2 b
        wait 32000
        == ended failed sip.transport
        wait 64000
        """),
    Race(
      name: "a silent path is left early, and cancelled when it answers after all",
      paths: "ab", limits: patience(4_000),
      script: """
        place
        -> INVITE 1 a
        wait 4000
        -> INVITE 2 b
        <- 180 z on a
        -> CANCEL 1 a
        <- 180 x on b
        == trying
        == progress 180
        <- 200 for CANCEL on a
        <- 200 z sdp on a
        -> ACK 1 a [tag=z]
        -> BYE 3 a [tag=z]
        <- 200 x sdp2 on b
        -> ACK 2 b
        == established 'v=0 peer again'
        <- 200 for BYE
        hangup
        -> BYE 3 b
        == ended local
        <- 200 for BYE on b
        wait 64000
        """),
    Race(
      name: "a connection that breaks while it rings ends the call",
      paths: "ab",
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        lost
        == ended failed sip.transport
        wait 64000
        """),
    Race(
      name: "nobody takes the call",
      change: { $0.ringTimeoutMilliseconds = 20_000 },
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        wait 20000
        -> CANCEL 1 a [Reason: Q.850;cause=19]
        <- 200 for CANCEL
        <- 487 x
        -> ACK 1 a
        == ended failed sip.noAnswer 487
        wait 64000
        """),
    Race(
      name: "a silent trunk has reached nobody, however short its ring time",
      paths: "u",
      change: { $0.ringTimeoutMilliseconds = 8_000 },
      script: """
        place
        -> INVITE 1 u
        wait 8000
        -> INVITE 1 u
        -> INVITE 1 u
        -> INVITE 1 u
        -> INVITE 1 u
        wait 23999
        -> INVITE 1 u
        -> INVITE 1 u
        wait 1
        == ended failed sip.transport
        wait 64000
        """),
    Race(
      name: "a ring time that is shorter than a silence leaves the next path its own",
      paths: "ab",
      change: { $0.ringTimeoutMilliseconds = 8_000 },
      script: """
        place
        -> INVITE 1 a
        wait 32000
        -> INVITE 2 b
        wait 7000
        <- 180 x
        == trying
        == progress 180
        wait 7999
        wait 1
        -> CANCEL 2 b [Reason: Q.850;cause=19]
        <- 200 for CANCEL
        <- 487 x
        -> ACK 2 b
        == ended failed sip.noAnswer 487
        wait 64000
        """),
    Race(
      name: "nobody says where the next hop lives",
      paths: "",
      change: { $0.ringTimeoutMilliseconds = 8_000 },
      script: """
        place
        ?? sip:+15550100@example.com
        wait 32000
        == ended failed sip.transport
        locate a
        wait 64000
        """),
    Race(
      name: "the ring time begins when it rings",
      change: { $0.ringTimeoutMilliseconds = 8_000 },
      script: """
        place
        -> INVITE 1 a
        <- 100
        == trying
        wait 7000
        <- 180 x
        == progress 180
        wait 7000
        <- 180 y
        == progress 180
        wait 999
        wait 1
        -> CANCEL 1 a [Reason: Q.850;cause=19]
        <- 200 for CANCEL
        <- 487 x
        -> ACK 1 a
        == ended failed sip.noAnswer 487
        wait 64000
        """),
    Race(
      name: "the paths are looked for",
      paths: "",
      script: """
        place
        ?? sip:+15550100@example.com
        locate ab
        -> INVITE 1 a
        lost
        -> INVITE 2 b
        <- 603 x
        -> ACK 2 b
        == ended failed sip.declined 603
        wait 64000
        """),
    Race(
      name: "there are no paths",
      paths: "",
      script: """
        place
        ?? sip:+15550100@example.com
        locate
        == ended failed sip.transport
        wait 64000
        """),
    Race(
      name: "hung up while the paths are looked for",
      paths: "",
      script: """
        place
        ?? sip:+15550100@example.com
        hangup
        == ended local
        locate a
        wait 64000
        """),
    Race(
      name: "late offer: the answer goes in the ACK",
      change: { $0.offer = nil },
      script: """
        place
        -> INVITE 1 a [Content-Length: 0]
        <- 200 x sdp
        == established
        == offered 'v=0 peer'
        <- 200 x sdp
        answer
        -> ACK 1 a [v=0 answer]
        <- 200 x sdp
        -> ACK 1 a [v=0 answer]
        hangup
        -> BYE 2 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "late offer refused",
      change: { $0.offer = nil },
      script: """
        place
        -> INVITE 1 a
        <- 200 x sdp
        == established
        == offered 'v=0 peer'
        refuse
        -> ACK 1 a [Content-Length: 0]
        -> BYE 2 a
        == ended failed sip.media 488
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "late offer, and we hang up instead of answering",
      change: { $0.offer = nil },
      script: """
        place
        -> INVITE 1 a
        <- 200 x sdp
        == established
        == offered 'v=0 peer'
        hangup
        -> ACK 1 a
        -> BYE 2 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "PRACK once for each number, in order",
      script: """
        place
        -> INVITE 1 a [Supported: timer, 100rel]
        <- 183 x sdp | Require: 100rel | RSeq: 7
        == trying
        -> PRACK 2 a [RAck: 7 1 INVITE]
        == progress 183 reliable 'v=0 peer'
        <- 183 x sdp | Require: 100rel | RSeq: 7
        <- 180 x | Require: 100rel | RSeq: 9
        <- 200 for PRACK
        <- 180 x | Require: 100rel | RSeq: 8
        -> PRACK 3 a [RAck: 8 1 INVITE]
        == progress 180 reliable
        <- 200 for PRACK
        <- 200 x
        -> ACK 1 a
        == established 'v=0 peer'
        hangup
        -> BYE 4 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "late offer in a reliable provisional response",
      change: { $0.offer = nil },
      script: """
        place
        -> INVITE 1 a
        <- 183 x sdp | Require: 100rel | RSeq: 1
        == trying
        == progress 183 reliable
        == offered 'v=0 peer'
        answer
        -> PRACK 2 a [v=0 answer]
        <- 200 for PRACK
        <- 200 x
        -> ACK 1 a [Content-Length: 0]
        == established
        hangup
        -> BYE 3 a
        == ended local
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "INVITE over UDP is repeated until a provisional response comes", paths: "u",
      script: """
        place
        -> INVITE 1 u [rport]
        wait 1600
        -> INVITE 1 u
        -> INVITE 1 u
        <- 100
        == trying
        wait 30000
        hangup
        -> CANCEL 1 u
        <- 200 for CANCEL
        <- 487 x
        -> ACK 1 u
        == ended local
        <- 487 x
        -> ACK 1 u
        wait 64000
        """),
    Race(
      name: "the peer hangs up an early dialog, another fork answers",
      script: """
        place
        -> INVITE 1 a
        <- 180 x
        == trying
        == progress 180
        <- BYE x 1
        -> 200 BYE a
        <- 200 y sdp
        -> ACK 1 a [tag=y]
        == established 'v=0 peer'
        <- BYE y 1
        -> 200 BYE a
        == ended remote
        wait 64000
        """),
    Race(
      name: "the call is over before another fork answers",
      script: """
        place
        -> INVITE 1 a
        <- 200 x sdp
        -> ACK 1 a
        == established 'v=0 peer'
        <- BYE x 1
        -> 200 BYE a
        == ended remote
        <- 200 y sdp
        -> ACK 1 a [tag=y]
        -> BYE 2 a [tag=y]
        <- 200 for BYE
        <- 200 x sdp
        -> ACK 1 a [tag=x]
        wait 64000
        """),
    Race(
      name: "a silent peer is left in the time that its caller gives it, and hung up on when it answers after all",
      change: { $0.firstResponseMilliseconds = 1_700 },
      script: """
        place
        -> INVITE 1 a
        wait 1700
        == ended failed sip.transport
        <- 200 x sdp
        -> ACK 1 a [tag=x]
        -> BYE 2 a [tag=x]
        <- 200 for BYE
        wait 64000
        """),
    Race(
      name: "a request too large for UDP goes over TCP, and over UDP where that fails",
      paths: "u",
      change: { $0.offer = MessageBody(sessionDescription: Array(repeating: 0x61, count: 1_200)) },
      script: """
        place
        -> INVITE 1 w [transport=tcp>]
        lost
        -> INVITE 2 u [!transport=tcp]
        <- 404 x
        -> ACK 2 u
        == ended failed sip.unallocated 404
        wait 64000
        """),
  ]

  static func patience(_ milliseconds: Int64) -> UserAgentLimits {
    var limits = UserAgentLimits()
    limits.firstResponseMilliseconds = milliseconds
    return limits
  }

  @Test(arguments: races) func race(_ race: Race) {
    let ladder = Ladder(paths: race.paths, limits: race.limits, race.change)
    ladder.run(race.script)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "left behind: \(ladder.agent.holdings)")
  }

  static let redress = "v=analytics1;url=https://redress.example.com;tel=+12155551212"

  @Test("a block by call analytics is told as one, with the network's redress address", arguments: [603, 608])
  func blocked(_ status: Int) throws {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- \(status) x | Reason: SIP;cause=\(status);text="\(Self.redress)"
      -> ACK 1 a
      == ended failed sip.blocked \(status)
      wait 64000
      """)
    let failure = try #require(ladder.lastEnd?.failure)
    #expect(failure.reasons.first?.text == Self.redress)
    #expect(failure.endCause == .denied && failure.retry == .never)
    #expect(
      failure.redress
        == CallFailure.Redress(
          network: "redress.example.com", url: "https://redress.example.com", telephone: "+12155551212"))
  }

  @Test("608 names whom to turn to in Call-Info (RFC 8688)")
  func redressCard() throws {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- 608 x | Call-Info: <https://block.example.net/complaint.jwt>;purpose=jwscard
      -> ACK 1 a
      == ended failed sip.blocked 608
      wait 64000
      """)
    #expect(ladder.lastEnd?.failure?.redress?.url == "https://block.example.net/complaint.jwt")
    #expect(ladder.lastEnd?.failure?.redress?.network == "block.example.net")
  }

  @Test("a person who declines with 603 is no block")
  func declined() throws {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- 603 x | Reason: Q.850;cause=21;text="call rejected"
      -> ACK 1 a
      == ended failed sip.declined 603
      wait 64000
      """)
    #expect(ladder.lastEnd?.failure?.redress == nil)
  }

  /// A script in which nothing that can be read ends the call, and what the call is told to have failed for.
  struct Unreadable: Sendable {
    let script: String
    let response: UnreadableResponse
  }

  static let unreadableScripts: [Unreadable] = [
    Unreadable(
      script: """
        <- 404 x | CSeq: 1 INVITE
        wait 32000
        == ended failed sip.protocol
        """, response: UnreadableResponse(status: 404, rule: .repeatedHeader)),
    Unreadable(
      script: """
        <- 183 x | Record-Route: <mailto:a@b>
        wait 32000
        == ended failed sip.protocol
        """, response: UnreadableResponse(status: 183, rule: .fieldValue)),
    Unreadable(
      script: """
        <- 200 x sdp | Via: nothing
        wait 32000
        == ended failed sip.protocol
        """, response: UnreadableResponse(status: 200, rule: .via)),
    Unreadable(
      script: """
        <- 180 x
        == trying
        == progress 180
        <- 200 x sdp | CSeq: 1 INVITE
        wait 8000
        -> CANCEL 1 a
        <- 200 for CANCEL
        <- 487 x
        -> ACK 1 a
        == ended failed sip.protocol
        """, response: UnreadableResponse(status: 200, rule: .repeatedHeader)),
  ]

  @Test(
    "a response that cannot be read is told with the rule it breaks, and not as silence",
    arguments: unreadableScripts)
  func unreadable(_ row: Unreadable) throws {
    let ladder = Ladder { $0.ringTimeoutMilliseconds = 8_000 }
    ladder.run("place\n-> INVITE 1 a\n" + row.script + "\nwait 64000")
    let failure = try #require(ladder.lastEnd?.failure)
    #expect(failure.code == .protocolBroken)
    #expect(failure.warning.flatMap(UnreadableResponse.init(warning:)) == row.response)
    #expect(ladder.agent.counters.refusedResponsesByRule == [row.response.rule: 1])
    #expect(ladder.agent.counters.refusedByRule == [row.response.rule: 1] && ladder.agent.counters.refused == 1)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "left behind: \(ladder.agent.holdings)")
  }

  @Test("a response that cannot be read changes nothing where another one can")
  func unreadableAndRead() throws {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- 183 x | CSeq: 1 INVITE
      <- 486 x
      -> ACK 1 a
      == ended failed sip.busy 486
      wait 64000
      """)
    #expect(ladder.lastEnd?.failure?.warning == nil)
    let broken = Ladder()
    broken.run(
      """
      place
      -> INVITE 1 a
      <- 183 x | CSeq: 1 INVITE
      <- 180 x
      == trying
      == progress 180
      lost
      == ended failed sip.transport
      wait 64000
      """)
  }

  /// Every class of the catalogue that a status can mean by itself.
  static let classes: [(status: Int, code: CallFailureCode)] = [
    (486, .busy), (600, .busy), (603, .declined), (607, .blocked), (608, .blocked), (404, .unallocated),
    (484, .unallocated), (604, .unallocated), (480, .unreachable), (410, .unreachable), (408, .unreachable),
    (487, .cancelled), (401, .trunkAuth), (402, .trunkAuth), (403, .trunkAuth), (407, .trunkAuth), (428, .identity),
    (433, .identity), (406, .media), (415, .media), (488, .media), (606, .media), (420, .negotiation),
    (421, .negotiation), (422, .negotiation), (423, .negotiation), (500, .congestion), (502, .congestion),
    (503, .congestion), (504, .congestion), (300, .redirect), (302, .redirect), (380, .redirect), (400, .request),
    (413, .request), (416, .request), (481, .request), (482, .request), (483, .request), (491, .request),
    (499, .request), (501, .server), (513, .server), (599, .server), (699, .global),
  ]

  @Test(arguments: classes) func failure(_ row: (status: Int, code: CallFailureCode)) throws {
    let ladder = Ladder()
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- \(row.status) x | Reason: SIP;cause=\(row.status);text="why" | X-Order: 4711 | Warning: 399 gw "Careful"
      -> ACK 1 a
      == ended failed \(row.code.rawValue) \(row.status)
      wait 64000
      """)
    let end = try #require(ladder.lastEnd)
    let failure = try #require(end.failure)
    #expect(failure.phrase == "Phrase")
    #expect(failure.leg == .trunk)
    #expect(failure.correlationID == ladder.lastSent(.invite)?.callID)
    #expect(failure.warning == "399 Careful")
    #expect(end.reasons.first?.text == "why")
    #expect(end.headers["x-order"] == "4711")
    #expect(!end.wasEstablished)
    #expect(ladder.agent.holdings.values.allSatisfy { $0 == 0 }, "left behind: \(ladder.agent.holdings)")
  }
}
