import CallModel
import SIPCore
import Testing

/// Random lives of a dialog: what holds whatever comes in whatever order.
@Suite("Storms inside a dialog")
struct DialogStormTests {
  /// Numbers from a seed.
  private struct Dice {
    var state: UInt64

    mutating func roll(_ sides: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % sides
    }
  }

  @Test(
    "one end, one final response for each request, no deadline that stands still", arguments: 0..<150 as Range<UInt64>)
  func storm(_ seed: UInt64) {
    var dice = Dice(state: seed &* 7919 &+ 1)
    let bench = DialogBench.confirmed(
      timer: 90, allowsTransfer: true,
      fields: [
        ("Session-Expires", "90;refresher=\(dice.roll(2) == 0 ? "uac" : "uas")"),
        ("Allow", dice.roll(2) == 0 ? "INVITE, UPDATE" : "INVITE"),
      ])
    var number: UInt32 = 0
    var lines: [String] = []
    let methods: [SIPMethod] = [.invite, .update, .info, .refer, .notify, .options, .prack]
    let statuses = [200, 200, 200, 488, 491, 500, 481, 408, 422, 180]
    for _ in 0..<60 {
      switch dice.roll(9) {
      case 0, 1:
        number += 1
        let method = methods[Int(dice.roll(UInt64(methods.count)))]
        bench.request(
          method, number, method == .refer ? [("Refer-To", "<sip:b@x.example>")] : [],
          body: dice.roll(2) == 0 ? "new" : nil)
      case 2:
        let method = [SIPMethod.invite, .update, .notify, .refer][Int(dice.roll(4))]
        bench.response(
          statuses[Int(dice.roll(UInt64(statuses.count)))], method, bench.session.dialog.localSequence,
          [("Min-SE", "120"), ("Retry-After", "2")], body: dice.roll(2) == 0 ? "answer" : nil)
      case 3: bench.session.offer(ExchangeID(dice.roll(8)), TestPeer.description("hold"))
      case 4: bench.session.answer(ExchangeID(dice.roll(20) + 1), TestPeer.description("mine"))
      case 5: bench.acknowledge(number, body: dice.roll(2) == 0 ? "theirs" : nil)
      case 6: bench.pass(Int64(dice.roll(20_000)))
      case 7: bench.fail([.invite, .update, .notify][Int(dice.roll(3))], dice.roll(2) == 0 ? .timeout : .transport)
      default:
        bench.session.handle(
          dice.roll(2) == 0 ? .acceptTransfer(TestPeer.call) : .reportTransfer(TestPeer.call, status: 200))
      }
      lines += bench.drainLines()
    }
    bench.session.hangUp(HangUp())
    bench.pass(100_000)
    bench.fail(.bye, .timeout)
    lines += bench.drainLines()

    let finals = lines.filter { $0.hasPrefix("respond ") }.compactMap { $0.split(separator: " ").dropFirst().first }
    let missing = (1...max(1, bench.served)).filter { transaction in
      bench.served > 0 && finals.filter { $0 == String(transaction) }.count != 1
    }
    #expect(missing.isEmpty, "seed \(seed): \(lines.joined(separator: "\n"))")
    #expect(lines.filter { $0.hasPrefix("event ended") }.count == 1, "seed \(seed)")
    #expect(lines.filter { $0 == "close" }.count == 1, "seed \(seed)")
    #expect(lines.last == "close" || lines.last?.hasPrefix("respond") == true, "seed \(seed)")
    #expect(bench.session.isFinished && bench.session.nextDeadline == nil, "seed \(seed)")
    #expect(!bench.isStuck, "seed \(seed)")
  }

  @Test("a strict router takes the place of the target, a loose one does not", arguments: [true, false])
  func routes(_ isLoose: Bool) {
    let bench = DialogBench.confirmed()
    var proxy = TestPeer.uri("proxy")
    if isLoose { proxy.parameters = [SIPParameter("lr")] }
    bench.session.dialog.routeSet = [NameAddress(proxy)]
    bench.session.hangUp(HangUp())
    let sent = bench.context.lastRequest
    #expect(sent?.uri.user == (isLoose ? "peer" : "proxy"))
    #expect(sent?.routes.first?.uri.user == (isLoose ? "proxy" : "peer"))
  }

  @Test("a challenged re-INVITE goes again, and its ACK carries the credentials")
  func challenge() {
    let account = DigestAccount(username: "we", password: Redacted("secret"))
    let bench = DialogBench.confirmed(digest: DigestClient(account: account))
    bench.session.offer(ExchangeID(7), TestPeer.description("hold"))
    bench.response(401, .invite, 2, [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", algorithm=MD5")])
    bench.response(200, .invite, 3, body: "held")
    let lines = bench.drainLines()
    #expect(lines.map { $0.prefix(13) } == ["send INVITE 2", "send INVITE 3", "ack 3 Authori", "event answere"])
  }
}
