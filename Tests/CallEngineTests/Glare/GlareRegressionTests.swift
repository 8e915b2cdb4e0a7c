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
    Row(
      what: "a 481 to a PRACK overtook the trunk's BYE, and the call ended as one that broke",
      text: "bye/reinvite delta=0 toTrunk=498501 toGateway=119908 jitter=213177 absence=1098029 talk=70927 "
        + "seed=8604771010260727952"),
    Row(
      what: "the same with the trunk's 200 repeated, which came between the two",
      text: "answer/bye delta=0 toTrunk=677868 toGateway=242073 jitter=383385 ledger=32430 absence=66529 talk=1955898 "
        + "seed=3772383461123292909"),
    Row(
      what: "the same with a PRACK sent three times, and a datagram lost",
      text: "answer/bye delta=0 toTrunk=206116 toGateway=698487 jitter=581279 lost=6 ledger=58320 absence=1092763 "
        + "talk=1016908 seed=8868161022043370400"),
    Row(
      what: "two UPDATEs of the trunk at once, whose answers overtook each other: the later UPDATE counts",
      text: "update/update delta=0 toTrunk=489266 toGateway=534647 jitter=415299 lost=5 ledger=3444 absence=713440 "
        + "talk=2035396 seed=4812201399266602238"),
    Row(
      what: "the first provisional response came when it had rung in vain: the CANCEL follows it, and nobody answered",
      text: "timeout/cancel delta=579453 toTrunk=655416 toGateway=649807 jitter=468072 lost=-5 absence=811746 "
        + "talk=2560759 reliable=1 seed=7364159253716771831"),
    Row(
      what: "a hold of the app before the trunk had the answer to its UPDATE: refused with 491, and asked for again",
      text: "update/hold delta=1 lost=1 doubled=-4 talk=3907 seed=7342113449270088981"),
    Row(
      what: "the same on a slow path, without a loss",
      text: "update/hold delta=605458 toTrunk=605460 toGateway=101833 jitter=552503 answering=177634 absence=967495 "
        + "talk=370284 seed=7321249172524367808"),
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
