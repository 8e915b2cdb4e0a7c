import CallModel
import SIPCore
import Testing

@Suite("Telephones that have not proved who they are")
struct PhoneDoorTests {
  private func status(_ message: String?) -> Int? { message.flatMap { Int($0.dropFirst(8).prefix(3)) } }

  /// Without what differs from answer to answer by itself.
  private func plain(_ message: String) -> String {
    message.split(separator: "\r\n").map { line in
      var line = String(line)
      for name in ["nonce=\"", "tag=", "branch="] {
        guard let start = line.firstRange(of: name) else { continue }
        line = String(line[..<start.upperBound])
      }
      return line
    }.joined(separator: "\n")
  }

  @Test("an unknown name hears what a wrong password hears, byte for byte")
  func sameWords() throws {
    var answers: [String] = []
    for user in ["lobby", "ghost"] {
      let stage = try PhoneStage()
      let challenge = try #require(stage.send(stage.request(user: user, sequence: 1)).first)
      let proof = try PhoneStage.answer(challenge, user: user, password: "a-wrong-long-password")
      let again = try #require(stage.send(stage.request(user: user, sequence: 2, fields: proof)).first)
      answers.append([challenge, again].map { plain($0).replacing(user, with: "NAME") }.joined())
      #expect(stage.agent.holdings["transactions"] == 0)
    }
    #expect(answers[0] == answers[1])
  }

  @Test("a source that proves nothing gets forty answers in ten seconds, and none after them; others are not hurt")
  func answersAreBounded() throws {
    let stage = try PhoneStage()
    let answers = (1...100).flatMap { stage.send(stage.request(sequence: $0, callID: "x\($0)")) }
    #expect(answers.count == 40 && answers.allSatisfy { status($0) == 401 })
    #expect(stage.agent.holdings["transactions"] == 0)
    #expect(stage.send(stage.request(sequence: 1), from: PhoneStage.path(host: 0xCB00_7108)).count == 1)
    stage.wait(10_000)
    #expect(stage.send(stage.request(sequence: 200)).count == 1)
  }

  @Test("after ten wrong passwords a source is not looked at for a minute, the right one included")
  func guesses() throws {
    let stage = try PhoneStage()
    for number in 1...10 {
      let challenge = try #require(stage.send(stage.request(sequence: number, callID: "g\(number)")).first)
      let proof = try PhoneStage.answer(challenge, password: "wrong-password-\(number)")
      #expect(status(stage.send(stage.request(sequence: number, callID: "h\(number)", fields: proof)).first) == 401)
    }
    let elsewhere = PhoneStage.path(host: 0xCB00_7108)
    let challenge = try #require(stage.send(stage.request(sequence: 50), from: elsewhere).first)
    let right = try PhoneStage.answer(challenge)
    #expect(stage.send(stage.request(sequence: 51, fields: right)).isEmpty)
    #expect(status(stage.send(stage.request(sequence: 52, fields: right), from: elsewhere).first) == 200)
    stage.wait(60_000)
    #expect(status(try stage.register(sequence: 60)) == 200)
  }

  @Test("a telephone that is registered keeps its way while somebody guesses behind the same address; for itself alone")
  func neighbours() throws {
    let stage = try PhoneStage(phones: ["lobby", "desk"])
    _ = try stage.register(sequence: 1)
    let challenge = try #require(stage.send(stage.request(sequence: 5)).first)
    let guesser = PhoneStage.path(port: 6000)
    for number in 1...10 {
      let wrong = try PhoneStage.answer(challenge, user: "desk", password: "wrong-password-\(number)")
      stage.send(stage.request(user: "desk", sequence: number, callID: "g\(number)", fields: wrong), from: guesser)
    }
    let fresh = try PhoneStage.answer(challenge)
    #expect(stage.send(stage.request(sequence: 6, fields: fresh), from: guesser).isEmpty)
    #expect(status(stage.send(stage.request(sequence: 6, fields: fresh)).first) == 200)
    let other = try PhoneStage.answer(challenge, user: "desk")
    #expect(stage.send(stage.request(user: "desk", sequence: 20, callID: "d", fields: other)).isEmpty)
  }

