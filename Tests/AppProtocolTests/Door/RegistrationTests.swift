import AppProtocol
import CallModel
import Testing

@Suite("The door: registration")
struct RegistrationTests {
  private let number = RequestNumber(1)

  @Test("a good proof opens a session") func good() throws {
    var scene = DoorScene()
    #expect(try scene.open(1) == [])
    #expect(try scene.send(1, .register(number, Samples.registration(), client: "t")) == ["verify foo"])
    #expect(scene.door.verificationCount == 1)
    let credential = DeviceCredential(id: "c", secret: Redacted("s"), expiresAt: nil)
    let verdict = RegistrationVerdict.accepted(try DoorScene.identity(), credential)
    #expect(try scene.step(.verified(scene.verifications[0], verdict)) == ["1 < registered #1", "opened s1 foo"])
    let registered = try #require(scene.registered[ConnectionID(1)])
    #expect(registered.credential == credential && registered.version == "1.0" && registered.resumeSeconds == 30)
    #expect(registered.token.exposed.utf8.count == 32)
    #expect(scene.door.sessionCount == 1 && scene.door.connectionCount == 1 && scene.door.verificationCount == 0)
  }

  @Test("refusals are the same bytes, and a store that is away is another thing") func refused() throws {
    var answers: Set<[[UInt8]]> = []
    for (index, registration) in [
      Samples.registration(), Samples.registration(.token("x")),
      Samples.registration(.credential(id: "a", secret: "b")),
    ].enumerated() {
      var scene = DoorScene()
      let id = UInt64(index + 1)
      _ = try scene.open(id)
      _ = try scene.send(id, .register(number, registration, client: "t"))
      #expect(
        try scene.step(.verified(scene.verifications[0], .refused)) == [
          "\(id) < error #1 gw.registration", "\(id) close 4401 refused",
        ])
      answers.insert(scene.sent)
      #expect(scene.door.connectionCount == 0 && scene.door.sessionCount == 0)
    }
    #expect(answers.count == 1)
    var scene = DoorScene()
    _ = try scene.open(1)
    _ = try scene.send(1, .register(number, Samples.registration(), client: "t"))
    #expect(
      try scene.step(.verified(scene.verifications[0], .unavailable)) == [
        "1 < error #1 gw.unavailable after 1", "1 close 1013 try again",
      ])
  }

  @Test("a right signature with a passed sequence is told the least, and registers again on the same connection")
  func sequenceTooLow() throws {
    var scene = DoorScene()
    _ = try scene.open(1)
    _ = try scene.send(1, .register(number, Samples.registration(), client: "t"))
    #expect(
      try scene.step(.verified(scene.verifications[0], .sequenceTooLow(least: .max))) == ["1 < error #1 gw.sequence"])
    guard case .error(number, let failure)? = try scene.sent.first.flatMap({ try AppMessageCoder.decodeServer($0) })
    else {
      Issue.record("no error")
      return
    }
    #expect(failure.nextSequence == .max)
    _ = try scene.send(1, .register(RequestNumber(2), Samples.registration(), client: "t"))
    #expect(
      try scene.step(.verified(scene.verifications[1], .accepted(try DoorScene.identity(), nil)))
        == ["1 < registered #2", "opened s1 foo"])
  }

  @Test("a connection that never signs high enough is closed, and one that stops signing as well")
  func signaturesAreBounded() throws {
    var scene = DoorScene { $0.maximumSignatures = 3 }
    _ = try scene.open(1)
    for attempt in 1...3 as ClosedRange<UInt64> {
      _ = try scene.send(1, .register(RequestNumber(attempt), Samples.registration(), client: "t"))
      let said = try scene.step(.verified(try #require(scene.verifications.last), .sequenceTooLow(least: attempt)))
      #expect(said.first == "1 < error #\(attempt) gw.sequence")
      #expect(said.count == (attempt < 3 ? 1 : 2))
    }
    #expect(scene.door.connectionCount == 0)
    _ = try scene.open(2)
    _ = try scene.send(2, .register(number, Samples.registration(), client: "t"))
    _ = try scene.step(.verified(try #require(scene.verifications.last), .sequenceTooLow(least: 9)))
    #expect(try scene.wait(4999) == [])
    #expect(try scene.wait(1) == ["2 close 4408 no first message in time"])
  }

  @Test("five seconds to say the first thing, to the millisecond") func silent() throws {
    var scene = DoorScene()
    _ = try scene.open(1)
    #expect(try scene.wait(4999) == [])
    #expect(scene.door.nextDeadline == scene.now.advanced(byMilliseconds: 1))
    #expect(try scene.wait(1) == ["1 close 4408 no first message in time"])
    #expect(scene.door.nextDeadline == nil && scene.door.connectionCount == 0)
  }

  @Test("a verdict that does not come is waited for so long") func slowVerdict() throws {
    var scene = DoorScene()
    _ = try scene.open(1)
    _ = try scene.send(1, .register(number, Samples.registration(), client: "t"))
    #expect(try scene.wait(1799) == [])
    #expect(try scene.wait(1) == ["1 < error #1 gw.unavailable after 1", "1 close 1013 try again"])
    #expect(
      try scene.step(.verified(scene.verifications[0], .accepted(try DoorScene.identity(), nil))) == [])
    #expect(scene.door.sessionCount == 0)
  }

  @Test("nothing but a registration or a resumption comes first, and one at a time") func order() throws {
    for (message, answer) in [
      (
        ClientMessage.ping(number),
        ["1 < error #1 gw.message message cannot be the first", "1 close 1008 not registered"]
      ),
      (
        .request(number, .hangUp(try Samples.call())),
        ["1 < error #1 gw.message message cannot be the first", "1 close 1008 not registered"]
      ),
      (.bye, ["1 close 1000 "]),
    ] {
      var scene = DoorScene()
      _ = try scene.open(1)
      #expect(try scene.send(1, message) == answer)
    }
    var scene = DoorScene()
    _ = try scene.open(1)
    #expect(
      try scene.send(1, text: "{\"type\":\"hello\",\"id\":1}") == [
        "1 < error #1 gw.message message.type 'hello' is not known", "1 close 1008 not understood",
      ])
    _ = try scene.open(2)
    #expect(
      try scene.send(2, text: "hello") == [
        "2 < error gw.message message no JSON value begins here", "2 close 1002 not understood",
      ])
    _ = try scene.open(3)
    _ = try scene.send(3, .register(number, Samples.registration(), client: "t"))
    #expect(
      try scene.send(3, .register(RequestNumber(2), Samples.registration(), client: "t")) == [
        "3 < error #1 gw.message message came before the registration was answered",
        "3 close 1008 a message before the registration was answered",
      ])
    // Its verdict has nobody to go to.
    #expect(
      try scene.step(.verified(scene.verifications[0], .accepted(try DoorScene.identity(), nil))) == [])
    #expect(scene.door.sessionCount == 0 && scene.door.verificationCount == 0)
  }

  @Test("connections and registrations of one host are limited, others go on") func perHost() throws {
    var scene = DoorScene {
      $0.maximumConnectionsPerHost = 2
      $0.registrationBurst = 2
      $0.registrationsPerSecond = 1
    }
    #expect(try scene.open(1) == [] && scene.open(2) == [])
    #expect(try scene.open(3) == ["3 close 1013 too many connections"])
    #expect(try scene.open(4, .ipv4(9)) == [])
    for id in [1, 2] as [UInt64] {
      #expect(try scene.send(id, .register(number, Samples.registration(), client: "t")) == ["verify foo"])
    }
    #expect(try scene.step(.closed(ConnectionID(1))) == [] && scene.open(5) == [])
    #expect(
      try scene.send(5, .register(number, Samples.registration(), client: "t")) == [
        "5 < error #1 gw.limit 'Too Many Registrations' after 1", "5 close 1013 too many registrations",
      ])
    #expect(try scene.send(4, .register(number, Samples.registration(), client: "t")) == ["verify foo"])
    #expect(try scene.wait(1000) == [] && scene.open(6) == [])
    #expect(try scene.send(6, .register(number, Samples.registration(), client: "t")) == ["verify foo"])
  }

  @Test("an IPv6 subscriber is one host, and an IPv4 address one in both its forms") func hostForms() throws {
    var scene = DoorScene { $0.maximumConnectionsPerHost = 1 }
    #expect(try scene.open(1, .ipv6(high: 1, low: 1)) == [])
    #expect(try scene.open(2, .ipv6(high: 1, low: 2)) == ["2 close 1013 too many connections"])
    #expect(try scene.open(3, .ipv6(high: 2, low: 1)) == [])
    #expect(try scene.open(4, .ipv4(7)) == [])
    #expect(try scene.open(5, .ipv6(high: 0, low: 0xFFFF_0000_0007)) == ["5 close 1013 too many connections"])
  }

  @Test("caps of the whole door") func caps() throws {
    var scene = DoorScene {
      $0.maximumVerifications = 1
      $0.maximumConnections = 3
    }
    for id in 1...3 as ClosedRange<UInt64> { #expect(try scene.open(id, .ipv4(UInt32(id))) == []) }
    #expect(try scene.open(4, .ipv4(4)) == ["4 close 1013 too many connections"])
    #expect(try scene.send(1, .register(number, Samples.registration(), client: "t")) == ["verify foo"])
    #expect(
      try scene.send(2, .register(number, Samples.registration(), client: "t")) == [
        "2 < error #1 gw.limit 'Too Many Sessions' after 1", "2 close 1013 too many sessions",
      ])
    // Going away does not make room: the proof is still under examination.
    _ = try scene.step(.closed(ConnectionID(1)))
    #expect(
      try scene.send(3, .register(number, Samples.registration(), client: "t")).last == "3 close 1013 too many sessions"
    )
    var users = DoorScene { $0.maximumSessionsPerUser = 1 }
    _ = try users.register(1)
    _ = try users.open(2)
    _ = try users.send(2, .register(number, Samples.registration(), client: "t"))
    let verification = try #require(users.verifications.last)
    #expect(
      try users.step(.verified(verification, .accepted(try DoorScene.identity(), nil))) == [
        "2 < error #1 gw.limit 'Too Many Sessions' after 30", "2 close 1013 too many sessions of the user",
      ])
    _ = try users.register(3, user: "bar")
    #expect(users.door.sessionCount == 2)
  }

  @Test("a storm of hosts that come and go leaves nothing behind") func storm() throws {
    var scene = DoorScene { $0.maximumHosts = 64 }
    for id in 1...20_000 as ClosedRange<UInt64> {
      _ = try scene.open(id, .ipv4(UInt32(id)))
      if id % 3 == 0 { _ = try scene.send(id, text: "x") } else { _ = try scene.step(.closed(ConnectionID(id))) }
    }
    #expect(scene.door.connectionCount == 0 && scene.door.sessionCount == 0)
    #expect(scene.door.nextDeadline == nil)
  }
}
