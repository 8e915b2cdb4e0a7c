import AppProtocol
import CallEngine
import CallModel
import PeerKit
import Testing

/// Every ordered pair of what may happen to a call for a user with three devices, at many timings: how it ends for each of
/// them, who answered, and what it costs.
@Suite("Glare: any two events of a call for a user, at any time")
struct UserGlareMatrixTests {
  static let timings = ScoreboardRow.isFull ? 1_000 : 30

  @Test("the whole matrix")
  func matrix() throws {
    var wrong: [String] = []
    for (first, second) in UserGlareCase.pairs {
      for number in 0..<UserGlareMatrixTests.timings {
        let it = UserGlareCase(first, second, number: number)
        let problems = try UserGlareRun(it).problems
        if !problems.isEmpty { wrong.append("\(it)\n    " + problems.joined(separator: "\n    ")) }
      }
    }
    let pairs = UserGlareCase.pairs.count
    var row = ScoreboardRow(
      "E9", figure: "\(wrong.count)", unit: "wrong ends or charges of calls for users", target: "0",
      passed: wrong.isEmpty, detail: "\(pairs) ordered pairs × \(UserGlareMatrixTests.timings) timings, three devices",
      gate: true)
    row.size = ScoreboardRow.isFull ? "full" : "ci"
    try row.record()
    #expect(
      wrong.isEmpty,
      "\(wrong.count) of \(pairs * UserGlareMatrixTests.timings):\n\(wrong.prefix(GlareMatrixTests.maximumPrinted).joined(separator: "\n"))"
    )
  }

  @Test("two that call each other: whoever is second is told of the first call, at any time of its ring")
  func crossed() throws {
    for number in 0..<UserGlareMatrixTests.timings {
      let bench = try Bench(seed: UInt64(number))
      let call = try #require(try bench.ring())
      if number % 2 == 0 { bench.say(call, .alert(offer: number % 4 == 0 ? Scene.appOffer() : nil)) }
      bench.pass(milliseconds: Int64(number) * 1400)
      var back = bench.caller
      back.identity = try Scene.identity("bob")
      let alice = CalledUser(
        application: back.identity.application, user: try UserID("alice"),
        devices: [try Bench.device(bench.session, "phone", user: "alice")], sessions: [bench.session],
        absence: .unreachable)
      bench.feed(
        .callUser(
          Bench.called, RequestNumber(9000),
          PlaceCall(kind: .user, target: "alice", offer: Scene.appOffer()), back, alice))
      #expect(bench.lastRefusal?.code == .crossed && bench.lastRefusal?.correlationID == call.text, "timing \(number)")
      bench.say(call, .accept(offer: Scene.appOffer()))
      #expect(bench.engine.call(call)?.state == .answered, "timing \(number)")
      #expect(bench.records.isEmpty)
      bench.finish()
      #expect(bench.records.count == 1)
    }
  }
}
