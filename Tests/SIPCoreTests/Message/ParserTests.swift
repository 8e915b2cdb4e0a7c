import CallModel
import SIPCore
import TestVectors
import Testing

/// What the parser makes of messages, and what it refuses behind the gate.
struct ParserTests {
  static func rule(_ bytes: [UInt8]) -> GateRule? { MessageVectorTests.verdict(bytes).refusal?.rule }

  @Test func whatCanBeReadTwoWaysIsRefused() {
    let messages: [(String, [UInt8])] = [
      ("two @ in Contact", GateFixtures.replacing("Contact", with: "Contact: <sip:a@h@evil>")),
      ("open bracket", GateFixtures.replacing("Contact", with: "Contact: <sip:a@[::1>")),
      ("port 65536", GateFixtures.replacing("Contact", with: "Contact: <sip:a@h:65536>")),
      ("port -1", GateFixtures.replacing("To", with: "To: <sip:a@h:-1>")),
      ("port 0", GateFixtures.replacing("From", with: "From: <sip:a@h:0>;tag=1")),
      ("escape", GateFixtures.replacing("To", with: "To: <sip:a%4@h>")),
      ("no user", GateFixtures.replacing("To", with: "To: <sip:@h>")),
      ("mail in Route", GateFixtures.adding("Route: <mailto:a@h>")),
      ("star with another", GateFixtures.adding("Contact: *")),
      ("Route without URI", GateFixtures.adding("Route: proxy")),
      ("quoted branch", GateFixtures.replacing("Via", with: "Via: SIP/2.0/UDP 192.0.2.1;branch=\"a\"")),
      ("octal address", GateFixtures.replacing("Contact", with: "Contact: <sip:a@0127.0.0.1>")),
    ]
    for (name, bytes) in messages {
      #expect(ParserTests.rule(bytes)?.rawValue.hasPrefix("parser.") ?? false, "\(name)")
    }
  }

  @Test func leniencies() throws {
    let rows: [([UInt8], (SIPMessage) -> Bool)] = [
      (
        GateFixtures.replacing("Contact", with: "m: <sip:a@my_host>"),
        { $0.contacts.first?.uri.host == .name("my_host") }
      ),
      (
        GateFixtures.replacing("Contact", with: "Contact: <sip:a@3f2a9c8b7d6e>"),
        { $0.contacts.first?.uri.host == .name("3f2a9c8b7d6e") }
      ),
      (GateFixtures.replacing("To", with: "To: <sip:*72#1@h>"), { $0.to.uri.user == "*72#1" }),
      (GateFixtures.replacing("To", with: "To: <sip:a:secret@h>"), { $0.to.uri.user == "a" }),
      (GateFixtures.replacing("To", with: "To: <tel:+46-70>"), { $0.to.uri.user == "+46-70" && $0.to.uri.host == nil }),
      (GateFixtures.replacing("To", with: "t: Åsa B <SIP:a@H>"), { $0.to.displayName == "Åsa B" }),
      (
        GateFixtures.replacing("Contact", with: "Contact: <mailto:a@h>, <sip:b@h>"),
        { $0.contacts.map(\.uri.user) == ["b"] }
      ),
      (
        GateFixtures.replacing("To", with: "To: <mailto:a@h>;p=1"),
        { $0.to.uri.scheme == .other && $0.to.uri.user == "mailto:a@h" && $0.to.parameters.count == 1 }
      ),
      (GateFixtures.replacing("From", with: "From: isbn:2983792873;tag=1"), { $0.from.uri.user == "isbn:2983792873" }),
      (
        GateFixtures.message(
          GateFixtures.lines.map {
            $0.hasPrefix("INVITE ") ? "SIP/2.0 200 OK" : $0.hasPrefix("To") ? "To: <http://a/b?c>;tag=2" : $0
          }), { $0.to.uri.user == "http://a/b?c" && $0.to.tag == "2" }
      ),
      (GateFixtures.replacing("Contact", with: "Contact: *"), { $0.hasWildcardContact && $0.contacts.isEmpty }),
      (GateFixtures.adding("k: timer"), { $0.tokens("supported")?.contains("TIMER") ?? false }),
    ]
    for (place, (bytes, holds)) in rows.enumerated() {
      let result = MessageVectorTests.verdict(bytes)
      let message = try #require(result.message, "row \(place): \(String(describing: result.refusal))")
      #expect(holds(message), "row \(place): \(message)")
    }
  }

