import CallModel
import SIPCore
import Testing

@Suite("Telephones that register (RFC 3261 section 10, RFC 8760)")
struct RegistrarTests {
  private func status(_ message: String?) -> Int? { message.flatMap { Int($0.dropFirst(8).prefix(3)) } }

  @Test("the challenge names SHA-256 before MD5, and either answer registers")
  func challenges() throws {
    for algorithms: Set<DigestAlgorithm> in [[.sha256], [.md5]] {
      let stage = try PhoneStage()
      let challenge = try #require(stage.send(stage.request(sequence: 1)).first)
      let offered = PhoneStage.values(challenge, "WWW-Authenticate")
      #expect(offered.count == 2 && offered[0].contains("algorithm=SHA-256") && offered[1].contains("algorithm=MD5"))
      #expect(!challenge.contains("stale"))
      let answer = try stage.register(sequence: 2, algorithms: algorithms)
      #expect(status(answer) == 200)
      #expect(PhoneStage.values(answer, "Contact") == ["<sip:lobby@10.0.0.7:5060>;expires=3600"])
      #expect(stage.ports() == [5060])
    }
  }

  @Test("an agent can be told to challenge for MD5 alone, for telephones that take no other challenge")
  func onlyOne() throws {
    let stage = try PhoneStage { $0.registrar.algorithms = [.md5] }
    let challenge = try #require(stage.send(stage.request(sequence: 1)).first)
    #expect(PhoneStage.values(challenge, "WWW-Authenticate").count == 1 && challenge.contains("algorithm=MD5"))
  }

