import AppProtocol
import CallEngine
import CallModel
import NodeCore
import SIPCore
import TestVectors
import Testing

/// The numbers are those of the list of edge cases.
@Suite("Calls that trunks send, through the whole hall")
struct ArrivalNodeTests {
  private static let number = "+46850000536"

  private func stage() throws -> NodeStage {
    let stage = try NodeStage()
    stage.start()
    stage.feed(
      .numbers(
        environment: NodeStage.environment,
        [
          InboundNumber(
            try E164Number(ArrivalNodeTests.number), application: NodeStage.application, account: NodeStage.account,
            targets: [.init(.user(try UserID("bob")))])
        ]))
    return stage
  }

  private static func request(
    _ method: String, _ callID: String, sequence: Int = 1, tag: String = "", branch: String? = nil, body: String = "",
    identity: String = ""
  ) -> [UInt8] {
    let lines = [
      "\(method) sip:\(number)@192.0.2.1 SIP/2.0",
      "Via: SIP/2.0/UDP 198.51.100.1:5060;branch=z9hG4bK\(branch ?? callID)\(method == "ACK" ? "ack" : "")",
      "From: \"Bo\" <sip:+46701111111@198.51.100.1>;tag=a", "To: <sip:\(number)@192.0.2.1>\(tag)", "Call-ID: \(callID)",
      "CSeq: \(sequence) \(method)", "Contact: <sip:198.51.100.1:5060>", "Max-Forwards: 70",
      identity.isEmpty ? "" : "Identity: \(identity)",
      body.isEmpty ? "" : "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)",
    ].filter { !$0.isEmpty }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  private static let description =
    "v=0\r\no=- 1 1 IN IP4 198.51.100.1\r\ns=-\r\nc=IN IP4 198.51.100.1\r\nt=0 0\r\nm=audio 20000 RTP/AVP 0\r\n"

  /// The status line of each response that was sent to an INVITE.
  private func responses(_ stage: NodeStage) -> [Int] {
    stage.effects.compactMap { effect in
      guard case .send(let bytes, _, _) = effect, bytes.starts(with: Array("SIP/2.0 ".utf8)) else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      return text.contains("CSeq: 1 INVITE") ? Int(text.dropFirst(8).prefix(3)) : nil
    }
  }

  private func invited(_ events: [AppEvent]) -> CallID? {
    events.lazy.compactMap { if case .incoming(let call, _) = $0 { call } else { nil } }.last
  }

  @Test("an INVITE rings the user's device; its trace holds the INVITE, and the caller's BYE ends it")
  func rings() throws {
    let stage = try stage()
    let bob = try stage.join("bob", "phone")
    stage.feed(
      .sip(ArrivalNodeTests.request("INVITE", "in-1", body: ArrivalNodeTests.description), NodeStage.trunkPath))
    try stage.answerPayer()
    try stage.answerMedia()
    let call = try #require(invited(stage.heard(bob)))
    stage.ask(bob, 2, .alert(call, offer: nil))
    stage.ask(bob, 3, .accept(call, offer: NodeStage.offer, headers: []))
    #expect(responses(stage) == [180, 200])
    let traced = stage.effects.contains { effect in
      if case .trace(.message(let bytes, "in-1", false, _)) = effect {
        bytes.starts(with: Array("INVITE".utf8))
      } else {
        false
      }
    }
    #expect(traced)
    let answer = stage.effects.lazy.compactMap { effect -> String? in
      guard case .send(let bytes, _, _) = effect else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      return text.hasPrefix("SIP/2.0 200") ? text : nil
    }.last
    let tag = try #require(answer?.split(separator: "\r\n").first { $0.hasPrefix("To:") }?.split(separator: ";").last)
    stage.feed(.sip(ArrivalNodeTests.request("ACK", "in-1", tag: ";\(tag)"), NodeStage.trunkPath))
    stage.feed(
      .sip(ArrivalNodeTests.request("BYE", "in-1", sequence: 2, tag: ";\(tag)", branch: "bye"), NodeStage.trunkPath))
    let end = stage.heard(bob).lazy.compactMap { if case .ended(_, let summary) = $0 { summary } else { nil } }.last
    #expect(end?.cause == .hungUp)
    #expect(stage.operations.isEmpty, "no ledger hears of a free call")
    #expect(stage.core.isIdle)
  }

  @Test("24: an INVITE that is sent again while its payer is read asks once, and rings once")
  func sentAgain() throws {
    let stage = try stage()
    let bob = try stage.join("bob", "phone")
    for _ in 0..<3 {
      stage.feed(
        .sip(ArrivalNodeTests.request("INVITE", "in-1", body: ArrivalNodeTests.description), NodeStage.trunkPath))
    }
    let reads = stage.effects.count { if case .readPayer = $0 { true } else { false } }
    #expect(reads == 1)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(stage.heard(bob).count { if case .incoming = $0 { true } else { false } } == 1)
  }

  @Test("25: CANCEL while its payer is read: 487, and what is read changes nothing")
  func cancelled() throws {
    let stage = try stage()
    let bob = try stage.join("bob", "phone")
    stage.feed(
      .sip(ArrivalNodeTests.request("INVITE", "in-1", body: ArrivalNodeTests.description), NodeStage.trunkPath))
    stage.feed(.sip(ArrivalNodeTests.request("CANCEL", "in-1"), NodeStage.trunkPath))
    try stage.answerPayer()
    #expect(responses(stage) == [487])
    #expect(invited(stage.heard(bob)) == nil)
    #expect(stage.core.isIdle)
  }

  @Test("a refused call has a record and a trace with both messages")
  func refused() throws {
    let stage = try stage()
    stage.feed(.numbers(environment: NodeStage.environment, []))
    stage.feed(
      .sip(ArrivalNodeTests.request("INVITE", "in-1", body: ArrivalNodeTests.description), NodeStage.trunkPath))
    #expect(responses(stage) == [404])
    let record = stage.effects.lazy.compactMap { if case .record(let record) = $0 { record } else { nil } }.last
    #expect(record?.summary.failure?.code == .numberUnknown && record?.callerNumber == "+46701111111")
    let traced = stage.effects.compactMap { effect -> Bool? in
      if case .trace(.message(_, "in-1", let isSent, _)) = effect { isSent } else { nil }
    }
    #expect(traced.contains(false) && traced.contains(true), "the INVITE and its response: \(traced)")
    #expect(stage.core.isIdle)
  }

  // MARK: Signed callers

  private func verifying() throws -> NodeStage {
    let stage = try NodeStage { engine in
      let plain = engine.trunks[0]
      var inbound = InboundTrunkPolicy()
      inbound.stir = .verify
      engine.trunks[0] = CallTrunk(
        trunk: plain.trunk, uri: plain.uri, identity: plain.identity, media: plain.media, paths: plain.paths,
        inbound: inbound)
      engine.identityAuthorities =
        (try? IdentityAuthorities(pems: [Array(SignedCaller.authority.utf8)])) ?? IdentityAuthorities()
    }
    stage.start()
    stage.feed(
      .numbers(
        environment: NodeStage.environment,
        [
          InboundNumber(
            try E164Number(ArrivalNodeTests.number), application: NodeStage.application, account: NodeStage.account,
            targets: [.init(.user(try UserID("bob")))])
        ]))
    return stage
  }

  private func fetches(_ stage: NodeStage) -> [CertificateFetchID] {
    stage.effects.compactMap { if case .fetch(let id, _, _) = $0 { id } else { nil } }
  }

  private func from(_ events: [AppEvent]) -> CallerIdentity? {
    events.lazy.compactMap { if case .incoming(_, let invitation) = $0 { invitation.from } else { nil } }.last
  }

  private func invite(_ stage: NodeStage, _ callID: String, identity: String = SignedCaller.full) {
    stage.feed(
      .sip(
        ArrivalNodeTests.request("INVITE", callID, body: ArrivalNodeTests.description, identity: identity),
        NodeStage.trunkPath))
  }

  @Test("a signed caller: its certificate is fetched once, the next call finds it, and both apps hear A")
  func signed() throws {
    let stage = try verifying()
    let bob = try stage.join("bob", "phone")
    invite(stage, "in-1")
    #expect(fetches(stage).count == 1)
    #expect(!stage.effects.contains { if case .readPayer = $0 { true } else { false } }, "nobody is asked to pay yet")
    stage.feed(.fetched(fetches(stage)[0], .fetched(Array(SignedCaller.provider.utf8), seconds: nil)))
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(from(stage.heard(bob))?.verified == .full)
    invite(stage, "in-2")
    try stage.answerMedia()
    #expect(fetches(stage).count == 1)
    #expect(stage.heard(bob).count { if case .incoming = $0 { true } else { false } } == 2)
  }

  @Test(
    "a certificate server that says nothing costs a call one second, and never the call; the next waits for nothing")
  func stuck() throws {
    let stage = try verifying()
    let bob = try stage.join("bob", "phone")
    invite(stage, "in-1")
    stage.wait(milliseconds: 999)
    #expect(!stage.effects.contains { if case .readPayer = $0 { true } else { false } })
    #expect(stage.core.nextDeadline.map { $0 <= stage.now.advanced(byMilliseconds: 1) } ?? false)
    stage.wait(milliseconds: 1)
    try stage.answerPayer()
    try stage.answerMedia()
    let caller = try #require(from(stage.heard(bob)))
    #expect(caller.verified == CallerIdentity.Verification.none && caller.why?.contains("in time") == true)
    // What comes after all says nothing any more.
    stage.feed(.fetched(fetches(stage)[0], .fetched(Array(SignedCaller.provider.utf8), seconds: nil)))
    invite(stage, "in-2")
    try stage.answerMedia()
    #expect(stage.heard(bob).count { if case .incoming = $0 { true } else { false } } == 2)
    #expect(fetches(stage).count == 1, "what failed is not tried again for a minute")
    stage.wait(milliseconds: 60_000)
    invite(stage, "in-3")
    #expect(fetches(stage).count == 2)
  }

  @Test("CANCEL while a certificate is fetched: 487, and what is fetched changes nothing")
  func cancelledFetch() throws {
    let stage = try verifying()
    let bob = try stage.join("bob", "phone")
    invite(stage, "in-1")
    stage.feed(.sip(ArrivalNodeTests.request("CANCEL", "in-1"), NodeStage.trunkPath))
    stage.feed(.fetched(fetches(stage)[0], .fetched(Array(SignedCaller.provider.utf8), seconds: nil)))
    #expect(responses(stage) == [487])
    #expect(invited(stage.heard(bob)) == nil && stage.core.isIdle)
  }
}
