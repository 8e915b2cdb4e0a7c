import CallModel
import SIPCore
import TestVectors
import Testing

@Suite("Headers that tell why")
struct FailureHeaderTests {
  static func q850(
    _ cause: Int?, _ text: String? = nil, _ location: CallFailure.Reason.Location? = nil
  ) -> CallFailure.Reason {
    CallFailure.Reason(protocolName: "Q.850", cause: cause, text: text, location: location)
  }

  static func other(_ name: String, _ cause: Int?, _ text: String? = nil) -> CallFailure.Reason {
    CallFailure.Reason(protocolName: name, cause: cause, text: text)
  }

  static let longText = String(repeating: "t", count: CallFailure.maximumTextBytes)

  @Test(
    "a Reason is read",
    arguments: [
      ("Q.850;cause=16;text=\"Terminated\"", [q850(16, "Terminated")]),
      ("SIP ;cause=200 ;text=\"Call completed elsewhere\"", [other("SIP", 200, "Call completed elsewhere")]),
      ("SIP;cause=600;text=\"Busy Everywhere\"", [other("SIP", 600, "Busy Everywhere")]),
      ("STIR;cause=436;text=\"Bad Identity Info\"", [other("STIR", 436, "Bad Identity Info")]),
      ("Q.850;cause=34, SIP;cause=503", [q850(34), other("SIP", 503)]),
      ("  Q.850 ; cause = 17 \t,\tSIP ; cause = 486 ", [q850(17), other("SIP", 486)]),
      ("Q.850", [q850(nil)]), ("Q.850;cause", [q850(nil)]), ("Q.850;cause=abc", [q850(nil)]),
      ("Q.850;cause=127", [q850(127)]), ("Q.850;cause=128", [q850(nil)]), ("Q.850;cause=999", [q850(nil)]),
      ("Q.850;cause=016", [q850(16)]), ("Q.850;cause=-1", [q850(nil)]), ("Q.850;cause=+1", [q850(nil)]),
      ("Q.850;cause=99999999999999999999999999", [q850(nil)]), ("SIP;cause=1000", [other("SIP", nil)]),
      ("Q.850;cause=\"16\"", [q850(16)]), ("Q.850;CAUSE=16;TEXT=\"a\"", [other("Q.850", 16, "a")]),
      ("q.850;cause=16", [other("q.850", 16)]), ("X-Carrier;code=7", [other("X-Carrier", nil)]),
      ("Q.850;cause=21;location=U", [q850(21, nil, .user)]),
      ("Q.850;cause=21;text=\"no\";location=LN", [q850(21, "no", .publicNetworkServingLocalUser)]),
      ("Q.850;cause=21;location=intl", [q850(21, nil, .internationalNetwork)]),
      ("Q.850;cause=21;location=XX", [q850(21)]), ("SIP;cause=603;location=U", [other("SIP", 603)]),
      ("Q.850;cause=16;text=Terminated", [q850(16, "Terminated")]),
      ("Q.850;cause=16;text=\"a\\\"b\\\\c,;d\"", [q850(16, "a\"b\\c,;d")]),
      ("Q.850;cause=16;text=\"\u{F6}\u{1F4DE}\"", [q850(16, "\u{F6}\u{1F4DE}")]),
      ("Q.850;cause=16;text=\"a\\\"\u{301}b\"", [q850(16, "a\"\u{301}b")]),
      ("Q.850;cause=16;text=\"\"", [q850(16, "")]), ("Q.850;cause=16;text=\"a\u{1}b\"", [q850(16, "a?b")]),
      ("Q.850;cause=16;text=\"\(longText)\"", [q850(16, longText)]),
      ("Q.850;cause=16;text=\"\(longText)x\"", [q850(16, longText)]),
      ("Q.850;cause=16;host=[::1]:5060", [q850(16)]),
      ("a;cause=1,b;cause=2,c;cause=3,d;cause=4", [other("a", 1), other("b", 2), other("c", 3), other("d", 4)]),
    ] as [(String, [CallFailure.Reason])])
  func reasons(_ field: String, _ expected: [CallFailure.Reason]) throws {
    let header = try ReasonHeader(parsing: field)
    #expect(header.reasons == expected)
    #expect(ReasonHeader(fields: [field]) == header)
    let printed = try #require(header.fieldValue)
    #expect(try ReasonHeader(parsing: printed) == header, "\(printed)")
  }

