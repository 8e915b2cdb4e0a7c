import CallModel
import SIPCore
import Testing

/// A caller dies in the middle of a call, and another process ends what it left.
@Suite struct AbandonedLegTests {
  private final class Scene {
    static let gateway = TransportAddress(.udp, .ipv4(0xC633_6401), port: 5060)
    static let trunk = TransportAddress(.udp, .ipv4(0xC633_6402), port: 5060)
    var now = MonotonicInstant(milliseconds: 1_000)
    var gateway = Scene.agent(Scene.gateway)
    let trunk = Scene.agent(Scene.trunk)
    var gatewayEvents: [UserAgentEvent] = []
    var trunkEvents: [UserAgentEvent] = []
    /// Whole messages, as they went over the wire.
    private(set) var sent: [[UInt8]] = []
    private(set) var heard: [[UInt8]] = []
    /// Nothing reaches the gateway while it is dead.
    var isDead = false
    /// Whether the trunk is there at all.
    var hasTrunk = true

    static func agent(_ address: TransportAddress) -> UserAgent {
      let addresses = [
        AdvertisedAddress(
          listener: ListenerID(1), transport: .udp, host: address.host, port: address.port)
      ]
      return UserAgent(
        UserAgentConfiguration(addresses: addresses, acceptsCalls: true), identifiers: .system)
    }

    func path(_ address: TransportAddress) -> SIPPath { SIPPath(listener: ListenerID(1), remote: address) }

    func gateway(_ command: UserAgentCommand) {
      var effects: [UserAgentEffect] = []
      gateway.handle(command, at: now, into: &effects)
      deliver(effects, ofTrunk: false)
    }

    func trunk(_ command: UserAgentCommand) {
      var effects: [UserAgentEffect] = []
      trunk.handle(command, at: now, into: &effects)
      deliver(effects, ofTrunk: true)
    }

    private func deliver(_ effects: [UserAgentEffect], ofTrunk: Bool) {
      for effect in effects {
        switch effect {
        case .locate: Issue.record("a path was asked for")
        case .event(let event):
          if ofTrunk { trunkEvents.append(event) } else { gatewayEvents.append(event) }
        case .send(let bytes, _, _):
          var answers: [UserAgentEffect] = []
          if ofTrunk {
            heard.append(bytes)
            if !isDead { gateway.receive(bytes, from: path(Scene.trunk), at: now, into: &answers) }
            deliver(answers, ofTrunk: false)
          } else {
            sent.append(bytes)
            if hasTrunk { trunk.receive(bytes, from: path(Scene.gateway), at: now, into: &answers) }
            deliver(answers, ofTrunk: true)
          }
        }
      }
    }

    func pass(milliseconds: Int64) {
      let end = now.advanced(byMilliseconds: milliseconds)
      while true {
        let next = [isDead ? nil : gateway.nextDeadline, trunk.nextDeadline].compactMap { $0 }.min()
        guard let next, next <= end else { break }
        now = max(now, next)
        for ofTrunk in [false, true] where ofTrunk || !isDead {
          var effects: [UserAgentEffect] = []
          (ofTrunk ? trunk : gateway).advance(to: now, into: &effects)
          deliver(effects, ofTrunk: ofTrunk)
        }
      }
      now = end
    }

    func place() throws -> CallHandle {
      gateway(
        .placeCall(
          CallHandle(1),
          OutgoingCall(
            target: try SIPURI(parsing: "sip:+46701234567@198.51.100.2"), paths: [path(Scene.trunk)],
            identity: OutgoingIdentity(from: NameAddress(try SIPURI(parsing: "sip:+46812345678@198.51.100.1"))),
            offer: MessageBody(contentType: "application/sdp", bytes: Array("v=0\r\n".utf8)))))
      return try #require(
        trunkEvents.lazy.compactMap { event -> CallHandle? in
          if case .incoming(let handle, _) = event { return handle }
          return nil
        }.first)
    }

    func answer(_ handle: CallHandle) {
      trunk(
        .accept(
          handle, body: MessageBody(contentType: "application/sdp", bytes: Array("v=0\r\n".utf8)),
          headers: CustomHeaders()))
    }

    /// The first process is gone; another one, which knows nothing, takes its place.
    func restart() {
      gateway = Scene.agent(Scene.gateway)
      gatewayEvents = []
      isDead = false
    }

