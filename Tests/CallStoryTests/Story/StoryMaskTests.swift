import CallStory
import Testing

@Suite("A story without telephone numbers")
struct StoryMaskTests {
  @Test("No number of the call is left anywhere, with the country code and two digits to tell them apart")
  func wholeStory() {
    let masked = CallStory.tell(Scenario.answeredSources).masked
    #expect(masked.destination == "+46*******67")
    #expect(masked.callerNumber == "+46*******00")
    let all = String(decoding: masked.json(), as: UTF8.self) + masked.text(width: 100, isMasked: false)
    for digits in ["701234567", "0701234567", "101234500"] { #expect(!all.contains(digits)) }
    #expect(all.contains("127.0.0.1:5080"))
    #expect(all.contains(Scenario.call))
    #expect(all.contains("4611731400430051336 2 IN IP4"))
  }

  private func masked(_ text: String) -> String {
    var story = CallStory(
      call: "A", environment: "", account: "", kind: "phone", destination: "+46701234567", startedAt: "")
    story.gaps = [text]
    return story.masked.gaps[0]
  }

  @Test(
    "Numbers are known however they are written",
    arguments: [
      ("+46701234567", "+46*******67"), ("+1 (202) 555-0143 now", "+1 (***) ***-**43 now"),
      ("sip:0046701234567@h", "sip:0046*******67@h"), ("<sip:46701234567@h>", "<sip:46*******67@h>"),
      ("\"0701234567\" <sip:0701234567@h>", "\"********67\" <sip:********67@h>"), ("tel:5551234567", "tel:********67"),
      ("sip:12345678@192.0.2.1:5060", "sip:******78@192.0.2.1:5060"), ("sip:192.0.2.123:5060", "sip:192.0.2.123:5060"),
      ("CSeq: 1234567890 INVITE", "CSeq: 1234567890 INVITE"), ("+12 ms", "+12 ms"), ("+", "+"), ("", ""),
      ("+46", "+46"), ("0701234567", "********67"), ("x +999999999999999999999", "x +*************99999999"),
    ])
  func written(_ text: String, _ expected: String) {
    #expect(masked(text) == expected)
    #expect(masked(text).utf8.count == text.utf8.count)
  }
}
