import CallModel
import Foundation
import SIPCore
import TestVectors
import Testing

/// The corpora through gate and parser.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct MessageVectorTests {
  /// Messages that pass the gate and are refused behind it, with the reason.
  static let refusedByChoice: [String: String] = [
    "jain-sip-torture/case137.sip": whiteSpace, "jain-sip-torture/case145.sip": whiteSpace,
    "jain-sip-torture/case149.sip": whiteSpace, "jain-sip-torture/case153.sip": whiteSpace,
    "jain-sip-torture/case154.sip": whiteSpace, "jain-sip-torture/case156.sip": whiteSpace,
    "jain-sip-torture/case230.sip": whiteSpace, "jain-sip-torture/case340.sip": whiteSpace,
    "jain-sip-torture/case344.sip": whiteSpace, "jain-sip-torture/case345.sip": whiteSpace,
    "resiprocate/SipTortureTests-001.sip": "1192.168.156.222 is no address and no name",
  ]

  private static let whiteSpace = "a line fold inside a URI, where RFC 3261 section 25.1 has no white space"

  static func verdict(_ bytes: [UInt8]) -> (passesGate: Bool, refusal: GateRefusal?, message: SIPMessage?) {
    switch SIPGate.admit(bytes, transport: .udp) {
    case .failure(let refusal): return (false, refusal, nil)
    case .success(let scanned):
      switch MessageParser.values(of: scanned) {
      case .failure(let refusal): return (true, refusal, nil)
      case .success(let message): return (true, nil, message)
      }
    }
  }

  @Test(arguments: ["rfc4475", "rfc5118"])
  func tortureMessages(folder: String) throws {
    var wrong: [String] = []
    var parsed = 0
    for row in try TestVectors.table("\(folder)/expected.tsv") {
      let name = row["case"] ?? ""
      let result = MessageVectorTests.verdict(try GateFixtures.bytes("\(folder)/\(name).dat"))
      guard result.passesGate else { continue }
      if result.message != nil { parsed += 1 }
      let parser = row["parser"] ?? ""
      if let refusal = result.refusal {
        print("\(folder) \(name): \(parser) → \(refusal)")
        if parser.hasPrefix("accept"), MessageVectorTests.refusedByChoice[name] == nil {
          wrong.append("\(name): \(refusal)")
        }
      } else if !parser.hasPrefix("accept"), parser != "either" {
        wrong.append("\(name): parsed, expected \(parser)")
      }
    }
    print("\(folder): \(parsed) parsed")
    #expect(parsed > 3)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }

  @Test func corpora() throws {
    var wrong: [String] = []
    var counts: [String: Int] = [:]
    for row in try TestVectors.table("sip-corpora/expected.tsv") {
      let name = row["file"] ?? ""
      let written = try GateFixtures.bytes("sip-corpora/\(name)")
      let bytes = GateVectorTests.normalised(written)
      let result = MessageVectorTests.verdict(bytes)
      let verdict = row[bytes == written ? "verdict" : "verdict_if_crlf_normalised"] ?? ""
      guard result.passesGate else { continue }
      counts["\(verdict): \(result.message == nil ? "refused" : "parsed")", default: 0] += 1
      if let refusal = result.refusal {
        print("corpora \(name): \(verdict) → \(refusal)")
        if verdict == "accept", MessageVectorTests.refusedByChoice[name] == nil { wrong.append("\(name): \(refusal)") }
      } else if verdict.hasPrefix("reject"), GateVectorTests.forwardedByChoice[name] == nil {
        wrong.append("\(name): parsed, expected \(verdict)")
      }
    }
    print("corpora:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(counts.values.reduce(0, +) > 100)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }
}