  /// RFC 4475 section 3.1.1.4: nothing is cut at an escaped NUL, in what is read nor in what is answered.
  @Test func anEscapedNULStaysAsWritten() throws {
    let message = try BuilderTests.read(
      GateFixtures.message([
        "REGISTER sip:%00@example.com SIP/2.0", "To: sip:null-%00-null@example.com",
        "From: sip:null-%00-null@example.com;tag=839923423", "Max-Forwards: 70", "Call-ID: escaped%00",
        "CSeq: 14398234 REGISTER", "Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw",
        "Contact: <sip:%00@host5.example.com>", "Contact: <sip:%00%00@host5.example.com>", "L:0",
      ]))
    guard case .request(_, let target) = message.startLine else {
      Issue.record("no request")
      return
    }
    #expect(target.user == "%00" && message.callID == "escaped%00")
    #expect(message.from.uri.user == "null-%00-null" && message.to.uri.user == "null-%00-null")
    #expect(message.contacts.map(\.uri.user) == ["%00", "%00%00"])
    #expect(!target.isEquivalent(to: try SIPURI(parsing: "sip:example.com")))
    #expect(!message.to.uri.isEquivalent(to: try SIPURI(parsing: "sip:null-@example.com")))
    #expect(message.to.uri.isEquivalent(to: try SIPURI(parsing: "sip:%6Eull-%00-null@example.com")))
    let answer = try OutgoingResponse(405, toTag: "t").encoded(to: message, receivedFrom: BuilderTests.path)
    #expect(try BuilderTests.read(answer).to.uri == message.to.uri)
    #expect(throws: InvalidValue.self) { try SIPURI(parsing: "sip:a@example.com;p=%00") }
    #expect(throws: InvalidValue.self) { try SIPURI(parsing: "sip:a@example.com?p=%00") }
  }

