import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import NodeCore
import SIPCore
import Testing

@Suite("Desk phones, through the whole hall")
struct DeskPhoneNodeTests {
  private static let host = SIPHost.ipv4(0xCB00_7107)
  private static let path = SIPPath(
    listener: ListenerID(1), remote: TransportAddress(.udp, host, port: 40_007))
  private static let password = "a-long-enough-password"
  private static let description =
    "v=0\r\no=- 1 1 IN IP4 10.0.0.7\r\ns=-\r\nc=IN IP4 10.0.0.7\r\nt=0 0\r\nm=audio 20000 RTP/AVP 8 0\r\n"

  /// A node with a desk phone of a user, which has registered.
  private func stage(user: String = "bob", country: Int? = nil) throws -> NodeStage {
    let stage = try NodeStage()
    stage.start()
    stage.feed(
      .deskPhones(
        environment: NodeStage.environment,
        [
          DeskPhone(
            name: "lobby", application: NodeStage.application, user: try UserID(user), country: country,
            keys: try PhoneKeys(password: Redacted(DeskPhoneNodeTests.password), name: "lobby"))
        ]))
    let challenge = try #require(send(stage, request("REGISTER", "reg", 1)).first)
    let answer = try #require(
      send(stage, request("REGISTER", "reg", 2, fields: try proof(challenge, "REGISTER"))).first)
    try #require(answer.hasPrefix("SIP/2.0 200"), "\(answer)")
    return stage
  }

  private func request(
    _ method: String, _ callID: String, _ sequence: Int, uri: String = "sip:gw.example.com", tag: String = "",
    branch: String? = nil, fields: [String] = [], body: String = ""
  ) -> [UInt8] {
    let lines =
      [
        "\(method) \(uri) SIP/2.0",
        "Via: SIP/2.0/UDP 10.0.0.7:5060;rport;branch=z9hG4bK\(branch ?? "\(callID)\(sequence)\(method)")",
        "Max-Forwards: 70", "From: \"Bob\" <sip:lobby@gw.example.com>;tag=p",
        "To: <\(method == "REGISTER" ? "sip:lobby@gw.example.com" : uri)>\(tag)", "Call-ID: \(callID)",
        "CSeq: \(sequence) \(method)", "Contact: <sip:lobby@10.0.0.7:5060>",
      ] + fields + (body.isEmpty ? [] : ["Content-Type: application/sdp"]) + ["Content-Length: \(body.utf8.count)"]
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  private func proof(_ challenge: String, _ method: String, uri: String = "sip:gw.example.com") throws -> [String] {
    let scope: DigestScope = challenge.hasPrefix("SIP/2.0 407") ? .proxy : .userAgent
    var client = DigestClient(
      account: DigestAccount(username: "lobby", password: Redacted(DeskPhoneNodeTests.password)))
    let fields = values(challenge, scope.challengeFieldName).map { DigestField(scope, $0) }
    return try client.answer(fields, to: DigestRequest(method: method, uri: uri), previous: nil, cnonce: "c").fields
      .map { "\(scope.credentialsFieldName): \($0.value)" }
  }

  private func values(_ message: String, _ name: String) -> [String] {
    message.split(separator: "\r\n").compactMap { line in
      line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : nil
    }
  }

  /// - Returns: what goes to the telephone because of it.
  @discardableResult
  private func send(_ stage: NodeStage, _ bytes: [UInt8]) -> [String] {
    stage.feed(.sip(bytes, DeskPhoneNodeTests.path))
    return toPhone(stage.last)
  }

  private func toPhone(_ effects: [NodeEffect]) -> [String] {
    effects.compactMap { effect in
      guard case .send(let bytes, let path, _) = effect, path.remote.host == DeskPhoneNodeTests.host else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// What the telephone answers to a request of the node.
  private func reply(_ stage: NodeStage, _ status: String, to invite: String, body: String = "") {
    var lines = ["SIP/2.0 \(status)"]
    for name in ["Via", "From", "To", "Call-ID", "CSeq"] {
      for value in values(invite, name) { lines.append("\(name): \(value)\(name == "To" ? ";tag=phone" : "")") }
    }
    lines.append("Contact: <sip:lobby@10.0.0.7:5060>")
    if !body.isEmpty { lines.append("Content-Type: application/sdp") }
    lines.append("Content-Length: \(body.utf8.count)")
    stage.feed(.sip(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8), DeskPhoneNodeTests.path))
  }

  /// Alice's app calls Bob, and the telephone has its INVITE.
  private func ring(_ stage: NodeStage) throws -> String {
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    try stage.answerMedia()
    let invite = try #require(toPhone(stage.last).first { $0.hasPrefix("INVITE ") })
    return invite
  }

  private func ended(_ events: [AppEvent]) -> CallSummary? {
    events.lazy.compactMap { if case .ended(_, let summary) = $0 { summary } else { nil } }.last
  }

  private func invited(_ events: [AppEvent]) -> CallID? {
    events.lazy.compactMap { if case .incoming(let call, _) = $0 { call } else { nil } }.last
  }

  private func record(_ stage: NodeStage) -> CallRecord? {
    stage.effects.lazy.compactMap { if case .record(let record) = $0 { record } else { nil } }.last
  }

  // MARK: It is rung

  @Test("an app's call rings it at the address that it registered from; its answer is the user's")
  func answers() throws {
    let stage = try stage()
    let bob = try stage.join("bob", "tablet")
    let invite = try ring(stage)
    #expect(invite.hasPrefix("INVITE sip:lobby@10.0.0.7:5060 SIP/2.0\r\n"))
    #expect(values(invite, "From").first?.hasPrefix("<sip:alice@192.0.2.1>") == true, "\(values(invite, "From"))")
    #expect(invite.contains("RTP/AVP 8 0"))
    reply(stage, "180 Ringing", to: invite)
    #expect(stage.events.contains { if case .ringing = $0 { true } else { false } })
    reply(stage, "200 OK", to: invite, body: DeskPhoneNodeTests.description)
    #expect(toPhone(stage.last).contains { $0.hasPrefix("ACK ") })
    #expect(stage.events.contains { if case .accepted = $0 { true } else { false } }, "\(stage.events)")
    #expect(ended(stage.heard(bob))?.cause == .otherDeviceAnswered)
    let joined = stage.effects.contains {
      if case .media(_, .join(let leg, _)) = $0 { leg == LegID(1) || leg == LegID(2) } else { false }
    }
    #expect(joined)
    let call = try #require(invited(stage.heard(bob)))
    stage.request(.hangUp(call))
    #expect(toPhone(stage.last).contains { $0.hasPrefix("BYE ") })
    #expect(ended(stage.events)?.cause == .hungUp)
    let story = record(stage)?.story.map(\.text) ?? []
    #expect(story.contains("called on desk phone lobby") && story.contains("accepted on desk phone lobby"), "\(story)")
    #expect(stage.operations.isEmpty && stage.core.isIdle)
  }

  @Test("an app that answers takes the ring away from it, with a reason that makes no missed call")
  func elsewhere() throws {
    let stage = try stage()
    let bob = try stage.join("bob", "tablet")
    let invite = try ring(stage)
    reply(stage, "180 Ringing", to: invite)
    let call = try #require(invited(stage.heard(bob)))
    stage.ask(bob, 2, .accept(call, offer: NodeStage.offer, headers: []))
    let cancel = try #require(toPhone(stage.last).first { $0.hasPrefix("CANCEL ") })
    #expect(values(cancel, "Reason") == ["SIP;cause=200;text=\"Call completed elsewhere\""])
    reply(stage, "487 Request Terminated", to: invite)
    stage.ask(bob, 3, .hangUp(call))
    #expect(stage.core.isIdle)
  }

  @Test("whoever calls gives up: CANCEL, and nothing else")
  func givenUp() throws {
    let stage = try stage()
    let invite = try ring(stage)
    reply(stage, "180 Ringing", to: invite)
    let call = try #require(
      stage.events.lazy.compactMap { if case .ringing(let call, _) = $0 { call } else { nil } }.last)
    stage.request(.hangUp(call))
    let cancel = try #require(toPhone(stage.last).first { $0.hasPrefix("CANCEL ") })
    #expect(values(cancel, "Reason").isEmpty)
    reply(stage, "487 Request Terminated", to: invite)
    #expect(ended(stage.events)?.cause == .canceled && stage.core.isIdle)
  }

  @Test(
    "busy and declined are what apps say, and 480 declines for this device",
    arguments: [
      ("486 Busy Here", CallFailureCode.userBusy, true), ("600 Busy Everywhere", .userBusy, true),
      ("480 Temporarily Unavailable", .userDeclined, true), ("503 Service Unavailable", .userUnreachable, true),
      ("603 Decline", .userDeclined, false),
    ])
  func refuses(_ status: String, _ code: CallFailureCode, _ ringsOn: Bool) throws {
    for hasApp in [false, true] {
      let stage = try stage()
      let bob = hasApp ? try stage.join("bob", "tablet") : nil
      let invite = try ring(stage)
      reply(stage, status, to: invite)
      #expect(toPhone(stage.last).contains { $0.hasPrefix("ACK ") })
      if hasApp, ringsOn {
        #expect(ended(stage.events) == nil)
        let bob = try #require(bob)
        stage.ask(bob, 2, .decline(try #require(invited(stage.heard(bob))), .user, .declined))
        #expect(ended(stage.events)?.failure?.code == .userDeclined)
      } else {
        #expect(ended(stage.events)?.failure?.code == code)
      }
      #expect(stage.core.isIdle)
    }
  }

  @Test("a number that leads to its user rings it, with the caller's number")
  func number() throws {
    let stage = try stage()
    stage.feed(
      .numbers(
        environment: NodeStage.environment,
        [
          InboundNumber(
            try E164Number("+46850000536"), application: NodeStage.application, account: NodeStage.account,
            targets: [.init(.user(try UserID("bob")))])
        ]))
    let text = [
      "INVITE sip:+46850000536@192.0.2.1 SIP/2.0", "Via: SIP/2.0/UDP 198.51.100.1:5060;branch=z9hG4bKin",
      "From: \"Bo\" <sip:+46701111111@198.51.100.1>;tag=a", "To: <sip:+46850000536@192.0.2.1>", "Call-ID: in",
      "CSeq: 1 INVITE", "Contact: <sip:198.51.100.1:5060>", "Max-Forwards: 70", "Content-Type: application/sdp",
      "Content-Length: \(DeskPhoneNodeTests.description.utf8.count)", "", DeskPhoneNodeTests.description,
    ].joined(separator: "\r\n")
    stage.feed(.sip(Array(text.utf8), NodeStage.trunkPath))
    try stage.answerPayer()
    try stage.answerMedia()
    try stage.answerMedia()
    let invite = try #require(toPhone(stage.last).first { $0.hasPrefix("INVITE ") })
    #expect(values(invite, "From").first?.hasPrefix("\"Bo\" <sip:+46701111111@") == true, "\(values(invite, "From"))")
    reply(stage, "200 OK", to: invite, body: DeskPhoneNodeTests.description)
    let answered = stage.effects.contains { effect in
      guard case .send(let bytes, let path, _) = effect, path == NodeStage.trunkPath else { return false }
      return bytes.starts(with: Array("SIP/2.0 200".utf8))
    }
    #expect(answered)
  }

  @Test("one that registers while its user is called rings from then on")
  func late() throws {
    let stage = try stage()
    send(stage, request("REGISTER", "reg", 3, fields: ["Expires: 0"]))
    let bob = try stage.join("bob", "tablet")
    let challenge = try #require(send(stage, request("REGISTER", "reg", 4, fields: ["Expires: 0"])).first)
    send(stage, request("REGISTER", "reg", 5, fields: ["Expires: 0"] + (try proof(challenge, "REGISTER"))))
    #expect(stage.core.phones.bindings(of: "lobby").isEmpty)
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(invited(stage.heard(bob)) != nil)
    let again = try #require(send(stage, request("REGISTER", "reg", 6)).first)
    send(stage, request("REGISTER", "reg", 7, fields: try proof(again, "REGISTER")))
    try stage.answerMedia()
    #expect(toPhone(stage.last).contains { $0.hasPrefix("INVITE ") })
  }

  @Test("a user whose only device is a telephone that is not registered cannot be reached")
  func absent() throws {
    let stage = try stage()
    stage.wait(milliseconds: 3_600_000)
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(ended(stage.events)?.failure?.code == .userUnreachable)
    #expect(stage.core.presence(of: .init(application: NodeStage.application, user: try UserID("bob"))) == .unreachable)
  }

  // MARK: It calls

  /// Its INVITE, with a proof.
  private func call(_ stage: NodeStage, _ user: String, _ callID: String = "out") throws -> [String] {
    let uri = "sip:\(user)@gw.example.com"
    let challenge = try #require(
      send(stage, request("INVITE", callID, 1, uri: uri, body: DeskPhoneNodeTests.description)).first)
    try #require(challenge.hasPrefix("SIP/2.0 407"), "\(challenge)")
    return send(
      stage,
      request(
        "INVITE", callID, 2, uri: uri, fields: try proof(challenge, "INVITE", uri: uri),
        body: DeskPhoneNodeTests.description))
  }

  private func toTrunk(_ effects: [NodeEffect], _ method: String) -> String? {
    effects.lazy.compactMap { effect -> String? in
      guard case .send(let bytes, NodeStage.trunkPath, _) = effect else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      return text.hasPrefix(method) ? text : nil
    }.last
  }

  @Test(
    "its call to a number is the user's: the application's account pays, its number is shown", arguments: [false, true])
  func callsNumber(_ isNational: Bool) throws {
    let stage = try stage(country: isNational ? 46 : nil)
    _ = try call(stage, isNational ? "0701234567" : "+46701234567")
    try stage.answerPayer()
    try stage.answerMedia()
    let operation = try #require(stage.operations.first)
    guard case .call(let charged) = operation.request, case .authorise(let wanted) = charged.phase else {
      Issue.record("\(operation)")
      return
    }
    #expect(wanted.destination == "+46701234567" && charged.account == NodeStage.account)
    stage.billed(.performed([NodeStage.granted()]))
    try stage.answerMedia()
    let invite = try #require(toTrunk(stage.effects, "INVITE "))
    #expect(invite.hasPrefix("INVITE sip:+46701234567@198.51.100.1"))
    #expect(values(invite, "From").first?.contains("sip:+46850000001@") == true)
    let live = stage.core.liveCalls.first
    #expect(live?.user?.text == "bob" && live?.from?.value == "bob")
  }

  @Test("its call to another user rings that user's devices, as a call of its own user")
  func callsUser() throws {
    let stage = try stage()
    let eve = try stage.join("eve", "tablet")
    _ = try call(stage, "eve")
    try stage.answerPayer()
    try stage.answerMedia()
    let call = try #require(invited(stage.heard(eve)))
    let from = stage.heard(eve).lazy.compactMap { if case .incoming(_, let it) = $0 { it.from } else { nil } }.last
    #expect(from == CallerIdentity(kind: .user, value: "bob", name: "Bob"))
    stage.ask(eve, 2, .alert(call, offer: nil))
    #expect(toPhone(stage.last).contains { $0.hasPrefix("SIP/2.0 180") })
    stage.ask(eve, 3, .accept(call, offer: NodeStage.offer, headers: []))
    #expect(toPhone(stage.last).contains { $0.hasPrefix("SIP/2.0 200") })
    #expect(stage.operations.isEmpty)
  }

  @Test("to its own user it rings all devices but itself")
  func callsItself() throws {
    let stage = try stage()
    let tablet = try stage.join("bob", "tablet")
    _ = try call(stage, "bob")
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(invited(stage.heard(tablet)) != nil)
    #expect(!toPhone(stage.last).contains { $0.hasPrefix("INVITE ") })
  }

  @Test(
    "what stands against its call is told with the status that says it",
    arguments: [("ghost", 480), ("+49", 484), ("1234567", 484), ("+46000000000", 0)])
  func refusals(_ dialled: String, _ status: Int) throws {
    let stage = try stage()
    _ = try call(stage, dialled)
    let isAsked = stage.effects.contains { if case .readPayer = $0 { true } else { false } }
    if isAsked { try stage.answerPayer() }
    if status == 0 {
      try stage.answerMedia()
      #expect(stage.core.liveCalls.first?.destination == "+46000000000")
      return
    }
    if dialled == "ghost" { try stage.answerMedia() }
    let final = toPhone(stage.effects).last { !$0.hasPrefix("SIP/2.0 1") }
    #expect(final?.dropFirst(8).prefix(3) == "\(status)", "\(final ?? "")")
    #expect(stage.core.isIdle)
  }

  @Test("a hold that is refused for want of credit is 402, and no trunk hears of it")
  func credit() throws {
    let stage = try stage()
    _ = try call(stage, "+46701234567")
    try stage.answerPayer()
    try stage.answerMedia()
    stage.billed(.performed([.success(LedgerReceipt(seq: 1, isReplay: false, outcome: .refused(.insufficientCredit)))]))
    #expect(toPhone(stage.last).contains { $0.hasPrefix("SIP/2.0 402") }, "\(toPhone(stage.last))")
    #expect(toTrunk(stage.effects, "INVITE ") == nil)
  }
}
