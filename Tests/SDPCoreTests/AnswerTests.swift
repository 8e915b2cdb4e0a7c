import CallModel
import SDPCore
import Testing

/// Answering offers: choice, direction, payload types, protection, ICE, bundles.
struct AnswerTests {
  static let chrome = [
    "a=group:BUNDLE 0 1", "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126", "c=IN IP4 0.0.0.0",
    "a=rtcp:9 IN IP4 0.0.0.0", "a=ice-ufrag:peer", "a=ice-pwd:peerPassword0123456789012", "a=ice-options:trickle",
    "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=setup:actpass", "a=mid:0", "a=sendrecv", "a=rtcp-mux",
    "a=rtcp-rsize", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:63 red/48000/2",
    "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:13 CN/8000",
    "a=rtpmap:110 telephone-event/48000", "a=rtpmap:126 telephone-event/8000", "a=ssrc:7 cname:x",
    "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:1", "a=rtpmap:96 VP8/90000", "a=bundle-only",
  ]

  static func offer(_ lines: [String], connection: String = "c=IN IP4 192.0.2.7") throws -> SessionDescription {
    try SessionDescription(parsing: SDPFixtures.text(lines, connection: connection))
  }

  @Test func theAppLegOfABrowser() throws {
    var policy = MediaPolicy.app
    policy.opus = OpusParameters(maximumPlaybackRate: 8_000, maximumAverageBitRate: 16_000)
    var end = SDPFixtures.end(policy)
    var local = SDPFixtures.local
    local.source = 77
    let (answer, plan) = try end.answer(AnswerTests.offer(AnswerTests.chrome), from: local)
    let ours = (0..<32).map { _ in "5A" }.joined(separator: ":")
    #expect(
      answer.text
        == """
        v=0\r
        o=- 4611 1 IN IP4 198.51.100.1\r
        s=-\r
        c=IN IP4 198.51.100.1\r
        t=0 0\r
        a=ice-lite\r
        a=group:BUNDLE 0\r
        m=audio 40000 UDP/TLS/RTP/SAVPF 111 110\r
        a=rtpmap:111 opus/48000/2\r
        a=fmtp:111 maxplaybackrate=8000;maxaveragebitrate=16000\r
        a=rtpmap:110 telephone-event/48000\r
        a=fmtp:110 0-15\r
        a=ptime:20\r
        a=sendrecv\r
        a=rtcp-mux\r
        a=rtcp-rsize\r
        a=mid:0\r
        a=fingerprint:sha-256 \(ours)\r
        a=setup:passive\r
        a=ice-ufrag:gwUf\r
        a=ice-pwd:gatewayPassword0123456789\r
        a=candidate:1 1 udp 2130706431 198.51.100.1 40000 typ host\r
        a=end-of-candidates\r
        a=ssrc:77 cname:landline\r
        m=video 0 UDP/TLS/RTP/SAVPF 96\r
        a=mid:1\r

        """)
    #expect(plan.audio.send.codec == .opus)
    #expect(plan.audio.send.parameters["useinbandfec"] == "1")
    #expect(plan.audio.receive.first?.parameters.text == "maxplaybackrate=8000;maxaveragebitrate=16000")
    #expect(plan.audio.events?.clockRate == 48_000)
    #expect(plan.remote.host == nil)
    #expect(plan.remote.rtcpPort == plan.remote.port)
    #expect(plan.multiplexesRTCP && plan.reducedSizeRTCP)
    #expect(plan.ice?.credentials.userFragment == "peer")
    guard case .dtls(let dtls) = plan.protection else {
      Issue.record("\(plan.protection)")
      return
    }
    #expect(dtls.role == .server)
    #expect(dtls.fingerprints.count == 1)
  }

  /// Redundant audio (RFC 2198) stands in the answer where the offer has it, before Opus or behind it, and only for the
  /// Opus that was chosen.
  @Test(arguments: [
    ("111 63 0", "111/111", 48_000, true, ["111", "63"]), ("63 111 0", "111/111", 48_000, true, ["63", "111"]),
    ("111 63", "111/111/111", 48_000, true, ["111", "63"]), ("111 63", "111", 48_000, true, ["111"]),
    ("111 63", "", 48_000, true, ["111"]), ("111 63", "111/0", 48_000, true, ["111"]),
    ("111 63", "111/111", 8_000, true, ["111"]), ("0 111 63", "111/111", 48_000, true, ["0"]),
    ("111 63", "111/111", 48_000, false, ["111"]),
  ])
  func redundantAudio(
    _ formats: String, _ blocks: String, _ clockRate: Int, _ isAllowed: Bool, _ answered: [String]
  ) throws {
    let offer = try AnswerTests.offer([
      "m=audio 4000 RTP/AVP \(formats)", "a=rtpmap:111 opus/48000/2", "a=rtpmap:63 RED/\(clockRate)/2",
      "a=fmtp:63 \(blocks)",
    ])
    var policy = SDPFixtures.open
    policy.answersRedundancy = isAllowed
    var end = SDPFixtures.end(policy)
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(answer.media.first?.formats == answered)
    #expect(plan.audio.redundancy?.number == (answered.contains("63") ? 63 : nil))
    #expect(plan.audio.send.payloadType.number == (answered.contains("0") ? 0 : 111))
    if answered.contains("63") {
      #expect(answer.text.contains("a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n"))
      #expect(plan.audio.receivedPayloadTypes.map(\.number).contains(63))
    }
  }

  /// The event clock follows the chosen codec; 8000 is the last resort.
  @Test(
    arguments: [
      (["0", "111", "110", "126"], 126, 8_000), (["111", "0", "126", "110"], 110, 48_000),
      (["111", "0", "126"], 126, 8_000), (["0", "110"], nil, nil), (["0"], nil, nil),
    ] as [([String], Int?, Int?)])
  func eventClock(formats: [String], payloadType: Int?, clockRate: Int?) throws {
    let offer = try AnswerTests.offer([
      "m=audio 4000 RTP/AVP \(formats.joined(separator: " "))", "a=rtpmap:111 opus/48000/2",
      "a=rtpmap:110 telephone-event/48000", "a=rtpmap:126 telephone-event/8000", "a=fmtp:126 0-11",
    ])
    var end = SDPFixtures.end(SDPFixtures.open)
    let events = try end.answer(offer, from: SDPFixtures.local).plan.audio.events
    #expect(events?.sendPayloadType.number == payloadType)
    #expect(events?.receivePayloadType.number == payloadType)
    #expect(events?.clockRate == clockRate)
    if clockRate == 8_000 { #expect(events?.send.parameters.text == "0-11") }
  }

  @Test func withoutEventsInThePolicyNoneAreAnswered() throws {
    var policy = MediaPolicy.trunk(.none)
    policy.telephoneEvents = nil
    var end = SDPFixtures.end(policy)
    let offer = try AnswerTests.offer(["m=audio 4000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000"])
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(plan.audio.events == nil)
    #expect(answer.media.first?.formats == ["0"])
  }

  @Test(arguments: [
    (MediaPolicy.Preference.peer, [AudioCodec.pcma, .pcmu, .opus], AudioCodec.pcmu), (.own, [.pcma, .pcmu], .pcma),
    (.own, [.g722, .opus, .pcmu], .opus), (.peer, [.pcma], .pcma),
  ])
  func whoseOrderCounts(preference: MediaPolicy.Preference, codecs: [AudioCodec], chosen: AudioCodec) throws {
    let policy = MediaPolicy(codecs: codecs, preference: preference, protection: .none)
    var end = SDPFixtures.end(policy)
    let offer = try AnswerTests.offer(["m=audio 4000 RTP/AVP 0 8 96", "a=rtpmap:96 opus/48000/2"])
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(plan.audio.send.codec == chosen)
    #expect(answer.media.first?.formats == [plan.audio.send.payloadType.description])
  }

  @Test(arguments: [
    ("a=sendrecv", "c=IN IP4 192.0.2.7", MediaDirection.sendAndReceive, MediaDirection.sendAndReceive),
    ("a=sendonly", "c=IN IP4 192.0.2.7", .sendAndReceive, .receiveOnly),
    ("a=recvonly", "c=IN IP4 192.0.2.7", .sendAndReceive, .sendOnly),
    ("a=inactive", "c=IN IP4 192.0.2.7", .sendAndReceive, .inactive),
    ("a=sendrecv", "c=IN IP4 0.0.0.0", .sendAndReceive, .receiveOnly),
    ("a=inactive", "c=IN IP4 0.0.0.0", .sendAndReceive, .inactive),
    ("a=recvonly", "c=IN IP4 0.0.0.0", .sendAndReceive, .inactive),
    ("a=sendrecv", "c=IN IP6 ::", .sendAndReceive, .receiveOnly),
    ("a=sendrecv", "c=IN IP4 192.0.2.7", .sendOnly, .sendOnly),
    ("a=sendonly", "c=IN IP4 192.0.2.7", .sendOnly, .inactive),
    ("a=sendrecv", "c=IN IP4 192.0.2.7", .inactive, .inactive),
  ])
  func direction(
    line: String, connection: String, wanted: MediaDirection, answered: MediaDirection
  ) throws {
    var end = SDPFixtures.end(.trunk(.none))
    end.direction = wanted
    let (answer, plan) = try end.answer(
      AnswerTests.offer(["m=audio 4000 RTP/AVP 0", line], connection: connection), from: SDPFixtures.local)
    #expect(plan.audio.direction == answered)
    #expect(SDPFixtures.audio(answer)?.direction == answered)
  }

  @Test(arguments: [
    ("0", [], 20), ("0", ["a=ptime:30"], 30), ("0", ["a=ptime:5"], 20), ("0", ["a=ptime:160"], 20),
    ("0", ["a=ptime:35"], 30), ("0", ["a=maxptime:10"], 10), ("0", ["a=ptime:60", "a=maxptime:40"], 40),
    ("0", ["a=ptime:60", "a=maxptime:0.125"], 10), ("96", ["a=ptime:30"], 20), ("96", ["a=ptime:50"], 40),
    ("96", ["a=ptime:10", "a=fmtp:96 minptime=40"], 40), ("96", ["a=fmtp:96 minptime=120"], 60),
  ])
  func packetTime(format: String, lines: [String], expected: Int) throws {
    var end = SDPFixtures.end(.trunk(.none))
    let offer = try AnswerTests.offer(["m=audio 4000 RTP/AVP \(format)", "a=rtpmap:96 opus/48000/2"] + lines)
    #expect(try end.answer(offer, from: SDPFixtures.local).plan.audio.packetTime == expected)
  }

  @Test(
    arguments: [
      ([], "192.0.2.7", 4_001), (["a=rtcp:5000"], "192.0.2.7", 5_000),
      (["a=rtcp:5000 IN IP4 192.0.2.8"], "192.0.2.8", 5_000),
      (["a=rtcp:5000 IN IP4 224.1.1.1"], nil, 5_000), (["a=rtcp-mux"], "192.0.2.7", 4_000),
      (["a=rtcp:0"], "192.0.2.7", nil),
    ] as [([String], String?, Int?)])
  func whereRTCPGoes(lines: [String], host: String?, port: Int?) throws {
    var policy = MediaPolicy.trunk(.none)
    policy.multiplexesRTCP = true
    var end = SDPFixtures.end(policy)
    let remote = try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 0"] + lines), from: SDPFixtures.local).plan
      .remote
    #expect(remote.port == 4_000)
    #expect(remote.host?.description == "192.0.2.7")
    #expect(remote.rtcpHost?.description == host)
    #expect(remote.rtcpPort == port)
  }

  @Test(arguments: [
    (["m=video 4000 RTP/AVP 96"], NegotiationRefusal.noAudio, 304), ([], .noAudio, 304),
    (["m=audio 0 RTP/AVP 0"], .noAudio, 304), (["m=audio 4000 udptl t38"], .profile, 302),
    (["m=audio 4000 TCP/TLS/RTP/SAVPF 0"], .profile, 302), (["m=audio 4000 RTP/AVP 18"], .codec, 305),
    (["m=audio 4000 RTP/AVP"], .codec, 305), (["m=audio 4000 RTP/AVP 200", "a=rtpmap:200 PCMU/8000"], .codec, 305),
    (["m=audio 4000 RTP/AVP 96"], .codec, 305), (["m=audio 4000 RTP/SAVP 0"], .protectionNotAllowed, 302),
    (["m=audio 0 RTP/AVP 0", "m=audio 4000 RTP/AVP 18"], .codec, 305),
  ])
  func refusals(lines: [String], refusal: NegotiationRefusal, warning: Int) throws {
    var end = SDPFixtures.end(.trunk(.none))
    let error = #expect(throws: NegotiationRefusal.self) {
      try end.answer(AnswerTests.offer(lines), from: SDPFixtures.local)
    }
    #expect(error == refusal)
    #expect(error?.sipStatus == 488)
    #expect(error?.warning?.code == warning)
    #expect(error?.warning?.text.contains("\"") == false)
    #expect(end.localDescription == nil && end.plan == nil)
  }

  @Test(
    arguments: [
      ("a=setup:actpass", nil), ("a=setup:active", nil), ("a=x", nil), ("a=setup", nil),
      ("a=setup:passive", NegotiationRefusal.dtlsRole),
      ("a=setup:holdconn", .dtlsRole),
    ] as [(String, NegotiationRefusal?)])
  func dtlsRole(line: String, refusal: NegotiationRefusal?) throws {
    let offer = try AnswerTests.offer([
      "m=audio 4000 UDP/TLS/RTP/SAVP 0", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", line,
    ])
    var end = SDPFixtures.end(.trunk(.dtls))
    do throws(NegotiationRefusal) {
      let section = try SDPFixtures.audio(end.answer(offer, from: SDPFixtures.local).description)
      #expect(refusal == nil && section?.setup == .passive)
    } catch {
      #expect(error == refusal)
    }
  }

  @Test func aLegThatMayOpenDTLSDoes() throws {
    var policy = MediaPolicy.trunk(.dtls)
    policy.opensDTLS = true
    var end = SDPFixtures.end(policy)
    let offer = try AnswerTests.offer([
      "m=audio 4000 UDP/TLS/RTP/SAVP 0", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=setup:passive",
    ])
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(SDPFixtures.audio(answer)?.setup == .active)
    guard case .dtls(let dtls) = plan.protection, dtls.role == .client else {
      Issue.record("\(plan.protection)")
      return
    }
    // The association stands, so a later offer that leaves the choice does not turn it round.
    let later = try AnswerTests.offer([
      "m=audio 4000 UDP/TLS/RTP/SAVP 0", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=setup:actpass",
    ])
    #expect(try end.answer(later, from: SDPFixtures.local).plan.changes(since: plan) == [])
  }

  @Test func secretsDoNotPrint() throws {
    var policy = MediaPolicy.trunk(.sdes)
    policy.ice = .lite
    var end = SDPFixtures.end(policy)
    let offer = try end.offer(from: SDPFixtures.local)
    var other = SDPFixtures.end(policy)
    let (answer, plan) = try other.answer(SessionDescription(parsing: offer.text), from: SDPFixtures.local)
    let printed = "\(offer) \(answer) \(offer.media) \(offer.sections) \(end) \(other) \(plan) \(SDPFixtures.local)"
    for secret in ["gatewayPassword", "inline:"] {
      #expect(offer.text.contains(secret))
      #expect(!printed.contains(secret))
    }
    #expect("\(offer)".contains("a=crypto:<redacted>\r\n"))
  }

  /// What browsers add from year to year passes by: data is refused, sound stays, nothing unknown is promised.
  @Test func whatIsNotKnownIsNotAnswered() throws {
    let additions = [
      "a=rtcp-fb:* transport-cc", "a=rtcp-fb:* ccm fir", "a=extmap-allow-mixed", "a=ice-options:trickle ice2",
      "a=some-new-attribute:of next year", "a=another",
    ]
    let data = [
      "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:2", "a=sctp-port:5000",
      "a=max-message-size:262144", "a=sctp-init:AQAAABAA", "a=some-new-attribute",
    ]
    let video = try #require(AnswerTests.chrome.firstIndex { $0.hasPrefix("m=video") })
    let lines = AnswerTests.chrome[..<video] + additions + AnswerTests.chrome[video...] + data
    var end = SDPFixtures.end(.app)
    let (answer, plan) = try end.answer(AnswerTests.offer(Array(lines)), from: SDPFixtures.local)
    #expect(answer.media.map(\.kind) == ["audio", "video", "application"])
    #expect(answer.media.map(\.port) == [40_000, 0, 0])
    #expect(plan.audio.send.codec == .opus)
    for word in ["rtcp-fb", "transport-cc", "extmap", "ice2", "new-attribute", "another", "sctp-init"] {
      #expect(!answer.text.contains(word), "\(word)")
    }
  }

  @Test func withoutICEThereIsNoAppLeg() throws {
    let lines = AnswerTests.chrome.filter { !$0.hasPrefix("a=ice") }
    var end = SDPFixtures.end(.app)
    #expect(throws: NegotiationRefusal.ice) { try end.answer(AnswerTests.offer(lines), from: SDPFixtures.local) }
    var local = SDPFixtures.local
    local.iceCredentials = nil
    #expect(throws: NegotiationRefusal.localMedia("ICE credentials")) {
      try end.answer(AnswerTests.offer(AnswerTests.chrome), from: local)
    }
  }

  @Test func flagsWhereValuesBelongCountAsAbsent() throws {
    let offer = try AnswerTests.offer([
      "a=group", "m=audio 4000 RTP/AVP 0", "a=mid", "a=ptime", "a=rtcp", "a=ice-ufrag", "a=ice-pwd", "a=rtpmap",
      "a=fmtp", "a=crypto", "a=candidate", "a=fingerprint", "a=ssrc",
    ])
    var end = SDPFixtures.end(SDPFixtures.open)
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(plan.audio.mid == nil && plan.ice == nil && plan.protection == .none)
    #expect(try SessionDescription(parsing: answer.text) == answer)
  }

  /// Numbers that look like RTCP cannot share its port.
  @Test func payloadTypesBesideRTCP() throws {
    let lines = ["m=audio 4000 RTP/AVP 72 0", "a=rtpmap:72 PCMA/8000", "a=rtcp-mux"]
    var policy = MediaPolicy.trunk(.none)
    var apart = SDPFixtures.end(policy)
    #expect(try apart.answer(AnswerTests.offer(lines), from: SDPFixtures.local).plan.audio.send.codec == .pcma)
    policy.multiplexesRTCP = true
    var shared = SDPFixtures.end(policy)
    #expect(try shared.answer(AnswerTests.offer(lines), from: SDPFixtures.local).plan.audio.send.codec == .pcmu)
  }

  /// A bundle-only section takes its transport from the first section of the bundle.
  @Test func audioBundledBelowVideo() throws {
    let offer = try AnswerTests.offer([
      "a=group:BUNDLE v a", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:v", "a=ice-ufrag:peer",
      "a=ice-pwd:peerPassword0123456789012", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=setup:actpass",
      "a=rtcp-mux", "a=candidate:1 1 udp 1 192.0.2.9 9000 typ host", "m=audio 0 UDP/TLS/RTP/SAVPF 111", "a=mid:a",
      "a=bundle-only", "a=rtpmap:111 opus/48000/2",
    ])
    var end = SDPFixtures.end(.app)
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(plan.audio.index == 1)
    #expect(plan.ice?.candidates.count == 1)
    #expect(answer.media.map(\.port) == [0, 40_000])
    #expect(answer.bundleGroups == [["a"]])
  }

  @Test func theSecondAudioStreamWhenTheFirstIsUnusable() throws {
    let offer = try AnswerTests.offer([
      "m=audio 4000 RTP/AVP 18", "m=audio 4002 RTP/AVP 8", "m=audio 4004 RTP/AVP 0", "m=image 4006 udptl t38",
    ])
    var end = SDPFixtures.end(.trunk(.none))
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(plan.audio.index == 1)
    #expect(answer.media.map(\.port) == [0, 40_000, 0, 0])
    #expect(answer.media.map(\.kind) == ["audio", "audio", "audio", "image"])
    #expect(answer.media.last?.profile == "udptl")
  }

  @Test func addressesOfBothFamilies() throws {
    var local = SDPFixtures.local
    local.host = .ipv6(high: 0x2001_0DB8_0000_0000, low: 1)
    local.rtcpPort = 41_000
    var end = OfferAnswer(sessionID: .max, host: local.host, policy: .trunk(.none))
    let (answer, plan) = try end.answer(
      AnswerTests.offer(["m=audio 4000 RTP/AVP 0"], connection: "c=IN IP6 2001:db8::7"), from: local)
    #expect(answer.connection?.description == "IN IP6 2001:db8::1")
    #expect(answer.origin.description == "- 4611686018427387903 1 IN IP6 2001:db8::1")
    #expect(answer.text.contains("a=rtcp:41000\r\n"))
    #expect(plan.remote.host?.description == "[2001:db8::7]")
  }
}
