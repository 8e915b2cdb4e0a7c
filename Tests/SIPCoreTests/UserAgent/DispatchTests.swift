import CallModel
import SIPCore
import TestVectors
import Testing

/// What a request gets that belongs to no call.
@Suite struct DispatchTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let method: String
    var uri = "sip:gateway@198.51.100.1"
    var peer = "a"
    var from: String?
    var to: String?
    var toTag = false
    var fields: [String] = []
    var body = ""
    var acceptsCalls = true
    let expected: [String]
    var holds: [String] = []
    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(
      name: "OPTIONS", method: "OPTIONS", expected: ["-> 200 OPTIONS a"],
      holds: ["Allow: INVITE", "Accept: application/sdp", "Supported: 100rel, timer"]),
    Row(
      name: "OPTIONS with options we lack", method: "OPTIONS", fields: ["Require: gruu, timer"],
      expected: ["-> 420 OPTIONS a"], holds: ["Unsupported: gruu\r\n"]),
    Row(
      name: "Supported has no effect", method: "OPTIONS",
      fields: ["Supported: 100rel, timer, replaces, norefersub, outbound, path, gruu"],
      expected: ["-> 200 OPTIONS a"]),
    Row(name: "REGISTER", method: "REGISTER", expected: ["-> 405 REGISTER a"], holds: ["Allow: INVITE"]),
    Row(
      name: "REGISTER of a user with an escaped NUL", method: "REGISTER", uri: "sip:null-%00-null@198.51.100.1",
      expected: ["-> 405 REGISTER a"]),
    Row(name: "SUBSCRIBE", method: "SUBSCRIBE", expected: ["-> 405 SUBSCRIBE a"], holds: ["Allow: INVITE"]),
    Row(name: "MESSAGE", method: "MESSAGE", expected: ["-> 405 MESSAGE a"], holds: ["Allow: INVITE"]),
    Row(name: "PUBLISH", method: "PUBLISH", expected: ["-> 405 PUBLISH a"], holds: ["Allow: INVITE"]),
    Row(name: "an unknown method", method: "DANCE", expected: ["-> 501 DANCE a"], holds: ["Allow: INVITE"]),
    Row(name: "INFO", method: "INFO", expected: ["-> 481 INFO a"]),
    Row(name: "NOTIFY", method: "NOTIFY", expected: ["-> 481 NOTIFY a"]),
    Row(name: "PRACK", method: "PRACK", fields: ["RAck: 1 1 INVITE"], expected: ["-> 481 PRACK a"]),
    Row(name: "BYE of an unknown dialog", method: "BYE", toTag: true, expected: ["-> 481 BYE a"]),
    Row(name: "UPDATE of an unknown dialog", method: "UPDATE", toTag: true, expected: ["-> 481 UPDATE a"]),
    Row(name: "INVITE of an unknown dialog", method: "INVITE", toTag: true, expected: ["-> 481 INVITE a"]),
    Row(name: "ACK of an unknown dialog", method: "ACK", toTag: true, expected: []),
    Row(name: "CANCEL of nothing", method: "CANCEL", expected: ["-> 481 CANCEL a"]),
    Row(name: "REFER", method: "REFER", expected: ["-> 603 REFER a"]),
    Row(
      name: "sips without TLS", method: "OPTIONS", uri: "sips:gateway@198.51.100.1", peer: "u",
      expected: ["-> 416 OPTIONS u"]),
    Row(
      name: "sips over TLS", method: "OPTIONS", uri: "sips:gateway@198.51.100.1", peer: "t",
      expected: ["-> 200 OPTIONS t"]),
    Row(
      name: "INVITE where no calls are taken", method: "INVITE", acceptsCalls: false,
      expected: ["-> 404 INVITE a"]),
    Row(
      name: "INVITE with a compressed body", method: "INVITE",
      fields: ["Content-Encoding: gzip", "Content-Type: application/sdp"], body: "v=0",
      expected: ["-> 415 INVITE a"], holds: ["Accept-Encoding: identity"]),
    Row(
      name: "INVITE with a body we do not know", method: "INVITE", fields: ["Content-Type: text/plain"], body: "hi",
      expected: ["-> 415 INVITE a"], holds: ["Accept: application/sdp"]),
    Row(
      name: "INVITE", method: "INVITE", fields: ["Content-Type: application/sdp"], body: "v=0",
      expected: ["== incoming"]),
    Row(
      name: "Max-Forwards 0 is no matter at the end of the way", method: "OPTIONS", fields: ["Max-Forwards: 0"],
      expected: ["-> 200 OPTIONS a"]),
    Row(
      name: "header fields that this request does not need may be malformed", method: "INVITE",
      fields: ["Date: yesterday", "Expires: soon", "Min-Expires: -1"], expected: ["== incoming"]),
    Row(
      name: "To and From of another scheme", method: "INVITE", from: "<http://www.example.com>;tag=remote",
      to: "<isbn:2983792873>", expected: ["== incoming"]),
    Row(
      name: "OPTIONS to another scheme", method: "OPTIONS", to: "isbn:2983792873", expected: ["-> 200 OPTIONS a"],
      holds: ["To: isbn:2983792873;tag="]),
    Row(
      name: "INVITE whose caller takes no session description", method: "INVITE",
      fields: ["Accept: text/plain, application/*;q=0.0, multipart/mixed"], expected: ["-> 406 INVITE a"],
      holds: ["Accept: application/sdp"]),
    Row(
      name: "INVITE whose caller takes nothing at all", method: "INVITE", fields: ["Accept:"],
      expected: ["-> 406 INVITE a"]),
    Row(
      name: "INVITE whose caller takes session descriptions among others", method: "INVITE",
      fields: ["Accept: application/isup;version=\"a,b\"", "Accept: Application / SDP;level=1"],
      expected: ["== incoming"]),
    Row(
      name: "INVITE whose caller takes anything", method: "INVITE", fields: ["Accept: */*;q=0.1"],
      expected: ["== incoming"]),
    Row(
      name: "INVITE with an Accept that cannot be read", method: "INVITE", fields: ["Accept: ;;"],
      expected: ["== incoming"]),
    Row(
      name: "OPTIONS from a peer that takes no session description", method: "OPTIONS", fields: ["Accept: text/plain"],
      expected: ["-> 200 OPTIONS a"]),
    Row(
      name: "a header with a NUL", method: "OPTIONS", fields: ["Subject: a\u{0}b"],
      expected: ["-> 400 OPTIONS a"]),
  ]

  static func request(
    _ method: String, uri: String = "sip:gateway@198.51.100.1", peer: String = "a", toTag: Bool = false,
    fields: [String] = [], body: String = "", branch: String = "1", version: String = "2.0"
  ) -> String {
    let path = Ladder.paths[peer]
    let host = path.map { "\($0.remote.host)" } ?? ""
    let transport = path?.remote.transport.rawValue.uppercased() ?? ""
    var lines = [
      "\(method) \(uri) SIP/\(version)",
      "Via: SIP/2.0/\(transport) \(host):5060;branch=z9hG4bK\(branch)",
      "From: <sip:peer@\(host)>;tag=remote", "To: <\(uri)>\(toTag ? ";tag=local" : "")", "Call-ID: call-1",
      "CSeq: 1 \(method)", "Contact: <\(uri.hasPrefix("sips") ? "sips" : "sip"):peer@\(host):5060>",
    ]
    if !fields.contains(where: { $0.hasPrefix("Max-Forwards") }) { lines.append("Max-Forwards: 70") }
    lines += fields + ["Content-Length: \(body.utf8.count)"]
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
  }

  @Test(arguments: rows) func dispatch(_ row: Row) throws {
    let ladder = Ladder(acceptsCalls: row.acceptsCalls)
    let path = try #require(Ladder.paths[row.peer])
    let text = DispatchTests.request(
      row.method, uri: row.uri, peer: row.peer, toTag: row.toTag, fields: row.fields, body: row.body)
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      if let from = row.from, line.hasPrefix("From: ") { return "From: \(from)" }
      if let to = row.to, line.hasPrefix("To: ") { return "To: \(to)" }
      return String(line)
    }
    ladder.receive(lines.joined(separator: "\r\n"), from: path)
    #expect(ladder.drainLines() == row.expected)
    for part in row.holds { #expect(ladder.lastSent.contains(part), "\(ladder.lastSent)") }
  }

  @Test("an ACK whose body does not say what it is stops the repetition of the 200")
  func acknowledgementWithoutContentType() throws {
    let ladder = Ladder(acceptsCalls: true)
    let path = try #require(Ladder.paths["u"])
    ladder.receive(
      DispatchTests.request("INVITE", peer: "u", fields: ["Content-Type: application/sdp"], body: "v=0"), from: path)
    ladder.command(
      .accept(
        CallHandle(.max), body: MessageBody(sessionDescription: Array("v=0".utf8)), headers: CustomHeaders()))
    #expect(ladder.drainLines() == ["== incoming", "-> 200 INVITE u"])
    let to = try #require(ladder.lastSent.split(separator: "\r\n").first { $0.hasPrefix("To: ") })
    ladder.advance(600)
    #expect(ladder.drainLines() == ["-> 200 INVITE u"])
    let text = DispatchTests.request("ACK", peer: "u", body: "v=0", branch: "ack")
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { $0.hasPrefix("To: ") ? to : $0 }
    ladder.receive(lines.joined(separator: "\r\n"), from: path)
    #expect(ladder.drainLines() == ["== established"])
    ladder.advance(40_000)
    #expect(ladder.drainLines().isEmpty)
  }

  @Test("a request that came through more elements than are read is dropped and counted by its rule")
  func tooManyVias() throws {
    let ladder = Ladder()
    let path = try #require(Ladder.paths["a"])
    func via(_ count: Int) -> [String] {
      (0..<count).map { "Via: SIP/2.0/UDP 192.0.2.\($0);branch=z9hG4bKn\($0)" }
    }
    ladder.receive(DispatchTests.request("OPTIONS", fields: via(GateLimits.standard.vias - 1)), from: path)
    #expect(ladder.drainLines() == ["-> 200 OPTIONS a"])
    ladder.receive(DispatchTests.request("OPTIONS", fields: via(200), branch: "2"), from: path)
    #expect(ladder.drainLines().isEmpty)
    #expect(ladder.agent.counters.refusedByRule[.repeats] == 1)
    ladder.receive(DispatchTests.request("OPTIONS", fields: via(60), branch: "3"), from: path)
    #expect(ladder.drainLines().isEmpty)
    #expect(ladder.agent.counters.refusedByRule[.repeats] == 2)
  }

  @Test func aCallTooManyIsToldToComeBack() {
    var limits = UserAgentLimits()
    limits.calls = 2
    let ladder = Ladder(limits: limits, acceptsCalls: true)
    guard let path = Ladder.paths["a"] else { return }
    for number in 1...3 {
      let text = DispatchTests.request("INVITE", branch: "\(number)")
        .replacing("Call-ID: call-1", with: "Call-ID: call-\(number)")
      ladder.receive(text, from: path)
    }
    #expect(ladder.drainLines() == ["== incoming", "== incoming", "-> 503 INVITE a"])
    #expect(ladder.lastSent.contains("Retry-After: 5"))
    #expect(ladder.agent.counters.overloads == 1)
    #expect(ladder.agent.counters.calls == 2)
  }

  @Test func callsASecondAreCapped() {
    var limits = UserAgentLimits()
    limits.incomingCallsPerSecond = 2
    let ladder = Ladder(limits: limits, acceptsCalls: true)
    guard let path = Ladder.paths["a"] else { return }
    func invite(_ number: Int) -> [String] {
      let text = DispatchTests.request("INVITE", branch: "\(number)")
        .replacing("Call-ID: call-1", with: "Call-ID: call-\(number)")
      ladder.receive(text, from: path)
      return ladder.drainLines()
    }
    #expect(invite(1) + invite(2) + invite(3) == ["== incoming", "== incoming", "-> 503 INVITE a"])
    ladder.advance(500)
    _ = ladder.drainLines()
    #expect(invite(4) == ["== incoming"])
    #expect(invite(5) == ["-> 503 INVITE a"])
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func everyRowOfTheVectors() throws {
    // The rows inside calls are tests of the session; each other one has its request here.
    let requests: [String: (text: String, peer: String)] = [
      "m01": (DispatchTests.request("OPTIONS"), "a"), "m03": (DispatchTests.request("REGISTER"), "a"),
      "m05": (DispatchTests.request("MESSAGE"), "a"), "m06": (DispatchTests.request("INFO"), "a"),
      "m13": (DispatchTests.request("PRACK", fields: ["RAck: 1 1 INVITE"]), "a"),
      "m15": (DispatchTests.request("BYE", toTag: true), "a"),
      "m20": (DispatchTests.request("OPTIONS", version: "2.1"), "a"),
      "m21": (DispatchTests.request("OPTIONS", uri: "sips:x@198.51.100.1", peer: "u"), "u"),
      "m30": (
        DispatchTests.request(
          "INVITE", fields: ["Content-Encoding: gzip", "Content-Type: application/sdp"], body: "v=0"), "a"
      ),
    ]
    let table = try TestVectors.table("sip-rules/options-and-methods.tsv")
    var checked = 0
    for row in table {
      guard let name = row["case"], let expected = row["expected"], let request = requests[name],
        let path = Ladder.paths[request.peer]
      else { continue }
      let ladder = Ladder(acceptsCalls: true)
      ladder.receive(request.text, from: path)
      let line = ladder.drainLines().first ?? ""
      let status = line.split(separator: " ").dropFirst().first ?? ""
      #expect(!status.isEmpty && expected.contains(status), "\(name): \(line), expected \(expected)")
      checked += 1
    }
    #expect(checked == requests.count)
  }
}
