import PeerKit
import Testing

@Suite("Published attacks, rebuilt")
struct PublishedAttackTests {
  /// Each comes to what it may come to, and the process lives on: the ones behind it run.
  @Test("have no effect")
  func everyAttack() throws {
    var failed: [String] = []
    for attack in PublishedAttack.all {
      let outcome = try attack.play()
      if !attack.outcomes.contains(outcome) { failed.append("\(attack): \(outcome), not \(attack.outcomes.sorted())") }
    }
    #expect(failed.isEmpty, "\(failed.joined(separator: "\n"))")
    let count = PublishedAttack.all.count
    #expect(count >= 100)
    let sources = Set(PublishedAttack.all.map(\.source)).count
    try ScoreboardRow(
      "A5", figure: "\(count - failed.count)", unit: "attacks without effect", target: ">= 100",
      passed: failed.isEmpty && count >= 100,
      detail: "\(count) tried, of \(sources) advisories and fixes; \(failed.count) had one",
      gate: true
    ).record()
  }
}
