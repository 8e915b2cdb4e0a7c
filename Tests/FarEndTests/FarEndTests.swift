import CallModel
import LandlineNode
import MediaCore
import PeerKit
import SDPCore
import SIPCore
import Testing

@Suite(.serialized) struct FarEndTests {
  /// One call to a number, as its user part is written.
  private func user(_ number: SandboxNumber) -> String { "+\(number.rawValue)" }

  @Test(
    "A number that refuses does so with its status, cause, warning and pause",
    arguments: [
      (SandboxNumber.notFound, 404), (.unavailable, 480), (.busy, 486), (.notAcceptable, 488), (.congestion, 503),
      (.declined, 603),
    ])
  func refusals(number: SandboxNumber, status: Int) async throws {
    try await SandboxCaller.run { caller in
      let headers = try CustomHeaders([(name: "x-order", value: "4711")])
      let call = try await caller.call(user(number), headers: headers)
      let end = try await call.ended().value
      let failure = try #require(end.failure)
      #expect(failure.sipStatus == status)
      #expect(end.headers["x-order"] == "4711")
      let response = try #require(caller.messages.last { $0.hasPrefix("SIP/2.0 \(status) ") })
      #expect(response.contains("Q.850;cause=17") == (number == .busy))
      #expect(response.contains("Warning: 304 ") == (number == .notAcceptable))
      #expect(response.contains("Retry-After: 5\r\n") == (number == .congestion))
    }
  }

