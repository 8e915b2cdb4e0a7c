import SIPCore
import Testing

/// One row a rule: the message that breaks it and nothing else.
struct GateRuleTests {
  typealias Row = (rule: GateRule, bytes: [UInt8], transport: SIPTransport)

  static let long = String(repeating: "a", count: 5000)

  static func numbered(_ count: Int, _ text: String) -> [String] { (0..<count).map { "\(text)\($0)" } }

  static var rows: [Row] {
    let lines = GateFixtures.lines
    func start(_ line: String) -> [UInt8] { GateFixtures.replacing("INVITE ", with: line) }
    func uri(_ text: String) -> [UInt8] { start("INVITE \(text) SIP/2.0") }
    let adding = GateFixtures.adding
    var rows: [Row] = []
    func add(_ rule: GateRule, _ bytes: [UInt8], _ transport: SIPTransport = .udp) {
      rows.append((rule, bytes, transport))
    }
    add(.empty, [])
    add(.keepAlive, [13, 10])
    add(.keepAlive, [13, 10, 13, 10])
    add(.notSIP, [0])
    add(.notSIP, Array("hello".utf8))
    add(.notSIP, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    add(.bareCarriageReturn, adding("X: a\rY: b"))
    add(.bareLineFeed, adding("X: a\nY: b"))
    add(.bareCarriageReturn, start("INVITE sip:a@b\r SIP/2.0"))
    add(.nul, adding("X: a\0b"))
    add(.controlByte, adding("X: a\u{1}b"))
    add(.controlByte, adding("X: a\u{7F}"))
    add(.nul, adding("X: \"a\0\""))
    add(.escapedNUL, uri("sip:admin@evil%00.example"))
    add(.escapedNUL, uri("sip:127.0.0.1;p=%00"))
    add(.escapedNUL, uri("sip:a@127.0.0.1;p=sip:b%00"))
    add(.escapedNUL, uri("tel:+46%00"))
    add(.escapedNUL, replacing("From", "From: <sip:a@127.0.0.1;p=%00>;tag=1"))
    add(.escapedNUL, replacing("From", "From: <sip:a@127.0.0.1>;tag=1%00"))
    add(.escapedNUL, replacing("From", "From: sip:127.0.0.1;p=%00,sip:a@127.0.0.1;tag=1"))
    add(.escapedNUL, replacing("From", "From: \", <sip:a%00@b>\" <sip:a@127.0.0.1>;tag=1"))
    add(.escapedNUL, replacing("From", "From: \"\\%00\" <sip:a@127.0.0.1>;tag=1"))
    add(.escapedNUL, replacing("Contact", "Contact: <sip:a@127.0.0.1?x=%00>"))
    add(.escapedNUL, replacing("Contact", "Contact: <mailto:a%00@127.0.0.1>, <sip:a@127.0.0.1>"))
    add(.escapedNUL, adding("P-Asserted-Identity: <tel:+46%00>"))
    add(.headUnterminated, Array(lines.joined(separator: "\r\n").utf8))
    add(.messageBytes, GateFixtures.message(lines, body: String(repeating: "a", count: 16_384)))
    add(
      .bodyBytes,
      GateFixtures.message(
        lines.dropLast() + ["Content-Length: 32769", "Content-Type: a/b"], body: String(repeating: "a", count: 32_769)),
      .tcp)
    add(.lineBytes, adding("X: \(long)"))
    add(.lineCount, GateFixtures.message(lines + ["X: a" + String(repeating: "\r\n b", count: 300)]))
    add(.headerCount, GateFixtures.message(lines + numbered(128, "X: ")))
    add(.semicolons, adding("X: a" + String(repeating: ";p", count: 33)))
    add(.semicolons, uri("sip:a@b" + String(repeating: ";p", count: 33)))
    add(.commas, adding("Allow: A" + String(repeating: ",A", count: 33)))
    add(.repeats, GateFixtures.message(lines + numbered(41, "Via: SIP/2.0/UDP h;branch=")))
    add(.repeats, GateFixtures.message(lines + Array(repeating: "Route: <sip:a>, <sip:b>", count: 11)))
    add(.repeats, GateFixtures.message(lines + Array(repeating: "m: <sip:a>, <sip:b>", count: 16)))
    add(.requestURIBytes, uri("sip:" + long.prefix(2100) + "@b"))
    add(.startLine, start("INVITE  sip:a@b SIP/2.0"))
    add(.startLine, start("INVITE sip:a@b  SIP/2.0"))
    add(.startLine, start("INVITE sip:a@b SIP/2.0 "))
    add(.startLine, start("INVITE SIP/2.0"))
    add(.method, start("IN(VITE sip:a@b SIP/2.0"))
    add(.method, start(long.prefix(65) + " sip:a@b SIP/2.0"))
    add(.requestURI, uri("<sip:a@b>"))
    add(.requestURI, uri("sip:a@b@c"))
    add(.requestURI, uri("sip:"))
    add(.requestURI, uri("sip:a@[::1"))
    add(.requestURI, uri("sip:a@b:0"))
    add(.requestURI, uri("sip:a@b:65536"))
    add(.requestURI, uri("sip:a@b:-1"))
    add(.requestURI, uri("sip:a@b?X=y"))
    add(.requestURI, uri("nothing"))
    add(.status, start("SIP/2.0 200"))
    add(.status, start("SIP/2.0 99999 No"))
    add(.status, start("SIP/2.0 700 No"))
    add(.status, start("SIP/2.0 -1 No"))
    add(.headerName, adding("X Y: a"))
    add(.headerName, adding("no colon"))
    add(.headerName, adding(": a"))
    add(.contentLength, replacing("Content-Length", "Content-Length: -5"))
    add(.contentLength, replacing("Content-Length", "Content-Length: +4"))
    add(.contentLength, replacing("Content-Length", "Content-Length: 4abc"))
    add(.contentLength, replacing("Content-Length", "Content-Length:"))
    add(.bodyShort, replacing("Content-Length", "l: 4294967300"))
    add(.bodyShort, replacing("Content-Length", "Content-Length: 1"))
    add(.contentLengthRepeated, adding("l: 0"))
    add(.contentLengthMissing, replacing("Content-Length", nil), .tls)
    add(.bytesBehind, GateFixtures.message(lines, body: "x"), .tcp)
    add(.version, start("INVITE sip:a@b SIP/9.9"))
    add(.version, start("INVITE sip:a@b SIP/02.00"))
    add(.scheme, uri("http://a/b"))
    add(.scheme, uri("soap.beep://192.0.2.103:3002"))
    add(.missingHeader, replacing("Via", nil))
    add(.missingHeader, replacing("From", nil))
    add(.missingHeader, replacing("To", nil))
    add(.missingHeader, replacing("Call-ID", nil))
    add(.missingHeader, replacing("CSeq", nil))
    add(.repeatedHeader, adding("i: another"))
    add(.repeatedHeader, adding("f: <sip:b@c>;tag=2"))
    add(.repeatedHeader, adding("Max-Forwards: 70"))
    add(.via, replacing("Via", "Via: SIP/2.0/UDP 192.0.2.15;;,;,,"))
    add(.via, replacing("Via", "Via: SIP/2.0/UDP 192.0.2.15:99999"))
    add(.via, replacing("Via", "Via: no"))
    add(.address, replacing("To", "To: \"Mr. J. User <sip:j@b>"))
    add(.address, replacing("To", "To: a@b"))
    add(.address, replacing("From", "From: <sip:a@b>;;tag=1"))
    add(.contact, replacing("Contact", "Contact: \"Joe\" <sip:joe@b>;;;;"))
    add(.callID, replacing("Call-ID", "Call-ID: a, b"))
    add(.callID, replacing("Call-ID", "Call-ID:"))
    add(.cseq, replacing("CSeq", "CSeq: abc"))
    add(.cseq, replacing("CSeq", "CSeq: 1"))
    add(.cseqRange, replacing("CSeq", "CSeq: 2147483648 INVITE"))
    add(.cseqRange, replacing("CSeq", "CSeq: 36893488147419103232 INVITE"))
    add(.cseqMethod, replacing("CSeq", "CSeq: 1 BYE"))
    add(.maxForwards, replacing("Max-Forwards", "Max-Forwards: 300"))
    add(.maxForwards, replacing("Max-Forwards", "Max-Forwards: -1"))
    add(.contentType, adding("Content-Type: multipart/mixed"))
    add(.contentType, adding("c: sdp"))
    add(.contentType, GateFixtures.message(lines.dropLast(), body: "v=0"))
    return rows

    func replacing(_ start: String, _ line: String?) -> [UInt8] { GateFixtures.replacing(start, with: line) }
  }

  @Test func everyRuleRefuses() {
    var seen: Set<GateRule> = []
    for (index, row) in GateRuleTests.rows.enumerated() {
      seen.insert(row.rule)
      guard case .failure(let refusal) = SIPGate.admit(row.bytes, transport: row.transport) else {
        Issue.record("row \(index) is forwarded, expected \(row.rule)")
        continue
      }
      #expect(refusal.rule == row.rule, "row \(index): \(refusal)")
    }
    // The parser's own rules come behind the gate.
    let unseen = GateRule.allCases.filter { !seen.contains($0) && !$0.rawValue.hasPrefix("parser.") }
    #expect(unseen.isEmpty, "\(unseen)")
    #expect(Set(GateRule.allCases.map(\.status)) == [400, 414, 416, 505, 513])
  }

  @Test func goodMessagesPass() throws {
    let good: [[UInt8]] = [
      GateFixtures.message(GateFixtures.lines),
      [13, 10, 13, 10] + GateFixtures.message(GateFixtures.lines),
      Array((GateFixtures.lines.joined(separator: "\r\n") + "\r\n").utf8),
      GateFixtures.adding("Date: Sat, 13 Nov 2010 23:29:00 GMT"), GateFixtures.adding("Expires: 4294967295"),
      GateFixtures.adding("Date: Fri, 01 Jan 2010 16:00:00 EST"), GateFixtures.adding("Min-Expires: soon"),
      GateFixtures.adding("Expires: 1000000000000000000000"), GateFixtures.adding("Expires: soon"),
      GateFixtures.replacing("CSeq", with: "CSeq: 0002147483647\r\n INVITE"),
      GateFixtures.replacing("From", with: "From: \"\\\0 \\\u{7} \\\u{7F}\" <sip:a@b>;tag=1"),
      GateFixtures.replacing("INVITE", with: "INVITE sip:a?b;c@[2001:db8::1]:5070;lr SIP/2.0"),
      GateFixtures.replacing("INVITE", with: "INVITE tel:+46000000000 sip/2.0"),
      GateFixtures.replacing("INVITE ", with: "SIP/2.0 100 "),
      GateFixtures.replacing("INVITE", with: "INVITE SIP:null-%00-null;p=%00@127.0.0.1 SIP/2.0"),
      GateFixtures.replacing("From", with: "From: \"a\" <sips:null-%00-null@b>;tag=1"),
      GateFixtures.replacing("Contact", with: "m: sip:%00@b , <sip:%00%00:%00@b>"),
      GateFixtures.adding("P-Asserted-Identity: <sip:+46%00@127.0.0.1>"),
      GateFixtures.replacing("Contact", with: "m: *"),
      GateFixtures.message(
        ["SIP/2.0 200 OK"] + GateFixtures.lines.dropFirst() + ["Date: today", "Expires: 99999999999"]),
      GateFixtures.message(GateFixtures.lines + GateRuleTests.numbered(33, "v: SIP/2.0/TCP sip")),
      GateFixtures.replacing(
        "Via", with: "v: SIP / 2.0 / UDP first.example.com: 4000;ttl=16 ;maddr=224.2.0.1 , SIP/2.0/TCP b"),
    ]
    for (index, bytes) in good.enumerated() {
      #expect(GateFixtures.verdict(bytes) == "forward", "row \(index)")
    }
    let odd = "!interesting-Method0123456789_*+`.%indeed'~"
    let lines = GateFixtures.lines.map {
      $0.hasPrefix("INVITE ") ? "\(odd) sip:a@b SIP/2.0" : $0.hasPrefix("CSeq") ? "CSeq: 1 \(odd)" : $0
    }
    #expect(try SIPGate.admit(GateFixtures.message(lines), transport: .udp).get().method == odd)
  }

  @Test func theScanReadsTheFields() throws {
    let bytes = GateFixtures.message(
      [
        "INVITE SIP:bob@example.com;user=phone SIP/2.0",
        "v : SIP/2.0/TLS\r\n [2001:db8::1]:5061;Branch=z9hG4bK-1 ;rport=1,\tSIP/2.0/UDP b;branch=x",
        "f: \"A, <b> \\\" ;\" <sip:a@b;tag=no>; Tag=yes", "t: c<sip:d@e>", "i: call@host", "CSEQ: 7 INVITE",
        "Max-Forwards:0070", "l: 3", "c: application/sdp",
      ], body: "v=0trailing")
    let message = try SIPGate.admit(bytes, transport: .udp).get()
    #expect(message.method == "INVITE")
    #expect(message.scheme == "sip")
    #expect(message.version == "2.0")
    #expect(message.requestURI.map(message.text) == "SIP:bob@example.com;user=phone")
    #expect(message.vias.count == 2)
    let via = try #require(message.vias.first)
    #expect(via.transport == "TLS" && via.host == "[2001:db8::1]" && via.port == 5061)
    #expect(via.branch == "z9hG4bK-1" && via.wantsResponsePort)
    let from = try #require(message.from)
    #expect(from.tag == "yes")
    #expect(message.text(from.uri) == "sip:a@b;tag=no")
    #expect(message.to?.tag == nil)
    #expect(message.callID == "call@host")
    #expect(message.maxForwards == .value(70))
    #expect(message.cseq?.number == .value(7))
    #expect(message.cseq?.method == "INVITE")
    #expect(message.contentLength == .value(3))
    #expect(message.contentType == "application/sdp")
    #expect(message.text(message.body) == "v=0")
    #expect(message.trailingBytes == 8)
    #expect(message.bytes.count == bytes.count - 8)
    #expect(!message.text(0..<message.bytes.count).contains("TLS\r\n"))
    bytes.withUnsafeBytes { raw in
      guard case .success(let same) = SIPGate.inspect(raw, transport: .udp) else {
        Issue.record("the same bytes behind a pointer are refused")
        return
      }
      #expect(same.bytes == message.bytes)
    }
  }

  /// Messages of the largest size made of one thing each; the time is printed, its bound is for a debug build.
  @Test func timeIsLinear() {
    let head = GateFixtures.lines.dropLast()
    let fill = { (text: String, count: Int) in String(repeating: text, count: count / text.utf8.count) }
    let shapes: [(name: String, line: (Int) -> String)] = [
      ("semicolons", { "X: " + fill(";p", $0) }), ("commas", { "Contact: " + fill(",<sip:a>", $0) }),
      ("folds", { "X: a" + fill("\r\n ", $0) }), ("short fields", { fill("X:\r\n", $0) + "X:" }),
      ("quotes", { "From: " + fill("\"\\\"", $0) }), ("blanks", { "Via: " + fill(" ", $0) + "a" }),
      ("percents", { "From: " + fill("%0", $0) }), ("bare CR", { "X: " + fill("\r", $0) }),
      ("Via", { "Via: SIP/2.0/UDP a" + fill(",SIP/2.0/UDP a", $0) }), ("bare LF", { fill("X:\n", $0) + "X:" }),
    ]
    let clock = ContinuousClock()
    for shape in shapes {
      var times: [Duration] = []
      for size in [8_000, 64_000] {
        let bytes = GateFixtures.message(head + [shape.line(size), "Content-Length: 0"])
        times.append((0..<5).map { _ in clock.measure { _ = SIPGate.admit(bytes, transport: .tcp) } }.min() ?? .zero)
      }
      print("gate time, \(shape.name): 8 kB \(times[0]), 64 kB \(times[1])")
      #expect(times[1] < .milliseconds(500), "\(shape.name)")
    }
  }
}
