import CallModel
import SDPCore
import Testing

/// Making offers, taking answers, and the exchanges after the first.
struct OfferTests {
  static func answer(_ lines: String...) throws -> SessionDescription {
    try SessionDescription(parsing: SDPFixtures.text(lines))
  }

  @Test func anOfferToATrunk() throws {
    var end = SDPFixtures.end(.trunk([.none, .sdes]))
    let offer = try end.offer(from: SDPFixtures.local)
    let section = try #require(SDPFixtures.audio(offer))
    #expect(offer.media.first?.profile == "RTP/AVP")
    #expect(offer.media.first?.formats == ["8", "0", "9", "111", "101", "110"])
    #expect(section.crypto.count == MediaPolicy.standardSuites.count)
    #expect(section.crypto.allSatisfy { if case .usable = $0.verdict { true } else { false } })
    #expect(section.packetTime == 20_000)
    #expect(section.formats.filter(\.isTelephoneEvent).map(\.encoding?.clockRate) == [8_000, 48_000])
    #expect(try SessionDescription(parsing: offer.text) == offer)
    #expect(end.isOfferPending)
    #expect(throws: NegotiationRefusal.offerPending) { try end.offer(from: SDPFixtures.local) }
    #expect(throws: NegotiationRefusal.offerPending) { try end.answer(offer, from: SDPFixtures.local) }
  }

  @Test(
    arguments: [
      (.none, "RTP/AVP"), (.sdes, "RTP/SAVP"), ([.none, .sdes], "RTP/AVP"), (.dtls, "UDP/TLS/RTP/SAVPF"),
    ] as [(MediaPolicy.Protection, String)])
  func profileOfAnOffer(protection: MediaPolicy.Protection, profile: String) throws {
    var end = SDPFixtures.end(.trunk(protection))
    let offer = try end.offer(from: SDPFixtures.local)
    #expect(offer.media.first?.profile == profile)
    #expect(SDPFixtures.audio(offer)?.setup == (protection == .dtls ? .actpass : nil))
  }

  @Test func theAnswerOfATrunk() throws {
    var end = SDPFixtures.end(.trunk(.none))
    _ = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(
      OfferTests.answer(
        "m=audio 5000 RTP/AVP 0 8 96", "a=rtpmap:96 telephone-event/8000", "a=fmtp:96 0-11", "a=ptime:30", "a=sendonly")
    )
    #expect(plan.audio.send.codec == .pcmu)
    #expect(plan.audio.receive.map(\.codec) == [.pcmu, .pcma])
    #expect(plan.audio.events?.sendPayloadType.number == 96)
    #expect(plan.audio.events?.receivePayloadType.number == 101)
    #expect(plan.audio.events?.send.parameters.text == "0-11")
    #expect(plan.audio.direction == .receiveOnly)
    #expect(plan.audio.packetTime == 30)
    #expect(plan.remote.rtcpPort == 5_001)
    #expect(plan.audio.receivedPayloadTypes.map(\.number) == [0, 8, 101])
    #expect(!end.isOfferPending)
    #expect(end.plan == plan)
  }

  /// Payload types may differ in the two directions (RFC 3264 section 5.1).
  @Test func asymmetricPayloadTypes() throws {
    var end = SDPFixtures.end(.trunk(.none))
    _ = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(
      OfferTests.answer(
        "m=audio 5000 RTP/AVP 98 99", "a=rtpmap:98 opus/48000/2", "a=rtpmap:99 telephone-event/48000"))
    #expect(plan.audio.send.payloadType.number == 98)
    #expect(plan.audio.receive.map(\.payloadType.number) == [111])
    #expect(plan.audio.events?.sendPayloadType.number == 99)
    #expect(plan.audio.events?.receivePayloadType.number == 110)
  }

  /// Chromium keeps both clocks of our offer and sends with the slower one.
  @Test func everyClockOfEventsThatWasAnsweredMayCome() throws {
    var end = SDPFixtures.end(.trunk(.none))
    _ = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 111 0 110 101"))
    #expect(plan.audio.events?.received.map(\.clockRate) == [48_000, 8_000])
    #expect(plan.audio.events?.received.map(\.payloadType.number) == [110, 101])
    #expect(plan.audio.receivedPayloadTypes.map(\.number) == [111, 0, 110, 101])
  }

