import PeerKit
import SIPCore
import TestVectors
import Testing

/// Every odd message that we know, through gate and agent: how many get the verdict they earn.
@Suite("Odd messages", .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct TortureBoardTests {
  /// Cases of our own beside those of ``GateRuleTests``: what each comes to at the gate; `refused` by the gate or by the
  /// parser behind it.
  private static var own: [(bytes: [UInt8], verdict: String)] {
    let adding = GateFixtures.adding
    func replacing(_ start: String, _ line: String?) -> [UInt8] { GateFixtures.replacing(start, with: line) }
    func uri(_ text: String) -> [UInt8] { replacing("INVITE ", "INVITE \(text) SIP/2.0") }
    return [
      (uri("sip:%61lice@127.0.0.1"), "forward"), (uri("sip:alice%@127.0.0.1"), "refused"),
      (uri("sips:alice@127.0.0.1"), "forward"), (uri("tel:112"), "forward"), (uri("sip:127.0.0.1"), "forward"),
      (uri("sip:alice@[::ffff:127.0.0.1]:5060"), "forward"), (uri("sip:alice@[::ffff:127.0.0.256]"), "refused"),
      (uri("sip:alice@127.0.0.1;transport=tcp;lr"), "forward"), (uri("sip:alice@-host"), "refused"),
      (uri("sip:alice@host..example"), "refused"), (uri("sip:alice@host_name"), "forward"),
      (replacing("CSeq", "CSeq: 0 INVITE"), "forward"), (replacing("CSeq", "CSeq: 2147483647 INVITE"), "forward"),
      (replacing("CSeq", "CSeq: -1 INVITE"), "semantic.cseq"),
      (replacing("CSeq", "CSeq: 1 invite"), "semantic.cseqMethod"),
      (replacing("Max-Forwards", "Max-Forwards: 0"), "forward"),
      (replacing("Max-Forwards", "Max-Forwards: 255"), "forward"),
      (replacing("Max-Forwards", "Max-Forwards: 256"), "semantic.maxForwards"),
      (replacing("Max-Forwards", nil), "forward"),
      (replacing("Content-Length", nil), "forward"), (replacing("Content-Length", "l: 00000000"), "forward"),
      (replacing("Content-Length", "Content-Length: 0 0"), "gate.contentLength"),
      (replacing("From", "From: <sip:a@b>"), "forward"), (replacing("From", "From: sip:a@b;tag=1"), "forward"),
      (replacing("From", "From: \"a\" \"b\" <sip:a@b>;tag=1"), "semantic.address"),
      (replacing("From", "From: <sip:a@b;tag=1"), "semantic.address"),
      (replacing("Via", "Via: SIP/2.0/UDP 192.0.2.1:0;branch=z9hG4bK-1"), "semantic.via"),
      (replacing("Via", "Via: SIP/3.0/UDP 192.0.2.1;branch=z9hG4bK-1"), "semantic.via"),
      (replacing("Via", "Via: SIP/2.0/UDP [2001:db8::1]:5060;branch=z9hG4bK-1"), "forward"),
      (adding("X-Empty:"), "forward"), (adding("X-Folded: a\r\n b"), "forward"),
      (adding("X\u{E9}: a"), "gate.headerName"),
      (adding("Subject: \u{E9}"), "forward"), (adding("Supported: , ,timer"), "forward"),
      (adding("Date: today"), "forward"),
      (adding("Expires: 4294967296"), "forward"), (adding("Expires: 1.5"), "forward"),
      (adding("Content-Type: a/b;c=\"d"), "semantic.contentType"),
    ]
  }

  @Test("get the verdict they earn")
  func board() throws {
    var wrong: [String] = []
    var published = 0
    for folder in ["rfc4475", "rfc5118"] {
      let result = try TortureTests.judge(folder)
      published += result.judged
      wrong += result.wrong
    }
    var ours = 0
    for (index, row) in GateRuleTests.rows.enumerated() {
      ours += 1
      guard case .failure(let refusal) = SIPGate.admit(row.bytes, transport: row.transport), refusal.rule == row.rule
      else {
        wrong.append("rule row \(index)")
        continue
      }
    }
    for (index, row) in Self.own.enumerated() {
      ours += 1
      var verdict = "forward"
      switch SIPGate.admit(row.bytes, transport: .udp) {
      case .failure(let refusal): verdict = row.verdict == "refused" ? "refused" : refusal.rule.rawValue
      case .success(let message):
        if case .failure = MessageParser.values(of: message) { verdict = "refused" }
      }
      if verdict != row.verdict { wrong.append("own row \(index): \(verdict), not \(row.verdict)") }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    #expect(ours >= 100)
    let share = Double(published + ours - wrong.count) / Double(published + ours) * 100
    try ScoreboardRow(
      "A4", figure: wrong.isEmpty ? "100" : String(share.rounded(.down)), unit: "% of cases", target: "= 100",
      passed: wrong.isEmpty && ours >= 100, detail: "\(published) of RFC 4475 and RFC 5118, \(ours) of our own",
      gate: true
    ).record()
  }
}
