import CallModel
import CallStory
import Testing

@Suite("Secrets in what is kept of a call")
struct TraceRedactionTests {
  private func kept(_ text: String) -> String {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.dialog(.init(sipCallID: "x", side: .far, trunk: nil))
    recorder.message(
      Array(text.utf8), of: "x", isSent: true, transport: "udp", local: "", remote: "", at: 0)
    return recorder.trace.messages.first?.text ?? ""
  }

  private func line(_ text: String, _ type: String = "call") -> String {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.line(type, text, isFromApp: true, at: 0)
    return recorder.trace.lines.first?.text ?? ""
  }

  @Test(
    "Each letter of a secret becomes a star",
    arguments: [
      (
        #"Authorization: Digest username="gw", realm="r", response="abc123", cnonce="c0",nc=00000001"#,
        #"Authorization: Digest username="gw", realm="r", response="******", cnonce="**",nc=00000001"#
      ),
      (
        "proxy-AUTHORIZATION : digest response = abc , opaque=o,uri=\"sip:a\"",
        "proxy-AUTHORIZATION : digest response = *** , opaque=o,uri=\"sip:a\""
      ),
      (#"Authorization: Digest response="a\"b", qop=auth"#, #"Authorization: Digest response="****", qop=auth"#),
      (#"Authorization: Digest response="not closed"#, #"Authorization: Digest response="**********"#),
      ("Authorization: Basic YWRtaW46c2VjcmV0", "Authorization: Basic ****************"),
      ("Authorization: Digest unknown=abc", "Authorization: Digest *******=***"),
      (
        "Authorization: Digest\r\n response=\"abc\",\r\n\tcnonce=\"d\"",
        "Authorization: Digest\r\n response=\"***\",\r\n\tcnonce=\"*\""
      ),
      (#"Authentication-Info: rspauth="abc", nextnonce="n""#, #"Authentication-Info: rspauth="***", nextnonce="n""#),
      ("X-Api-Token: abcdef", "X-Api-Token: ******"),
      ("Cookie: a=b", "Cookie: ***"),
      ("a=ice-pwd:abcdef", "a=ice-pwd:******"),
      ("a=ICE-PWD:abcdef", "a=ICE-PWD:******"),
      ("a=ice-ufrag:abcd", "a=ice-ufrag:abcd"),
      (
        "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0|2^20|1:4;inline:bW9yZQ==|2^20|2:4 UNENCRYPTED_SRTP",
        "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:********|2^20|1:4;inline:********|2^20|2:4 UNENCRYPTED_SRTP"
      ),
      ("a=crypto:1 X inline:abc", "a=crypto:1 X inline:***"),
      ("a=key-mgmt:mikey AQAFgM", "a=key-mgmt:mikey*******"),
      ("k=base64:abc", "k=base64:***"),
      ("k=abc", "k=***"),
      ("INVITE sip:anna:secret@example.com SIP/2.0", "INVITE sip:anna:******@example.com SIP/2.0"),
      ("Contact: <sips:a:b@h:5061>, <sip:c@h:5060>", "Contact: <sips:a:*@h:5061>, <sip:c@h:5060>"),
      ("Via: SIP/2.0/UDP h:5060;branch=z", "Via: SIP/2.0/UDP h:5060;branch=z"),
      (#"WWW-Authenticate: Digest nonce="n", realm="r""#, #"WWW-Authenticate: Digest nonce="n", realm="r""#),
    ])
  func messages(_ text: String, _ expected: String) {
    #expect(kept(text) == expected)
    #expect(kept(text).utf8.count == text.utf8.count)
  }

  @Test("Keys pressed during the call are nobody's business")
  func keys() {
    let relay = "INFO sip:a SIP/2.0\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=5\r\nDuration=160\r\n"
    #expect(kept(relay).hasSuffix("Signal=*\r\nDuration=160\r\n"))
    #expect(kept("c: application/dtmf\r\n\r\n7").hasSuffix("\r\n\r\n*"))
    #expect(line("12#", "dtmf") == "***")
    #expect(line("3 keys", "dtmf") == "3 keys")
  }

  @Test(
    "Secrets in the words of a line",
    arguments: [
      ("token=abc, next", "token=***, next"), (#"{"secret": "a b","x":1}"#, #"{"secret": "***","x":1}"#),
      ("my_credential_value: abc", "my_credential_value: ***"), ("Bearer abc.def", "Bearer *******"),
      ("the token expired", "the token expired"), ("x-api-key:k", "x-api-key:*"), ("PASSWORD='a'", "PASSWORD='*'"),
      ("token", "token"), ("token=", "token="), ("secret=\"open", "secret=\"****"),
    ])
  func words(_ text: String, _ expected: String) { #expect(line(text) == expected) }

  /// Every address of these ends at the end of the line: one that is read to there again and again takes minutes.
  @Test("A line of nothing but schemes is read once", .timeLimit(.minutes(1)))
  func schemes() {
    let addresses = String(repeating: "sip:", count: CallTrace.maximumMessageBytes / 4)
    for end in ["", ">", "@h"] {
      for _ in 0..<200 { #expect(kept("@ \(addresses)\(end)").utf8.count == CallTrace.maximumMessageBytes) }
    }
    #expect(kept("sip:sip:sip:a>sip:b:c@h sip:d:e") == "sip:sip:sip:a>sip:b:*@h sip:d:e")
    #expect(kept("sip:sip:a:b@h") == "sip:sip:***@h")
  }

  @Test("The description of a line has its secrets blotted out too")
  func description() {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.line("call", "", description: Scenario.appOffer, isFromApp: true, at: 0)
    let description = recorder.trace.lines.first?.description ?? ""
    #expect(!description.contains("R7ZC2m9H1sQbV0kT4nXw6uEa"))
    #expect(description.utf8.count == Scenario.appOffer.utf8.count)
  }

  @Test("Nothing of a whole call's secrets is left")
  func wholeCall() {
    let text = String(decoding: Scenario.answered.recorder.trace.encoded(), as: UTF8.self)
    for secret in ["6629fae49393a05397450978507c4ef1", "0a4f113b", "R7ZC2m9H1sQbV0kT4nXw6uEa", "S1ZC2m9H"] {
      #expect(!text.contains(secret))
    }
    #expect(text.contains("n0nce"))
  }

  @Test("Whatever the bytes are, they are read to their end")
  func garbage() {
    var generator = Numbers(state: 7)
    let parts = [
      "Authorization:", " Digest ", "response=", "\"", ",", "=", "\r\n", "\n", " ", "sip:", "@", ":", "a=crypto:",
      "inline:",
      "a=ice-pwd:", "k=", "\\", "token", "Content-Type: application/dtmf", "x", "\u{FF}",
    ]
    for _ in 0..<3000 {
      let count = Int(generator.next() % 24)
      let text = (0..<count).map { _ in parts[Int(generator.next() % UInt64(parts.count))] }.joined()
      #expect(kept(text).utf8.count == text.utf8.count)
      _ = line(text)
    }
  }
}

/// Numbers that look random and are always the same.
struct Numbers: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 11
  }
}