  @Test(
    "a Reason past the syntax or a limit is refused, and what stood before it is kept",
    arguments: [
      ("", "reason.protocol", 0), (" ", "reason.protocol", 0), (";cause=16", "reason.protocol", 0),
      ("\"Q.850\";cause=16", "reason.protocol", 0), ("Q.850;cause=16,", "reason.protocol", 1),
      ("Q.850;cause=16;", "reason.parameter", 0), ("Q.850;=16", "reason.parameter", 0),
      ("Q.850;cause=", "reason.parameter", 0), ("Q.850;cause=16 17", "reason.end", 1),
      ("Q.850;cause=16;cause=17", "reason.repeated", 0), ("Q.850;cause=16;Cause=16", "reason.repeated", 0),
      ("Q.850;cause=16;text=\"unterminated", "reason.quote", 0),
      ("Q.850;cause=16;text=\"unterminated\\", "reason.quote", 0),
      ("SIP;cause=503, Q.850;cause=16;text=\"unterminated", "reason.quote", 1),
      ("Q.850;cause=16;text=\"a\r\nX: b\"", "reason.character", 0),
      ("Q.850;cause=16;text=\"a\\\u{F6}\"", "reason.character", 0), ("Q.850;cause=16\r\nX: b", "reason.end", 1),
      ("Q.850;cause=16\u{0}", "reason.end", 1), ("\u{F6};cause=16", "reason.protocol", 0),
      ("a,b,c,d,e", "reason.many", 4),
      ("a" + (0...ReasonHeader.maximumParameters).map { ";p\($0)" }.joined(), "reason.many", 0),
      ("a;text=\"" + String(repeating: "x", count: ReasonHeader.maximumBytes) + "\"", "reason.long", 0),
    ])
  func refused(_ field: String, _ rule: String, _ kept: Int) throws {
    let fault = #expect(throws: InvalidValue.self) { try ReasonHeader(parsing: field) }
    #expect(fault?.rule == rule)
    #expect((fault?.offset ?? -1) <= field.utf8.count)
    #expect(ReasonHeader(fields: [field]).reasons.count == kept)
    // The next line is not touched by it.
    let reasons = ReasonHeader(fields: [field, "Q.850;cause=17"]).reasons
    #expect(kept == ReasonHeader.maximumReasons || reasons.last == Self.q850(17))
  }

  @Test("a Reason at its limits is read")
  func limits() throws {
    let parameters = "a" + (0..<ReasonHeader.maximumParameters).map { ";p\($0)" }.joined()
    #expect(try ReasonHeader(parsing: parameters).reasons.count == 1)
    let rest = "a;text=\"\"".utf8.count
    let long = "a;text=\"" + String(repeating: "x", count: ReasonHeader.maximumBytes - rest) + "\""
    #expect(long.utf8.count == ReasonHeader.maximumBytes)
    #expect(try ReasonHeader(parsing: long).reasons.first?.text?.utf8.count == CallFailure.maximumTextBytes)
    let lines = ReasonHeader(fields: (0..<1000).map { "Q.850;cause=\($0 % 128)" })
    #expect(lines.reasons.map(\.cause) == [0, 1, 2, 3])
  }

