import CallModel
import SIPCore
import Testing

/// Which message belongs to which transaction, and what the layer answers itself.
struct TransactionMatchingTests {
  // MARK: Responses

  @Test func branchAndVia() throws {
    let scene = TransactionScene()
    scene.send(.invite)
    scene.send(.options)
    let lines = try ["INVITE", "OPTIONS"].map { try #require(scene.sentLine($0, "Via")) }
    for line in lines {
      #expect(line.hasPrefix("Via: SIP/2.0/UDP 198.51.100.1:5060;"))
      #expect(line.contains(";rport"))
      let branch = line.split(separator: ";").first { $0.hasPrefix("branch=") } ?? ""
      #expect(branch.hasPrefix("branch=z9hG4bK"))
      #expect(branch.utf8.count == "branch=z9hG4bK".utf8.count + 32)
    }
    #expect(Set(lines).count == 2)
    let stream = TransactionScene(.tls)
    stream.send(.invite)
    let line = try #require(stream.sentLine("INVITE", "Via"))
    #expect(line.hasPrefix("Via: SIP/2.0/TLS 198.51.100.1:5061;branch=z9hG4bK"))
    #expect(!line.contains("rport"))
  }

  @Test func acknowledgementOfAFailure() throws {
    let scene = TransactionScene()
    scene.send(.invite)
    scene.receive(486, to: .invite)
    for name in ["Via", "Route", "From", "Call-ID"] {
      #expect(scene.sentLine("ACK", name) == scene.sentLine("INVITE", name))
    }
    #expect(scene.sentLine("ACK", "To")?.hasSuffix(";tag=remote") == true)
    #expect(scene.sentLine("ACK", "CSeq") == "CSeq: 1 ACK")
    #expect(scene.sentLine("ACK", "Contact") == nil)
  }

  struct Stray: Sendable, CustomTestStringConvertible {
    let name: String
    let status: Int
    let change: @Sendable (String) -> String
    var expected: [String] = []
    var testDescription: String { "\(name), \(status)" }

    init(_ name: String, _ status: Int, _ old: String, _ new: String, expected: [String] = []) {
      self.name = name
      self.status = status
      change = { $0.replacing(old, with: new) }
      self.expected = expected
    }
  }

  static let strays = [
    Stray("another host in Via", 200, "198.51.100.1:5060", "198.51.100.2:5060"),
    Stray("another port in Via", 200, "198.51.100.1:5060", "198.51.100.1:5070"),
    Stray("no port in Via", 200, "198.51.100.1:5060", "198.51.100.1"),
    Stray("two Vias", 200, "Via: ", "Via: SIP/2.0/UDP 192.0.2.7;branch=z9hG4bKx, "),
    Stray("another branch", 486, "branch=z9hG4bK", "branch=z9hG4bK0"),
    Stray("another branch", 180, "branch=z9hG4bK", "branch=z9hG4bK0"),
    Stray("another branch", 200, "branch=z9hG4bK", "branch=z9hG4bK0", expected: ["0 late 200"]),
    Stray("another branch in capitals", 486, "branch=z9hG4bK", "branch=Z9HG4BK"),
    Stray("another method", 200, "1 INVITE", "1 OPTIONS"),
    Stray("no branch", 200, ";branch=", ";other="),
  ]

  @Test(arguments: strays) func strayResponse(_ row: Stray) {
    let scene = TransactionScene()
    scene.send(.invite)
    scene.receive(row.status, to: .invite, changing: row.change)
    #expect(scene.trace == ["0 send INVITE"] + row.expected)
    #expect(scene.layer.counters.strayResponses == (row.expected.isEmpty ? 1 : 0))
    // The transaction is untouched.
    scene.receive(404, to: .invite)
    #expect(scene.trace.suffix(2) == ["0 send ACK", "0 response 404"])
  }

  @Test func responsesBeforeAnyRequest() {
    let scene = TransactionScene()
    let other = TransactionScene()
    other.send(.invite)
    let request = String(decoding: other.sent["INVITE"] ?? [], as: UTF8.self)
    let lines = request.split(separator: "\r\n").dropFirst().filter { !$0.hasPrefix("Route") }
    scene.receive("SIP/2.0 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\n\r\n")
    #expect(scene.trace.isEmpty)
    #expect(scene.layer.counters.strayResponses == 1)
  }

  @Test func successBehindAFailure() {
    let scene = TransactionScene()
    scene.send(.invite)
    scene.receive(486, to: .invite)
    scene.receive(200, to: .invite)
    #expect(scene.trace == ["0 send INVITE", "0 send ACK", "0 response 486", "0 late 200"])
  }

  // MARK: CANCEL of ours

  @Test func cancelWaitsForAProvisionalResponse() throws {
    let scene = TransactionScene()
    let id = try #require(scene.send(.invite))
    scene.cancel(id)
    scene.cancel(id)
    #expect(scene.trace == ["0 send INVITE"])
    scene.receive(100, to: .invite)
    #expect(scene.trace.suffix(2) == ["0 response 100", "0 send CANCEL"])
    for name in ["Via", "Route", "From", "To", "Call-ID"] {
      #expect(scene.sentLine("CANCEL", name) == scene.sentLine("INVITE", name))
    }
    #expect(scene.sentLine("CANCEL", "CSeq") == "CSeq: 1 CANCEL")
    scene.run(until: 600)
    scene.receive(200, to: .cancel)
    scene.receive(487, to: .invite)
    scene.run(until: 100_000)
    #expect(
      scene.trace.dropFirst(3) == ["500 send CANCEL", "600 send ACK", "600 response 487", "32600 ended"])
    #expect(scene.layer.count == 0)
  }

