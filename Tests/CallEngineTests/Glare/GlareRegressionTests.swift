import Testing

/// Timings that once ended wrong. A failure of the matrix prints a line for this table.
@Suite("Glare: what went wrong once", .serialized)
struct GlareRegressionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var what: String
    var text: String
    var testDescription: String { what }
  }

  static let rows: [Row] = [
    Row(
      what: "an offer of the trunk before its answer: the 200 was taken for an answer to ours, and the call failed",
      text:
        "reinvite/answer delta=1 lost=-5 ledger=69993 answering=65515 talk=4272 reliable=1 seed=14239131386969383880"),
    Row(
      what: "the same by UPDATE, without a loss",
      text: "update/answer delta=1337 ledger=5047 talk=1945 reliable=1 seed=8565945372849031653"),
    Row(
      what: "hold from both sides on a slow path: each refused the other's until one gave up, and the hold was lost",
      text: "reinvite/hold delta=444 toTrunk=543339 toGateway=287162 jitter=557414 lost=-3 ledger=6756 absence=451750 "
        + "talk=61692 reliable=1 seed=8971301632330928351"),
  ]

  @Test("one timing", arguments: rows)
  func regression(_ row: Row) async throws {
    let it = try #require(GlareCase(row.text))
    let ledger = try await GlareLedger()
    let problems = try await GlareMatrixTests.problems(of: it, ledger)
    #expect(problems.isEmpty, "\(it)\n    \(problems.joined(separator: "\n    "))")
    #expect(try await ledger.close().isEmpty)
  }

  @Test(
    "a text that is none is refused", arguments: ["", "bye", "bye/nothing", "bye/cancel delta", "bye/cancel loud=1"])
  func text(_ text: String) { #expect(GlareCase(text) == nil) }
}
