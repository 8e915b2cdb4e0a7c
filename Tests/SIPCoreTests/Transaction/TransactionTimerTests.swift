import SIPCore
import TestVectors
import Testing

/// The four machines of RFC 3261 section 17 to the millisecond.
struct TransactionTimerTests {
  enum Step: Sendable {
    /// The peer answers our request.
    case receive(Int)
    /// We answer the peer's request.
    case answer(Int)
    /// The peer's request comes again.
    case again
    case acknowledge
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let transport: SIPTransport
    var steps: [(at: Int64, Step)] = []
    let expected: [String]
    var testDescription: String { "\(name), \(transport)" }
  }

  static func times(_ times: [String], _ what: String) -> [String] { times.map { "\($0) \(what)" } }

  static let doubling = ["0", "500", "1500", "3500", "7500", "15500", "31500"]
  static let capped = [
    "0", "500", "1500", "3500", "7500", "11500", "15500", "19500", "23500", "27500", "31500",
  ]

  static let inviteClientRows: [Row] = [
    Row(
      name: "A and B: no answer", transport: .udp,
      expected: times(doubling, "send INVITE") + ["32000 failed timeout", "32000 ended"]),
    Row(name: "B: no answer", transport: .tcp, expected: ["0 send INVITE", "32000 failed timeout", "32000 ended"]),
    Row(name: "B: no answer", transport: .tls, expected: ["0 send INVITE", "32000 failed timeout", "32000 ended"]),
    Row(
      name: "a provisional response ends A and B", transport: .udp,
      steps: [(700, .receive(100)), (900, .receive(180)), (90_000, .receive(180)), (91_000, .receive(200))],
      expected: [
        "0 send INVITE", "500 send INVITE", "700 response 100", "900 response 180", "90000 response 180",
        "91000 response 200", "91000 ended",
      ]),
    Row(
      name: "D: a failure is acknowledged each time", transport: .udp,
      steps: [(100, .receive(486)), (600, .receive(486)), (32_000, .receive(486)), (32_100, .receive(486))],
      expected: [
        "0 send INVITE", "100 send ACK", "100 response 486", "600 send ACK", "32000 send ACK", "32100 ended",
      ]),
    Row(
      name: "D is zero", transport: .tcp, steps: [(100, .receive(180)), (200, .receive(503)), (300, .receive(503))],
      expected: ["0 send INVITE", "100 response 180", "200 send ACK", "200 response 503", "200 ended"]),
    Row(
      name: "M: further 2xx reach the dialogs", transport: .udp,
      steps: [(100, .receive(200)), (600, .receive(200)), (900, .receive(180)), (950, .receive(486))],
      expected: ["0 send INVITE", "100 response 200", "100 ended", "600 late 200"]),
  ]

  static let clientRows: [Row] = [
    Row(
      name: "E and F: no answer", transport: .udp,
      expected: times(capped, "send OPTIONS") + ["32000 failed timeout", "32000 ended"]),
    Row(name: "F: no answer", transport: .tcp, expected: ["0 send OPTIONS", "32000 failed timeout", "32000 ended"]),
    Row(
      name: "E is T2 behind a provisional response", transport: .udp,
      steps: [(600, .receive(100)), (5000, .receive(100)), (14_000, .receive(200))],
      expected: [
        "0 send OPTIONS", "500 send OPTIONS", "600 response 100", "1500 send OPTIONS", "5000 response 100",
        "5500 send OPTIONS", "9500 send OPTIONS", "13500 send OPTIONS", "14000 response 200", "19000 ended",
      ]),
    Row(
      name: "K absorbs responses", transport: .udp,
      steps: [(100, .receive(404)), (200, .receive(404)), (5099, .receive(404))],
      expected: ["0 send OPTIONS", "100 response 404", "5100 ended"]),
    Row(
      name: "K is zero", transport: .tls, steps: [(100, .receive(200)), (200, .receive(200))],
      expected: ["0 send OPTIONS", "100 response 200", "100 ended"]),
  ]

