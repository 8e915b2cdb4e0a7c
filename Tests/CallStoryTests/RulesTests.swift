import AppProtocol
import CallEngine
import CallModel
import CallStory
import Testing

/// A situation made up by hand that a rule must see, and one beside it that it must not.
struct RulesRow: Sendable, CustomTestStringConvertible {
  enum Situation: Sendable {
    case call(@Sendable (inout RulesScene) -> Void)
    /// A request for a call, refused at the door.
    case refused(CallFailure)

    var evidence: CallEvidence {
      switch self {
      case .refused(let failure): return CallEvidence(refusal: failure)
      case .call(let make):
        var scene = RulesScene()
        make(&scene)
        return CallEvidence(scene.sources)
      }
    }
  }

  let rule: String
  /// Whether nothing is likelier than what the rule says.
  let leads: Bool
  let seen: Situation
  let unseen: Situation

  init(_ rule: String, leads: Bool = true, _ seen: Situation, not unseen: Situation) {
    self.rule = rule
    self.leads = leads
    self.seen = seen
    self.unseen = unseen
  }

  init(
    _ rule: String, leads: Bool = true, _ seen: @escaping @Sendable (inout RulesScene) -> Void,
    not unseen: @escaping @Sendable (inout RulesScene) -> Void
  ) {
    self.init(rule, leads: leads, .call(seen), not: .call(unseen))
  }

  var testDescription: String { rule }

  static let all = signalling + numbers + media + loss + course + users + arrivals + transfers + conferences
}

@Suite("Rules that explain calls")
struct RulesTests {
  static let owners: Set<String> = ["app", "gateway", "trunk", "callee", "account", "nobody"]

  @Test("Each rule sees its situation and no other", arguments: RulesRow.all)
  func sees(_ row: RulesRow) throws {
    let findings = CallRule.findings(in: row.seen.evidence)
    let finding = try #require(
      findings.first { $0.rule == row.rule }, "\(row.rule) is not among \(findings.map(\.rule))")
    #expect((1...100).contains(finding.confidence))
    #expect(Self.owners.contains(finding.owner))
    #expect(finding.explanation.hasSuffix(".") && !finding.title.isEmpty)
    #expect(!finding.evidence.isEmpty && finding.evidence.allSatisfy { !$0.isEmpty })
    #expect(finding.fixes.allSatisfy { !$0.isEmpty })
    if row.leads { #expect(findings.first?.rule == row.rule, "\(findings.map { ($0.rule, $0.confidence) })") }
    let others = CallRule.findings(in: row.unseen.evidence).map(\.rule)
    #expect(!others.contains(row.rule), "\(others)")
  }

  @Test("A conference has no called side that misses what a participant says")
  func conferences() throws {
    let lossy = try #require(RulesRow.conferences.first { $0.rule == "participantLoss" })
    let found = CallRule.findings(in: lossy.seen.evidence).map(\.rule)
    #expect(found.contains("participantLoss") && !found.contains("appUplinkLoss"), "\(found)")
  }

  @Test("Every rule has its situation, and its name is its own")
  func complete() {
    let ids = CallRule.all.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(Set(CallRule.all.map(\.title)).count == ids.count)
    #expect(Set(RulesRow.all.map(\.rule)) == Set(ids))
    #expect(ids.count >= 40)
  }

  @Test("The likeliest comes first, equals in the order of the rules")
  func order() {
    for row in RulesRow.all {
      let found = CallRule.findings(in: row.seen.evidence)
      let places = found.map { finding in
        (-finding.confidence, CallRule.all.firstIndex { $0.id == finding.rule } ?? -1)
      }
      #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "\(found.map(\.rule))")
    }
  }

  @Test("Every call that is over is explained", arguments: CallFailureCode.allCases)
  func nobodyWithoutAWord(_ code: CallFailureCode) {
    var scene = RulesScene()
    scene.end(code.details.endCause, CallFailure(code))
    #expect(!CallRule.findings(in: CallEvidence(scene.sources)).isEmpty)
    #expect(!CallRule.findings(in: CallEvidence(refusal: CallFailure(code))).isEmpty)
  }

  @Test("Every final status of SIP is explained", arguments: 300...699)
  func everyStatus(_ status: Int) {
    var scene = RulesScene()
    scene.dialog()
    scene.invite()
    scene.refuse(status, "Because")
    #expect(!CallRule.findings(in: CallEvidence(scene.sources)).isEmpty)
  }

  @Test("Calls that ended without a failure are explained")
  func withoutFailure() {
    for cause in CallEndCause.allCases {
      var scene = RulesScene()
      scene.dialog()
      scene.invite()
      scene.end(cause)
      if cause == .canceled { scene.story("the caller gives up") }
      if cause == .hungUp { scene.sources.record?.summary.answeredAt = Instant(milliseconds: 2_000) }
      let found = CallRule.findings(in: CallEvidence(scene.sources))
      if [.canceled, .hungUp].contains(cause) { #expect(!found.isEmpty, "\(cause)") }
    }
  }

  @Test("Messages of any shape harm nobody")
  func anyShape() {
    var generator = SystemRandomNumberGenerator()
    let pieces = [
      "INVITE ", "SIP/2.0 ", "SIP/2.0 999999999999999999999 x", "486", "\r\n", "\n", "\r", "CSeq: ",
      "99999999999999999999 ",
      "INVITE", "Warning: 305 x \"", "Reason: Q.850;cause=", "To: <sip:", ";tag=", ":", "::", " ", "\t", "é", "\u{0}",
      "🙂",
      "Proxy-Authenticate: Digest realm=", "\"", "m=audio 1 RTP/AVP 0", "v=0\r\n", "c=IN IP4 10.0.0.1\r\n", "sip:@",
      "tel:",
      "From: ", "sip:İ@x",
    ]
    for _ in 0..<400 {
      var scene = RulesScene()
      scene.dialog()
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let text = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
          pieces.randomElement(using: &generator) ?? ""
        }.joined()
        scene.trace.messages.append(
          CallTrace.Message(
            at: [Int64.min, 0, 1, .max].randomElement(using: &generator) ?? 0, isSent: Bool.random(using: &generator),
            dialog: [-1, 0, 7, Int.max].randomElement(using: &generator) ?? 0, transport: "udp", local: "", remote: "",
            text: text, bytes: 0, isRepeated: false))
      }
      scene.end(.error, CallFailure(.media, sipStatus: 488, phrase: "x", leg: .trunk))
      #expect(!CallRule.findings(in: CallEvidence(scene.sources)).isEmpty)
    }
  }

  @Test("Live calls are told of as well")
  func live() {
    var scene = RulesScene()
    scene.dialog()
    scene.invite()
    scene.end(.none)
    scene.seconds(near: 50, far: 0)
    scene.sources.live = scene.sources.record?.call
    scene.sources.live?.answeredAt = Instant(milliseconds: 2_000)
    scene.sources.record = nil
    #expect(CallRule.findings(in: CallEvidence(scene.sources)).map(\.rule).contains("noSoundFromTrunk"))
  }
}