  @Test func typedFields() throws {
    #expect(try SessionExpires(parsing: "1800;Refresher=UAC;x=y") == SessionExpires(seconds: 1800, refresher: .uac))
    #expect(throws: InvalidValue.self) { try SessionExpires(parsing: "1800;refresher=me") }
    #expect(throws: InvalidValue.self) { try SessionExpires(parsing: "-1") }
    #expect(try MinSE(parsing: " 90 ;a") == MinSE(seconds: 90))
    #expect(try RAck(parsing: "776656  1 INVITE") == RAck(response: 776_656, cseq: CSeq(1, .invite)))
    #expect(throws: InvalidValue.self) { try RSeq(parsing: "") }
    #expect(try TokenList(parsing: " a ,b, c").tokens == ["a", "b", "c"])
    #expect(throws: InvalidValue.self) { try TokenList(parsing: "a,,b") }
    let replaces = try Replaces(parsing: "12@h;to-tag=7;from-tag=9;early-only")
    #expect(replaces == Replaces(callID: "12@h", toTag: "7", fromTag: "9", isEarlyOnly: true))
    #expect(try Replaces(parsing: replaces.fieldValue) == replaces)
    #expect(throws: InvalidValue.self) { try Replaces(parsing: "12@h;to-tag=7") }
    let state = try SubscriptionState(parsing: "Terminated;reason=noresource;expires=0")
    #expect(state == SubscriptionState(.terminated, expires: 0, reason: "noresource"))
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func mutationsNeverTrap() throws {
    let seed: UInt64 = 0x5EED_0003
    var random = SeededBytes(state: seed)
    var messages = try GateVectorTests.allMessages()
    messages += try TestVectors.table("sip-corpora/expected.tsv").map {
      GateVectorTests.normalised(try GateFixtures.bytes("sip-corpora/\($0["file"] ?? "")"))
    }
    messages = messages.filter { MessageVectorTests.verdict($0).message != nil }
    let spice = Array("\"%,:;<>=@[]\\?& \t/0".utf8) + [0xC3, 0xFF]
    var parsed = 0
    var refused: [GateRule: Int] = [:]
    for round in 0..<50_000 {
      var bytes = messages[Int.random(in: 0..<messages.count, using: &random)]
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 1..<16, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1: bytes.insert(spice[Int.random(in: 0..<spice.count, using: &random)], at: place)
        case 2: bytes.removeSubrange(place..<end)
        default: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        }
      }
      let result = MessageVectorTests.verdict(bytes)
      if let refusal = result.refusal { refused[refusal.rule, default: 0] += 1 }
      guard let message = result.message else { continue }
      parsed += 1
      guard message.method != nil, round % 5 == 0 else { continue }
      // What came in can be answered, and the answer can be read.
      do {
        let answer = try OutgoingResponse(486, toTag: "t").encoded(to: message, receivedFrom: BuilderTests.path)
        let read = try BuilderTests.read(answer)
        #expect(read.cseq == message.cseq && read.vias.count == message.vias.count, "seed \(seed) round \(round)")
      } catch {
        Issue.record("seed \(seed) round \(round): \(error)")
      }
    }
    let behind = refused.filter { $0.key.rawValue.hasPrefix("parser.") }.map { "\($0.value) \($0.key.rawValue)" }
    print("mutations: \(parsed) of 50000 parsed; behind the gate refused: \(behind.sorted())")
    #expect(parsed > 5000)
  }

  /// The shapes that cost the parser most, as large as the gate lets them be.
  @Test func hostileShapesTakeBoundedTime() {
    let many = String(repeating: ";p", count: 32)
    let rows: [(String, [UInt8])] = [
      ("Request-URI parameters", GateFixtures.replacing("INVITE", with: "INVITE sip:a@h\(many) SIP/2.0")),
      ("Contact parameters", GateFixtures.replacing("Contact", with: "Contact: <sip:a@h\(many)>")),
      (
        "Allow",
        GateFixtures.message(
          GateFixtures.lines + Array(repeating: "Allow: " + String(repeating: "A,", count: 32) + "A", count: 110))
      ),
      (
        "Accept",
        GateFixtures.message(
          GateFixtures.lines + Array(repeating: "Accept: " + String(repeating: "a/b,", count: 32) + "a/b", count: 110))
      ),
      ("unknown fields", GateFixtures.message(GateFixtures.lines + Array(repeating: "a: b", count: 110))),
      (
        "Via",
        GateFixtures.adding("Via: " + Array(repeating: "SIP/2.0/UDP h;branch=1", count: 32).joined(separator: ","))
      ),
      (
        "Contact list",
        GateFixtures.adding("Contact: " + Array(repeating: "<sip:a@h>", count: 30).joined(separator: ","))
      ),
    ]
    var most: (name: String, time: Duration) = ("", .zero)
    for (name, bytes) in rows {
      let time = ContinuousClock().measure {
        for _ in 0..<10 { #expect(MessageVectorTests.verdict(bytes).refusal == nil, "\(name)") }
      }
      print("hostile: \(name), \(bytes.count) bytes: \(time / 10)")
      if time > most.time { most = (name, time) }
    }
    print("hostile: at most \(most.time / 10), \(most.name)")
    #expect(most.time / 10 < .seconds(1))
  }

  @Test func aPlainInviteIsReadFast() throws {
    let bytes = GateFixtures.adding("Supported: 100rel")
    let scanned = try SIPGate.admit(bytes, transport: .udp).get()
    let rounds = 2000
    let time = ContinuousClock().measure {
      for _ in 0..<rounds { _ = MessageParser.values(of: scanned) }
    }
    print("a plain INVITE: \(time / rounds) to parse")
    #expect(time / rounds < .milliseconds(100))
  }
}
