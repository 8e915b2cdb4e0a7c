import CallModel
import SIPCore
import Testing

/// Single requests of the peer inside a call that is up.
@Suite("Requests inside a dialog")
struct DialogRequestTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var method: SIPMethod
    var fields: [(String, String)] = []
    var body: String?
    var type = "application/sdp"
    var number: UInt32 = 1
    var allowsTransfer = false
    var expected: [String]

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(
      name: "BYE with Reason and a custom header", method: .bye,
      fields: [("Reason", "Q.850;cause=16"), ("X-Why", "tired")],
      expected: ["respond 1 200", "event ended remote Q.850 16 x-why=tired up", "close"]),
    Row(
      name: "BYE that requires the unknown ends the call all the same", method: .bye, fields: [("Require", "magic")],
      expected: ["respond 1 200", "event ended remote up", "close"]),
    Row(name: "OPTIONS", method: .options, expected: ["respond 1 200"]),
    Row(name: "unknown method", method: SIPMethod(rawValue: "FROB"), expected: ["respond 1 405"]),
    Row(
      name: "unknown requirement", method: .options, fields: [("Require", "timer, magic")],
      expected: ["respond 1 420 Unsupported=magic"]),
    Row(name: "unreadable requirement", method: .options, fields: [("Require", "a b")], expected: ["respond 1 400"]),
    Row(name: "INFO without body", method: .info, expected: ["respond 1 200"]),
    Row(
      name: "INFO with a key", method: .info, body: "Signal=5\r\nDuration=160\r\n", type: "application/dtmf-relay",
      expected: ["respond 1 200", "event info Signal=5\r\nDuration=160\r\n"]),
    Row(
      name: "INFO with no key in it", method: .info, body: "Signal=", type: "application/dtmf-relay",
      expected: ["respond 1 400"]),
    Row(name: "INFO with an unknown body", method: .info, body: "x", type: "text/plain", expected: ["respond 1 415"]),
    Row(
      name: "INFO of a package", method: .info, fields: [("Info-Package", "nothing")], expected: ["respond 1 469"]),
    Row(name: "REFER where it is not allowed", method: .refer, expected: ["respond 1 603"]),
    Row(name: "REFER without a target", method: .refer, allowsTransfer: true, expected: ["respond 1 400"]),
    Row(
      name: "NOTIFY of an unknown event", method: .notify, fields: [("Event", "presence")],
      expected: ["respond 1 489 Allow-Events=refer"]),
    Row(name: "NOTIFY of no REFER", method: .notify, fields: [("Event", "refer")], expected: ["respond 1 481"]),
    Row(name: "PRACK of nothing", method: .prack, fields: [("RAck", "1 1 INVITE")], expected: ["respond 1 481"]),
    Row(name: "PRACK without RAck", method: .prack, expected: ["respond 1 400"]),
    Row(name: "UPDATE without offer", method: .update, expected: ["respond 1 200"]),
    Row(name: "UPDATE with an offer", method: .update, body: "new", expected: ["event offered 1 new"]),
    Row(name: "re-INVITE with an offer", method: .invite, body: "new", expected: ["event offered 1 new"]),
    Row(name: "re-INVITE without offer", method: .invite, expected: ["event offered 1 none"]),
    Row(
      name: "re-INVITE with a body of another type", method: .invite, body: "x", type: "text/plain",
      expected: ["respond 1 415"]),
    Row(
      name: "re-INVITE with too short an interval", method: .invite,
      fields: [("Session-Expires", "60"), ("Supported", "timer")], body: "new",
      expected: ["respond 1 422 Min-SE=90"]),
    Row(name: "a gap in the numbers", method: .options, number: 4_000, expected: ["respond 1 200"]),
  ]

  @Test("one request", arguments: rows)
  func request(_ row: Row) {
    let bench = DialogBench.confirmed(allowsTransfer: row.allowsTransfer)
    bench.request(row.method, row.number, row.fields, body: row.body, type: row.type)
    #expect(bench.drainLines() == row.expected)
  }

  @Test("a step back in the numbers gets 500, whatever the method")
  func order() {
    let bench = DialogBench.confirmed()
    bench.request(.options, 10)
    bench.request(.info, 10)
    bench.request(.bye, 9)
    bench.request(.options, 11)
    #expect(
      bench.drainLines() == [
        "respond 1 200", "respond 2 500 Retry-After=5", "respond 3 500 Retry-After=5", "respond 4 200",
      ])
  }

  @Test("after the end, BYE and everything else find no dialog")
  func after() {
    let bench = DialogBench.confirmed()
    bench.request(.bye, 1)
    bench.request(.bye, 2)
    bench.request(.options, 3)
    #expect(
      bench.drainLines() == ["respond 1 200", "event ended remote up", "close", "respond 2 481", "respond 3 481"])
    #expect(bench.session.isFinished)
    #expect(bench.session.nextDeadline == nil)
  }
}