  @Test func anAnswerWithoutRtpmapMeansOurNumbers() throws {
    var end = SDPFixtures.end(.trunk(.none))
    _ = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 111 110"))
    #expect(plan.audio.send.codec == .opus)
    #expect(plan.audio.events?.clockRate == 48_000)
  }

  @Test func whatWasNotOfferedNeverEntersThePlan() throws {
    var end = SDPFixtures.end(MediaPolicy(codecs: [.pcma], protection: .none))
    _ = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(
      OfferTests.answer("m=audio 5000 RTP/AVP 96 0 8 18", "a=rtpmap:96 opus/48000/2"))
    #expect(plan.audio.send.codec == .pcma)
    #expect(plan.audio.receivedPayloadTypes.map(\.number) == [8])
  }

  static let key = "cJOJ7kxQjhFBp2fP6AYjs3vKw7CeBdWZCj0isbJv"

  @Test(
    arguments: [
      (MediaPolicy.Protection.none, ["m=audio 5000 RTP/AVP 18"], NegotiationRefusal.codec),
      (.none, ["m=audio 0 RTP/AVP 0"], .streamRefused),
      (.none, ["m=video 5000 RTP/AVP 0"], .answerShape),
      (.none, ["m=audio 5000 RTP/AVP 0", "m=audio 5002 RTP/AVP 0"], .answerShape),
      (.none, [], .answerShape),
      (.none, ["m=audio 5000 RTP/SAVP 0"], .answerShape),
      (.sdes, ["m=audio 5000 RTP/AVP 0"], .answerShape),
      (.sdes, ["m=audio 5000 RTP/SAVP 0"], .keys([])),
      (.sdes, ["m=audio 5000 RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA"], .keys([.keyLength])),
      (.sdes, ["m=audio 5000 RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)"], .keyNotOffered),
      (.sdes, ["m=audio 5000 RTP/SAVP 0", "a=crypto:9 AES_CM_128_HMAC_SHA1_80 inline:\(key)"], .keyNotOffered),
      ([.none, .sdes], ["m=audio 5000 RTP/AVP 0", "a=crypto:3 F8 inline:\(key)"], .keys([.suite])),
      (.dtls, ["m=audio 5000 UDP/TLS/RTP/SAVPF 0"], .fingerprint),
      (
        .dtls,
        [
          "m=audio 5000 UDP/TLS/RTP/SAVPF 0", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=setup:passive",
        ], .dtlsRole
      ),
    ] as [(MediaPolicy.Protection, [String], NegotiationRefusal)])
  func answersThatAreRefused(protection: MediaPolicy.Protection, lines: [String], refusal: NegotiationRefusal) throws {
    var end = SDPFixtures.end(.trunk(protection))
    _ = try end.offer(from: SDPFixtures.local)
    #expect(throws: refusal) { try end.accept(SessionDescription(parsing: SDPFixtures.text(lines))) }
    #expect(end.plan == nil)
    #expect(!end.isOfferPending)
    #expect(throws: NegotiationRefusal.noOffer) { try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 0")) }
  }

  @Test func keysOfAnAnswer() throws {
    var end = SDPFixtures.end(.trunk([.none, .sdes]))
    let offer = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(
      OfferTests.answer("m=audio 5000 RTP/AVP 0", "a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:\(OfferTests.key)|2^31"))
    guard case .sdes(let sdes) = plan.protection else {
      Issue.record("\(plan.protection)")
      return
    }
    #expect(sdes.tag == 3)
    #expect(sdes.receive.lifetime == 1 << 31)
    let lines = try #require(SDPFixtures.audio(offer)).crypto
    #expect(lines[2].verdict == .usable(tag: 3, suite: .aesCM128HMAC80, key: sdes.send))
    // The other end of optional encryption: no key in the answer.
    var plain = SDPFixtures.end(.trunk([.none, .sdes]))
    _ = try plain.offer(from: SDPFixtures.local)
    #expect(try plain.accept(OfferTests.answer("m=audio 5000 RTP/AVP 0")).protection == .none)
  }

