import CallModel
import SIPCore
import Testing

/// Calls that come in, from the INVITE to the ACK.
@Suite("Calls that come in")
struct IncomingCallTests {
  final class Bench {
    let context: RecordingContext
    let machine: IncomingCallMachine
    private var nextTransaction: UInt64 = 1
    /// The tag that the drawn zeros make.
    let tag: String

    init(
      _ fields: [(String, String)] = [], body: String? = "offer", contact: String? = "peer",
      type: String = "application/sdp", reliability: OutgoingCall.Reliability = .supported, timer: UInt32? = nil
    ) {
      context = RecordingContext(
        draw: 3,
        configuration: UserAgentConfiguration(
          addresses: [], acceptsCalls: true, sessionTimer: SessionTimerPolicy(interval: timer),
          reliability: reliability))
      tag = context.identifiers.token()
      machine = IncomingCallMachine(
        call: TestPeer.call,
        invite: TestPeer.request(.invite, 1, fields, body: body, type: type, contact: contact, toTag: nil),
        transaction: TransactionID(1), from: TestPeer.path, context: context)
      machine.start()
    }

    func request(_ method: SIPMethod, _ number: UInt32, _ fields: [(String, String)] = [], body: String? = nil) {
      nextTransaction += 1
      (machine.successor ?? machine).receive(
        TestPeer.request(method, number, fields, body: body, toTag: tag), TransactionID(nextTransaction),
        from: TestPeer.path)
    }

    func acknowledge(body: String? = nil) {
      (machine.successor ?? machine).receive(
        acknowledgement: TestPeer.request(.ack, 1, body: body, toTag: tag), from: TestPeer.path)
    }

    /// Requests of the caller so far, the INVITE among them.
    var served: Int { Int(nextTransaction) }

    func handle(_ command: UserAgentCommand) { (machine.successor ?? machine).handle(command) }

    func ring(_ status: Int = 180, body: String? = nil) {
      handle(.ring(TestPeer.call, status: status, body: body.map(TestPeer.description), headers: CustomHeaders()))
    }

    func accept(_ body: String? = "answer") {
      handle(.accept(TestPeer.call, body: body.map(TestPeer.description), headers: CustomHeaders()))
    }

    func cancel() { machine.cancelled(TransactionID(1), TestPeer.request(.cancel, 1, [("Reason", "SIP;cause=200")])) }

    func pass(_ milliseconds: Int64) {
      let end = context.now.advanced(byMilliseconds: milliseconds)
      var rounds = 0
      while let deadline = machine.nextDeadline, deadline <= end, rounds < 1000 {
        rounds += 1
        context.now = max(context.now, deadline)
        machine.advance()
      }
      context.now = end
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var bench: @Sendable () -> Bench
    var act: @Sendable (Bench) -> Void = { _ in }
    var expected: [String]
    var testDescription: String { name }
  }

  static let refusals: [Row] = [
    Row(name: "no Contact", bench: { Bench(contact: nil) }, expected: ["respond 1 400"]),
    Row(
      name: "unknown requirement", bench: { Bench([("Require", "replaces")]) },
      expected: ["respond 1 420 Unsupported=replaces"]),
    Row(name: "body of another type", bench: { Bench(type: "text/plain") }, expected: ["respond 1 415"]),
    Row(
      name: "too short an interval", bench: { Bench([("Session-Expires", "60"), ("Supported", "timer")]) },
      expected: ["respond 1 422 Min-SE=90"]),
    Row(
      name: "reliable responses required of a peer without", bench: { Bench(reliability: .required) },
      expected: ["respond 1 421 Require=100rel"]),
  ]

  @Test("refused before anybody hears of it", arguments: refusals)
  func refused(_ row: Row) {
    let bench = row.bench()
    #expect(bench.context.drainLines() == row.expected)
    #expect(bench.machine.isFinished)
  }