  @Test("what no message can hold is not printed")
  func printing() {
    #expect(ReasonHeader([]).fieldValue == nil)
    #expect(ReasonHeader([Self.other("a b", 1)]).fieldValue == nil)
    #expect(ReasonHeader([Self.other("", 1), Self.other("a\r\nX", 1), Self.q850(16)]).fieldValue == "Q.850;cause=16")
    #expect(ReasonHeader([Self.q850(16, "a\r\nX: \"b\"\\")]).fieldValue == #"Q.850;cause=16;text="a??X: \"b\"\\""#)
    #expect(
      ReasonHeader([Self.q850(21, nil, .user), Self.other("SIP", 603)]).fieldValue
        == "Q.850;cause=21;location=U, SIP;cause=603")
  }

  @Test(
    "the interworking cases come out as their verdicts say",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func vectors() throws {
    var count = 0
    for row in try TestVectors.table("q850/reason-header.tsv") {
      let text = try #require(row["header"])
      let fields = text.split(separator: "Reason: ").dropFirst(text.hasPrefix("Reason: ") ? 0 : 1).map { field in
        field.hasSuffix(" / ") ? String(field.dropLast(3)) : String(field)
      }
      let reasons = ReasonHeader(fields: fields).reasons
      let names = (row["protocol"] ?? "").split(separator: " and ").map(String.init)
      let causes = (row["cause"] ?? "").split(separator: " and ").map { Int($0) }
      if text.contains("unterminated") {
        #expect(reasons.isEmpty, "\(text)")
      } else {
        #expect(reasons.map(\.protocolName) == names, "\(text)")
        #expect(reasons.map(\.cause) == causes, "\(text)")
      }
      count += 1
    }
    #expect(count >= 10)
  }

  @Test("a Warning is read")
  func warnings() throws {
    let header = try WarningHeader(
      parsing: "307 isi.edu \"Session parameter 'foo' not understood\", 301 [::1]:5060 \"\\\"IPv4\\\" only\"")
    #expect(header.values.map(\.code) == [307, 301])
    #expect(header.values.map(\.agent) == ["isi.edu", "[::1]:5060"])
    #expect(header.summary == "307 Session parameter 'foo' not understood; 301 \"IPv4\" only")
    #expect(header.values.allSatisfy { $0.meaning != nil })
    #expect(try WarningHeader(parsing: " 999 a \"\" ").values.first?.meaning == nil)
    #expect(WarningHeader(fields: ["x", "304 a \"b\", 3", "399 c \"d\""]).values.map(\.code) == [304, 399])
    #expect(WarningHeader(fields: []).summary == nil)
    let many = (0..<100).map { _ in "399 a \"b\"" }
    #expect(WarningHeader(fields: many).values.count == WarningHeader.maximumValues)
  }

  @Test(
    "a Warning past the syntax or a limit is refused",
    arguments: [
      ("", "warning.code"), ("30 a \"b\"", "warning.code"), ("3045 a \"b\"", "warning.code"),
      ("099 a \"b\"", "warning.code"), ("-04 a \"b\"", "warning.code"), ("304", "warning.agent"),
      ("304 \"b\"", "warning.agent"), ("304 a", "warning.quote"), ("304 a b", "warning.quote"),
      ("304a \"b\"", "warning.space"), ("304 a \"b", "warning.quote"), ("304 a \"b\" c", "warning.end"),
      ("304 a \"b\",", "warning.code"), ("304 a \"b\r\n\"", "warning.character"),
      ((0...WarningHeader.maximumValues).map { _ in "399 a \"b\"" }.joined(separator: ","), "warning.many"),
      ("399 a \"" + String(repeating: "b", count: WarningHeader.maximumBytes) + "\"", "warning.long"),
    ])
  func warningRefused(_ field: String, _ rule: String) {
    #expect(#expect(throws: InvalidValue.self) { try WarningHeader(parsing: field) }?.rule == rule)
  }

  @Test(
    "a Retry-After is read",
    arguments: [
      ("18000;duration=3600", RetryAfter(seconds: 18000, durationSeconds: 3600)),
      ("120 (I'm in a meeting)", RetryAfter(seconds: 120, comment: "I'm in a meeting")),
      (
        " 5 (a (b\\)) c) ; Duration = 60 ; x=\"y\" ", RetryAfter(seconds: 5, durationSeconds: 60, comment: "a (b)) c")
      ),
      ("0", RetryAfter(seconds: 0)), ("86400", RetryAfter(seconds: 86_400)), ("86401", RetryAfter(seconds: 86_400)),
      ("4294967295", RetryAfter(seconds: 86_400)), ("007()", RetryAfter(seconds: 7, comment: "")),
      ("5;duration=4294967295", RetryAfter(seconds: 5, durationSeconds: 86_400)),
    ])
  func retryAfter(_ field: String, _ expected: RetryAfter) throws {
    #expect(try RetryAfter(parsing: field) == expected)
  }

  @Test(
    "a Retry-After past the syntax or a limit is refused",
    arguments: [
      ("", "retryAfter.seconds"), ("soon", "retryAfter.seconds"), ("-5", "retryAfter.seconds"),
      ("4294967296", "retryAfter.seconds"), ("99999999999999999999999", "retryAfter.seconds"),
      ("Fri, 21 Nov 2026 05:00:00 GMT", "retryAfter.seconds"), ("5 s", "retryAfter.end"), ("5, 6", "retryAfter.end"),
      ("5 (a", "retryAfter.comment"), ("5 (a\\", "retryAfter.comment"), ("5 a)", "retryAfter.end"),
      ("5 (a\r\nb)", "retryAfter.character"), ("5;", "retryAfter.parameter"),
      ("5;duration", "retryAfter.duration"), ("5;duration=x", "retryAfter.duration"),
      ("5;duration=4294967296", "retryAfter.duration"), ("5;duration=1;duration=1", "retryAfter.repeated"),
      ("5 " + String(repeating: "(", count: RetryAfter.maximumCommentDepth + 1), "retryAfter.comment"),
      ("5" + (0...RetryAfter.maximumParameters).map { ";p\($0)" }.joined(), "retryAfter.many"),
      ("5 (" + String(repeating: "x", count: RetryAfter.maximumBytes) + ")", "retryAfter.long"),
    ])
  func retryAfterRefused(_ field: String, _ rule: String) {
    #expect(#expect(throws: InvalidValue.self) { try RetryAfter(parsing: field) }?.rule == rule)
  }

  /// SplitMix64.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }

  @Test("10 000 mutations of each header: no trap, nothing past a limit, and what is printed reads back")
  func mutations() throws {
    let seed: UInt64 = 0x5EA5_0D
    let corpus = [
      "Q.850;cause=16;text=\"Terminated\";location=LN, SIP;cause=503;text=\"a\\\"b\"",
      "SIP ;cause=200 ;text=\"Call completed elsewhere\"", "307 isi.edu \"Session parameter\", 301 [::1]:5060 \"x\"",
      "120 (I'm (in) a\\) meeting);duration=3600;x=\"y\"",
    ].map { Array($0.utf8) }
    let words =
      [
        "\"", "\\", ";", "=", ",", "(", ")", "\0", "\r\n", " ", ";cause=", "999999999999999999999", "-1", "\u{F6}",
        "\u{301}",
        ";text=\"", ";location=U", "304 a \"", String(repeating: "x", count: 300),
      ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0x80]]
    var random = Generator(state: seed)
    var read = 0
    for number in 0..<10_000 {
      for original in corpus {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let at = Int.random(in: 0...bytes.count, using: &random)
          let end = min(bytes.count, at + Int.random(in: 0...20, using: &random))
          switch Int.random(in: 0..<5, using: &random) {
          case 0: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
          case 1: bytes.removeSubrange(at..<end)
          case 2: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [], at: at)
          case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
          default: bytes.removeSubrange(at...)
          }
        }
        let field = String(decoding: bytes, as: UTF8.self)
        let reasons = ReasonHeader(fields: [field, field])
        let warnings = WarningHeader(fields: [field, field])
        let isWithin =
          reasons.reasons.count <= ReasonHeader.maximumReasons && warnings.values.count <= WarningHeader.maximumValues
          && reasons.reasons.allSatisfy { ($0.text?.utf8.count ?? 0) <= CallFailure.maximumTextBytes }
        if !isWithin { Issue.record("seed \(seed), round \(number): past a limit: \(bytes)") }
        if let after = try? RetryAfter(parsing: field) {
          read += 1
          if !(0...RetryAfter.maximumSeconds).contains(after.seconds) {
            Issue.record("seed \(seed), round \(number): \(after)")
          }
        }
        guard let printed = reasons.fieldValue else { continue }
        read += 1
        if printed.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
          Issue.record("seed \(seed), round \(number): a control character in \(printed)")
        }
        guard printed.utf8.count <= ReasonHeader.maximumBytes else { continue }
        if (try? ReasonHeader(parsing: printed)) != reasons {
          Issue.record("seed \(seed), round \(number): \(printed) does not read back")
        }
      }
    }
    #expect(read > 1000, "seed \(seed)")
  }
}