  /// Both say so or neither does it (RFC 5761 section 5.1.1).
  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func sharedPortsAreOfferedAndAnswered(isOffered: Bool, isAnswered: Bool) throws {
    var policy = MediaPolicy.trunk(.none)
    policy.multiplexesRTCP = isOffered
    var end = SDPFixtures.end(policy)
    #expect(try SDPFixtures.audio(end.offer(from: SDPFixtures.local))?.multiplexesRTCP == isOffered)
    let answer = ["m=audio 5000 RTP/AVP 0"] + (isAnswered ? ["a=rtcp-mux"] : [])
    let plan = try end.accept(SessionDescription(parsing: SDPFixtures.text(answer)))
    #expect(plan.multiplexesRTCP == (isOffered && isAnswered))
    #expect(plan.remote.port == 5_000)
    #expect(plan.remote.rtcpPort == (isOffered && isAnswered ? 5_000 : 5_001))
  }

  /// Both ends' wishes in a re-INVITE, whoever holds whom, and back again.
  @Test(arguments: MediaDirection.allCases, MediaDirection.allCases)
  func everyPairOfDirections(ours: MediaDirection, theirs: MediaDirection) throws {
    func offer(_ direction: MediaDirection) throws -> SessionDescription {
      try AnswerTests.offer(["m=audio 4000 RTP/AVP 0", "a=\(direction.rawValue)"])
    }
    let expected = MediaDirection(sends: ours.sends && theirs.receives, receives: ours.receives && theirs.sends)
    var end = SDPFixtures.end(.trunk(.none))
    let talk = try end.answer(offer(.sendAndReceive), from: SDPFixtures.local).plan
    end.direction = ours
    let (answer, plan) = try end.answer(offer(theirs), from: SDPFixtures.local)
    #expect(SDPFixtures.audio(answer)?.direction == expected)
    #expect(plan.audio.direction == expected)
    #expect(plan.changes(since: talk) == (expected == .sendAndReceive ? [] : .direction))
    end.direction = .sendAndReceive
    let (_, back) = try end.answer(offer(.sendAndReceive), from: SDPFixtures.local)
    #expect(back.audio.direction == .sendAndReceive)
    // The same by an offer of ours.
    end.direction = ours
    #expect(try SDPFixtures.audio(end.offer(from: SDPFixtures.local))?.direction == ours)
    let agreed = theirs.limited(to: ours.mirrored)
    let held = try end.accept(OfferTests.answer("m=audio 4000 RTP/AVP 0", "a=\(agreed.rawValue)"))
    #expect(held.audio.direction == expected)
  }

