import CallModel
import RoutingCore
import Testing

@Suite("Choice of a trunk, and the attempts of a call")
struct TrunkSelectionTests {
  static func trunk(
    _ name: String, priority: UInt16 = 10, weight: UInt16 = 1, calls: Int? = nil, isDraining: Bool = false
  ) throws -> TrunkState {
    var policy = TrunkHealth.Policy()
    policy.intervalMilliseconds = 0
    return TrunkState(
      try Trunk(
        name: name, priority: priority, weight: weight, limits: TrunkCapacity.Limits(concurrentCalls: calls),
        healthPolicy: policy, isDraining: isDraining), at: .zero)
  }

  static func takeDown(_ state: inout TrunkState) throws {
    var actions: [TrunkHealth.Action] = []
    for _ in 0..<3 {
      let ticket = try state.begin(at: .zero).get()
      state.learn(ticket, .timedOut, at: .zero, into: &actions)
      state.end(ticket)
    }
  }

  @Test(
    "Names are plain",
    arguments: [
      ("carrier-1", nil), ("a.b_C9", nil), ("", "trunk.name"), ("two words", "trunk.name"), ("tränk", "trunk.name"),
      (String(repeating: "a", count: 65), "trunk.name"), ("a\r\nb", "trunk.name"),
    ] as [(String, String?)])
  func names(name: String, rule: String?) {
    do {
      _ = try Trunk(name: name)
      #expect(rule == nil)
    } catch {
      #expect(error.rule == rule)
    }
  }

  @Test("Priority, then health, then weight; the rest is explained")
  func order() throws {
    var full = try TrunkSelectionTests.trunk("full", priority: 1, calls: 1)
    _ = try full.begin(at: .zero).get()
    var dead = try TrunkSelectionTests.trunk("dead", priority: 1)
    try TrunkSelectionTests.takeDown(&dead)
    var trial = try TrunkSelectionTests.trunk("trial", priority: 10, weight: 1000)
    try TrunkSelectionTests.takeDown(&trial)
    var actions: [TrunkHealth.Action] = []
    let now = MonotonicInstant(milliseconds: 30_000)
    trial.health.advance(to: now, into: &actions)
    let states = [
      full, dead, trial, try TrunkSelectionTests.trunk("last", priority: 20, weight: 100),
      try TrunkSelectionTests.trunk("good", priority: 10), try TrunkSelectionTests.trunk("tried", priority: 0),
      try TrunkSelectionTests.trunk("leaving", priority: 0, isDraining: true),
    ]
    var generator = SeededGenerator(seed: 1)
    let selection = TrunkSelection(from: states, tried: ["tried"], at: now) { generator.next() }
    #expect(selection.order == ["good", "trial", "last"])
    #expect(
      selection.explanation(at: now)
        == "full: cap of 1 calls reached; dead: down for 30 s: no answer; tried: tried already; leaving: draining")
  }

  @Test(
    "Weights share the first place",
    arguments: [
      ([1, 1], [4750...5250, 4750...5250]), ([1, 3], [2280...2720, 7280...7720]), ([0, 5], [0...0, 10000...10000]),
      ([0, 0], [4750...5250, 4750...5250]), ([65535, 65535, 65535], [3090...3570, 3090...3570, 3090...3570]),
    ] as [([UInt16], [ClosedRange<Int>])])
  func weights(weights: [UInt16], expected: [ClosedRange<Int>]) throws {
    let states = try weights.enumerated().map { try TrunkSelectionTests.trunk("t\($0.offset)", weight: $0.element) }
    var counts = [Int](repeating: 0, count: weights.count)
    var generator = SeededGenerator(seed: 20)
    for _ in 0..<10_000 {
      let order = TrunkSelection(from: states, at: .zero) { generator.next() }.order
      if Set(order).count != weights.count { Issue.record("seed 20: \(order)") }
      if let first = states.firstIndex(where: { $0.trunk.name == order.first }) { counts[first] += 1 }
    }
    for (count, range) in zip(counts, expected) { #expect(range.contains(count), "seed 20: \(counts)") }
  }

  @Test("A ticket holds its place until its end; what is refused takes nothing")
  func tickets() throws {
    var state = try TrunkSelectionTests.trunk("a", calls: 1)
    let ticket = try state.begin(at: .zero).get()
    let refused = state.begin(at: .zero)
    #expect(refused == .failure(SkippedTrunk(trunk: "a", reason: .capacity(.concurrentCalls(limit: 1)))))
    var actions: [TrunkHealth.Action] = []
    state.learn(ticket, .answered(status: 200, retryAfterSeconds: nil), at: .zero, into: &actions)
    #expect(state.capacity.liveCalls == 1)
    let releases = [state.end(ticket), state.end(ticket)]
    #expect(releases == [true, false])
    try TrunkSelectionTests.takeDown(&state)
    #expect(state.capacity.liveCalls == 0)
    guard case .failure(let skipped) = state.begin(at: .zero) else {
      Issue.record("a dead trunk took a call")
      return
    }
    #expect(skipped.reason == .health(.down(since: .zero, .silent)))
    #expect(state.capacity.liveCalls == 0)
  }

  @Test("The failure of a call names every attempt, and a response beats a silence")
  func attempts() throws {
    let start = Instant(milliseconds: 1000)
    let end = Instant(milliseconds: 2000)
    var attempts = TrunkAttempts()
    attempts.add(
      trunk: "a", startedAt: start, endedAt: end, end: .response(CallFailureEvidence(status: 503, phrase: "Full")),
      warning: "no channels")
    attempts.add(trunk: "b", startedAt: start, endedAt: end, end: .timedOut)
    var failure = attempts.failure(at: .zero, correlationID: "c-1")
    #expect(failure.code == .congestion)
    #expect(failure.trunk == "a")
    #expect(failure.warning == "no channels")
    #expect(failure.attempts.map(\.trunk) == ["a", "b"])
    #expect(failure.attempts.map(\.code) == [.congestion, .transport])
    attempts.add(trunk: "c", startedAt: start, endedAt: end, end: .response(CallFailureEvidence(status: 486)))
    failure = attempts.failure(at: .zero)
    #expect(failure.code == .busy)
    #expect(attempts.trunks == ["a", "b", "c"])
    for _ in 0..<30 { attempts.add(trunk: "d", startedAt: start, endedAt: end, end: .transportFailed) }
    #expect(attempts.attempts.count == CallFailure.maximumAttempts)
    #expect(attempts.count == 33)
    attempts.addAnswered(trunk: "e", startedAt: start, answeredAt: end)
    #expect(attempts.attempts.last?.code == nil)
  }

  @Test("Where every trunk is out of reach, the failure says why of each")
  func nothingLeft() throws {
    var dead = try TrunkSelectionTests.trunk("a")
    try TrunkSelectionTests.takeDown(&dead)
    var full = try TrunkSelectionTests.trunk("b", calls: 1)
    _ = try full.begin(at: .zero).get()
    let now = MonotonicInstant(milliseconds: 12_000)
    let selection = TrunkSelection(from: [dead, full], at: now) { 0 }
    let failure = TrunkAttempts().failure(skipped: selection, at: now)
    #expect(failure.code == .noRoute)
    #expect(failure.phrase == "a: down for 12 s: no answer; b: cap of 1 calls reached")
  }
}
