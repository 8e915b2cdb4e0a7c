import AppProtocol
import CallModel
import Testing

@Suite("The door: sessions")
struct SessionTests {
  private static let service = TURNService(
    servers: [TURNServer(isSecure: true, host: .name("turn.example.com"), port: 443, transport: .tcp)],
    secret: Redacted("0123456789abcdef"), lifetimeSeconds: 600)

  @Test("relays come with the registration, again before half of their time is over, and when they change")
  func relays() throws {
    var scene = DoorScene()
    scene.door.turn = Self.service
    scene.clock = Instant(milliseconds: 1_000_000_000)
    _ = try scene.register(1)
    let told = try #require(scene.registered[ConnectionID(1)]?.relays)
    #expect(told.servers == Self.service.servers)
    #expect(told.username == "1000600:foo" && told.expiresAt == Instant(milliseconds: 1_000_600_000))
    #expect(told == Self.service.access(of: try UserID("foo"), at: scene.clock))
    #expect(try scene.wait(20_000) == ["1 ping"])
    _ = try scene.step(.pong(ConnectionID(1)))
    scene.clock = scene.clock.advanced(byMilliseconds: 299_999)
    #expect(try scene.wait(20_000) == ["1 ping"])
    _ = try scene.step(.pong(ConnectionID(1)))
    scene.clock = scene.clock.advanced(byMilliseconds: 1)
    #expect(try scene.wait(20_000) == ["1 < turn 1000900:foo", "1 ping"])
    _ = try scene.step(.pong(ConnectionID(1)))
    #expect(try scene.wait(20_000) == ["1 ping"])
    _ = try scene.step(.pong(ConnectionID(1)))
    scene.door.turn = nil
    #expect(try scene.wait(20_000) == ["1 < turn none", "1 ping"])
    _ = try scene.step(.pong(ConnectionID(1)))
    scene.door.turn = Self.service
    #expect(try scene.wait(20_000) == ["1 < turn 1000900:foo", "1 ping"])
  }

  @Test("a session that is taken up again is told of relays as they are then") func relaysAgain() throws {
    var scene = DoorScene()
    scene.door.turn = Self.service
    _ = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    _ = try scene.step(.closed(ConnectionID(1)))
    scene.clock = Instant(milliseconds: 5_000)
    _ = try scene.resume(2, registered.session, registered.token.exposed)
    #expect(scene.resumed[ConnectionID(2)]?.relays?.username == "605:foo")
  }

  @Test("the password is Base64 of HMAC-SHA1 over the user name") func relayPassword() throws {
    // Computed by: printf %s 1000600:foo | openssl dgst -sha1 -hmac 0123456789abcdef -binary | base64
    let access = Self.service.access(of: try UserID("foo"), at: Instant(milliseconds: 1_000_000_000))
    #expect(access?.password.exposed == "d4Kg8vBiUBGCh73dfZX8tlXoNmg=")
    #expect(!"\(Self.service) \(String(describing: access))".contains("d4Kg8vBiUBGCh73dfZX8tlXoNmg="))
  }

  private func quality() throws -> AppEvent {
    let direction = CallQuality.Direction(meanOpinionScore: 4, jitter: 1, loss: 0, packets: 50)
    return .quality(try Samples.call(), CallQuality(sent: direction, received: direction, roundTrip: nil))
  }

