import Foundation
import SIPCore
import TestVectors
import Testing

/// The messages of others, each with the verdict of its table.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct GateVectorTests {
  static func present(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: TestVectors.folder.appendingPathComponent(path).path)
  }

  @Test func explore() throws {
    for row in try TestVectors.table("rfc4475/expected.tsv") {
      let path = "rfc4475/\(row["case"] ?? "").dat"
      print(row["case"] ?? "", row["parser"] ?? "", GateFixtures.verdict(try GateFixtures.bytes(path)), row["gateway_as_ua"] ?? "", separator: " | ")
    }
    for row in try TestVectors.table("rfc5118/expected.tsv") {
      let path = "rfc5118/\(row["case"] ?? "").dat"
      print(row["case"] ?? "", row["parser"] ?? "", GateFixtures.verdict(try GateFixtures.bytes(path)), separator: " | ")
    }
    for row in try TestVectors.table("attacks/attacks.tsv") where row["case"]?.hasSuffix(".sip") ?? false {
      let path = "attacks/\(row["case"] ?? "")"
      print(row["case"] ?? "", GateFixtures.verdict(try GateFixtures.bytes(path)), row["expected"] ?? "", separator: " | ")
    }
    for row in try TestVectors.table("sip-corpora/expected.tsv") {
      let path = "sip-corpora/\(row["file"] ?? "")"
      let bytes = try GateFixtures.bytes(path)
      let verdict = GateFixtures.verdict(bytes)
      let want = row["verdict"] ?? ""
      let isForward = verdict == "forward"
      if want == "accept" && !isForward { print("CORPUS accept", path, row["eol"] ?? "", row["basis"] ?? "", verdict, separator: " | ") }
      if want.hasPrefix("reject") && isForward { print("CORPUS reject", path, row["eol"] ?? "", row["basis"] ?? "", verdict, separator: " | ") }
    }
  }
}
