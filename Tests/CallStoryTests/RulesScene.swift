import AppProtocol
import CallEngine
import CallModel
import CallStory
import SIPCore

/// The sources of a made-up call, put together by hand.
struct RulesScene {
  static let description = "v=0\r\no=- 1 1 IN IP4 203.0.113.9\r\ns=-\r\nc=IN IP4 203.0.113.9\r\nt=0 0\r\n"
  static let plainMedia =
    "m=audio 16384 RTP/AVP 8 0 101\r\na=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\n"
  static let secretMedia =
    "m=audio 16384 RTP/SAVP 8 0 101\r\na=rtpmap:101 telephone-event/8000\r\n"
    + "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(String(repeating: "x", count: 40))\r\n"

  var sources = CallStorySources()
  var number = "+46701234567"
  var trace = CallTrace(call: "CALL", startedAt: 1_000_000)
  /// Milliseconds since the call's start.
  private(set) var clock: Int64 = 0
  private var sequence = 1

  static func facts(
    uri: String = "sip:203.0.113.5", username: String? = nil, encryption: String = "none", fromUser: String = "caller"
  ) -> CallStorySources.TrunkFacts {
    CallStorySources.TrunkFacts(
      uri: uri, codecs: ["PCMA", "PCMU"], encryption: encryption, username: username, fromUser: fromUser,
      assertsIdentity: true, dialFormat: "+", maximumCalls: nil)
  }

  // MARK: Signalling

  mutating func dialog(_ trunk: String = "carrier", _ facts: CallStorySources.TrunkFacts? = nil) {
    trace.dialogs.append(CallTrace.Dialog(sipCallID: "dialog-\(trace.dialogs.count)", side: .far, trunk: trunk))
    sources.trunks[trunk] = facts ?? RulesScene.facts()
  }

  mutating func pass(_ milliseconds: Int64) { clock += milliseconds }

  mutating func message(_ text: String, isSent: Bool, isRepeated: Bool = false, transport: String = "udp") {
    trace.messages.append(
      CallTrace.Message(
        at: clock * 1_000, isSent: isSent, dialog: max(0, trace.dialogs.count - 1), transport: transport,
        local: "198.51.100.1:5060", remote: "203.0.113.5:5060", text: text, bytes: text.utf8.count,
        isRepeated: isRepeated))
    clock += 20
  }

  /// Sends an INVITE; another one after a challenge.
  mutating func invite(
    _ fields: [String] = [], from: String = "+46101234567", media: String = RulesScene.plainMedia, repeated: Int = 0,
    transport: String = "udp"
  ) {
    let text =
      ([
        "INVITE sip:\(number)@203.0.113.5 SIP/2.0", "Via: SIP/2.0/UDP 198.51.100.1:5060", "From: <sip:\(from)@x>;tag=a",
      ]
      + ["To: <sip:\(number)@203.0.113.5>", "Call-ID: dialog", "CSeq: \(sequence) INVITE"] + fields)
      .joined(separator: "\r\n") + "\r\n\r\n" + RulesScene.description + media
    message(text, isSent: true, transport: transport)
    for _ in 0..<repeated {
      pass(500)
      message(text, isSent: true, isRepeated: true, transport: transport)
    }
  }

