import AppProtocol
import CallEngine
import CallModel
import CallStory

/// A call of the tests: an app calls a number, the first trunk is busy, the second one answers after it has asked for a
/// password. Times are microseconds since the start unless said otherwise.
struct Scenario {
  static let call = "01JD4Y8PM2Q9V5R7T3W6X0Z1AB"
  /// 2026-11-22T04:00:00.000Z.
  static let start: Int64 = 1_795_320_000_000_000
  static let number = "+46701234567"

  var recorder = CallTraceRecorder(call: call, startedAt: start)

  static let appOffer = """
    v=0\r
    o=- 4611731400430051336 2 IN IP4 127.0.0.1\r
    s=-\r
    t=0 0\r
    a=group:BUNDLE 0\r
    m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 101\r
    c=IN IP4 0.0.0.0\r
    a=ice-ufrag:Yxq3\r
    a=ice-pwd:R7ZC2m9H1sQbV0kT4nXw6uEa\r
    a=fingerprint:sha-256 AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99\r
    a=setup:actpass\r
    a=mid:0\r
    a=sendrecv\r
    a=rtcp-mux\r
    a=rtpmap:111 opus/48000/2\r
    a=rtpmap:0 PCMU/8000\r
    a=rtpmap:8 PCMA/8000\r
    a=rtpmap:101 telephone-event/8000\r

    """

  static let appAnswer = """
    v=0\r
    o=- 1 1 IN IP4 127.0.0.1\r
    s=-\r
    t=0 0\r
    a=ice-lite\r
    m=audio 40000 UDP/TLS/RTP/SAVPF 111 101\r
    c=IN IP4 127.0.0.1\r
    a=ice-ufrag:gate\r
    a=ice-pwd:S1ZC2m9H1sQbV0kT4nXw6uEb\r
    a=fingerprint:sha-256 AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99\r
    a=setup:passive\r
    a=mid:0\r
    a=rtcp-mux\r
    a=rtpmap:111 opus/48000/2\r
    a=rtpmap:101 telephone-event/48000\r

    """

  /// A description of a trunk leg with these codecs, such as `0 PCMU/8000`.
  static func description(_ codecs: [String], port: Int = 41_000, extra: String = "") -> String {
    let types = codecs.map { $0.prefix { $0 != " " } }.joined(separator: " ")
    return "v=0\r\no=- 7 7 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "m=audio \(port) RTP/AVP \(types)\r\n" + codecs.map { "a=rtpmap:\($0)\r\n" }.joined() + "a=ptime:20\r\n" + extra
  }

  static let allCodecs = ["96 opus/48000/2", "8 PCMA/8000", "0 PCMU/8000", "101 telephone-event/8000"]

  // MARK: Messages

