import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SIPCore
import Testing

@Suite("Admission")
struct AdmissionTests {
  private static let late = AdmissionGate.lateMicroseconds + 1

  private static func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: milliseconds) }

  /// - Parameter processor: Milliseconds of processor time; as many as have passed where nothing is said.
  @discardableResult
  private static func look(
    _ gate: inout AdmissionGate, _ delay: Int64, preparing: Int = 0, at milliseconds: Int64, processor: Int64? = nil
  ) -> AdmissionGate.Change? {
    gate.observe(
      .init(delayMicroseconds: delay, processorMicroseconds: (processor ?? milliseconds) * 1000),
      preparing: preparing, at: at(milliseconds))
  }

  /// A gate that found a delay that stood from 700 ms to 1,000 ms.
  private static func closed(preparing: Int = 0) -> AdmissionGate {
    var gate = AdmissionGate()
    look(&gate, late, preparing: preparing, at: 700)
    look(&gate, late, preparing: preparing, at: 1_000)
    return gate
  }

  @Test("at the limit itself nothing is late", arguments: [0, 19_999, 100_000] as [Int64])
  func limit(_ delay: Int64) {
    var gate = AdmissionGate()
    for step: Int64 in 0..<200 {
      #expect(Self.look(&gate, delay, preparing: 1_000, at: 20 * step) == nil)
    }
    #expect(gate.isOpen)
    #expect(gate.admits(preparing: 1_000_000))
  }

  @Test("one late moment is no overload: it bounds what piles up until it is known better, and calm ends that")
  func hiccup() {
    var gate = AdmissionGate()
    Self.look(&gate, 10 * Self.late, preparing: 30, at: 1_000)
    #expect(gate.window == AdmissionGate.watchfulWindow)
    // Late again and again, and in time between: no delay stands.
    for step: Int64 in 0..<20 {
      Self.look(&gate, 0, preparing: 30, at: 1_050 + 200 * step)
      Self.look(&gate, Self.late, preparing: 30, at: 1_100 + 200 * step)
      Self.look(&gate, Self.late, preparing: 30, at: 1_200 + 200 * step)
    }
    #expect(gate.window == AdmissionGate.watchfulWindow)
    #expect(Self.look(&gate, 0, preparing: 30, at: 5_999) == nil)
    #expect(!gate.isOpen)
    #expect(Self.look(&gate, 0, preparing: 30, at: 6_000) == nil)
    #expect(gate.isOpen)
  }

  @Test("what is being prepared already at the first late moment is not refused")
  func watchful() {
    var gate = AdmissionGate()
    Self.look(&gate, Self.late, preparing: 400, at: 1_000)
    #expect(gate.window == 400)
  }

  @Test("a process that others keep from running goes on as it is, however long that lasts")
  func starved() {
    var gate = AdmissionGate()
    // A tenth of a processor.
    for step: Int64 in 0..<300 {
      Self.look(&gate, Self.late, preparing: 40, at: 20 * step, processor: 2 * step)
    }
    #expect(gate.window == AdmissionGate.watchfulWindow)
    // Its share grows, and it is still late: now it is its own work.
    for step: Int64 in 300..<330 {
      Self.look(&gate, Self.late, preparing: 40, at: 20 * step, processor: 10 * step)
    }
    #expect(gate.window == AdmissionGate.narrowestWindow)
  }

  @Test(
    "a delay that stands leaves room for half of what is being prepared, and for a few always",
    arguments: [(0, 24), (47, 24), (49, 24), (50, 25), (400, 200)])
  func closing(_ preparing: Int, _ window: Int) {
    var gate = Self.closed(preparing: preparing)
    #expect(gate.window == window)
    #expect(gate.admits(preparing: window - 1))
    #expect(!gate.admits(preparing: window))
    #expect(Self.look(&gate, Self.late, at: 1_001) == nil)
  }

  @Test("each delay after the last one had time to show halves it")
  func halving() {
    var gate = Self.closed(preparing: 400)
    let steps: [(at: Int64, window: Int)] = [
      (0, 200), (50, 200), (199, 200), (200, 100), (350, 100), (400, 50), (900, 25),
    ]
    for step in steps + [(1_100, 24), (60_000, 24)] {
      Self.look(&gate, Self.late, preparing: 400, at: 1_000 + step.at)
      #expect(gate.window == step.window, "after \(step.at) ms")
    }
  }

  @Test("it widens while it is used up and nothing is late")
  func widening() {
    var gate = Self.closed()
    for step: Int64 in 1...10 {
      Self.look(&gate, 0, preparing: 7, at: 1_000 + 20 * step)
    }
    #expect(gate.window == 24, "there was room")
    for step: Int64 in 0..<40 {
      _ = gate.refuse(at: Self.at(1_200 + 10 * step))
      Self.look(&gate, 0, preparing: 100, at: 1_200 + 10 * step)
    }
    #expect(gate.window == 44, "one in 20 ms")
    Self.look(&gate, Self.late, preparing: 44, at: 1_700)
    #expect(gate.window == 24)
  }

  @Test("it is gone when nothing was late and nobody refused for a second, and tells what it cost")
  func opening() {
    var gate = Self.closed()
    Self.look(&gate, Self.late, preparing: 0, at: 2_000)
    _ = gate.refuse(at: Self.at(2_500))
    #expect(
      Self.look(&gate, 0, preparing: 0, at: 2_510)
        == .began(window: AdmissionGate.narrowestWindow))
    _ = gate.refuse(at: Self.at(2_600))
    #expect(Self.look(&gate, 0, preparing: 0, at: 3_599) == nil)
    #expect(!gate.isOpen)
    #expect(
      Self.look(&gate, 0, preparing: 0, at: 3_600)
        == .ended(afterMicroseconds: 2_900_000, refusals: 2))
    #expect(gate.isOpen)
    #expect(gate.refusals == 2)
    // One that nobody felt is not spoken of.
    Self.look(&gate, Self.late, preparing: 0, at: 5_000)
    #expect(Self.look(&gate, 0, preparing: 0, at: 6_000) == nil)
    #expect(gate.isOpen)
  }

  @Test(
    "asks to stay away for longer, the longer it lasts, and never for more than its limit",
    arguments: [(0, 1), (999, 1), (1_000, 2), (8_999, 9), (9_000, 10), (3_600_000, 10)] as [(Int64, Int)])
  func retry(_ lasts: Int64, _ seconds: Int) {
    var gate = Self.closed()
    #expect(gate.refuse(at: Self.at(700 + lasts)) == seconds)
  }

  /// A node with one thread: what came in is read, then all that waits is done, then it is looked how late that was.
  @Test("a node that is asked for more than it can do goes on doing what it can", arguments: [2, 5, 10])
  func overload(_ factor: Int) {
    var gate = AdmissionGate()
    // Milliseconds that each part of a call takes, and when the next one follows: it is read and held, prepared and sent,
    // answered, up, ended, written down. A refusal takes a tenth of one.
    let parts = [(3, 8), (2, 1), (2, 2), (2, 300), (3, 8), (1, 0)]
    let capacity = 1000 / parts.reduce(0) { $0 + $1.0 }
    var waiting: [(due: Int, asked: Int, part: Int)] = []
    var slowest = 0
    var (now, preparing, asked, answered, tenths) = (0, 0, 0, 0, 0)
    var tick = 20
    while now < 10_000 {
      let due = waiting.filter { $0.due <= now }
      waiting.removeAll { $0.due <= now }
      let coming = now * capacity * factor / 1000 - asked
      asked += coming
      let start = now
      for (_, asked, part) in due {
        now += parts[part].0
        if part == 1 { preparing -= 1 }
        if part == 2 {
          if now - asked <= 2_000 { answered += 1 }
          slowest = max(slowest, now - asked)
        }
        if part + 1 < parts.count { waiting.append((now + parts[part].1, asked, part + 1)) }
      }
      for _ in 0..<coming {
        if gate.admits(preparing: preparing) {
          preparing += 1
          now += parts[0].0
          waiting.append((now + parts[0].1, start, 1))
        } else {
          _ = gate.refuse(at: Self.at(Int64(now)))
          tenths += 1
          now += tenths / 10
          tenths %= 10
        }
      }
      if now >= tick {
        Self.look(&gate, Int64(now - tick) * 1000, preparing: preparing, at: Int64(now))
        tick = now + 20
      }
      if now == start { now += 1 }
    }
    #expect(answered >= 9 * capacity, "\(answered) of \(10 * capacity)")
    // Those that were let in before it was known that the delay stands.
    #expect(slowest <= 1_250, "the slowest took \(slowest) ms")
    #expect(gate.refusals >= (factor - 2) * 10 * capacity)
  }

  // MARK: In an engine

  /// Room for more calls of its session than the gate lets in.
  private static func bench() throws -> Bench {
    var configuration = try Scene.configuration()
    configuration.limits.callsPerSession = 2 * AdmissionGate.narrowestWindow
    return try Bench(configuration)
  }

  /// As many calls as are taken in an overload, which wait for their holds.
  private static func overload(_ bench: Bench) -> [CallID] {
    bench.ledger = .silent
    bench.overload()
    return (0..<AdmissionGate.narrowestWindow).compactMap { _ in
      let number = bench.request(
        .call(PlaceCall(kind: .phone, target: Scene.phone, headers: [], offer: Scene.appOffer())))
      #expect(bench.refusal(of: number) == nil)
      return bench.asked.last?.operation.call
    }
  }

  private static func log(_ bench: Bench) -> [String] {
    bench.effects.compactMap {
      if case .log(let entry) = $0, entry.call == nil { return entry.message }
      return nil
    }
  }

  @Test("new calls are refused before anything is asked of anybody; those that are up go on")
  func engine() throws {
    let bench = try Self.bench()
    let first = try #require(bench.place())
    try bench.answer()
    #expect(bench.engine.preparing == 0, "a call that is up is none under preparation")
    let waiting = Self.overload(bench)
    #expect(bench.engine.preparing == waiting.count)
    #expect(Self.log(bench).isEmpty, "nobody was refused")
    let asked = bench.asked.count
    #expect(bench.place() == nil)
    #expect(bench.lastRefusal?.code == .congestion)
    #expect(bench.lastRefusal?.sipStatus == 503)
    #expect(bench.lastRefusal?.retryAfterSeconds == 1)
    #expect(bench.asked.count == asked, "no hold is taken")
    #expect(bench.invites.count == 1)
    #expect(bench.engine.call(first) != nil, "a call that is up goes on")
    #expect(bench.engine.admission.refusals == 1)
    bench.look(delayMicroseconds: 0)
    #expect(Self.log(bench).count == 1)
    #expect(Self.log(bench).last?.hasPrefix("overload: ") == true)
    // One that is prepared makes room for another.
    bench.answerLedger(.authorise)
    #expect(bench.engine.preparing == waiting.count, "its trunk has said nothing yet")
    bench.trying(1)
    #expect(bench.engine.preparing == waiting.count - 1)
    bench.request(.call(PlaceCall(kind: .phone, target: Scene.phone, headers: [], offer: Scene.appOffer())))
    #expect(bench.asked.count == asked + 1)
    #expect(bench.engine.admission.refusals == 1)
    bench.pass(seconds: 1)
    bench.look(delayMicroseconds: 0)
    #expect(Self.log(bench).last?.contains("1 were refused") == true)
    bench.finish()
    #expect(bench.engine.preparing == 0)
  }

  @Test("a call that ends before it is prepared makes room as well")
  func endings() throws {
    let bench = try Self.bench()
    #expect(Self.overload(bench).count == AdmissionGate.narrowestWindow)
    bench.feed(.sessionEnded(bench.session))
    #expect(bench.engine.preparing == 0)
    bench.finish()
  }

  @Test("an emergency call is taken whatever the load is; another short number is not")
  func emergency() throws {
    let bench = try Self.bench()
    _ = Self.overload(bench)
    let asked = bench.asked.count
    bench.place("112")
    #expect(bench.asked.count == asked + 1)
    bench.place("+4670")
    #expect(bench.asked.count == asked + 1)
    bench.finish()
  }

  @Test("a call that is asked for over REST is refused as well")
  func origination() throws {
    let bench = try Self.bench()
    _ = Self.overload(bench)
    let asked = bench.asked.count
    let number = try E164Number(Scene.phone)
    bench.feed(
      .originate(
        OriginationID(1),
        Origination(first: .phone(number), second: .phone(number), payer: bench.caller.payer)))
    let refusals = bench.effects.compactMap { effect -> CallFailure? in
      if case .originated(_, .failure(let failure)) = effect { return failure }
      return nil
    }
    #expect(refusals.map(\.code) == [.congestion])
    #expect(refusals.first?.retryAfterSeconds == 1)
    #expect(bench.asked.count == asked)
    bench.finish()
  }
}

extension Bench {
  /// Tells of something that came late, or in time.
  fileprivate func look(delayMicroseconds: Int64) {
    feed(.waited(.init(delayMicroseconds: delayMicroseconds, processorMicroseconds: now.microseconds)))
  }

  /// Lets a delay stand until the gate is as narrow as it gets.
  fileprivate func overload() {
    while engine.admission.window != AdmissionGate.narrowestWindow {
      look(delayMicroseconds: AdmissionGate.lateMicroseconds + 1)
      pass(milliseconds: 20)
    }
  }

  fileprivate func refusal(of number: RequestNumber) -> CallFailure? {
    for event in events { if case .refused(number, let failure) = event { return failure } }
    return nil
  }
}