  mutating func response(_ status: Int, _ phrase: String, _ fields: [String] = [], media: String? = nil) {
    let body = media.map { RulesScene.description + $0 } ?? ""
    message(
      (["SIP/2.0 \(status) \(phrase)", "Via: SIP/2.0/UDP 198.51.100.1:5060", "To: <sip:x>;tag=b"]
        + ["CSeq: \(sequence) INVITE"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body, isSent: false)
  }

  mutating func request(_ method: String, isSent: Bool, _ fields: [String] = []) {
    message(
      (["\(method) sip:x SIP/2.0", "To: <sip:x>;tag=b", "CSeq: 9 \(method)"] + fields).joined(separator: "\r\n")
        + "\r\n\r\n", isSent: isSent)
  }

  /// The trunk challenges, and the gateway answers.
  mutating func challenge(realm: String = "example.test", isAnswered: Bool = true) {
    response(407, "Proxy Authentication Required", ["Proxy-Authenticate: Digest realm=\"\(realm)\", nonce=\"n\""])
    guard isAnswered else { return }
    sequence += 1
    invite(["Proxy-Authorization: Digest username=\"anna\", response=\"****\""], from: "+46101234567")
  }

  // MARK: Endings

  private static func record(_ number: String, _ cause: CallEndCause, _ failure: CallFailure?) -> CallRecord {
    var snapshot = CallSnapshot(
      id: CallID(unchecked: "CALL"), environment: "production", account: AccountName(unchecked: "anna"),
      application: nil, user: nil, kind: .phone, destination: number, state: .ended,
      startedAt: Instant(milliseconds: 1_000), currency: .eur)
    snapshot.failure = failure
    snapshot.trunk = "carrier"
    return CallRecord(
      call: snapshot,
      summary: CallSummary(
        startedAt: Instant(milliseconds: 1_000), endedAt: Instant(milliseconds: 9_000), cause: cause, failure: failure,
        currency: "EUR"))
  }

  mutating func end(_ cause: CallEndCause, _ failure: CallFailure? = nil) {
    sources.record = RulesScene.record(number, cause, failure)
    sources.trace = trace
  }

  /// Refused by the trunk with a response.
  mutating func refuse(_ status: Int, _ phrase: String, _ fields: [String] = []) {
    response(status, phrase, fields)
    func values(_ name: String) -> [String] {
      fields.compactMap { $0.hasPrefix("\(name): ") ? String($0.dropFirst(name.count + 2)) : nil }
    }
    let hasRung = trace.messages.contains { $0.text.hasPrefix("SIP/2.0 180") }
    let failure = CallFailure(
      CallFailureEvidence(
        status: status, phrase: phrase, reasonFields: values("Reason"), retryAfterField: values("Retry-After").first,
        hasRung: hasRung),
      warning: values("Warning").first, trunk: trace.dialogs.last?.trunk)
    end(failure.endCause, failure)
    if hasRung { sources.record?.summary.rungAt = Instant(milliseconds: 2_000) }
  }

  /// Answered, and up for so long.
  mutating func talk(
    milliseconds: Int64 = 8_000, media: String = RulesScene.plainMedia, _ cause: CallEndCause = .hungUp
  ) {
    response(200, "OK", ["Contact: <sip:x>"], media: media)
    end(cause)
    sources.record?.summary.answeredAt = Instant(milliseconds: 1_500)
    sources.record?.summary.establishedAt = Instant(milliseconds: 1_500)
    sources.record?.summary.durationMilliseconds = milliseconds
  }

  mutating func fail(_ failure: CallFailure) {
    sources.record?.summary.failure = failure
    sources.record?.summary.cause = failure.endCause
  }

  mutating func story(_ text: String) {
    sources.record?.story.append(CallRecord.StoryLine(milliseconds: 100, text: text))
  }

  mutating func note(_ kind: CallTrace.Note.Kind, _ side: LegID? = nil, _ text: String = "") {
    trace.notes.append(CallTrace.Note(at: clock * 1_000, kind: kind, side: side, text: text))
    if sources.trace != nil { sources.trace = trace }
  }

  /// Seconds of sound, one for each value of loss.
  mutating func seconds(
    near: Int64, far: Int64, count: Int = 6, loss: Double = 0, jitter: Double = 1, side: LegID = .far
  ) {
    for second in 0..<count {
      for (place, packets) in [(LegID.near, near), (.far, far)] {
        let isBad = place == side
        let direction = CallTrace.Direction(
          packets: packets * Int64(second + 1), bytes: packets * 160, lost: 0, lossRate: isBad ? loss : 0,
          jitter: isBad ? jitter : 1, score: 4)
        trace.seconds.append(
          CallTrace.Second(
            at: Int64(second) * 1_000_000, side: place, received: direction, sent: direction, roundTrip: nil))
      }
    }
    sources.trace = trace
  }

  mutating func plan(_ side: LegID, _ codec: String, direction: String = "sendrecv") {
    trace.plans.append(
      CallTrace.Plan(
        at: 0, side: side, codec: codec, clockRate: 8_000, payloadType: 0, packetMilliseconds: 20, security: "RTP",
        direction: direction, remote: ""))
    sources.trace = trace
  }
}