  /// A re-INVITE with nothing changed but the codec: it is switched, or refused and the call is unhurt.
  @Test func anotherCodecInAnOpenCall() throws {
    var end = SDPFixtures.end(.trunk(.none))
    let first = try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 0"]), from: SDPFixtures.local).plan
    #expect(first.audio.send.codec == .pcmu)
    let (answer, plan) = try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 8"]), from: SDPFixtures.local)
    #expect(answer.media.first?.formats == ["8"])
    #expect(plan.audio.send.codec == .pcma)
    #expect(plan.audio.receivedPayloadTypes.map(\.number) == [8])
    #expect(plan.changes(since: first) == .formats)
    let before = end
    #expect(throws: NegotiationRefusal.codec) {
      try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 18"]), from: SDPFixtures.local)
    }
    #expect(end == before && end.plan == plan)
    #expect(NegotiationRefusal.codec.sipStatus == 488)
  }

  /// What changes in any stream is a change of the plan; so is another number of streams.
  @Test func changesOfEveryStream() throws {
    func plan(_ payloadType: Int, _ attribute: String = "sendrecv") throws -> MediaPlan {
      var end = SDPFixtures.end(.trunk(.none))
      let lines = ["m=audio 4000 RTP/AVP \(payloadType)", "a=\(attribute)"]
      return try end.answer(AnswerTests.offer(lines), from: SDPFixtures.local).plan
    }
    func together(_ plans: MediaPlan...) -> MediaPlan {
      let first = plans[0]
      return MediaPlan(
        audio: first.audio, others: plans.dropFirst().map(\.audio), remote: first.remote,
        multiplexesRTCP: first.multiplexesRTCP, reducedSizeRTCP: first.reducedSizeRTCP, protection: first.protection,
        ice: first.ice)
    }
    let (mu, a, held) = (try plan(0), try plan(8), try plan(0, "sendonly"))
    #expect(together(mu) == mu)
    #expect(together(mu, a).streams == [mu.audio, a.audio] && together(mu, a).audio == mu.audio)
    #expect(together(mu, a).changes(since: together(mu, a)) == [])
    #expect(together(mu, a).changes(since: together(mu, mu)) == .formats)
    #expect(together(a, held).changes(since: together(a, mu)) == .direction)
    #expect(together(mu, mu).changes(since: mu) == [.formats, .direction])
    #expect(mu.changes(since: together(mu, mu)) == [.formats, .direction])
  }

  /// A 183 and a 200 may both carry the answer, and forks may differ.
  @Test func aSecondAnswerIsReadAgain() throws {
    var end = SDPFixtures.end(.trunk(.none))
    _ = try end.offer(from: SDPFixtures.local)
    let early = try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 0"))
    #expect(try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 0")) == early)
    let other = try end.accept(OfferTests.answer("m=audio 6000 RTP/AVP 8"))
    #expect(other.changes(since: early) == [.formats, .remote])
  }

  @Test func holdAndResume() throws {
    var end = SDPFixtures.end(.trunk(.none))
    let first = try end.offer(from: SDPFixtures.local)
    let plan = try end.accept(OfferTests.answer("m=audio 5000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000"))
    #expect(first.origin.sessionVersion == "1")

    // The same again: the version stays.
    #expect(try end.offer(from: SDPFixtures.local).media.first?.formats.first == "0")
    end.withdrawOffer()

    end.direction = .sendOnly
    let hold = try end.offer(from: SDPFixtures.local)
    #expect(hold.origin.sessionID == first.origin.sessionID)
    #expect(SDPFixtures.audio(hold)?.direction == .sendOnly)
    let held = try end.accept(
      OfferTests.answer("m=audio 5000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000", "a=recvonly"))
    #expect(held.audio.direction == .sendOnly)
    #expect(held.changes(since: plan) == .direction)

    let unchanged = try end.offer(from: SDPFixtures.local)
    #expect(unchanged == hold)
    end.withdrawOffer()
    #expect(end.plan == held)

    end.direction = .sendAndReceive
    let resume = try end.offer(from: SDPFixtures.local)
    #expect(Int(resume.origin.sessionVersion) == (Int(hold.origin.sessionVersion) ?? 0) + 1)
    // The codec in use leads, and every payload type means what it meant.
    #expect(resume.media.first?.formats == ["0", "8", "9", "111", "101", "110"])
  }

  @Test func versionsOfAnswers() throws {
    let offer = try AnswerTests.offer(["m=audio 4000 RTP/AVP 0"])
    let hold = try AnswerTests.offer(["m=audio 4000 RTP/AVP 0", "a=sendonly"])
    var end = SDPFixtures.end(.trunk(.none))
    let versions = try [offer, offer, hold, hold, offer].map {
      try end.answer($0, from: SDPFixtures.local).description.origin.sessionVersion
    }
    #expect(versions == ["1", "1", "2", "2", "3"])
    let before = end
    #expect(throws: NegotiationRefusal.codec) {
      try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 18"]), from: SDPFixtures.local)
    }
    #expect(end == before, "a refusal changes nothing")
  }

  /// Our own offer after a peer's: its sections stay, its numbers stay.
  @Test func anOfferAfterAnAnswer() throws {
    var end = SDPFixtures.end(.app)
    let plan = try end.answer(AnswerTests.offer(AnswerTests.chrome), from: SDPFixtures.local).plan
    #expect(plan.audio.index == 0)
    let offer = try end.offer(from: SDPFixtures.local)
    #expect(offer.media.map(\.kind) == ["audio", "video"])
    #expect(offer.media.map(\.port) == [40_000, 0])
    #expect(offer.media.first?.profile == "UDP/TLS/RTP/SAVPF")
    #expect(offer.media.first?.formats.prefix(1) == ["111"])
    #expect(SDPFixtures.audio(offer)?.mid == "0")
    let numbers = try #require(SDPFixtures.audio(offer)).formats.filter(\.isTelephoneEvent).map(\.token)
    // 126 meant events at 8000 in the peer's offer and is not taken for something else.
    #expect(numbers == ["110", "101"])
  }

  @Test func restartOfICE() throws {
    var end = SDPFixtures.end(.app)
    let offer = try AnswerTests.offer(AnswerTests.chrome)
    #expect(!end.restartsICE(offer))
    let first = try end.answer(offer, from: SDPFixtures.local).plan
    #expect(!end.restartsICE(offer))
    let restart = try AnswerTests.offer(AnswerTests.chrome.map { $0 == "a=ice-ufrag:peer" ? "a=ice-ufrag:anew" : $0 })
    #expect(end.restartsICE(restart))
    #expect(try end.answer(restart, from: SDPFixtures.local).plan.changes(since: first) == .ice)
  }

  @Test func restartOfICEInABundle() throws {
    func offer(_ userFragment: String) throws -> SessionDescription {
      try AnswerTests.offer([
        "a=group:BUNDLE v a", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:v", "a=ice-ufrag:\(userFragment)",
        "a=ice-pwd:peerPassword0123456789012", "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=rtcp-mux",
        "m=audio 0 UDP/TLS/RTP/SAVPF 0", "a=mid:a", "a=bundle-only",
      ])
    }
    var end = SDPFixtures.end(.app)
    _ = try end.answer(offer("peer"), from: SDPFixtures.local)
    #expect(try !end.restartsICE(offer("peer")))
    #expect(try end.restartsICE(offer("anew")))
  }

  @Test(arguments: [0, -1, 65_536])
  func aPortThatIsNone(port: Int) throws {
    var local = SDPFixtures.local
    local.port = port
    var end = SDPFixtures.end(.trunk(.none))
    #expect(throws: NegotiationRefusal.localMedia("port")) { try end.offer(from: local) }
    #expect(throws: NegotiationRefusal.localMedia("port")) {
      try end.answer(AnswerTests.offer(["m=audio 4000 RTP/AVP 0"]), from: local)
    }
  }

  /// Two of our own ends always agree, whatever their policies have in common.
  @Test func twoEndsOfOurs() throws {
    let protections: [MediaPolicy.Protection] = [
      .none, .sdes, .dtls, [.none, .sdes], [.sdes, .dtls], [.none, .sdes, .dtls],
    ]
    let codecs: [[AudioCodec]] = [[.opus], [.pcma], [.g722, .pcmu], AudioCodec.allCases]
    var agreed = 0
    for protection in protections {
      for other in protections {
        for (list, otherList) in Array(zip(codecs, codecs.reversed())) + Array(zip(codecs, codecs)) {
          var caller = SDPFixtures.end(MediaPolicy(codecs: list, protection: protection))
          // Of two gateways one has to open the association.
          caller.policy.opensDTLS = true
          var called = SDPFixtures.end(MediaPolicy(codecs: otherList, protection: other))
          let offer = try SessionDescription(parsing: caller.offer(from: SDPFixtures.local).text)
          var remote = SDPFixtures.local
          remote.keyMaterial = Redacted(SDPFixtures.keyMaterial.reversed())
          guard let (answer, theirs) = try? called.answer(offer, from: remote) else { continue }
          let ours = try caller.accept(SessionDescription(parsing: answer.text))
          agreed += 1
          #expect(ours.audio.send.codec == theirs.audio.send.codec)
          #expect(ours.audio.send.payloadType == theirs.audio.receive.first?.payloadType)
          #expect(theirs.audio.send.payloadType == ours.audio.receive.first?.payloadType)
          #expect(ours.audio.events?.sendPayloadType == theirs.audio.events?.receivePayloadType)
          switch (ours.protection, theirs.protection) {
          case (.none, .none): break
          case (.dtls(let left), .dtls(let right)): #expect(left.role == .server || right.role == .server)
          case (.sdes(let left), .sdes(let right)):
            #expect(left.suite == right.suite && left.tag == right.tag)
            #expect(left.send.keyAndSalt == right.receive.keyAndSalt)
            #expect(left.receive.keyAndSalt == right.send.keyAndSalt)
          case (let left, let right): Issue.record("\(left) and \(right)")
          }
        }
      }
    }
    #expect(agreed > 60)
  }
}