  @Test("IPv6: who has half an address has all of it")
  func networks() throws {
    let stage = try PhoneStage { $0.registrar.unprovenAnswers = 1 }
    func path(_ high: UInt64, _ low: UInt64) -> SIPPath {
      SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, .ipv6(high: high, low: low), port: 5060))
    }
    #expect(stage.send(stage.request(sequence: 1), from: path(1, 1)).count == 1)
    #expect(stage.send(stage.request(sequence: 2), from: path(1, 2)).isEmpty)
    #expect(stage.send(stage.request(sequence: 3), from: path(2, 1)).count == 1)
  }

  @Test("sources are counted up to a limit; the one that was met first is forgotten first")
  func sources() throws {
    let stage = try PhoneStage {
      $0.registrar.sources = 2
      $0.registrar.unprovenAnswers = 1
    }
    for host: UInt32 in 1...3 {
      #expect(stage.send(stage.request(sequence: 1), from: PhoneStage.path(host: 0xCB00_7100 + host)).count == 1)
    }
    #expect(stage.send(stage.request(sequence: 2), from: PhoneStage.path(host: 0xCB00_7103)).isEmpty)
    #expect(stage.send(stage.request(sequence: 2), from: PhoneStage.path(host: 0xCB00_7101)).count == 1)
  }

  // MARK: Calls

  private func invite(_ stage: PhoneStage, _ sequence: Int, fields: [String] = [], callID: String = "i1") -> [UInt8] {
    stage.request(
      "INVITE", sequence: sequence, callID: callID, fields: fields, uri: "sip:+46701234567@gw.example.com")
  }

  private func answer(_ challenge: String) throws -> [String] {
    try PhoneStage.answer(challenge, "INVITE", uri: "sip:+46701234567@gw.example.com")
  }

  private func callers(_ stage: PhoneStage) -> [String?] {
    stage.events.compactMap { event in
      if case .incoming(_, let call) = event { .some(call.phone) } else { nil }
    }
  }

  @Test("an INVITE is asked for a proof with 407, once and without a transaction; with one it is the telephone's call")
  func invites() throws {
    let stage = try PhoneStage()
    let challenge = try #require(stage.send(invite(stage, 1)).first)
    #expect(status(challenge) == 407 && PhoneStage.values(challenge, "Proxy-Authenticate").count == 2)
    #expect(stage.agent.holdings["transactions"] == 0)
    stage.wait(32_000)
    _ = stage.send(invite(stage, 2, fields: try answer(challenge)))
    #expect(callers(stage) == ["lobby"])
  }

  @Test("a nonce serves again with a higher count; the same count, and an old nonce, are stale and no failure")
  func nonces() throws {
    let stage = try PhoneStage()
    let challenge = try #require(stage.send(invite(stage, 1)).first)
    let uri = "sip:+46701234567@gw.example.com"
    var client = DigestClient(account: DigestAccount(username: "lobby", password: Redacted(PhoneStage.password)))
    let request = DigestRequest(method: "INVITE", uri: uri)
    func field(_ authorization: DigestAuthorization?) throws -> [String] {
      try #require(authorization).fields.map { "Proxy-Authorization: \($0.value)" }
    }
    let first = try client.answer(
      PhoneStage.values(challenge, "Proxy-Authenticate").map { DigestField(.proxy, $0) }, to: request, previous: nil,
      cnonce: "a")
    _ = stage.send(invite(stage, 2, fields: try field(first), callID: "i2"))
    _ = stage.send(invite(stage, 3, fields: try field(client.authorization(for: request, cnonce: "b")), callID: "i3"))
    #expect(callers(stage).count == 2)
    let replayed = try #require(stage.send(invite(stage, 4, fields: try field(first), callID: "i4")).first)
    #expect(status(replayed) == 407 && replayed.contains("stale=true"))
    stage.wait(301_000)
    let old = try field(client.authorization(for: request, cnonce: "c"))
    let stale = try #require(stage.send(invite(stage, 5, fields: old, callID: "i5")).first)
    #expect(status(stale) == 407 && stale.contains("stale=true"))
    #expect(callers(stage).count == 2)
  }

  @Test("a trunk's calls are asked for nothing; a telephone at a trunk's address is, once it is registered there")
  func trunks() throws {
    let host = SIPHost.ipv4(0xCB00_7107)
    let stage = try PhoneStage(trunks: [host])
    _ = stage.send(invite(stage, 1))
    #expect(callers(stage) == [nil])
    _ = try stage.register(sequence: 10)
    #expect(status(stage.send(invite(stage, 20, callID: "i2")).first) == 407)
    _ = stage.send(invite(stage, 30, callID: "i3"), from: PhoneStage.path(port: 7000))
    #expect(callers(stage) == [nil, nil])
  }

  @Test("without telephones nobody hears anything")
  func closed() throws {
    let stage = try PhoneStage(phones: [])
    #expect(stage.send(stage.request(sequence: 1)).isEmpty && stage.send(invite(stage, 1)).isEmpty)
    #expect(stage.agent.counters.strangersIgnored == 2)
  }

  @Test("other requests of strangers are passed over still, and of a telephone that proved itself answered")
  func others() throws {
    let stage = try PhoneStage()
    #expect(stage.send(stage.request("OPTIONS", sequence: 1)).isEmpty)
    #expect(stage.send(stage.request("MESSAGE", sequence: 1)).isEmpty)
    _ = try stage.register(sequence: 10)
    #expect(status(stage.send(stage.request("OPTIONS", sequence: 20)).first) == 200)
  }
}
