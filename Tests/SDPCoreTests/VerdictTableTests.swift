import CallModel
import Foundation
import SDPCore
import TestVectors
import Testing

/// What becomes of every description of others, as an offer to an app leg and to a trunk leg, stands in
/// `Golden/verdicts.tsv`: the plan in short, or the refusal. `LANDLINE_WRITE_GOLDEN=1` writes the table anew.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct VerdictTableTests {
  static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden/verdicts.tsv")

  static func verdict(_ bytes: [UInt8], _ policy: MediaPolicy) -> String {
    let offer: SessionDescription
    do { offer = try SessionDescription(parsing: bytes) } catch { return "unreadable" }
    var end = SDPFixtures.end(policy)
    do throws(NegotiationRefusal) {
      let plan = try end.answer(offer, from: SDPFixtures.local).plan
      let protection =
        switch plan.protection {
        case .none: "clear"
        case .sdes(let keys): keys.suite.rawValue
        case .dtls(let association): "DTLS \(association.role.rawValue)"
        }
      let events = plan.audio.events.map { "\($0.sendPayloadType)@\($0.clockRate)" } ?? "none"
      return
        "\(plan.audio.send.codec.rawValue)=\(plan.audio.send.payloadType) \(plan.audio.packetTime)ms \(plan.audio.direction) events=\(events) "
        + "\(protection)\(plan.multiplexesRTCP ? " mux" : "")\(plan.ice == nil ? "" : " ice")"
    } catch {
      return "\(error.sipStatus) \(AnswerVectorTests.name(error))"
    }
  }

  @Test func everyFileHasItsVerdict() throws {
    var lines = ["file\tapp leg\ttrunk leg"]
    for row in try TestVectors.table("sdp/facts.tsv") {
      let file = row["file"] ?? ""
      let bytes = try SDPFixtures.bytes(file)
      let app = VerdictTableTests.verdict(bytes, .app)
      let trunk = VerdictTableTests.verdict(bytes, .trunk([.none, .sdes]))
      lines.append("\(file)\t\(app)\t\(trunk)")
    }
    let text = lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["LANDLINE_WRITE_GOLDEN"] != nil {
      try text.write(to: VerdictTableTests.golden, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: VerdictTableTests.golden, encoding: .utf8).split(separator: "\n")
    let differences = zip(text.split(separator: "\n"), expected).filter { $0 != $1 }
    #expect(expected.count == lines.count)
    #expect(differences.isEmpty, "\(differences.prefix(5))")
  }
}
