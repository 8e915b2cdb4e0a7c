import AppProtocol
import CallEngine
import CallModel
import CallStory
import Testing

@Suite("The story of a call")
struct StoryTests {
  private let story = CallStory.tell(Scenario.answeredSources)

  @Test("What the record says stands in the story")
  func record() {
    #expect(story.call == Scenario.call)
    #expect(story.account == "anna")
    #expect(story.kind == "phone")
    #expect(story.destination == Scenario.number)
    #expect(story.callerNumber == "+46101234500")
    #expect(story.startedAt == "2026-11-22T04:00:00.000Z")
    #expect(story.endedAt == "2026-11-22T04:00:07.406Z")
    #expect(story.cause == "hungUp")
    #expect(!story.isLive)
    #expect(story.failure == nil)
    #expect(story.money == Scenario.money)
    #expect(story.gaps.isEmpty)
    #expect(story.quality.count == 10)
  }

  @Test(
    "A signed caller stands in it with name and attestation",
    arguments: [
      (CallerIdentity.Verification.full, nil, "holds, attested A"),
      (.failed, "it was signed 61 s ago", "does not hold: it was signed 61 s ago"),
      (.network, "no certificate came in time", "not known: no certificate came in time"), (.none, nil, nil),
    ] as [(CallerIdentity.Verification, String?, String?)])
  func signedCaller(_ verified: CallerIdentity.Verification, _ why: String?, _ expected: String?) {
    var sources = Scenario.answeredSources
    sources.record?.call.from = CallerIdentity(
      kind: .phone, value: "+46701111111", name: "Bo", verified: verified, why: why)
    let story = CallStory.tell(sources)
    let text = story.text(width: 120, isMasked: false)
    #expect(story.callerName == "Bo" && story.signature == expected)
    #expect(text.contains(", Bo,") && expected.map { text.contains($0) } ?? true)
    #expect(CallStory(json: story.json()) == story)
  }

  @Test("There is a lane for the app, the gateway and each attempt")
  func lanes() {
    #expect(story.lanes.map(\.id) == ["app", "gateway", "far1", "far2"])
    #expect(story.lanes.map(\.title) == ["app", "gateway", "first", "carrier"])
    #expect(story.lanes[2].detail == "127.0.0.1:5070 UDP")
  }

