import CallModel
import SIPCore
import Testing

struct ErrorResponseTests {
  static func scanned(_ bytes: [UInt8]) -> ScannedMessage? {
    switch SIPGate.inspect(bytes, transport: .udp) {
    case .success(let message): message
    case .failure(let refusal): refusal.message
    }
  }

  static func answer(
    _ bytes: [UInt8], status: Int = 400, reason: String = "Bad Request", tag: String = "t1",
    source: PacketSource = GateFixtures.source
  ) -> String? {
    scanned(bytes).flatMap {
      ErrorResponse.bytes(to: $0, status: status, reason: reason, tag: tag, source: source)
    }.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func wholeAnswer() {
    #expect(
      ErrorResponseTests.answer(GateFixtures.message(GateFixtures.lines))?.split(separator: "\r\n") == [
        "SIP/2.0 400 Bad Request", "Via: SIP/2.0/UDP 192.0.2.1:5099;branch=z9hG4bK-1;received=192.0.2.1;rport=40000",
        "From: <sip:a@127.0.0.1>;tag=a1", "To: <sip:+46000000000@127.0.0.1>;tag=t1", "Call-ID: a1@127.0.0.1",
        "CSeq: 1 INVITE", "Content-Length: 0",
      ])
  }

  @Test(arguments: [
    // A claimed address is replaced; the list keeps its order; folds are gone.
    (
      "Via: SIP/2.0/UDP a.example.com;received=10.0.0.1;rport=9;branch=x\r\n , SIP/2.0/TCP b;received=10.0.0.2",
      "Via: SIP/2.0/UDP a.example.com;branch=x;received=192.0.2.1;rport=40000\r\n"
        + "Via: SIP/2.0/TCP b;received=10.0.0.2\r\n"
    ),
    ("Via: SIP/2.0/UDP 192.0.2.1;branch=x", "Via: SIP/2.0/UDP 192.0.2.1;branch=x\r\nFrom"),
    ("Via: SIP/2.0/UDP 192.0.2.9;branch=x", "Via: SIP/2.0/UDP 192.0.2.9;branch=x;received=192.0.2.1\r\nFrom"),
    ("Via: SIP/2.0/UDP 192.0.2.1;;,;,,", "Via: SIP/2.0/UDP 192.0.2.1\r\nFrom"),
  ])
  func viaList(line: String, expected: String) {
    #expect(ErrorResponseTests.answer(GateFixtures.replacing("Via", with: line))?.contains(expected) ?? false)
  }

  @Test func anIPv6SourceStandsWithoutBrackets() {
    let source = PacketSource(host: .ipv6(high: 0x2001_0DB8_0000_0000, low: 1), port: 5060)
    let answer = ErrorResponseTests.answer(GateFixtures.message(GateFixtures.lines), source: source)
    #expect(answer?.contains(";received=2001:db8::1;rport=5060\r\n") ?? false)
  }

  @Test func missingFieldsAreLeftOut() {
    for name in ["From", "To", "Call-ID"] {
      let answer = ErrorResponseTests.answer(GateFixtures.replacing(name, with: nil))
      #expect(answer != nil && !(answer ?? "").contains("\(name):"))
    }
    let tagged = ErrorResponseTests.answer(GateFixtures.replacing("To", with: "To: <sip:b@c>;tag=there"))
    #expect(tagged?.contains("To: <sip:b@c>;tag=there\r\n") ?? false)
  }

  @Test func silenceWhereNoAnswerIsDue() {
    let ack = GateFixtures.lines.map { $0.replacing("INVITE", with: "ACK") }
    let silent: [[UInt8]] = [
      GateFixtures.message(ack), GateFixtures.replacing("INVITE ", with: "ACK sip:a@b SIP/2.0"),
      GateFixtures.replacing("INVITE ", with: "SIP/2.0 200 OK"), GateFixtures.replacing("Via", with: nil),
      GateFixtures.replacing("Via", with: "Via: nothing"), GateFixtures.replacing("CSeq", with: nil),
      GateFixtures.replacing("From", with: "From: <sip:a\u{1}@b>"), GateFixtures.replacing("To", with: "To: a\rX: b"),
      GateFixtures.replacing("Call-ID", with: "Call-ID: a\0"),
    ]
    for (index, bytes) in silent.enumerated() { #expect(ErrorResponseTests.answer(bytes) == nil, "row \(index)") }
    let plain = GateFixtures.message(GateFixtures.lines)
    #expect(ErrorResponseTests.answer(plain, status: 200) == nil)
    #expect(ErrorResponseTests.answer(plain, status: 700) == nil)
    #expect(ErrorResponseTests.answer(plain, reason: "a\r\nX: b") == nil)
    #expect(ErrorResponseTests.answer(plain, tag: "a;b") == nil)
    #expect(ErrorResponseTests.answer(plain, tag: "") == nil)
  }
}
