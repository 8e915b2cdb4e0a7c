import CallModel
import CallStory
import Foundation
import Testing

@Suite("A story as text, to the byte")
struct StoryTextTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Golden")

  /// What rules find changes with the rules; how it is printed does not.
  private static let finding = CallStory.Finding(
    rule: "example", title: "The trunk has G.711 only",
    explanation: "Its answer names one codec, and that is PCMA, so the sound is converted on its way.",
    evidence: ["200 OK from 127.0.0.1:5080: m=audio 42000 RTP/AVP 8 101"], owner: "trunk",
    fixes: ["trunks.carrier.codecs: [PCMA]"], confidence: 90)

  private static func story(_ sources: CallStorySources) -> CallStory {
    var story = CallStory.tell(sources)
    story.findings = [finding]
    story.conclusion = "The call to +46701234567 went as it should. It sounded good and cost 0.002 EUR."
    return story
  }

  /// Compared with the file on record; `LANDLINE_RECORD=1` writes it.
  private func check(_ text: String, _ name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["LANDLINE_RECORD"] == "1" { return try Data(text.utf8).write(to: file) }
    let recorded = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    guard text != recorded else { return }
    let pairs = zip(
      text.split(separator: "\n", omittingEmptySubsequences: false),
      recorded.split(separator: "\n", omittingEmptySubsequences: false))
    let first = pairs.enumerated().first { $0.element.0 != $0.element.1 }
    Issue.record(
      "\(name) line \((first?.offset ?? 0) + 1): \(first?.element.0 ?? "another length"), not \(first?.element.1 ?? "")"
    )
  }

  @Test("A call that was answered by the second trunk")
  func answered() throws {
    try check(Self.story(Scenario.answeredSources).text(width: 100, isMasked: false), "answered.txt")
  }

  @Test("The same without numbers on a narrow page")
  func narrow() throws {
    try check(Self.story(Scenario.answeredSources).text(width: 72, isMasked: true), "narrow.txt")
  }

  @Test("A call that was refused by more trunks than a page has room for")
  func refused() throws {
    var scenario = Scenario.failed(
      486, "Busy Here", fields: ["Reason: Q.850;cause=17;text=\"User busy\"", "Warning: 399 carrier \"try later\""])
    for trunk in 2...5 {
      let id = "more-\(trunk)@gw"
      scenario.recorder.dialog(.init(sipCallID: id, side: .far, trunk: "trunk-\(trunk)"))
      let start = Int64(trunk) * 300_000
      scenario.sent(Scenario.invite, id, "1 INVITE", start)
      scenario.received("SIP/2.0 503 Service Unavailable", id, "1 INVITE", start + 5_000)
    }
    let reason = CallFailure.Reason(protocolName: "Q.850", cause: 17, text: "User busy")
    let failure = CallFailure(
      .busy, sipStatus: 486, phrase: "Busy Here", reasons: [reason], warning: "399 carrier try later",
      trunk: "carrier", leg: .trunk)
    let sources = CallStorySources(record: Scenario.failedRecord(failure), trace: scenario.recorder.trace)
    try check(Self.story(sources).text(width: 80, isMasked: false), "refused.txt")
  }
}