  @Test func cancelCrossesSuccess() throws {
    let scene = TransactionScene()
    let id = try #require(scene.send(.invite))
    scene.receive(180, to: .invite)
    scene.cancel(id)
    scene.receive(200, to: .invite)
    scene.receive(481, to: .cancel)
    scene.run(until: 100_000)
    #expect(
      scene.trace == ["0 send INVITE", "0 response 180", "0 send CANCEL", "0 response 200", "0 ended"])
    #expect(scene.layer.count == 0)
  }

  @Test func cancelWithoutEffect() throws {
    let scene = TransactionScene()
    let id = try #require(scene.send(.invite))
    scene.receive(180, to: .invite)
    scene.run(until: 10_000)
    scene.cancel(id)
    scene.receive(200, to: .cancel)
    scene.run(until: 100_000)
    #expect(
      scene.trace == [
        "0 send INVITE", "0 response 180", "10000 send CANCEL", "42000 failed timeout", "42000 ended",
      ])
    #expect(scene.layer.count == 0)
  }

  @Test func cancelAfterAnAnswer() throws {
    let scene = TransactionScene()
    let id = try #require(scene.send(.invite))
    scene.cancel(id)
    scene.receive(486, to: .invite)
    scene.cancel(id)
    scene.cancel(TransactionID(999))
    #expect(scene.trace == ["0 send INVITE", "0 send ACK", "0 response 486"])
  }

  @Test func cancelIsForInvite() throws {
    let scene = TransactionScene()
    let id = try #require(scene.send(.options))
    scene.receive(100, to: .options)
    scene.cancel(id)
    #expect(scene.trace == ["0 send OPTIONS", "0 response 100"])
  }

  // MARK: CANCEL of the peer

  @Test func peerCancels() {
    let scene = TransactionScene()
    scene.receive(.invite)
    scene.respond(180, tag: "mine")
    scene.receive(.cancel)
    #expect(scene.trace.dropFirst(2) == ["0 send 200", "0 cancelled"])
    #expect(scene.sentLine("200", "To") == "To: <sip:b@198.51.100.1>;tag=mine")
    #expect(scene.sentLine("200", "CSeq") == "CSeq: 1 CANCEL")
    scene.receive(.cancel)
    #expect(scene.trace.dropFirst(4) == ["0 send 200"])
    scene.respond(487, tag: "mine")
    scene.receive(.ack, toTag: "mine")
    scene.run(until: 100_000)
    #expect(scene.trace.dropFirst(5) == ["0 send 487", "5000 ended"])
    #expect(scene.layer.count == 0)
  }

  @Test(arguments: [200, 486]) func peerCancelsTooLate(_ status: Int) {
    let scene = TransactionScene()
    scene.receive(.invite)
    scene.respond(status)
    let before = scene.trace
    scene.receive(.cancel)
    #expect(scene.trace == before + ["0 send 200"])
  }

  @Test func peerCancelsNothing() {
    let scene = TransactionScene()
    scene.receive(.invite)
    scene.receive(.cancel, branch: "z9hG4bK2")
    scene.receive(.cancel, branch: "z9hG4bK2")
    #expect(scene.trace == ["0 request INVITE", "0 send 481", "0 send 481"])
    #expect(scene.layer.counters.strayCancels == 1)
  }

  // MARK: Requests

  struct Second: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (TransactionScene) -> Void
    let expected: [String]
    var testDescription: String { name }
  }

  static let seconds = [
    Second(
      name: "another branch: merged", change: { $0.receive(.invite, branch: "z9hG4bK2") }, expected: ["0 send 482"]),
    Second(
      name: "another branch and CSeq", change: { $0.receive(.invite, branch: "z9hG4bK2", cseq: "2") },
      expected: ["0 request INVITE"]),
    Second(
      name: "another branch and Call-ID", change: { $0.receive(.invite, branch: "z9hG4bK2", callID: "in2") },
      expected: ["0 request INVITE"]),
    Second(
      name: "another branch, in a dialog", change: { $0.receive(.invite, branch: "z9hG4bK2", toTag: "t1") },
      expected: ["0 request INVITE"]),
    Second(name: "another method", change: { $0.receive(.options) }, expected: ["0 request OPTIONS"]),
    Second(
      name: "another sent-by",
      change: { $0.receive(.invite, callID: "in2") { $0.replacing(":5099;", with: ":5098;") } },
      expected: ["0 request INVITE"]),
    Second(
      name: "sent-by in capitals is no other",
      change: { $0.receive(.invite) { $0.replacing("SIP/2.0/UDP", with: "SIP/2.0/udp") } }, expected: []),
    Second(name: "an ACK before any response", change: { $0.receive(.ack) }, expected: []),
    Second(
      name: "an ACK of another branch", change: { $0.receive(.ack, branch: "z9hG4bK2", toTag: "t1") },
      expected: ["0 acknowledgement"]),
  ]

  @Test(arguments: seconds) func secondRequest(_ row: Second) {
    let scene = TransactionScene()
    scene.receive(.invite)
    row.change(scene)
    #expect(scene.trace == ["0 request INVITE"] + row.expected)
  }

  @Test func mergedRequestsOfAnAcceptedInvite() {
    let scene = TransactionScene()
    scene.receive(.invite)
    scene.respond(200)
    scene.receive(.invite, branch: "z9hG4bK2")
    #expect(scene.trace.last == "0 send 482")
    #expect(scene.layer.counters.mergedRequests == 1)
    scene.run(until: 32_000)
    scene.receive(.invite, branch: "z9hG4bK3")
    #expect(scene.trace.last == "32000 request INVITE")
  }

  /// Senders from before RFC 3261, whose branches promise nothing.
  @Test func branchWithoutCookie() {
    let scene = TransactionScene()
    scene.receive(.invite, branch: "1")
    scene.receive(.invite, branch: "1")
    // The same branch for another call.
    scene.receive(.invite, branch: "1", callID: "in2")
    #expect(scene.trace == ["0 request INVITE", "0 request INVITE"])
    scene.receive(.cancel, branch: "1")
    #expect(scene.trace.dropFirst(2) == ["0 send 200", "0 cancelled"])
    scene.respond(487, tag: "mine")
    scene.receive(.ack, branch: "1", toTag: "other")
    scene.run(until: 500)
    #expect(scene.trace.suffix(2) == ["200 send 100", "500 send 487"])
    scene.receive(.ack, branch: "1", toTag: "mine")
    scene.run(until: 5499)
    let before = scene.trace
    scene.run(until: 5500)
    #expect(scene.trace == before + ["5500 ended"])
  }

  @Test func answersOnce() {
    let scene = TransactionScene()
    scene.receive(.options)
    scene.respond(200)
    scene.respond(200)
    scene.respond(404, to: TransactionID(99))
    #expect(
      scene.trace == [
        "0 request OPTIONS", "0 send 200", "0 refused transaction.unknown", "0 refused transaction.unknown",
      ])
  }

  @Test func originalRequest() throws {
    let scene = TransactionScene()
    scene.receive(.invite)
    let id = try #require(scene.incoming.first)
    #expect(scene.layer.originalRequest(id)?.callID == "in1")
    scene.respond(180)
    #expect(scene.layer.originalRequest(id) != nil)
    scene.respond(200)
    #expect(scene.layer.originalRequest(id) == nil)
  }

  // MARK: Where responses go

  @Test(arguments: [
    ("192.0.2.1:5070", "", SIPTransport.udp, UInt16(5070)), ("192.0.2.1", "", .udp, 5060),
    ("192.0.2.1:5070", ";rport", .udp, 5099), ("192.0.2.1:5070", ";maddr=239.1.1.1", .udp, 5070),
    ("192.0.2.1:5070", "", .tcp, 5070), ("10.0.0.5:5062", "", .tls, 5062),
  ]) func responsePath(_ sentBy: String, _ parameter: String, _ transport: SIPTransport, _ port: UInt16) throws {
    let scene = TransactionScene(transport)
    scene.receive(.options) { $0.replacing("192.0.2.1:5099;", with: "\(sentBy)\(parameter);") }
    scene.respond(200)
    let path = try #require(scene.sentPaths["200"])
    #expect(path.remote == TransportAddress(transport, TransactionScene.peer, port: port))
    #expect(path.connection == scene.path.connection)
  }

  // MARK: Limits and failures

  @Test(
    "One host has its share of what begins; what belongs to dialogs, and other hosts, go on; all room is given back")
  func shareOfAHost() {
    let scene = TransactionScene(maximumTransactions: 100_000, maximumBeginningPerHost: 20_000)
    func options(_ number: Int) { scene.receive(.options, branch: "z9hG4bK\(number)", callID: "in\(number)") }
    for number in 0..<20_000 {
      options(number)
      scene.respond(200, to: scene.incoming.last)
    }
    #expect(scene.layer.count == 20_000)
    let before = scene.trace.count
    options(20_000)
    options(20_001)
    // Without a place: answered, and nothing is kept.
    #expect(scene.trace[before...] == ["0 send 503", "0 send 503"])
    #expect(scene.layer.count == 20_000)
    scene.receive(.bye, branch: "z9hG4bKbye", cseq: "2", toTag: "b1", callID: "call")
    #expect(scene.trace.last == "0 request BYE")
    scene.source = .ipv4(0xC000_0202)
    options(20_002)
    #expect(scene.trace.last == "0 request OPTIONS")
    // Copies are waited for no longer than the standard says, and every place is free again.
    scene.jump(to: 64_000)
    scene.advance()
    #expect(scene.layer.count == 0)
    scene.source = TransactionScene.peer
    options(20_003)
    #expect(scene.trace.last == "64000 request OPTIONS")
    #expect(scene.layer.roomForServers < 8192)
  }

  @Test func limit() throws {
    let scene = TransactionScene(maximumTransactions: 2)
    scene.receive(.invite)
    scene.send(.options)
    scene.receive(.invite, branch: "z9hG4bK2", callID: "in2")
    scene.receive(.ack, branch: "z9hG4bK2", callID: "in2")
    scene.send(.options)
    #expect(
      scene.trace == [
        "0 request INVITE", "0 send OPTIONS", "0 send 503", "0 acknowledgement", "0 refused transaction.limit",
      ])
    #expect(scene.sentLine("503", "Retry-After") == "Retry-After: 5")
    let tag = try #require(scene.sentLine("503", "To"))
    scene.receive(.invite, branch: "z9hG4bK2", callID: "in2")
    #expect(scene.sentLine("503", "To") == tag)
    // A CANCEL of what lives gets through.
    scene.receive(.cancel)
    #expect(scene.trace.suffix(2) == ["0 send 200", "0 cancelled"])
    scene.receive(.cancel, branch: "z9hG4bK2", callID: "in2")
    #expect(scene.trace.last == "0 send 503")
    // Copies of what lives cost no place.
    scene.receive(.invite)
    scene.receive(200, to: .options)
    scene.respond(487)
    scene.receive(.ack, toTag: "t1")
    scene.run(until: 5000)
    scene.receive(.invite, branch: "z9hG4bK2", callID: "in2")
    #expect(scene.trace.last == "5000 request INVITE")
  }

  @Test func unsendableRequests() {
    let scene = TransactionScene()
    scene.send(.ack)
    scene.send(.cancel)
    scene.send(.options, callID: "a b")
    #expect(scene.trace.prefix(2) == ["0 refused transaction.method", "0 refused transaction.method"])
    #expect(scene.trace.count == 3 && scene.trace[2].hasPrefix("0 refused message."))
    #expect(scene.layer.count == 0)
  }

  @Test func longDatagram() throws {
    let body = MessageBody(sessionDescription: Array(repeating: 0x61, count: 1300))
    var request = TransactionScene.request(.invite)
    request.body = body
    let cases: [(SIPTransport, Int, Bool)] = [
      (.udp, TransactionLayer.maximumDatagramBytes, false), (.udp, 65_000, true),
      (.tcp, TransactionLayer.maximumDatagramBytes, true),
    ]
    for (transport, limit, isSent) in cases {
      let scene = TransactionScene(transport)
      var effects: [TransactionEffect] = []
      let rule: String?
      do {
        _ = try scene.layer.send(
          request, to: scene.path, as: scene.address, at: .zero, maximumDatagramBytes: limit, into: &effects)
        rule = nil
      } catch { rule = error.rule }
      #expect(rule == (isSent ? nil : "transaction.datagramBytes"))
      #expect(effects.count == (isSent ? 1 : 0))
      #expect(scene.layer.count == (isSent ? 1 : 0))
    }
  }

  @Test func transportOfPathAndAddress() {
    let scene = TransactionScene(.udp)
    let other = TransactionScene(.tcp)
    var effects: [TransactionEffect] = []
    #expect(throws: InvalidValue.self) {
      try scene.layer.send(
        TransactionScene.request(.options), to: scene.path, as: other.address, at: .zero, into: &effects)
    }
  }

  @Test func transportFails() throws {
    let scene = TransactionScene(.tcp)
    let first = try #require(scene.send(.invite))
    scene.transportFails(first)
    #expect(scene.trace == ["0 send INVITE", "0 failed transport", "0 ended"])
    scene.transportFails(first)
    #expect(scene.trace.count == 3)
    scene.receive(.invite)
    let second = try #require(scene.incoming.first)
    scene.respond(180)
    scene.transportFails(second)
    // The final response may find another way.
    scene.respond(486)
    #expect(scene.trace.dropFirst(3) == ["0 request INVITE", "0 send 180", "0 send 486"])
    scene.transportFails(second)
    #expect(scene.trace.suffix(2) == ["0 failed transport", "0 ended"])
    scene.run(until: 100_000)
    #expect(scene.layer.count == 0)
  }
}
