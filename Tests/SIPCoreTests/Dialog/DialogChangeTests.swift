import CallModel
import SIPCore
import Testing

/// Changes of the session by both sides, their races, and session timers.
@Suite("Changes inside a dialog")
struct DialogChangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var isCaller = true
    var act: @Sendable (DialogBench) -> Void
    var expected: [String]
    var testDescription: String { name }
  }

  static let offer: @Sendable (DialogBench) -> Void = {
    $0.session.offer(ExchangeID(7), TestPeer.description("hold"))
  }

  static let ours: [Row] = [
    Row(
      name: "accepted", act: { $0.response(200, .invite, 2, body: "held") },
      expected: ["ack 2", "event answered 7 held"]),
    Row(name: "refused", act: { $0.response(488, .invite, 2) }, expected: ["event offerRefused 7 488"]),
    Row(
      name: "accepted without an answer", act: { $0.response(200, .invite, 2) },
      expected: ["ack 2", "event offerRefused 7 488"]),
    Row(
      name: "repeated 2xx",
      act: { bench in
        bench.response(200, .invite, 2, body: "held")
        bench.session.repeatedSuccess(TestPeer.response(200, .invite, 2, body: "held"))
      }, expected: ["ack 2", "event answered 7 held", "ack 2"]),
    Row(
      name: "the peer knows no such dialog", act: { $0.response(481, .invite, 2) },
      expected: ["event ended failed sip.request up", "close"]),
    Row(
      name: "a proxy timed out", act: { $0.response(408, .invite, 2) },
      expected: ["send BYE 3 Reason=SIP;cause=408", "event ended failed sip.unreachable up"]),
    Row(
      name: "timed out", act: { $0.fail(.invite, .timeout) },
      expected: ["send BYE 3 Reason=SIP;cause=408", "event ended failed sip.unreachable up"]),
    Row(name: "not sent", act: { $0.fail(.invite, .transport) }, expected: ["event offerRefused 7 503"]),
    Row(
      name: "491, and again after at least 2.1 seconds",
      act: { bench in
        bench.response(491, .invite, 2)
        bench.pass(2_099)
        bench.context.note("later")
        bench.pass(1_901)
      }, expected: ["later", "send INVITE 3 [hold]"]),
    Row(
      name: "491 to the side that was called: again within 2 seconds", isCaller: false,
      act: { bench in
        bench.response(491, .invite, 2)
        bench.pass(2_000)
      }, expected: ["send INVITE 3 [hold]"]),
    Row(
      name: "491, and theirs comes while ours waits: ours gives way and is not sent again",
      act: { bench in
        bench.response(491, .invite, 2)
        bench.request(.invite, 1, body: "new")
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.acknowledge(1)
        bench.pass(4_000)
      }, expected: ["event offered 1 new", "event offerRefused 7 491", "respond 1 200 [mine]"]),
    Row(
      name: "491 for ever",
      act: { bench in
        for number in UInt32(2)...20 {
          bench.response(491, .invite, number)
          bench.pass(4_000)
        }
      },
      expected: (3...7).map { "send INVITE \($0) [hold]" } + ["event offerRefused 7 491"]),
    Row(
      name: "500 with Retry-After",
      act: { bench in
        bench.response(500, .invite, 2, [("Retry-After", "9")])
        bench.pass(8_999)
        bench.context.note("later")
        bench.pass(1)
      }, expected: ["later", "send INVITE 3 [hold]"]),
    Row(
      name: "422 where no timer runs that could be raised", act: { $0.response(422, .invite, 2, [("Min-SE", "3600")]) },
      expected: ["event offerRefused 7 422"]),
    Row(
      name: "a second offer meanwhile",
      act: { $0.session.offer(ExchangeID(8), TestPeer.description("resume")) }, expected: ["event offerRefused 8 491"]),
    Row(
      name: "theirs meanwhile", act: { $0.request(.invite, 1, body: "new") }, expected: ["respond 1 491"]),
    Row(
      name: "their UPDATE meanwhile", act: { $0.request(.update, 1, body: "new") }, expected: ["respond 1 491"]),
    Row(
      name: "their UPDATE without offer meanwhile", act: { $0.request(.update, 1) }, expected: ["respond 1 200"]),
    Row(
      name: "no final response: cancelled, then given up",
      act: { bench in
        bench.pass(32_000)
        bench.context.note("later")
        bench.pass(32_000)
      },
      expected: [
        "cancel", "later", "send BYE 3 Reason=SIP;cause=408", "event ended failed sip.unreachable up",
      ]),
    Row(
      name: "cancelled, and refused for it",
      act: { bench in
        bench.pass(32_000)
        bench.response(487, .invite, 2)
      }, expected: ["cancel", "event offerRefused 7 487"]),
  ]

  @Test("what becomes of our re-INVITE", arguments: ours)
  func own(_ row: Row) {
    let bench = DialogBench.confirmed(isCaller: row.isCaller)
    Self.offer(bench)
    #expect(bench.drainLines() == ["send INVITE 2 [hold]"])
    row.act(bench)
    #expect(bench.drainLines() == row.expected)
  }

  static let theirs: [Row] = [
    Row(
      name: "answered and acknowledged",
      act: { bench in
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.acknowledge(1)
        bench.pass(60_000)
      }, expected: ["respond 1 200 [mine]"]),
    Row(
      name: "answered and repeated until the ACK",
      act: { bench in
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.pass(1_500)
        bench.acknowledge(1)
        bench.acknowledge(1)
        bench.pass(60_000)
      }, expected: ["respond 1 200 [mine]", "repeat 200", "repeat 200"]),
    Row(
      name: "refused with a warning", act: { $0.session.refuse(ExchangeID(1), status: 488, warning: "no codec") },
      expected: ["respond 1 488 Warning=399 us.example \"no codec\""]),
    Row(
      name: "cancelled", act: { $0.session.cancelled(TransactionID(1), TestPeer.request(.cancel, 1)) },
      expected: ["respond 1 487", "event offerRefused 1 487"]),
    Row(
      name: "never answered above", act: { $0.pass(20_000) },
      expected: ["respond 1 500", "event offerRefused 1 500"]),
    Row(
      name: "a second one meanwhile", act: { $0.request(.invite, 2, body: "newer") },
      expected: ["respond 2 500 Retry-After=5"]),
    Row(
      name: "UPDATE meanwhile", act: { $0.request(.update, 2, body: "newer") },
      expected: ["respond 2 500 Retry-After=5"]),
    Row(
      name: "the next before the ACK",
      act: { bench in
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.request(.invite, 2, body: "newer")
      }, expected: ["respond 1 200 [mine]", "respond 2 491"]),
    Row(
      name: "ours waits for the ACK",
      act: { bench in
        DialogChangeTests.offer(bench)
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.context.note("ack")
        bench.acknowledge(1)
      }, expected: ["respond 1 200 [mine]", "ack", "send INVITE 2 [hold]"]),
    Row(
      name: "hanging up waits for the ACK",
      act: { bench in
        bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
        bench.session.hangUp(HangUp())
        bench.context.note("ack")
        bench.acknowledge(1)
      }, expected: ["respond 1 200 [mine]", "event ended local up", "ack", "send BYE 2"]),
  ]

  @Test("what becomes of their re-INVITE", arguments: theirs)
  func peer(_ row: Row) {
    let bench = DialogBench.confirmed()
    bench.request(.invite, 1, body: "new")
    #expect(bench.drainLines() == ["event offered 1 new"])
    row.act(bench)
    #expect(bench.drainLines() == row.expected)
  }

  @Test("without an ACK in 32 seconds the call ends with BYE")
  func unacknowledged() {
    let bench = DialogBench.confirmed()
    bench.request(.invite, 1, body: "new")
    bench.session.answer(ExchangeID(1), TestPeer.description("mine"))
    bench.pass(31_999)
    _ = bench.drainLines()
    bench.pass(1)
    #expect(
      bench.drainLines() == ["send BYE 2 Reason=SIP;cause=408", "event ended failed sip.transport up"])
  }

  @Test("a re-INVITE without offer: our offer in the 200, their answer in the ACK")
  func late() {
    let bench = DialogBench.confirmed()
    bench.request(.invite, 1)
    bench.session.answer(ExchangeID(1), TestPeer.description("full"))
    bench.acknowledge(1, body: "theirs")
    #expect(bench.drainLines() == ["event offered 1 none", "respond 1 200 [full]", "event answered 1 theirs"])
  }

  @Test("422: the next try asks for the interval that the peer takes")
  func interval() {
    let bench = DialogBench.confirmed(timer: 1800, fields: [("Session-Expires", "1800;refresher=uac")])
    Self.offer(bench)
    bench.response(422, .invite, 2, [("Min-SE", "3600")])
    #expect(
      bench.drainLines() == [
        "send INVITE 2 Session-Expires=1800;refresher=uac [hold]",
        "send INVITE 3 Session-Expires=3600;refresher=uac Min-SE=3600 [hold]",
      ])
  }

  @Test("a refused re-INVITE moves no target, an accepted one does")
  func target() {
    let bench = DialogBench.confirmed()
    bench.request(.invite, 1, body: "new", contact: "moved")
    bench.session.refuse(ExchangeID(1), status: 488, warning: nil)
    #expect(bench.session.dialog.remoteTarget.user == "peer")
    bench.request(.update, 2, contact: "moved")
    #expect(bench.session.dialog.remoteTarget.user == "moved")
  }

  static let refreshes: [(name: String, fields: [(String, String)], expected: [String])] = [
    (
      "we refresh by UPDATE",
      [("Session-Expires", "1800;refresher=uac"), ("Allow", "INVITE, UPDATE")],
      ["send UPDATE 2 Session-Expires=1800;refresher=uac"]
    ),
    (
      "we refresh by re-INVITE, the description unchanged", [("Session-Expires", "1800;refresher=uac")],
      ["send INVITE 2 Session-Expires=1800;refresher=uac [offer]"]
    ),
    ("they refresh", [("Session-Expires", "1800;refresher=uas")], []),
  ]

  @Test("half the interval", arguments: refreshes.indices)
  func refresh(_ index: Int) {
    let row = Self.refreshes[index]
    let bench = DialogBench.confirmed(timer: 1800, fields: row.fields)
    bench.pass(900_000)
    #expect(bench.drainLines() == row.expected, "\(row.name)")
  }

  @Test("a session that they do not refresh ends with BYE before it expires")
  func expiry() {
    let bench = DialogBench.confirmed(timer: 1800, fields: [("Session-Expires", "1800;refresher=uas")])
    bench.pass(1_767_999)
    #expect(bench.drainLines() == [])
    bench.pass(1)
    #expect(
      bench.drainLines() == ["send BYE 2 Reason=SIP;cause=408", "event ended failed sip.unreachable up"])
  }

  @Test("a refresh that the peer refuses as UPDATE goes as re-INVITE; its answer counts where it is another")
  func fallback() {
    let bench = DialogBench.confirmed(
      timer: 1800, fields: [("Session-Expires", "1800;refresher=uac"), ("Allow", "UPDATE")])
    bench.pass(900_000)
    bench.response(501, .update, 2)
    bench.response(200, .invite, 3, [("Session-Expires", "1800;refresher=uac")], body: "answer")
    #expect(
      bench.drainLines() == [
        "send UPDATE 2 Session-Expires=1800;refresher=uac",
        "send INVITE 3 Session-Expires=1800;refresher=uac [offer]", "ack 3",
      ])
  }

  @Test("their refresh keeps the session alive")
  func refreshed() {
    let bench = DialogBench.confirmed(timer: 1800, fields: [("Session-Expires", "1800;refresher=uas")])
    bench.pass(1_700_000)
    bench.request(.update, 1, [("Session-Expires", "1800;refresher=uac"), ("Supported", "timer")])
    bench.pass(1_700_000)
    #expect(bench.drainLines() == ["respond 1 200 Session-Expires=1800;refresher=uac Require=timer"])
  }

  @Test("before the answer an offer goes as UPDATE, once the first exchange is complete")
  func early() {
    let bench = DialogBench()
    Self.offer(bench)
    #expect(bench.drainLines() == [])
    bench.session.prack(
      for: TestPeer.response(183, .invite, 1, [("RSeq", "4"), ("Allow", "UPDATE, PRACK")], body: "answer"),
      answer: nil)
    #expect(bench.drainLines() == ["send PRACK 2 RAck=4 1 INVITE"])
    bench.response(200, .prack, 2)
    #expect(bench.drainLines() == ["send UPDATE 3 [hold]"])
    bench.response(200, .update, 3, body: "held")
    #expect(bench.drainLines() == ["event answered 7 held"])
  }

  @Test("transfer of ours: 202, reports, the last one ends it")
  func transfer() {
    let bench = DialogBench.confirmed()
    bench.session.handle(.transfer(TestPeer.call, to: NameAddress(TestPeer.uri("bob"))))
    bench.response(202, .refer, 2)
    func report(_ number: UInt32, _ state: String, _ line: String) {
      bench.request(
        .notify, number, [("Event", "refer"), ("Subscription-State", state)], body: line, type: "message/sipfrag")
    }
    report(1, "active;expires=60", "SIP/2.0 180 Ringing\r\n")
    report(2, "terminated;reason=noresource", "SIP/2.0 200 OK\r\n")
    report(3, "terminated", "SIP/2.0 200 OK\r\n")
    #expect(
      bench.drainLines() == [
        "send REFER 2 Refer-To=<sip:bob@peer.example>", "event transferProgress 100", "respond 1 200",
        "event transferProgress 180", "respond 2 200", "event transferProgress 200", "respond 3 481",
      ])
  }

  @Test("transfer of theirs: reported, accepted, told how it goes")
  func transferRequested() {
    let bench = DialogBench.confirmed(allowsTransfer: true)
    bench.request(.refer, 1, [("Refer-To", "<sip:bob@x.example?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2>")])
    bench.request(.refer, 2, [("Refer-To", "<sip:bob@x.example>")])
    bench.session.handle(.acceptTransfer(TestPeer.call))
    bench.session.handle(.reportTransfer(TestPeer.call, status: 180))
    bench.session.handle(.reportTransfer(TestPeer.call, status: 200))
    bench.session.handle(.reportTransfer(TestPeer.call, status: 200))
    let lines = bench.drainLines()
    #expect(
      lines.map { $0.replacing("\r\n", with: "") } == [
        "event transferRequested bob a;to-tag=1;from-tag=2", "respond 2 403", "respond 1 202",
        "send NOTIFY 2 Event=refer;id=1 Subscription-State=active;expires=300 [SIP/2.0 100 Trying]",
        "send NOTIFY 3 Event=refer;id=1 Subscription-State=active;expires=300 [SIP/2.0 180 Ringing]",
        "send NOTIFY 4 Event=refer;id=1 Subscription-State=terminated;reason=noresource [SIP/2.0 200 OK]",
      ])
  }
}
