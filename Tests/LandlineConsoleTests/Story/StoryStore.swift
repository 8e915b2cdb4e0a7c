import AppProtocol
import CallEngine
import CallModel
import CallStory
import Foundation
import LedgerCore
import LedgerSQLite
import RecordsSQLite

/// Calls of a gateway that has stopped, in the files beside a copy of the scenario's ledger.
enum StoryStore {
  /// Answered over a trunk, with a trace.
  static let answered = "01JD4Y8PM2Q9V5R7T3W6X0Z1AB"
  /// Without a trace.
  static let recorded = "01JD4Y8PM2Q9V5R7T3W6X0Z1AC"
  /// Without a trace, with an id as it is made today.
  static let today = "019aa505-83f0-7c01-9b3e-2f60a1c4d5e7"
  static let unknown = "01JD4Y8PM2Q9V5R7T3W6X0Z1AD"

  /// 2026-11-21T05:30:30.000Z, after all that the scenario tells.
  private static let start = Instant(milliseconds: 1_795_239_030_000)
  private static let number = "+46701234567"

  static func build(in folder: URL) async throws {
    let ledger = try SQLiteLedgerStore.open(
      path: folder.appendingPathComponent(LedgerScenario.fileName).path, options: .init(flush: .normal),
      createIfMissing: false)
    try await charge(ledger)
    await ledger.close()
    let store = try SQLiteGatewayStore.open(
      path: folder.appendingPathComponent("ledger-gateway.db").path, createIfMissing: true)
    try await store.keep(record(answered))
    try await store.keep(record(recorded))
    try await store.keep(record(today))
    try await store.keep(trace: trace.encoded(), of: CallID(unchecked: answered), at: start)
    await store.close()
  }

  /// Six seconds that cost something.
  private static func charge(_ ledger: SQLiteLedgerStore) async throws {
    let origin = CallOperation.Origin(
      node: NodeID(unchecked: "gw-1"), epoch: try await ledger.registerNode(NodeID(unchecked: "gw-1"), at: start).epoch)
    let snapshot = try RateSnapshot(
      deck: "retail-eu@2026-10-01", prefix: "4670", destination: "Sweden mobile", currency: .eur,
      tariff: Tariff(ratePerMinute: 14_500_000, initial: 60, increment: 1))
    let phases: [(Int64, CallOperation.Phase)] = [
      (0, .authorise(.init(destination: number, country: 46, rating: .rated(snapshot)))), (2300, .answer),
      (8300, .settle(milliseconds: 6000, reason: "hungUp", carriers: [])),
    ]
    for (milliseconds, phase) in phases {
      _ = try await ledger.perform(
        LedgerOperation(
          .call(
            CallOperation(
              account: AccountName(unchecked: "acme"), call: CallID(unchecked: answered), origin: origin, phase)),
          at: start.advanced(byMilliseconds: milliseconds), actor: "node:gw-1"))
    }
  }

  private static func record(_ id: String) -> CallRecord {
    var snapshot = CallSnapshot(
      id: CallID(unchecked: id), environment: "production", account: AccountName(unchecked: "acme"),
      application: "demo", user: nil, kind: .phone, destination: number, state: .ended, startedAt: start,
      currency: .eur)
    snapshot.answeredAt = start.advanced(byMilliseconds: 2300)
    snapshot.trunk = "carrier"
    let summary = CallSummary(
      startedAt: start, rungAt: start.advanced(byMilliseconds: 900), answeredAt: snapshot.answeredAt,
      endedAt: start.advanced(byMilliseconds: 8300), cause: .hungUp, durationMilliseconds: 6000, billedSeconds: 60,
      costMicro: 14_500, currency: "EUR")
    var record = CallRecord(call: snapshot, summary: summary)
    record.callerNumber = "+46101234500"
    record.story = [CallRecord.StoryLine(milliseconds: 2300, text: "answered")]
    return record
  }

  private static var trace: CallTrace {
    let began = start.milliseconds * 1000
    var recorder = CallTraceRecorder(call: answered, startedAt: began)
    recorder.dialog(.init(sipCallID: "c1@gw", side: .far, trunk: "carrier"))
    recorder.line("call", "phone \(number)", isFromApp: true, at: began)
    let offer = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 8\r\n"
    let steps: [(String, Bool, String, Int64, String)] = [
      ("INVITE sip:\(number)@192.0.2.2 SIP/2.0", true, "1 INVITE", 10, offer),
      ("SIP/2.0 180 Ringing", false, "1 INVITE", 900, ""), ("SIP/2.0 200 OK", false, "1 INVITE", 2300, offer),
      ("ACK sip:\(number)@192.0.2.2 SIP/2.0", true, "1 ACK", 2301, ""),
      ("BYE sip:gateway@192.0.2.1 SIP/2.0", false, "1 BYE", 8300, ""), ("SIP/2.0 200 OK", true, "1 BYE", 8301, ""),
    ]
    for (first, isSent, cseq, milliseconds, body) in steps {
      let lines = [
        first, "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK\(cseq.prefix { $0 != " " })", "Call-ID: c1@gw",
        "From: <sip:+46101234500@192.0.2.1>;tag=a", "To: <sip:\(number)@192.0.2.2>;tag=b", "CSeq: \(cseq)",
        "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)",
      ]
      recorder.message(
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8), of: "c1@gw", isSent: isSent,
        transport: "udp", local: "192.0.2.1:5060", remote: "192.0.2.2:5060", at: began + milliseconds * 1000)
    }
    return recorder.trace
  }
}