  /// - Parameters:
  ///   - first: the start line.
  ///   - fields: lines of headers besides the usual ones.
  static func message(
    _ first: String, callID: String, cseq: String, fields: [String] = [], body: String = ""
  ) -> [UInt8] {
    let head = [
      first, "Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK\(cseq.prefix { $0 != " " })x\(callID.prefix(4));rport",
      "From: <sip:+46101234500@127.0.0.1>;tag=a1", "To: <sip:\(number)@127.0.0.1:5080>", "Call-ID: \(callID)",
      "CSeq: \(cseq)", "Max-Forwards: 70", "Contact: <sip:gateway@127.0.0.1:5060>",
    ]
    let type = body.isEmpty ? [] : ["Content-Type: application/sdp"]
    let lines = head + fields + type + ["Content-Length: \(body.utf8.count)"]
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  mutating func sent(
    _ first: String, _ callID: String, _ cseq: String, _ at: Int64, fields: [String] = [], body: String = "",
    transport: String = "udp", remote: String = "127.0.0.1:5080"
  ) {
    recorder.message(
      Scenario.message(first, callID: callID, cseq: cseq, fields: fields, body: body), of: callID, isSent: true,
      transport: transport, local: "127.0.0.1:5060", remote: remote, at: Scenario.start + at)
  }

  mutating func received(
    _ first: String, _ callID: String, _ cseq: String, _ at: Int64, fields: [String] = [], body: String = "",
    transport: String = "udp", remote: String = "127.0.0.1:5080"
  ) {
    recorder.message(
      Scenario.message(first, callID: callID, cseq: cseq, fields: fields, body: body), of: callID, isSent: false,
      transport: transport, local: "127.0.0.1:5060", remote: remote, at: Scenario.start + at)
  }

  mutating func line(
    _ type: String, _ at: Int64, _ text: String = "", description: String? = nil, fromApp: Bool = false
  ) {
    recorder.line(type, text, description: description, isFromApp: fromApp, at: Scenario.start + at)
  }

  static let invite = "INVITE sip:\(number)@127.0.0.1:5080 SIP/2.0"
  static let authorization =
    #"Authorization: Digest username="gw", realm="carrier", nonce="n0nce", uri="sip:\#(number)@127.0.0.1:5080", response="6629fae49393a05397450978507c4ef1", cnonce="0a4f113b", qop=auth, nc=00000001, algorithm=MD5"#

  // MARK: Whole calls

  /// Busy at the first trunk; the second asks for a password, repeats its 200, and has PCMA only.
  static var answered: Scenario {
    var scenario = Scenario()
    scenario.recorder.dialog(.init(sipCallID: "busy-1@gw", side: .far, trunk: "first"))
    scenario.recorder.dialog(.init(sipCallID: "good-2@gw", side: .far, trunk: "carrier"))
    scenario.line("call", 0, "phone \(number)", description: appOffer, fromApp: true)
    scenario.line("placed", 3_000, description: appAnswer)
    let offer = description(allCodecs)
    scenario.sent(invite, "busy-1@gw", "1 INVITE", 12_000, body: offer, remote: "127.0.0.1:5070")
    scenario.received("SIP/2.0 100 Trying", "busy-1@gw", "1 INVITE", 13_000, remote: "127.0.0.1:5070")
    scenario.received(
      "SIP/2.0 503 Service Unavailable", "busy-1@gw", "1 INVITE", 20_000, fields: ["Retry-After: 30"],
      remote: "127.0.0.1:5070")
    scenario.sent("ACK sip:\(number)@127.0.0.1:5080 SIP/2.0", "busy-1@gw", "1 ACK", 21_000, remote: "127.0.0.1:5070")
    scenario.sent(invite, "good-2@gw", "1 INVITE", 30_000, body: offer)
    scenario.received(
      "SIP/2.0 401 Unauthorized", "good-2@gw", "1 INVITE", 40_000,
      fields: [#"WWW-Authenticate: Digest realm="carrier", nonce="n0nce", qop="auth", algorithm=MD5"#])
    scenario.sent("ACK sip:\(number)@127.0.0.1:5080 SIP/2.0", "good-2@gw", "1 ACK", 41_000)
    scenario.sent(invite, "good-2@gw", "2 INVITE", 45_000, fields: [authorization], body: offer)
    scenario.sent(invite, "good-2@gw", "2 INVITE", 545_000, fields: [authorization], body: offer)
    scenario.received("SIP/2.0 180 Ringing", "good-2@gw", "2 INVITE", 900_000)
    scenario.line("ringing", 901_000)
    let answer = description(["8 PCMA/8000", "101 telephone-event/8000"], port: 42_000)
    scenario.received("SIP/2.0 200 OK", "good-2@gw", "2 INVITE", 2_300_000, body: answer)
    scenario.received("SIP/2.0 200 OK", "good-2@gw", "2 INVITE", 2_800_000, body: answer)
    scenario.sent("ACK sip:\(number)@127.0.0.1:5080 SIP/2.0", "good-2@gw", "2 ACK", 2_801_000)
    scenario.line("accepted", 2_301_000)
    for (side, codec, clock) in [(LegID.near, "opus", 48_000), (.far, "PCMA", 8_000)] {
      scenario.recorder.plan(
        .init(
          at: 2_302_000, side: side, codec: codec, clockRate: clock, payloadType: 8, packetMilliseconds: 20,
          security: side == .near ? "DTLS-SRTP" : "RTP", direction: "sendrecv", remote: "127.0.0.1:42000"))
    }
    scenario.recorder.note(.firstMedia, side: .far, at: start + 2_320_000)
    for second in 1...5 {
      scenario.second(.near, second, score: 4.4)
      scenario.second(.far, second, score: second == 3 ? 3.9 : 4.3)
    }
    scenario.line("hangup", 7_400_000, fromApp: true)
    scenario.sent("BYE sip:\(number)@127.0.0.1:5080 SIP/2.0", "good-2@gw", "3 BYE", 7_401_000)
    scenario.received("SIP/2.0 200 OK", "good-2@gw", "3 BYE", 7_405_000)
    scenario.line("ended", 7_406_000, "hungUp")
    return scenario
  }

  mutating func second(_ side: LegID, _ second: Int, score: Double, lost: Int64 = 0) {
    let direction = CallTrace.Direction(
      packets: Int64(second * 50), bytes: Int64(second * 8000), lost: lost, lossRate: 0, jitter: 1.25, score: score)
    recorder.second(
      .init(at: 2_302_000 + Int64(second) * 1_000_000, side: side, received: direction, sent: direction, roundTrip: 12))
  }

  /// The record that belongs to ``answered``.
  static var answeredRecord: CallRecord {
    let begin = Instant(milliseconds: start / 1000)
    var summary = CallSummary(
      startedAt: begin, rungAt: begin.advanced(byMilliseconds: 900), answeredAt: begin.advanced(byMilliseconds: 2300),
      establishedAt: begin.advanced(byMilliseconds: 2302), endedAt: begin.advanced(byMilliseconds: 7406),
      cause: .hungUp, durationMilliseconds: 5106, billedSeconds: 6, costMicro: 2000, currency: "EUR")
    summary.progressedAt = begin
    var record = CallRecord(call: snapshot(.ended), summary: summary)
    record.callerNumber = "+46101234500"
    record.attempts = [
      CallAttempt(
        trunk: "first", startedAt: begin.advanced(byMilliseconds: 12), endedAt: begin.advanced(byMilliseconds: 20),
        sipStatus: 503, code: .congestion),
      CallAttempt(
        trunk: "carrier", startedAt: begin.advanced(byMilliseconds: 30), endedAt: begin.advanced(byMilliseconds: 2300),
        sipStatus: 200, code: nil),
    ]
    return record
  }

  static func snapshot(_ state: CallState) -> CallSnapshot {
    var snapshot = CallSnapshot(
      id: CallID(unchecked: call), environment: "dev", account: AccountName(unchecked: "anna"), application: "demo",
      user: nil, kind: .phone, destination: number, state: state,
      startedAt: Instant(milliseconds: start / 1000), currency: .eur)
    snapshot.answeredAt = Instant(milliseconds: start / 1000 + 2300)
    snapshot.trunk = "carrier"
    return snapshot
  }

  /// A call that a trunk ended with a status.
  static func failed(_ status: Int, _ phrase: String, fields: [String] = [], callID: String = "fail-1@gw") -> Scenario {
    var scenario = Scenario()
    scenario.recorder.dialog(.init(sipCallID: callID, side: .far, trunk: "carrier"))
    scenario.line("call", 0, "phone \(number)", description: appOffer, fromApp: true)
    scenario.sent(invite, callID, "1 INVITE", 10_000, body: description(allCodecs))
    scenario.received("SIP/2.0 \(status) \(phrase)", callID, "1 INVITE", 200_000, fields: fields)
    scenario.sent("ACK sip:\(number)@127.0.0.1:5080 SIP/2.0", callID, "1 ACK", 201_000)
    return scenario
  }

  static func failedRecord(_ failure: CallFailure) -> CallRecord {
    let begin = Instant(milliseconds: start / 1000)
    var snapshot = snapshot(.ended)
    snapshot.answeredAt = nil
    snapshot.failure = failure
    let summary = CallSummary(
      startedAt: begin, endedAt: begin.advanced(byMilliseconds: 205), cause: failure.endCause, failure: failure,
      currency: "EUR")
    return CallRecord(call: snapshot, summary: summary)
  }

  static let facts = CallStorySources.TrunkFacts(
    uri: "sip:127.0.0.1:5080", codecs: ["opus", "PCMA", "PCMU"], encryption: "none", username: "gw",
    fromUser: "caller", assertsIdentity: true, dialFormat: "+46…", maximumCalls: nil)

  static var money: CallMoney {
    var money = CallMoney(account: "anna", currency: "EUR", balanceMicro: 4_998_000, availableMicro: 4_998_000)
    money.destination = "4670 Sweden mobile"
    money.ratePerMinuteNano = 20_000_000
    money.connectionFeeMicro = 0
    money.initialSeconds = 1
    money.incrementSeconds = 1
    money.deck = "retail 3"
    money.reservedMicro = 100_000
    money.holdState = "settled"
    money.chargedMicro = 2000
    money.billedSeconds = 6
    money.transfers = [
      .init(
        id: "17", at: start / 1000 + 7410, kind: "charge",
        debit: .init(account: "liabilities:prepaid:anna", amountMicro: 2000, balanceMicro: -4_998_000),
        credit: .init(account: "income:calls", amountMicro: -2000, balanceMicro: -2000))
    ]
    return money
  }

  static var answeredSources: CallStorySources {
    CallStorySources(
      record: answeredRecord, trace: answered.recorder.trace, money: money,
      trunks: ["carrier": facts, "first": facts])
  }
}