  @Test("requests pass in the order of their numbers") func requests() throws {
    var scene = DoorScene()
    let session = try scene.register(1)
    let hangUp = AppRequest.hangUp(try Samples.call())
    #expect(try scene.send(1, .request(RequestNumber(2), hangUp)) == ["s1 #2 hangup c-1"])
    #expect(try scene.step(.event(session, .done(RequestNumber(2)))) == ["1 < 1 done #2"])
    for number in [2, 1] as [UInt64] {
      #expect(
        try scene.send(1, .request(RequestNumber(number), hangUp)) == [
          "1 < error gw.message message.id \(number) is not above 2"
        ])
    }
    #expect(try scene.send(1, .request(RequestNumber(9), hangUp)) == ["s1 #9 hangup c-1"])
    #expect(try scene.send(1, .ping(RequestNumber(10))) == ["1 < pong #10"])
    #expect(
      try scene.send(1, text: #"{"type":"hangup","id":11}"#) == [
        "1 < 2 refused #11 gw.message hangup.call is missing"
      ])
    #expect(
      try scene.send(1, text: #"{"type":"hangup"}"#) == ["1 < error gw.message hangup.id is missing"])
    #expect(
      try scene.send(1, .register(RequestNumber(13), Samples.registration(), client: "t")) == [
        "1 < 3 refused #13 gw.message message can only be the first of a connection"
      ])
    #expect(
      try scene.send(1, text: "{") == [
        "1 < error gw.message message the text ends too early", "1 close 1002 not understood", "absent s1",
      ])
  }

  @Test("calls need the capability, and there are only so many") func calls() throws {
    var scene = DoorScene { $0.maximumCalls = 2 }
    let session = try scene.register(1)
    let place = AppRequest.call(PlaceCall(kind: .phone, target: "+46", offer: "v"))
    #expect(try scene.send(1, .request(RequestNumber(2), place)) == ["s1 #2 call +46"])
    _ = try scene.step(.event(session, .placed(RequestNumber(2), try Samples.call(), answer: "v")))
    #expect(try scene.send(1, .request(RequestNumber(3), place)) == ["s1 #3 call +46"])
    #expect(
      try scene.send(1, .request(RequestNumber(4), place)) == ["1 < 2 refused #4 gw.limit 'Too Many Calls' after 1"])
    _ = try scene.step(.event(session, .ended(try Samples.call(), try Samples.summary())))
    #expect(try scene.send(1, .request(RequestNumber(5), place)) == ["s1 #5 call +46"])
    var mute = DoorScene()
    _ = try mute.open(1)
    _ = try mute.send(1, .register(RequestNumber(1), Samples.registration(), client: "t"))
    _ = try mute.step(.verified(mute.verifications[0], .accepted(try DoorScene.identity("foo", [.messaging]), nil)))
    #expect(try mute.send(1, .request(RequestNumber(2), place)) == ["1 < 1 refused #2 capability.local"])
  }

  @Test("too many messages are refused with the time to wait, far too many close") func rate() throws {
    var scene = DoorScene {
      $0.requestsPerSecond = 2
      // The registration is one of them.
      $0.requestBurst = 4
      $0.maximumMessagesOverLimit = 4
    }
    _ = try scene.register(1)
    var number: UInt64 = 1
    func next() -> ClientMessage {
      number += 1
      return .ping(RequestNumber(number))
    }
    for _ in 0..<3 { #expect(try scene.send(1, next()) == ["1 < pong #\(number)"]) }
    #expect(try scene.send(1, next()) == ["1 < 1 refused #5 gw.limit 'Too Many Messages' after 1"])
    #expect(try scene.wait(499) == [])
    #expect(try scene.send(1, next()) == ["1 < 2 refused #6 gw.limit 'Too Many Messages' after 1"])
    #expect(try scene.wait(1) == [])
    #expect(try scene.send(1, next()) == ["1 < pong #7"])
    for _ in 0..<4 { #expect(try scene.send(1, next()).first?.contains("Too Many") == true) }
    #expect(try scene.send(1, next()) == ["1 close 1008 too many messages", "absent s1"])
  }

  @Test(
    "messages of a host are counted over all of its sessions, an IPv6 host by its /64; proofs refused count tenfold")
  func ratePerHost() throws {
    var scene = DoorScene {
      $0.requestsPerSecond = 1
      $0.requestBurst = 6
    }
    func registered(_ id: UInt64, _ host: SIPHost) throws {
      _ = try scene.open(id, host)
      _ = try scene.send(id, .register(RequestNumber(1), Samples.registration(), client: "t"))
      let verification = try #require(scene.verifications.last)
      _ = try scene.step(.verified(verification, .accepted(try DoorScene.identity("u\(id)"), nil)))
    }
    func ping(_ id: UInt64, _ number: UInt64) throws -> Bool {
      try scene.send(id, .ping(RequestNumber(number))).first?.contains("pong") ?? false
    }
    try registered(1, .ipv6(high: 1, low: 1))
    try registered(2, .ipv6(high: 1, low: 2))
    try registered(3, .ipv6(high: 2, low: 1))
    // Two registrations and four messages are six.
    #expect(try ping(1, 2) && ping(2, 2) && ping(1, 3) && ping(2, 3))
    #expect(try !ping(1, 4) && !ping(2, 4))
    #expect(try ping(3, 2), "another host is not concerned")
    #expect(try scene.wait(1000) == [])
    #expect(try ping(2, 5) && !ping(1, 5))

    // Six are there again. One wrong proof takes them all and owes four more.
    #expect(try scene.wait(6000) == [])
    _ = try scene.open(4, .ipv6(high: 1, low: 4))
    _ = try scene.send(4, .register(RequestNumber(1), Samples.registration(), client: "t"))
    let verification = try #require(scene.verifications.last)
    _ = try scene.step(.verified(verification, .refused))
    #expect(try !ping(1, 6))
    #expect(try scene.wait(4999) == [])
    #expect(try !ping(1, 7))
    #expect(try scene.wait(1) == [])
    #expect(try ping(1, 8))
    // While the host waits, no proof of it is looked at.
    _ = try scene.open(5, .ipv6(high: 1, low: 5))
    #expect(
      try scene.send(5, .register(RequestNumber(1), Samples.registration(), client: "t")).last
        == "5 close 1013 too many registrations")
  }

  @Test("what was missed comes after a resumption, what had arrived does not, and each token is new") func resume()
    throws
  {
    var scene = DoorScene()
    let session = try scene.register(1)
    let call = try Samples.call()
    let first = try #require(scene.registered[ConnectionID(1)])
    _ = try scene.send(
      1, .request(RequestNumber(2), .call(PlaceCall(kind: .phone, target: "+46", offer: "v"))))
    #expect(try scene.step(.event(session, .placed(RequestNumber(2), call, answer: "v"))) == ["1 < 1 placed #2 c-1"])
    #expect(try scene.step(.event(session, .ringing(call, headers: CustomHeaders()))) == ["1 < 2 ringing c-1"])
    #expect(try scene.step(.closed(ConnectionID(1))) == ["absent s1"])
    #expect(try scene.step(.event(session, .accepted(call, headers: CustomHeaders()))) == [])
    #expect(try scene.step(.event(session, try quality())) == [])
    #expect(
      try scene.resume(2, first.session, first.token.exposed, lastEvent: 1) == [
        "resumed s1", "2 < resumed #100 last 2 [\"c-1\"]", "2 < 2 ringing c-1", "2 < 3 accepted c-1",
      ])
    #expect(try scene.step(.event(session, try quality())) == ["2 < - quality c-1"])
    let second = try #require(scene.resumed[ConnectionID(2)])
    #expect(second.token != first.token)
    // The answer may be lost as well: the former token is good until the app speaks on the new connection.
    #expect(
      try scene.resume(3, first.session, first.token.exposed, lastEvent: 3) == [
        "2 close 4409 resumed on another connection", "resumed s1", "3 < resumed #100 last 2 [\"c-1\"]",
      ])
    _ = try scene.send(3, .ping(RequestNumber(50)))
    #expect(
      try scene.resume(4, first.session, first.token.exposed, lastEvent: 3) == [
        "4 < error #100 network.lost", "4 close 4404 no such session",
      ])
    let third = try #require(scene.resumed[ConnectionID(3)])
    #expect(
      try scene.resume(5, first.session, third.token.exposed, lastEvent: 3).last == "5 < resumed #100 last 50 [\"c-1\"]"
    )
    #expect(scene.door.connectionCount == 1 && scene.door.sessionCount == 1)
  }

  @Test("wrong tokens and wrong names are refused alike") func wrongTokens() throws {
    var scene = DoorScene()
    _ = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    var answers: Set<[[UInt8]]> = []
    let tokens = ["", "x", String(repeating: "-", count: 32), String(registered.token.exposed.dropLast()) + "!"]
    for (index, token) in tokens.enumerated() {
      for (offset, name) in [registered.session, "s-none"].enumerated() {
        let id = UInt64(10 + 2 * index + offset)
        #expect(try scene.resume(id, name, token).last == "\(id) close 4404 no such session")
        answers.insert(scene.sent)
      }
    }
    #expect(answers.count == 1)
    #expect(scene.door.sessionCount == 1)
  }

  @Test("an absent session ends after thirty seconds, to the millisecond") func absent() throws {
    var scene = DoorScene()
    _ = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    _ = try scene.step(.closed(ConnectionID(1)))
    #expect(try scene.wait(29_999) == [])
    _ = try scene.resume(2, registered.session, registered.token.exposed)
    _ = try scene.step(.closed(ConnectionID(2)))
    #expect(try scene.wait(29_999) == [])
    #expect(try scene.wait(1) == ["ended s1"])
    #expect(scene.door.sessionCount == 0 && scene.door.nextDeadline == nil)
  }

  @Test("a connection that gives no pong is closed, one that does lives") func pong() throws {
    var scene = DoorScene()
    let session = try scene.register(1)
    #expect(try scene.wait(19_999) == [])
    #expect(try scene.wait(1) == ["1 ping"])
    #expect(try scene.wait(9999) == [])
    #expect(try scene.step(.pong(ConnectionID(1))) == [])
    #expect(try scene.wait(10_000) == [])
    #expect(try scene.wait(1) == ["1 ping"])
    #expect(try scene.step(.event(session, .done(RequestNumber(2)))) == ["1 < 1 done #2"])
    #expect(try scene.wait(9999) == [])
    #expect(try scene.wait(1) == ["1 close 4408 no pong in time", "absent s1"])
  }

  @Test("a pong proves that what came before its ping arrived") func acknowledged() throws {
    var scene = DoorScene()
    let session = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    _ = try scene.step(.event(session, .done(RequestNumber(2))))
    _ = try scene.wait(20_000)
    _ = try scene.step(.event(session, .done(RequestNumber(3))))
    _ = try scene.step(.pong(ConnectionID(1)))
    _ = try scene.step(.closed(ConnectionID(1)))
    #expect(
      try scene.resume(2, registered.session, registered.token.exposed, lastEvent: 1) == [
        "resumed s1", "2 < resumed #100 last 1 []", "2 < 2 done #3",
      ])
  }

  @Test("clogged readers and broken WebSockets are closed, their sessions wait") func violations() throws {
    var scene = DoorScene()
    _ = try scene.register(1)
    #expect(
      try scene.step(.clogged(ConnectionID(1))) == ["1 close 1008 the reader does not read", "absent s1"])
    _ = try scene.register(2)
    #expect(
      try scene.step(.violation(ConnectionID(2), closeCode: 1003, "binary")) == ["2 close 1003 binary", "absent s2"])
    #expect(try scene.step(.closed(ConnectionID(2))) == [] && scene.step(.clogged(ConnectionID(2))) == [])
    #expect(scene.door.sessionCount == 2 && scene.door.connectionCount == 0)
  }

  @Test("what is kept for an absent app is bounded: minor events go first, and then the session") func bounded() throws
  {
    var scene = DoorScene { $0.maximumBufferedEvents = 3 }
    let session = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    let call = try Samples.call()
    _ = try scene.step(.closed(ConnectionID(1)))
    for event in [
      AppEvent.ringing(call, headers: CustomHeaders()), .accepted(call, headers: CustomHeaders()),
      .digit(call, "1", milliseconds: 100), .done(RequestNumber(5)), .ended(call, try Samples.summary()),
    ] { #expect(try scene.step(.event(session, event)) == []) }
    #expect(
      try scene.resume(2, registered.session, registered.token.exposed) == [
        "resumed s1", "2 < resumed #100 last 1 []", "2 < 2 accepted c-1", "2 < 4 done #5", "2 < 5 ended c-1",
      ])
    _ = try scene.step(.closed(ConnectionID(2)))
    #expect(try scene.step(.event(session, .done(RequestNumber(6)))) == ["ended s1"])
    #expect(scene.door.sessionCount == 0)
    var large = DoorScene { $0.maximumBufferedBytes = 1000 }
    let other = try large.register(1)
    _ = try large.step(.closed(ConnectionID(1)))
    let description = String(repeating: "a", count: 900)
    #expect(try large.step(.event(other, .offered(call, description))) == [])
    #expect(try large.step(.event(other, .offered(call, description))) == ["ended s1"])
  }

  @Test("an app that missed what is no longer kept starts anew") func missed() throws {
    var scene = DoorScene { $0.maximumBufferedEvents = 2 }
    let session = try scene.register(1)
    let registered = try #require(scene.registered[ConnectionID(1)])
    for number in 2...5 as ClosedRange<UInt64> { _ = try scene.step(.event(session, .done(RequestNumber(number)))) }
    _ = try scene.step(.closed(ConnectionID(1)))
    #expect(
      try scene.resume(2, registered.session, registered.token.exposed, lastEvent: 1) == [
        "ended s1", "2 < error #100 network.lost", "2 close 4404 no such session",
      ])
  }

  @Test("bye ends the session") func bye() throws {
    var scene = DoorScene()
    _ = try scene.register(1)
    #expect(try scene.send(1, .bye) == ["1 close 1000 ", "ended s1"])
    #expect(scene.door.sessionCount == 0 && scene.door.connectionCount == 0 && scene.door.nextDeadline == nil)
  }

  @Test("draining: idle sessions go, the others with their last call, new ones are sent elsewhere") func drain() throws
  {
    var scene = DoorScene()
    let busy = try scene.register(1)
    _ = try scene.register(2)
    _ = try scene.open(3)
    let call = try Samples.call()
    let place = AppRequest.call(PlaceCall(kind: .phone, target: "+46", offer: "v"))
    _ = try scene.send(1, .request(RequestNumber(2), place))
    _ = try scene.step(.event(busy, .placed(RequestNumber(2), call, answer: "v")))
    #expect(
      try scene.step(.drain) == [
        "1 < draining", "2 < draining", "2 < closing the gateway drains", "2 close 1012 the gateway drains",
        "ended s2",
      ])
    #expect(
      try scene.send(3, .register(RequestNumber(1), Samples.registration(), client: "t")) == [
        "3 < error #1 network.unreachable 'Draining' after 1", "3 close 1012 the gateway drains",
      ])
    #expect(
      try scene.send(1, .request(RequestNumber(3), place)) == [
        "1 < 2 refused #3 network.unreachable 'Draining' after 1"
      ])
    #expect(
      try scene.step(.event(busy, .ended(call, try Samples.summary()))) == [
        "1 < 3 ended c-1", "1 < closing the gateway drains", "1 close 1012 the gateway drains", "ended s1",
      ])
    #expect(try scene.step(.drain) == [] && scene.door.connectionCount == 0)
  }

  @Test("the end of the gateway is the end of all") func shutDown() throws {
    var scene = DoorScene()
    _ = try scene.register(1)
    _ = try scene.open(2)
    #expect(
      try scene.step(.shutDown) == [
        "1 < closing the gateway stops", "1 close 1001 the gateway stops", "ended s1",
        "2 close 1001 the gateway stops",
      ])
    #expect(scene.door.connectionCount == 0 && scene.door.nextDeadline == nil)
  }
}
