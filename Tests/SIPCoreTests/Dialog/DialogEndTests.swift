import CallModel
import SIPCore
import Testing

/// How dialogs come up and end.
@Suite("The end of a dialog")
struct DialogEndTests {
  static func hangUp() -> HangUp {
    HangUp(
      reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 16)],
      headers: (try? CustomHeaders([(name: "x-why", value: "done")])) ?? CustomHeaders())
  }

  @Test("2xx, ACK, the same ACK again, BYE")
  func life() {
    let bench = DialogBench()
    let success = TestPeer.response(200, .invite, 1, body: "answer")
    bench.session.confirm(with: success, ackBody: nil)
    bench.session.repeatedSuccess(success)
    bench.session.hangUp(Self.hangUp())
    bench.session.hangUp(Self.hangUp())
    #expect(!bench.session.isFinished)
    bench.response(200, .bye, 2)
    #expect(
      bench.drainLines() == [
        "ack 1", "ack 1", "send BYE 2 Reason=Q.850;cause=16 x-why=done", "event ended local up", "close",
      ])
    #expect(bench.session.isFinished)
  }

  @Test("an ACK that is repeated has the branch of the first, by which peers know that it is the same")
  func repeatedAcknowledgement() {
    let bench = DialogBench()
    bench.context.identifiers = IdentifierSource { .random(in: 0 ... .max) }
    let first = TestPeer.response(200, .invite, 1, body: "answer")
    bench.session.confirm(with: first, ackBody: nil)
    bench.session.repeatedSuccess(first)
    bench.session.repeatedSuccess(first)
    let branches = bench.context.acknowledgementBranches
    #expect(branches.count == 3)
    #expect(Set(branches).count == 1)
    #expect(branches[0].hasPrefix("z9hG4bK"))
  }

  @Test("the target and the routes are those of the 2xx")
  func target() {
    let bench = DialogBench()
    bench.session.confirm(with: TestPeer.response(200, .invite, 1, body: "answer", contact: "other"), ackBody: nil)
    #expect(bench.session.dialog.remoteTarget.user == "other")
  }

  @Test("an offer in the 2xx is answered in the ACK, and only then repeated")
  func lateOffer() {
    let bench = DialogBench(offersFirst: false)
    let success = TestPeer.response(200, .invite, 1, body: "offer")
    bench.session.confirm(withOffer: success, exchange: ExchangeID(9))
    bench.session.repeatedSuccess(success)
    #expect(bench.drainLines() == [])
    bench.session.answer(ExchangeID(9), TestPeer.description("mine"))
    bench.session.repeatedSuccess(success)
    #expect(bench.drainLines() == ["ack 1 [mine]", "ack 1 [mine]"])
  }

  @Test("an offer in the 2xx that is refused costs the call; the ACK comes first")
  func lateOfferRefused() {
    let bench = DialogBench(offersFirst: false)
    bench.session.confirm(withOffer: TestPeer.response(200, .invite, 1, body: "offer"), exchange: ExchangeID(9))
    bench.session.refuse(ExchangeID(9), status: 488, warning: nil)
    #expect(
      bench.drainLines() == ["ack 1", "send BYE 2 Reason=SIP;cause=488", "event ended failed sip.negotiation up"])
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var act: @Sendable (DialogBench) -> Void
    var expected: [String]
    var testDescription: String { name }
  }

  static let byes: [Row] = [
    Row(name: "answered", act: { $0.response(200, .bye, 2) }, expected: ["close"]),
    Row(name: "unknown to the peer", act: { $0.response(481, .bye, 2) }, expected: ["close"]),
    Row(name: "timed out", act: { $0.fail(.bye, .timeout) }, expected: ["close"]),
    Row(name: "not sent", act: { $0.fail(.bye, .transport) }, expected: ["close"]),
    Row(name: "crossed by theirs", act: { $0.request(.bye, 1) }, expected: ["respond 1 200", "close"]),
    Row(
      name: "crossed by a re-INVITE", act: { $0.request(.invite, 1, body: "new") }, expected: ["respond 1 481"]),
    Row(name: "challenged without an account", act: { $0.response(401, .bye, 2) }, expected: ["close"]),
  ]

  @Test("what becomes of our BYE", arguments: byes)
  func bye(_ row: Row) {
    let bench = DialogBench.confirmed()
    bench.session.hangUp(HangUp())
    #expect(bench.drainLines() == ["send BYE 2", "event ended local up"])
    row.act(bench)
    #expect(bench.drainLines() == row.expected)
  }

  @Test("a challenged BYE goes again with credentials and a new number, and is not challenged for ever")
  func challenge() {
    let account = DigestAccount(username: "we", password: Redacted("secret"))
    let bench = DialogBench.confirmed(digest: DigestClient(account: account))
    bench.session.hangUp(HangUp())
    func challenge(_ number: UInt32, _ nonce: String) {
      bench.response(
        407, .bye, number,
        [("Proxy-Authenticate", "Digest realm=\"r\", nonce=\"\(nonce)\", algorithm=MD5, stale=true")])
    }
    challenge(2, "a")
    let again = bench.drainLines().last ?? ""
    #expect(again.hasPrefix("send BYE 3 Proxy-Authorization=Digest username=\"we\""))
    challenge(3, "b")
    challenge(4, "c")
    challenge(5, "d")
    #expect(bench.drainLines().filter { $0.hasPrefix("send") }.count <= 1)
    #expect(bench.session.isFinished)
  }

  @Test("BYE while an offer of the peer waits: 487 to the re-INVITE")
  func byeWithOpenOffer() {
    let bench = DialogBench.confirmed()
    bench.request(.invite, 1, body: "new")
    bench.request(.bye, 2)
    #expect(
      bench.drainLines() == [
        "event offered 1 new", "respond 2 200", "respond 1 487", "event ended remote up", "close",
      ])
    // The layer above answers what is gone already.
    bench.session.answer(ExchangeID(1), TestPeer.description("late"))
    #expect(bench.drainLines() == [])
  }

  @Test("a 2xx to a re-INVITE that comes after BYE gets its ACK")
  func lateSuccess() {
    let bench = DialogBench.confirmed()
    bench.session.offer(ExchangeID(7), TestPeer.description("hold"))
    bench.session.hangUp(HangUp())
    bench.response(200, .invite, 2, body: "held")
    bench.response(200, .bye, 3)
    #expect(
      bench.drainLines() == ["send INVITE 2 [hold]", "send BYE 3", "event ended local up", "ack 2", "close"])
  }

  @Test(
    "481 to a PRACK is no end: the response that it was for may be over, and the call is not", arguments: [true, false])
  func lateAcknowledgement(_ isAnswered: Bool) {
    let bench = DialogBench()
    bench.session.prack(for: TestPeer.response(180, .invite, 1, [("RSeq", "4")]), answer: nil)
    if isAnswered { bench.session.confirm(with: TestPeer.response(200, .invite, 1, body: "answer"), ackBody: nil) }
    bench.response(481, .prack, 2)
    if !isAnswered { bench.session.confirm(with: TestPeer.response(200, .invite, 1, body: "answer"), ackBody: nil) }
    bench.request(.bye, 1)
    #expect(
      bench.drainLines() == [
        "send PRACK 2 RAck=4 1 INVITE", "ack 1", "respond 1 200", "event ended remote up", "close",
      ])
  }

  @Test("481 to a request of the dialog ends the call without a BYE")
  func gone() {
    let bench = DialogBench.confirmed()
    bench.session.handle(.sendInfo(TestPeer.call, MessageBody(contentType: "application/dtmf", bytes: [0x35])))
    bench.response(481, .info, 2)
    #expect(bench.drainLines().dropFirst() == ["event ended failed sip.request up", "close"])
  }

  @Test("requests that wait are bounded")
  func bounded() {
    let bench = DialogBench.confirmed()
    for _ in 0..<40 {
      bench.session.handle(.sendInfo(TestPeer.call, MessageBody(contentType: "application/dtmf", bytes: [0x35])))
    }
    // One is out, the others wait for its answer.
    var sent = 0
    while sent < 40, bench.drainLines().count == 1 {
      sent += 1
      bench.response(200, .info, UInt32(sent) + 1)
    }
    #expect(sent == 1 + bench.context.limits.dialogRequests)
    bench.session.hangUp(HangUp())
    #expect(bench.drainLines().first?.hasPrefix("send BYE") == true)
  }

  @Test("a re-INVITE whose answer never comes is cancelled at the end, or its transaction would stay for ever")
  func leftBehind() {
    let bench = DialogBench.confirmed()
    bench.session.offer(ExchangeID(7), TestPeer.description("hold"))
    bench.session.hangUp(HangUp())
    _ = bench.drainLines()
    bench.response(200, .bye, 3)
    #expect(bench.drainLines() == ["cancel", "close"])
  }
}