  @Test("The ladder is in the order of time, with what was repeated and what failed marked")
  func ladder() {
    #expect(story.ladder.map(\.microseconds) == story.ladder.map(\.microseconds).sorted())
    let sip = story.ladder.filter { $0.kind == .sip }
    #expect(
      sip.map { "\($0.from)>\($0.to) \($0.label)\($0.isRepeated ? " again" : "")\($0.isFailure ? " !" : "")" } == [
        "gateway>far1 INVITE (SDP)", "far1>gateway 100 Trying", "far1>gateway 503 Service Unavailable !",
        "gateway>far1 ACK", "gateway>far2 INVITE (SDP)", "far2>gateway 401 Unauthorized !", "gateway>far2 ACK",
        "gateway>far2 INVITE (SDP)", "gateway>far2 INVITE (SDP) again", "far2>gateway 180 Ringing",
        "far2>gateway 200 OK (SDP)", "far2>gateway 200 OK (SDP) again", "gateway>far2 ACK", "gateway>far2 BYE",
        "far2>gateway 200 OK (BYE)",
      ])
    let app = story.ladder.filter { $0.kind == .app }
    #expect(app.first?.label == "call (SDP) phone \(Scenario.number)")
    #expect(app.map { "\($0.from)>\($0.to)" }.first == "app>gateway")
    let media = story.ladder.filter { $0.kind == .media }
    #expect(media.map(\.from) == ["app", "far2", "far2"])
    #expect(media.last?.label == "first sound")
  }

  @Test("Descriptions are told with who said them and in short")
  func descriptions() {
    #expect(
      story.descriptions.map { "\($0.side) \($0.role) \($0.from): \($0.summary)" } == [
        "near offer app: opus/48000, PCMU, PCMA, telephone-event \u{B7} DTLS-SRTP \u{B7} ICE",
        "near answer gateway: opus/48000, telephone-event/48000 \u{B7} DTLS-SRTP \u{B7} ICE",
        "far offer gateway: opus/48000, PCMA, PCMU, telephone-event \u{B7} RTP \u{B7} 20 ms",
        "far offer gateway: opus/48000, PCMA, PCMU, telephone-event \u{B7} RTP \u{B7} 20 ms",
        "far offer gateway: opus/48000, PCMA, PCMU, telephone-event \u{B7} RTP \u{B7} 20 ms",
        "far answer carrier: PCMA, telephone-event \u{B7} RTP \u{B7} 20 ms",
      ])
  }

  @Test("Why the sound is converted")
  func converted() {
    #expect(story.codecs?.near == "opus")
    #expect(story.codecs?.far == "PCMA")
    #expect(story.codecs?.isTranscoded == true)
    #expect(
      story.codecs?.reasons == [
        "The app offered opus, PCMU, PCMA; the gateway took opus.",
        "Trunk carrier was offered opus, PCMA, PCMU, in this order.", "Its answer has G.711 A-law (PCMA) only.",
        "Offered to it but not answered: opus, PCMU.",
        "Trunk carrier's answer has no Opus, so Opus from the app is turned into G.711 A-law (PCMA) and back.",
      ])
  }

  @Test("A codec that is not configured for a trunk is named as the reason")
  func notConfigured() {
    var scenario = Scenario()
    scenario.recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "carrier"))
    scenario.line("call", 0, description: Scenario.appOffer, fromApp: true)
    scenario.line("placed", 1, description: Scenario.appAnswer)
    let codecs = ["8 PCMA/8000"]
    scenario.sent(Scenario.invite, "x", "1 INVITE", 2, body: Scenario.description(codecs))
    scenario.received("SIP/2.0 200 OK", "x", "1 INVITE", 3, body: Scenario.description(codecs))
    for (side, codec) in [(LegID.near, "opus"), (.far, "PCMA")] {
      scenario.recorder.plan(
        .init(
          at: 4, side: side, codec: codec, clockRate: 8000, payloadType: 8, packetMilliseconds: 20, security: "RTP",
          direction: "sendrecv", remote: ""))
    }
    var facts = Scenario.facts
    facts.codecs = ["PCMA"]
    let story = CallStory.tell(CallStorySources(trace: scenario.recorder.trace, trunks: ["carrier": facts]))
    #expect(
      story.codecs?.reasons.contains(
        "Opus is not among the codecs that the configuration has for it (PCMA), so it was not offered.") ?? false)
    #expect(
      story.codecs?.reasons.last
        == "Trunk carrier was not offered Opus, so Opus from the app is turned into G.711 A-law (PCMA) and back.")
  }

  @Test("Two ends with one codec are passed through, and a test number has one end")
  func untouched() {
    var record = Scenario.answeredRecord
    record.call.nearCodec = "PCMU"
    record.call.farCodec = "PCMU"
    let shared = CallStory.tell(CallStorySources(record: record))
    #expect(shared.codecs?.isTranscoded == false)
    #expect(shared.codecs?.reasons == ["Both ends share G.711 \u{B5}-law (PCMU): it is passed untouched."])
    record.call.farCodec = nil
    record.call.destination = "+46000000000"
    let own = CallStory.tell(CallStorySources(record: record))
    #expect(
      own.codecs?.reasons == ["The gateway itself speaks on this call, so G.711 \u{B5}-law (PCMU) is the only codec."])
  }

  @Test("Sound of each leg: totals of the last second, scores of all")
  func media() throws {
    #expect(story.media.map(\.side) == [.near, .far])
    let far = try #require(story.media.last)
    #expect(far.received.packets == 250)
    #expect(abs((far.meanScore ?? 0) - 4.22) < 0.001)
    #expect(far.worstScore == 3.9)
  }

  @Test("Of a record alone the sound that came in is known, and nothing is said of what went out")
  func recordedMedia() throws {
    var record = Scenario.answeredRecord
    let direction = CallQuality.Direction(meanOpinionScore: 4.2, jitter: 3, loss: 0.5, packets: 250)
    record.call.quality = CallQuality(sent: direction, received: direction, roundTrip: nil)
    record.meanScoreNear = 4.1
    let story = CallStory.tell(CallStorySources(record: record))
    #expect(story.media.map(\.side) == [.near, .far])
    #expect(story.media.map(\.received.packets) == [250, 250])
    #expect(story.media.map(\.meanScore) == [4.1, nil])
    let text = story.text(width: 80, isMasked: false)
    #expect(text.contains("near  received"))
    #expect(!text.contains("near  sent"))
  }

  @Test("Set-up, ringing and talking follow one another")
  func timing() {
    #expect(
      story.timing == [
        .init(name: "set-up", fromMilliseconds: 0, toMilliseconds: 900),
        .init(name: "ringing", fromMilliseconds: 900, toMilliseconds: 2300),
        .init(name: "talking", fromMilliseconds: 2300, toMilliseconds: 7406),
      ])
    // Of a trace alone the same is read from the messages.
    let traced = CallStory.tell(CallStorySources(trace: Scenario.answered.recorder.trace))
    #expect(traced.timing.map(\.name) == ["set-up", "ringing", "talking"])
    #expect(traced.timing.map(\.fromMilliseconds) == [0, 901, 2301])
  }

  @Test("Attempts are told with the Call-ID that finds them at the trunk")
  func attempts() {
    let expected = [
      CallStory.Attempt(
        trunk: "first", milliseconds: 8, sipStatus: 503, code: "sip.congestion", sipCallID: "busy-1@gw"),
      CallStory.Attempt(trunk: "carrier", milliseconds: 2270, sipStatus: 200, code: nil, sipCallID: "good-2@gw"),
    ]
    #expect(story.attempts == expected)
    #expect(CallStory.tell(CallStorySources(trace: Scenario.answered.recorder.trace)).attempts == expected)
  }

  @Test("The same trunk twice has two lanes and two Call-IDs")
  func sameTrunkTwice() {
    var scenario = Scenario.failed(503, "Service Unavailable")
    scenario.recorder.dialog(.init(sipCallID: "fail-2@gw", side: .far, trunk: "carrier"))
    scenario.sent(Scenario.invite, "fail-2@gw", "1 INVITE", 300_000)
    var record = Scenario.failedRecord(CallFailure(.congestion, sipStatus: 503))
    let begin = record.summary.startedAt
    let attempt = CallAttempt(trunk: "carrier", startedAt: begin, endedAt: begin, sipStatus: 503, code: .congestion)
    record.attempts = [attempt, attempt, attempt]
    let story = CallStory.tell(CallStorySources(record: record, trace: scenario.recorder.trace))
    #expect(story.lanes.map(\.id) == ["app", "gateway", "far1", "far2"])
    #expect(story.attempts.map(\.sipCallID) == ["fail-1@gw", "fail-2@gw", nil])
  }

  @Test("A failure is told in the words of the catalogue, with who said it")
  func failure() throws {
    let scenario = Scenario.failed(486, "Busy Here", fields: ["Reason: Q.850;cause=17;text=\"User busy\""])
    let cause = CallFailure.Reason(protocolName: "Q.850", cause: 17, text: "User busy")
    let failure = CallFailure(
      .busy, sipStatus: 486, phrase: "Busy Here", reasons: [cause], trunk: "carrier", leg: .trunk)
    let story = CallStory.tell(
      CallStorySources(record: Scenario.failedRecord(failure), trace: scenario.recorder.trace))
    let told = try #require(story.failure)
    #expect(told.code == "sip.busy")
    #expect(told.meaning == CallFailureCode.busy.details.meaning)
    #expect(told.q850 == 17)
    #expect(told.q850Name == "User busy")
    #expect(told.reasons == ["Q.850 cause 17 (User busy)"])
    #expect(told.saidBy == "trunk carrier at 127.0.0.1:5080")
    #expect(told.documentation == "/errors/sip.busy")
    #expect(story.conclusion.hasPrefix("The call to +46701234567 did not connect: "))
    #expect(story.conclusion.contains("(sip.busy, SIP 486)"))
    #expect(story.timing.map(\.name) == ["set-up"])
  }

  @Test("Of several refusals the one that the failure is made of is the one that said so")
  func saidByItsOwnTrunk() {
    var scenario = Scenario.failed(486, "Busy Here")
    scenario.recorder.dialog(.init(sipCallID: "later@gw", side: .far, trunk: "other"))
    scenario.sent(Scenario.invite, "later@gw", "1 INVITE", 300_000)
    scenario.received("SIP/2.0 503 Service Unavailable", "later@gw", "1 INVITE", 310_000, remote: "127.0.0.1:5099")
    let failure = CallFailure(.busy, sipStatus: 486, trunk: "carrier", leg: .trunk)
    let story = CallStory.tell(
      CallStorySources(record: Scenario.failedRecord(failure), trace: scenario.recorder.trace))
    #expect(story.failure?.saidBy == "trunk carrier at 127.0.0.1:5080")
  }

  @Test("What the gateway found out itself is not put in the trunk's mouth")
  func saidByGateway() {
    func saidBy(_ failure: CallFailure, _ scenario: Scenario? = nil) -> String? {
      CallStory.tell(CallStorySources(record: Scenario.failedRecord(failure), trace: scenario?.recorder.trace)).failure?
        .saidBy
    }
    #expect(saidBy(CallFailure(.insufficientCredit)) == "the gateway: its ledger or routing")
    #expect(
      saidBy(CallFailure(.networkTimeout, trunk: "carrier"))
        == "the gateway: nothing usable came from trunk carrier")
    #expect(saidBy(CallFailure(.mediaLost)) == "the gateway")
    var silent = Scenario()
    silent.recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "carrier"))
    silent.sent(Scenario.invite, "x", "1 INVITE", 0)
    #expect(
      saidBy(CallFailure(.noAnswer, trunk: "carrier", leg: .trunk), silent)
        == "the gateway: trunk carrier did not say so itself")
    #expect(saidBy(CallFailure(.busy, trunk: "carrier", leg: .trunk)) == "trunk carrier")
  }

  @Test("The conclusion says how it went in one or two sentences")
  func conclusion() {
    #expect(
      story.conclusion.hasPrefix(
        "The call to +46701234567 was answered after 2.3 s over trunk carrier and lasted 5.1 s; the app hung up. "
          + "It sounded good (MOS 4.2 and 4.2) and cost 0.002 EUR."))
    let live = CallStory.tell(CallStorySources(live: Scenario.snapshot(.established)))
    #expect(live.isLive)
    #expect(
      live.conclusion.hasPrefix("The call to +46701234567 is up; it was answered after 2.3 s over trunk carrier."))
    var record = Scenario.failedRecord(CallFailure(.cancelled))
    record.summary.cause = .canceled
    #expect(
      CallStory.tell(CallStorySources(record: record)).conclusion.hasPrefix(
        "The call to +46701234567 was given up by the caller after 205 ms, before an answer."))
  }

  @Test("What is not known is said")
  func gaps() {
    let record = CallStory.tell(CallStorySources(record: Scenario.answeredRecord))
    #expect(record.gaps.contains { $0.hasPrefix("No trace of this call is kept") })
    #expect(record.gaps.contains("Nothing of this call is known from the ledger."))
    var trace = Scenario.answered.recorder.trace
    trace.omittedMessages = 3
    trace.omittedLines = 2
    trace.seconds = []
    let gaps = CallStory.tell(CallStorySources(record: Scenario.answeredRecord, trace: trace)).gaps
    #expect(gaps.contains { $0.hasPrefix("3 later SIP messages") })
    #expect(gaps.contains { $0.hasPrefix("2 later lines") })
    #expect(gaps.contains { $0.hasPrefix("No second of the sound") })
    #expect(gaps.contains { $0.hasSuffix("not known: carrier, first.") })
    #expect(CallStory.tell(CallStorySources()).gaps.count == 2)
  }

  @Test("Without a trace the lines of the record are the ladder")
  func recordedStory() {
    var record = Scenario.answeredRecord
    record.story = [.init(milliseconds: 5, text: "asked for phone"), .init(milliseconds: .max, text: "\u{7}")]
    let story = CallStory.tell(CallStorySources(record: record))
    #expect(story.ladder.map(\.label).contains("asked for phone"))
    #expect(story.ladder.allSatisfy { $0.kind == .note && $0.from == "gateway" && $0.to == "gateway" })
  }

  @Test("A call between users has a lane for the other one, one that SIP asked for a lane before the gateway")
  func otherKinds() {
    var snapshot = Scenario.snapshot(.established)
    snapshot.kind = .user
    snapshot.destination = "bert"
    #expect(CallStory.tell(CallStorySources(live: snapshot)).lanes.map(\.title) == ["app", "gateway", "bert"])
    var scenario = Scenario()
    scenario.recorder.dialog(.init(sipCallID: "n", side: .near, trunk: nil))
    scenario.recorder.dialog(.init(sipCallID: "f", side: .far, trunk: "carrier"))
    scenario.sent("INVITE sip:bert@[2001:db8::1]:5070;x=y SIP/2.0", "n", "1 INVITE", 0)
    let lanes = CallStory.tell(CallStorySources(trace: scenario.recorder.trace)).lanes
    #expect(lanes.map(\.title) == ["[2001:db8::1]:5070", "gateway", "carrier"])
  }

  @Test("Findings stand by confidence and are told in the conclusion when they are sure")
  func findings() {
    let order = story.findings.map(\.confidence)
    #expect(order == order.sorted(by: >))
    if let first = story.findings.first, first.confidence >= 60 { #expect(story.conclusion.contains(first.title)) }
  }

  @Test("As JSON, names are in snake_case and nothing is lost")
  func json() {
    let text = String(decoding: story.json(), as: UTF8.self)
    for name in ["sip_call_id", "is_failure", "is_repeated", "started_at", "balance_micro", "is_transcoded"] {
      #expect(text.contains("\"\(name)\":"))
    }
    #expect(CallStory(json: story.json()) == story)
    #expect(CallStory(json: Array("{}".utf8)) == nil)
    #expect(CallStory(json: []) == nil)
  }
}