    func leg(answered: Bool) throws -> AbandonedLeg {
      func last(_ messages: [[UInt8]], _ start: String) throws -> [UInt8] {
        let message = try #require(messages.last { $0.starts(with: Array(start.utf8)) })
        return try #require(AbandonedLeg.head(of: message))
      }
      return try #require(
        AbandonedLeg(
          invite: try last(sent, "INVITE "), answer: answered ? try last(heard, "SIP/2.0 200") : nil,
          path: path(Scene.trunk), account: nil))
    }

    var trunkEnd: CallEnd? {
      trunkEvents.lazy.compactMap { event -> CallEnd? in
        if case .ended(_, let end) = event { return end }
        return nil
      }.first
    }

    func sentMethods() -> [String] {
      sent.map { String(decoding: $0.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }
    }

    func isEmpty() -> Bool {
      gateway.holdings.values.allSatisfy { $0 == 0 } && trunk.holdings.values.allSatisfy { $0 == 0 }
    }
  }

  @Test("an answered leg gets its BYE, numbered above everything before")
  func answered() throws {
    let scene = Scene()
    let handle = try scene.place()
    scene.answer(handle)
    let leg = try scene.leg(answered: true)
    scene.restart()
    scene.gateway(.release(CallHandle(9), leg))
    #expect(scene.trunkEnd?.cause == .remote)
    #expect(scene.trunkEnd?.wasEstablished == true)
    #expect(scene.sentMethods().suffix(2) == ["ACK", "BYE"])
    let bye = try #require(scene.sent.last)
    #expect(String(decoding: bye, as: UTF8.self).contains("CSeq: 10002 BYE\r\n"))
    #expect(scene.gatewayEvents.count == 1)
    scene.pass(milliseconds: 70_000)
    #expect(scene.isEmpty())
  }

  @Test("a leg that rings is cancelled")
  func ringing() throws {
    let scene = Scene()
    let handle = try scene.place()
    scene.trunk(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    let leg = try scene.leg(answered: false)
    scene.restart()
    scene.gateway(.release(CallHandle(9), leg))
    #expect(scene.trunkEnd?.cause == .remote)
    #expect(scene.trunkEnd?.wasEstablished == false)
    #expect(scene.sentMethods().suffix(2) == ["CANCEL", "ACK"])
    #expect(scene.gatewayEvents.count == 1)
    scene.pass(milliseconds: 70_000)
    #expect(scene.isEmpty())
  }

  @Test("an answer that came while nobody was there is acknowledged and ended")
  func answeredMeanwhile() throws {
    let scene = Scene()
    let handle = try scene.place()
    scene.trunk(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    let leg = try scene.leg(answered: false)
    scene.isDead = true
    scene.answer(handle)
    scene.pass(milliseconds: 700)
    scene.restart()
    scene.gateway(.release(CallHandle(9), leg))
    // The CANCEL finds an answered INVITE and changes nothing; the 200 is repeated until its ACK comes.
    scene.pass(milliseconds: 5_000)
    #expect(scene.trunkEnd?.cause == .remote)
    #expect(scene.sentMethods().contains("BYE"))
    scene.pass(milliseconds: 70_000)
    #expect(scene.isEmpty())
  }

  @Test("a peer that is gone as well leaves nothing behind", arguments: [true, false])
  func gone(answered: Bool) throws {
    let scene = Scene()
    let handle = try scene.place()
    scene.trunk(.ring(handle, status: 180, body: nil, headers: CustomHeaders()))
    if answered { scene.answer(handle) }
    let leg = try scene.leg(answered: answered)
    scene.restart()
    scene.hasTrunk = false
    scene.gateway(.release(CallHandle(9), leg))
    scene.pass(milliseconds: 70_000)
    #expect(scene.gateway.holdings.values.allSatisfy { $0 == 0 })
    #expect(scene.gatewayEvents.count == 1)
  }

  @Test("a head holds neither body nor credentials")
  func head() throws {
    let message = """
      INVITE sip:a@example.com SIP/2.0\r
      Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r
      AUTHORIZATION : Digest response="secret"\r
      Proxy-Authorization: Digest response="secret"\r
      l: 4\r
      Content-Type: text/plain\r
      Call-ID: x\r
      \r
      body
      """
    let head = try #require(AbandonedLeg.head(of: Array(message.utf8)))
    #expect(
      String(decoding: head, as: UTF8.self)
        == "INVITE sip:a@example.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r\nCall-ID: x\r\n"
        + "Content-Length: 0\r\n\r\n")
    #expect(AbandonedLeg.head(of: Array("INVITE sip:a@example.com SIP/2.0\r\n".utf8)) == nil)
    #expect(AbandonedLeg.head(of: []) == nil)
  }

  @Test("what is no INVITE, or no answer to it, is refused")
  func refused() throws {
    let scene = Scene()
    let handle = try scene.place()
    scene.answer(handle)
    let invite = try #require(AbandonedLeg.head(of: scene.sent[0]))
    let path = scene.path(Scene.trunk)
    #expect(AbandonedLeg(invite: [], answer: nil, path: path, account: nil) == nil)
    #expect(AbandonedLeg(invite: invite, answer: invite, path: path, account: nil) == nil)
    let foreign = String(decoding: try #require(scene.heard.last), as: UTF8.self)
      .replacing("Call-ID: ", with: "Call-ID: x")
    #expect(
      AbandonedLeg(invite: invite, answer: AbandonedLeg.head(of: Array(foreign.utf8)), path: path, account: nil) == nil)
  }
}