  @Test(
    "times: below a minute 423 with Min-Expires, above an hour shortened, the Contact's own before the message's",
    arguments: [
      ("Expires: 59", "", 423, 0), ("Expires: 60", "", 200, 60), ("Expires: 7200", "", 200, 3600), ("", "", 200, 3600),
      ("Expires: 99999999999", "", 200, 3600), ("Expires: soon", "", 200, 3600),
      ("Expires: 600", ";expires=120", 200, 120),
      ("Expires: 600", ";expires=30", 423, 0), ("Expires: 30", ";expires=600", 200, 600),
    ])
  func times(_ field: String, _ parameter: String, _ wanted: Int, _ seconds: Int) throws {
    let stage = try PhoneStage()
    let answer = try stage.register(
      contacts: ["<sip:lobby@10.0.0.7:5060>\(parameter)"], fields: field.isEmpty ? [] : [field])
    #expect(status(answer) == wanted)
    #expect(PhoneStage.values(answer, "Min-Expires") == (wanted == 423 ? ["60"] : []))
    #expect(
      PhoneStage.values(answer, "Contact")
        == (wanted == 200 ? ["<sip:lobby@10.0.0.7:5060>;expires=\(seconds)"] : []))
  }

  @Test("several Contacts bind at once; 0 seconds takes one away, and none asks what there is")
  func contacts() throws {
    let stage = try PhoneStage()
    let two = ["<sip:lobby@10.0.0.7:5060>", "<sip:lobby@10.0.0.7:5062>"]
    #expect(PhoneStage.values(try stage.register(contacts: two), "Contact").count == 2)
    let left = try stage.register(sequence: 3, contacts: ["<sip:lobby@10.0.0.7:5060>;expires=0"])
    #expect(PhoneStage.values(left, "Contact") == ["<sip:lobby@10.0.0.7:5062>;expires=3600"])
    #expect(PhoneStage.values(try stage.register(sequence: 5, contacts: []), "Contact").count == 1)
    let five = (0..<5).map { "<sip:lobby@10.0.0.7:\(6000 + $0)>" }
    #expect(status(try stage.register(sequence: 7, contacts: five)) == 400)
    #expect(stage.agent.counters.received > 0 && stage.ports() == [5060])
  }

  @Test("Contact * with Expires 0 takes all away, and means nothing with anything else")
  func wildcard() throws {
    let stage = try PhoneStage()
    _ = try stage.register(contacts: ["<sip:lobby@10.0.0.7:5060>", "<sip:lobby@10.0.0.7:5062>"])
    #expect(status(try stage.register(sequence: 3, contacts: ["*"], fields: ["Expires: 60"])) == 400)
    #expect(status(try stage.register(sequence: 5, contacts: ["*"])) == 400)
    #expect(stage.ports()?.count == 2)
    let answer = try stage.register(sequence: 7, contacts: ["*"], fields: ["Expires: 0"])
    #expect(status(answer) == 200 && PhoneStage.values(answer, "Contact").isEmpty)
    #expect(stage.ports() == [])
  }

  @Test("a CSeq that is not above the last of its Call-ID changes nothing; another Call-ID does")
  func order() throws {
    let stage = try PhoneStage()
    _ = try stage.register(sequence: 10)
    #expect(status(try stage.register(sequence: 5, contacts: ["<sip:lobby@10.0.0.7:5060>;expires=0"])) == 500)
    #expect(status(try stage.register(sequence: 6, contacts: ["*"], fields: ["Expires: 0"])) == 500)
    #expect(stage.ports() == [5060])
    #expect(
      status(try stage.register(sequence: 1, callID: "c2", contacts: ["<sip:lobby@10.0.0.7:5060>;expires=0"])) == 200)
    #expect(stage.ports() == [])
  }

  @Test("the same Contact from another address moves the binding there")
  func moves() throws {
    let stage = try PhoneStage()
    _ = try stage.register()
    #expect(status(try stage.register(sequence: 3, from: PhoneStage.path(port: 40_001))) == 200)
    #expect(stage.ports() == [40_001])
  }

  @Test("a binding ends with its time, not before")
  func ends() throws {
    let stage = try PhoneStage()
    _ = try stage.register(fields: ["Expires: 60"])
    stage.wait(59_999)
    #expect(stage.ports() == [5060])
    stage.wait(1)
    #expect(stage.ports() == [])
    #expect(stage.agent.nextDeadline.map { $0 > stage.now } ?? true)
  }

  @Test("four bindings of one owner at most: the one that was refreshed longest ago gives way")
  func room() throws {
    let stage = try PhoneStage(phones: ["lobby", "desk"])
    for port in 1...3 {
      stage.wait(1000)
      _ = try stage.register(
        sequence: port * 10, callID: "l\(port)", contacts: ["<sip:lobby@10.0.0.7:\(5000 + port)>"],
        from: PhoneStage.path(port: UInt16(5000 + port)))
    }
    for port in 4...5 {
      stage.wait(1000)
      _ = try stage.register(
        user: "desk", sequence: port * 10, callID: "d\(port)", contacts: ["<sip:desk@10.0.0.8:\(5000 + port)>"],
        from: PhoneStage.path(port: UInt16(5000 + port)))
    }
    #expect(stage.ports("lobby") == [5002, 5003])
    #expect(stage.ports("desk") == [5004, 5005])
  }

  @Test("nobody registers for another telephone, nor with a Contact that cannot be called")
  func others() throws {
    let stage = try PhoneStage(phones: ["lobby", "desk"])
    let challenge = try #require(stage.send(stage.request(user: "desk", sequence: 1)).first)
    let proof = try PhoneStage.answer(challenge)
    #expect(status(stage.send(stage.request(user: "desk", sequence: 2, fields: proof)).first) == 403)
    #expect(stage.ports("desk") == nil)
    #expect(
      status(try stage.register(sequence: 3, contacts: ["<sip:\(String(repeating: "a", count: 600))@10.0.0.7>"])) == 400
    )
  }

  @Test("another password, or none of ours any more: its bindings end, and the old password opens nothing")
  func replaced() throws {
    let stage = try PhoneStage()
    _ = try stage.register()
    try stage.set(["lobby"], password: "another-long-password")
    #expect(stage.ports() == [])
    let challenge = try #require(stage.send(stage.request(sequence: 5)).first)
    #expect(status(stage.send(stage.request(sequence: 6, fields: try PhoneStage.answer(challenge))).first) == 401)
    #expect(status(try stage.register(password: "another-long-password", sequence: 7)) == 200)
    try stage.set([])
    #expect(stage.ports() == [])
    #expect(stage.send(stage.request(sequence: 9), from: PhoneStage.path(host: 0xCB00_7108)).isEmpty)
  }

  @Test("a REGISTER that is sent again gets its answer again, not another challenge")
  func repeated() throws {
    let stage = try PhoneStage()
    let challenge = try #require(stage.send(stage.request(sequence: 1)).first)
    let second = stage.request(sequence: 2, fields: try PhoneStage.answer(challenge))
    let first = stage.send(second)
    #expect(status(first.first) == 200 && stage.send(second) == first)
  }
}