  static let inviteServerRows: [Row] = [
    Row(
      name: "100 after 200 ms; copies get the last response", transport: .udp,
      steps: [(150, .again), (300, .again), (400, .answer(180)), (500, .again), (600, .answer(200))],
      expected: [
        "0 request INVITE", "200 send 100", "300 send 100", "400 send 180", "500 send 180", "600 send 200", "600 ended",
      ]),
    Row(
      name: "no 100 behind an answer", transport: .tcp, steps: [(199, .answer(183)), (40_000, .answer(200))],
      expected: ["0 request INVITE", "199 send 183", "40000 send 200", "40000 ended"]),
    Row(
      name: "L absorbs copies and passes ACKs", transport: .udp,
      steps: [(100, .answer(200)), (600, .again), (700, .acknowledge), (32_099, .again)],
      expected: ["0 request INVITE", "100 send 200", "100 ended", "700 acknowledgement"]),
    Row(
      name: "behind L it is a new INVITE", transport: .udp, steps: [(100, .answer(200)), (32_101, .again)],
      expected: [
        "0 request INVITE", "100 send 200", "100 ended", "32101 request INVITE", "32301 send 100",
      ]),
    Row(
      name: "G and H: no ACK", transport: .udp, steps: [(0, .answer(486))],
      expected: ["0 request INVITE"] + times(capped, "send 486")
        + ["32000 failed missingAcknowledgement", "32000 ended"]),
    Row(
      name: "H: no ACK", transport: .tcp, steps: [(0, .answer(486))],
      expected: ["0 request INVITE", "0 send 486", "32000 failed missingAcknowledgement", "32000 ended"]),
    Row(
      name: "I absorbs ACKs", transport: .udp,
      steps: [
        (0, .answer(486)), (600, .again), (700, .acknowledge), (800, .again), (1000, .acknowledge),
        (5600, .acknowledge),
      ],
      expected: ["0 request INVITE", "0 send 486", "500 send 486", "600 send 486", "5700 ended"]),
    Row(
      name: "I is zero", transport: .tcp, steps: [(0, .answer(600)), (700, .acknowledge)],
      expected: ["0 request INVITE", "0 send 600", "700 ended"]),
  ]

  static let serverRows: [Row] = [
    Row(
      name: "silence until an answer; J", transport: .udp,
      steps: [(500, .again), (900, .answer(200)), (1000, .again), (32_899, .again)],
      expected: ["0 request OPTIONS", "900 send 200", "1000 send 200", "32899 send 200", "32900 ended"]),
    Row(
      name: "a provisional answer", transport: .udp,
      steps: [(500, .answer(100)), (600, .again), (900, .answer(404)), (1000, .again)],
      expected: [
        "0 request OPTIONS", "500 send 100", "600 send 100", "900 send 404", "1000 send 404", "32900 ended",
      ]),
    Row(
      name: "left unanswered", transport: .udp, steps: [(500, .answer(100)), (600, .again)],
      expected: [
        "0 request OPTIONS", "500 send 100", "600 send 100", "32000 failed timeout", "32000 ended",
      ]),
    Row(
      name: "J is zero", transport: .tcp, steps: [(900, .answer(200))],
      expected: ["0 request OPTIONS", "900 send 200", "900 ended"]),
  ]

  @Test(arguments: inviteClientRows) func inviteClient(_ row: Row) { play(row, .invite, isClient: true) }
  @Test(arguments: clientRows) func client(_ row: Row) { play(row, .options, isClient: true) }
  @Test(arguments: inviteServerRows) func inviteServer(_ row: Row) { play(row, .invite, isClient: false) }
  @Test(arguments: serverRows) func server(_ row: Row) { play(row, .options, isClient: false) }

  private func play(_ row: Row, _ method: SIPMethod, isClient: Bool) {
    let scene = TransactionScene(row.transport)
    if isClient { scene.send(method) } else { scene.receive(method) }
    for (time, step) in row.steps {
      scene.run(until: time)
      switch step {
      case .receive(let status): scene.receive(status, to: method)
      case .answer(let status): scene.respond(status)
      case .again: scene.receive(method)
      case .acknowledge: scene.receive(.ack, toTag: "t1")
      }
    }
    scene.run(until: 200_000)
    #expect(scene.trace == row.expected)
    if scene.incoming.count < 2 { #expect(scene.layer.count == 0 && scene.layer.nextDeadline == nil) }
    #expect(TransactionLayer.libraryRandomDraws == 0)
  }

  /// The numbers that the table of timers names, against those above.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence))) func published() throws {
    let table = try TestVectors.table("sip-rules/timers.tsv")
    let checks = Dictionary(table.compactMap { row in row["timer"].map { ($0, row["check"] ?? "") } }) { $1 }
    #expect(checks["A"]?.contains("0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 s: 7 copies") == true)
    #expect(TransactionTimerTests.doubling.count == 7)
    #expect(checks["E"]?.contains("0, 0.5, 1.5, 3.5, 7.5, 11.5 ... 31.5 s: 11 copies") == true)
    #expect(TransactionTimerTests.capped.count == 11)
  }

  /// A library with a clock of its own would leave every timer unfired.
  @Test func theClockIsOurs() {
    let scene = TransactionScene()
    scene.send(.invite)
    scene.run(until: 32_000)
    #expect(scene.trace.last == "32000 ended")
  }

  /// A loop that stood still for long fires what is due once, and not what it missed.
  @Test func lateAdvance() {
    let scene = TransactionScene()
    scene.send(.options)
    scene.jump(to: 10_000)
    scene.advance()
    #expect(scene.trace == ["0 send OPTIONS", "10000 send OPTIONS"])
    scene.jump(to: 50_000)
    scene.advance()
    #expect(scene.trace.suffix(2) == ["50000 failed timeout", "50000 ended"])
    #expect(scene.layer.count == 0)
  }
}