  static let calls: [Row] = [
    Row(
      name: "rings, answers, is acknowledged", bench: { Bench() },
      act: { bench in
        bench.ring()
        bench.accept()
        bench.acknowledge()
        bench.acknowledge()
        bench.pass(40_000)
      },
      expected: ["respond 1 180", "respond 1 200 [answer]", "event established"]),
    Row(
      name: "the 200 is repeated until the ACK", bench: { Bench() },
      act: { bench in
        bench.accept()
        bench.pass(1_500)
        bench.acknowledge()
      }, expected: ["respond 1 200 [answer]", "repeat 200", "repeat 200", "event established"]),
    Row(
      name: "no offer: ours in the 200, theirs in the ACK", bench: { Bench(body: nil) },
      act: { bench in
        bench.accept("mine")
        bench.acknowledge(body: "theirs")
      }, expected: ["respond 1 200 [mine]", "event established", "event answered 1 theirs"]),
    Row(
      name: "no offer and no answer in the ACK", bench: { Bench(body: nil) },
      act: { bench in
        bench.accept("mine")
        bench.acknowledge()
      },
      expected: [
        "respond 1 200 [mine]", "event established", "event offerRefused 1 488",
        "send BYE 1 Reason=SIP;cause=488", "event ended failed sip.negotiation up",
      ]),
    Row(
      name: "early media stands in for the answer", bench: { Bench() },
      act: { bench in
        bench.ring(183, body: "early")
        bench.accept(nil)
      }, expected: ["respond 1 183 [early]", "respond 1 200 [early]"]),
    Row(
      name: "accepted without a description at all", bench: { Bench() }, act: { $0.accept(nil) },
      expected: ["respond 1 500", "close", "event ended failed gw.internal"]),
    Row(
      name: "reliable where both can: the 200 waits for the PRACK",
      bench: { Bench([("Supported", "100rel")]) },
      act: { bench in
        bench.ring(183, body: "early")
        bench.accept("early")
        bench.context.note("prack")
        bench.request(.prack, 2, [("RAck", "4 1 INVITE")])
      },
      expected: [
        "respond 1 183 Require=100rel RSeq=4 [early]", "prack", "respond 2 200", "respond 1 200 [early]",
      ]),
    Row(
      name: "reliable and no PRACK: 504 after 32 seconds", bench: { Bench([("Require", "100rel")], reliability: .off) },
      act: { bench in
        bench.ring()
        bench.pass(600)
        bench.context.note("later")
        bench.pass(31_400)
        let lines = bench.context.drainLines()
        for line in lines.prefix(3) + lines.suffix(3) { bench.context.note(line) }
      },
      expected: [
        "respond 1 180 Require=100rel RSeq=4", "respond 1 180 Require=100rel RSeq=4", "later",
        "respond 1 504", "event ended failed sip.congestion", "close",
      ]),
    Row(
      name: "our offer in a reliable 183, answered in the PRACK",
      bench: { Bench([("Supported", "100rel")], body: nil) },
      act: { bench in
        bench.ring(183, body: "mine")
        bench.request(.prack, 2, [("RAck", "4 1 INVITE")], body: "theirs")
        bench.accept("mine")
      },
      expected: [
        "respond 1 183 Require=100rel RSeq=4 [mine]", "respond 2 200", "event answered 1 theirs", "respond 1 200",
      ]),
    Row(
      name: "rejected with everything", bench: { Bench() },
      act: { bench in
        bench.handle(
          .reject(
            TestPeer.call,
            Rejection(
              486, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 17)], warning: "no", retryAfterSeconds: 9)
          )
        )
      },
      expected: [
        "respond 1 486 Reason=Q.850;cause=17 Retry-After=9 Warning=399 us.example \"no\"", "close",
        "event ended local",
      ]),
    Row(
      name: "redirected", bench: { Bench() },
      act: { bench in
        let contacts = ["a", "b"].map { NameAddress(TestPeer.uri($0)) }
        bench.handle(.reject(TestPeer.call, Rejection(302, contacts: contacts)))
      }, expected: ["respond 1 302 contacts=2", "close", "event ended local"]),
    Row(
      name: "hung up before the answer", bench: { Bench() },
      act: { $0.handle(.hangUp(TestPeer.call, HangUp())) },
      expected: ["respond 1 480", "close", "event ended local"]),
    Row(
      name: "declined by a person", bench: { Bench() },
      act: { bench in
        let reason = CallFailure.Reason(protocolName: "SIP", cause: 603)
        bench.handle(.hangUp(TestPeer.call, HangUp(reasons: [reason])))
      }, expected: ["respond 1 603 Reason=SIP;cause=603", "close", "event ended local"]),
    Row(
      name: "cancelled", bench: { Bench() }, act: { $0.cancel() },
      expected: ["respond 1 487", "close", "event ended remote SIP 200"]),
    Row(
      name: "cancelled after the answer: no effect", bench: { Bench() },
      act: { bench in
        bench.accept()
        bench.cancel()
        bench.acknowledge()
      }, expected: ["respond 1 200 [answer]", "event established"]),
    Row(
      name: "accepted after the cancellation: no effect", bench: { Bench() },
      act: { bench in
        bench.cancel()
        bench.accept()
      }, expected: ["respond 1 487", "close", "event ended remote SIP 200"]),
    Row(
      name: "BYE before the answer", bench: { Bench() }, act: { $0.request(.bye, 2) },
      expected: ["respond 2 200", "respond 1 487", "event ended remote", "close"]),
    Row(
      name: "a second INVITE before the answer", bench: { Bench() }, act: { $0.request(.invite, 2, body: "x") },
      expected: ["respond 2 500 Retry-After=3"]),
    Row(
      name: "Expires", bench: { Bench([("Expires", "20")]) }, act: { $0.pass(20_000) },
      expected: ["respond 1 487", "close", "event ended failed sip.noAnswer"]),
    Row(
      name: "rings on and on", bench: { Bench() },
      act: { bench in
        bench.ring()
        bench.pass(300_000)
      },
      expected: Array(repeating: "respond 1 180", count: 5) + [
        "respond 1 480", "close", "event ended failed sip.noAnswer",
      ]),
    Row(
      name: "no ACK", bench: { Bench() },
      act: { bench in
        bench.accept()
        bench.pass(32_000)
        let lines = bench.context.drainLines()
        for line in lines where !line.hasPrefix("repeat") { bench.context.note(line) }
      },
      expected: [
        "respond 1 200 [answer]", "send BYE 1 Reason=SIP;cause=408", "event ended failed sip.transport",
      ]),
    Row(
      name: "hung up before the ACK", bench: { Bench() },
      act: { bench in
        bench.accept()
        bench.handle(.hangUp(TestPeer.call, HangUp()))
        bench.context.note("ack")
        bench.acknowledge()
      }, expected: ["respond 1 200 [answer]", "event ended local", "ack", "send BYE 1"]),
    Row(
      name: "the caller cannot be reached any more", bench: { Bench() },
      act: { $0.machine.failed(TransactionID(1), .transport) },
      expected: ["respond 1 503", "close", "event ended failed sip.transport"]),
    Row(
      name: "a session timer that the caller wants",
      bench: { Bench([("Session-Expires", "1800;refresher=uac"), ("Supported", "timer")], timer: 1800) },
      act: { $0.accept() },
      expected: ["respond 1 200 Session-Expires=1800;refresher=uac Require=timer [answer]"]),
  ]

  @Test("one call", arguments: calls)
  func call(_ row: Row) {
    let bench = row.bench()
    #expect(bench.context.drainLines().first?.hasPrefix("event incoming peer") == true)
    row.act(bench)
    #expect(bench.context.drainLines() == row.expected)
  }

  @Test(
    "whatever comes in whatever order: one end, one final response for each request",
    arguments: 0..<150 as Range<UInt64>)
  func storm(_ seed: UInt64) {
    var state = seed &* 7919 &+ 1
    func roll(_ sides: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % sides
    }
    let bench = Bench(
      roll(2) == 0 ? [("Supported", "100rel")] : [], body: roll(3) == 0 ? nil : "offer", timer: 90)
    var number: UInt32 = 1
    var sequence = 4
    for _ in 0..<40 {
      switch roll(10) {
      case 0: bench.ring(roll(2) == 0 ? 180 : 183, body: roll(2) == 0 ? "early" : nil)
      case 1: bench.accept(roll(4) == 0 ? nil : "answer")
      case 2: bench.acknowledge(body: roll(2) == 0 ? "theirs" : nil)
      case 3 where roll(4) == 0: bench.cancel()
      case 4, 5:
        number += 1
        bench.request(.prack, number, [("RAck", "\(sequence) 1 INVITE")], body: roll(4) == 0 ? "new" : nil)
        sequence += Int(roll(2))
      case 6:
        number += 1
        bench.request([.update, .invite, .options, .info][Int(roll(4))], number, body: roll(2) == 0 ? "new" : nil)
      case 7:
        (bench.machine.successor ?? bench.machine).answer(ExchangeID(roll(6) + 1), TestPeer.description("mine"))
      case 8: bench.pass(Int64(roll(15_000)))
      default: if roll(8) == 0 { bench.handle(.hangUp(TestPeer.call, HangUp())) }
      }
    }
    bench.handle(.hangUp(TestPeer.call, HangUp()))
    bench.pass(400_000)
    let last = bench.machine.successor ?? bench.machine
    last.failed(bench.context.transaction(.bye), .timeout)
    let lines = bench.context.drainLines()
    let finals = lines.compactMap { line -> Substring? in
      let parts = line.split(separator: " ")
      guard parts.count > 2, parts[0] == "respond", let status = Int(parts[2]), status >= 200 else { return nil }
      return parts[1]
    }
    let wrong = (1...bench.served).filter { transaction in finals.filter { $0 == String(transaction) }.count != 1 }
    #expect(wrong.isEmpty, "seed \(seed): \(wrong)\n\(lines.joined(separator: "\n"))")
    #expect(lines.filter { $0.hasPrefix("event ended") }.count == 1, "seed \(seed)")
    #expect(lines.filter { $0 == "close" }.count == 1, "seed \(seed)")
    #expect(lines.filter { $0 == "event established" }.count <= 1, "seed \(seed)")
    #expect(bench.machine.isFinished && bench.machine.nextDeadline == nil, "seed \(seed)")
  }
}