  @Test("The number that runs out of time rings first")
  func timeout() async throws {
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.timeout))
      let ringing = try await call.progress(180)
      let end = try await call.ended()
      #expect(end.value.failure?.sipStatus == 408)
      #expect(end.time - ringing.time >= .milliseconds(100))
    }
  }

  @Test("The number that is never answered rings until it is cancelled")
  func noAnswer() async throws {
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.noAnswer))
      _ = try await call.progress(180)
      call.hangUp()
      let end = try await call.ended().value
      #expect(end.cause == .local && !end.wasEstablished)
    }
  }

  @Test("Early media is heard whole before the call is refused")
  func earlyMedia() async throws {
    let library = try SandboxCaller.prompts.get()
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.earlyMediaThenReject))
      let early = try await call.progress(183)
      try call.join(early.value.body)
      let end = try await call.ended()
      #expect(end.value.failure?.sipStatus == 486)
      let whole = library.recording(.early, .pcmu).milliseconds
      #expect(end.time - early.time >= .milliseconds(whole - 200))
      let heard = try #require(call.figures.last).received.packets
      #expect(heard > 50)
    }
  }

  @Test("The number that drops its calls does so by itself, and speaks until then")
  func drop() async throws {
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.answerThenDrop))
      let answer = try await call.established()
      try call.join(answer.value.body)
      _ = try await call.sound("speech") { $0 == .firstMedia(.far) ? true : nil }
      let end = try await call.ended()
      #expect(end.value.cause == .remote && end.value.wasEstablished)
      #expect(end.time - answer.time >= .milliseconds(550))
    }
  }

  @Test("The one-way number says its message and nothing after it, whatever it hears")
  func oneWay() async throws {
    let whole = try SandboxCaller.prompts.get().recording(.oneWay, .pcmu).packets.count
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.oneWay))
      try call.join(try await call.established().value.body)
      try await call.statistics("whole message") { $0.received.packets >= UInt64(whole) - 2 }
      call.play([.key(5, milliseconds: 3_000, pause: 100)].compactMap { $0 })
      let after = try await call.statistics("answered sound") { $0.sent.packets > 100 }
      #expect(after.received.packets <= UInt64(whole))
      call.hangUp()
      _ = try await call.ended()
    }
  }

  @Test("The echo says so, then sends back sound and keys", arguments: [AudioCodec.pcmu, .pcma, .g722, .opus])
  func echo(codec: AudioCodec) async throws {
    let whole = try SandboxCaller.prompts.get().recording(.echo, codec).packets.count
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.echo), codecs: [codec])
      try call.join(try await call.established().value.body)
      let prompt = try await call.statistics("whole message") { $0.received.packets >= UInt64(whole) - 2 }
      call.press([1, 2, 10, 11])
      #expect(try await call.digits(4) == "12*#")
      let before = try #require(call.figures.last).sent.packets
      call.play([.key(5, milliseconds: 2_000, pause: 100)].compactMap { $0 })
      let after = try await call.statistics("echo of the sound") {
        $0.received.packets >= prompt.received.packets + 90
      }
      #expect(after.sent.packets >= before + 60)
      #expect(after.received.lost == 0)
      call.hangUp()
      _ = try await call.ended()
    }
  }

  @Test("The lossy echo loses a packet of fifty, in its message too")
  func lossyEcho() async throws {
    let whole = try SandboxCaller.prompts.get().recording(.loss, .pcmu).packets.count
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.echoWithLoss))
      try call.join(try await call.established().value.body)
      let end = try await call.statistics("whole message") {
        $0.received.packets + UInt64(max(0, $0.received.lost)) >= UInt64(whole) - 2
      }
      let expected = Int64(whole / FarEndScript.lossInterval)
      #expect(abs(end.received.lost - expected) <= 1)
      call.play([.key(5, milliseconds: 3_000, pause: 100)].compactMap { $0 })
      try await call.statistics("lost echo") { $0.received.lost >= expected + 2 }
      call.hangUp()
      _ = try await call.ended()
    }
  }

  @Test(
    "Any other number rings, answers, speaks and sends back what it hears",
    arguments: ["+4681234567", "4681234567", "service", "+46000000402"])
  func ordinary(user: String) async throws {
    try await SandboxCaller.run { caller in
      let headers = try CustomHeaders([(name: "x-a", value: "1"), (name: "X-B", value: "two words")])
      let call = try await caller.call(user, headers: headers)
      let ringing = try await call.progress(180)
      #expect(ringing.value.headers == headers)
      let answer = try await call.established()
      #expect(answer.value.headers == headers)
      #expect(answer.time - ringing.time >= .milliseconds(100))
      try call.join(answer.value.body)
      _ = try await call.sound("speech") { $0 == .firstMedia(.far) ? true : nil }
      call.hangUp()
      #expect(try await call.ended().value.cause == .local)
    }
  }

  @Test("An INVITE without offer gets one, and the answer of the ACK counts")
  func withoutOffer() async throws {
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.echo), offers: false)
      let offered = try await call.event("offer") { event -> (ExchangeID, MessageBody?)? in
        if case .offered(call.handle, let exchange, let body) = event { return (exchange, body) }
        return nil
      }.value
      caller.execute(.answer(offered.0, try call.answer(offered.1)))
      _ = try await call.sound("speech") { $0 == .firstMedia(.far) ? true : nil }
      call.hangUp()
      _ = try await call.ended()
    }
  }

  @Test("Hold is answered, and encrypted media with keys in the description works")
  func holdAndSDES() async throws {
    try await SandboxCaller.run { caller in
      let call = try await caller.call(user(.echo), protection: .sdes)
      try call.join(try await call.established().value.body)
      _ = try await call.sound("speech") { $0 == .firstMedia(.far) ? true : nil }
      let exchange = ExchangeID(1 << 40)
      caller.execute(.offer(call.handle, exchange, try call.offer(.sendOnly)))
      let answer = try await call.event("answer to hold") { event -> MessageBody? in
        if case .answered(call.handle, exchange, let body) = event { return body }
        return nil
      }.value
      #expect(String(decoding: answer.bytes, as: UTF8.self).contains("a=recvonly"))
      call.hangUp()
      _ = try await call.ended()
    }
  }

  @Test(
    "An offer that cannot be answered is refused as the negotiation says",
    arguments: [("m=video 9000 RTP/AVP 96\r\n", 488, true), ("m=audio\r\n", 400, false)])
  func badOffers(media: String, status: Int, warns: Bool) async throws {
    try await SandboxCaller.run { caller in
      let text = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n" + media
      let call = try await caller.call(user(.echo), text: text)
      #expect(try await call.ended().value.failure?.sipStatus == status)
      let response = try #require(caller.messages.last { $0.hasPrefix("SIP/2.0 \(status) ") })
      #expect(response.contains("Warning: 304 ") == warns)
    }
  }

  @Test("No call lasts longer than the limit")
  func limit() async throws {
    var timing = SandboxCaller.quick
    timing.maximumCallMilliseconds = 400
    try await SandboxCaller.run(timing) { caller in
      let call = try await caller.call("+4681234567")
      let answer = try await call.established()
      let end = try await call.ended()
      #expect(end.value.cause == .remote)
      #expect(end.time - answer.time >= .milliseconds(300))
    }
  }

  @Test("A shutdown ends every call with a BYE")
  func shutdown() async throws {
    try await SandboxCaller.run { caller in
      let calls = [try await caller.call("+4681234567"), try await caller.call(user(.echo))]
      for call in calls { _ = try await call.established() }
      let ringing = try await caller.call(user(.noAnswer))
      _ = try await ringing.progress(180)
      await caller.farEnd.shutdown()
      for call in calls { #expect(try await call.ended().value.cause == .remote) }
      #expect(try await ringing.ended().value.failure != nil)
    }
  }

  @Test("The waits are those of the documentation")
  func standardTiming() {
    let timing = FarEnd.Timing()
    #expect(timing.answerMilliseconds == 1_000 && timing.timeoutMilliseconds == 5_000)
    #expect(timing.dropMilliseconds == 2_000 && timing.maximumCallMilliseconds == 600_000)
  }

  @Test("A user part is a number of the sandbox only when it is exactly its digits")
  func numbers() {
    #expect(FarEndScript.number("+46000000404") == .notFound)
    #expect(FarEndScript.number("46000000404") == .notFound)
    #expect(FarEndScript.number("+46000000404;phone-context=x") == .notFound)
    for other in ["++46000000404x", "+460000004040", "0046000000404", "", "+", "46000000404 ", nil] as [String?] {
      #expect(FarEndScript.number(other) == nil, "\(other ?? "none")")
    }
  }
}
