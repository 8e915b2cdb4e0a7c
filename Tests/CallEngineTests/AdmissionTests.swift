import AppProtocol
import CallEngine
import CallModel
import SIPCore
import Testing

@Suite("Admission")
struct AdmissionTests {
  private static let limit = AdmissionGate.closingMicroseconds

  private static func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: milliseconds) }

  @Test("closes when waits stand, not for one late moment")
  func standing() {
    var gate = AdmissionGate()
    #expect(gate.observe(delayMicroseconds: 5_000_000, at: Self.at(1_000)) == nil)
    #expect(gate.observe(delayMicroseconds: 0, at: Self.at(1_020)) == nil)
    #expect(gate.observe(delayMicroseconds: Self.limit + 1, at: Self.at(1_110)) == nil)
    #expect(gate.observe(delayMicroseconds: Self.limit + 1, at: Self.at(1_209)) == nil)
    #expect(gate.isOpen)
    #expect(
      gate.observe(delayMicroseconds: Self.limit + 2, at: Self.at(1_210)) == .closed(delayMicroseconds: Self.limit + 2))
    #expect(!gate.isOpen)
  }

  @Test("at the limit itself nothing is late", arguments: [0, 19_999, 20_000, 99_999, 100_000] as [Int64])
  func limit(_ delay: Int64) {
    var gate = AdmissionGate()
    for step: Int64 in 0..<200 {
      #expect(gate.observe(delayMicroseconds: delay, at: Self.at(20 * step)) == nil)
    }
    #expect(gate.isOpen)
  }

  @Test("opens once a wait is short again, and tells how long it took")
  func opening() {
    var gate = Self.closed(at: 2_000)
    for delay: Int64 in [AdmissionGate.openingMicroseconds, 50_000, Self.limit, 10_000_000] {
      #expect(gate.observe(delayMicroseconds: delay, at: Self.at(2_100)) == nil)
    }
    #expect(gate.refuse(at: Self.at(2_100)) == 1)
    #expect(gate.refuse(at: Self.at(2_150)) == 1)
    #expect(
      gate.observe(delayMicroseconds: AdmissionGate.openingMicroseconds - 1, at: Self.at(2_340))
        == .opened(afterMicroseconds: 340_000, refusals: 2))
    #expect(gate.isOpen)
    #expect(gate.refusals == 2)
    // It starts anew: one late moment is none.
    #expect(gate.observe(delayMicroseconds: 1_000_000, at: Self.at(2_360)) == nil)
    #expect(gate.isOpen)
  }

  @Test(
    "asks to stay away for longer, the longer it is closed, and never for more than its limit",
    arguments: [(0, 1), (999, 1), (1_000, 2), (8_999, 9), (9_000, 10), (3_600_000, 10)] as [(Int64, Int)])
  func retry(_ closed: Int64, _ seconds: Int) {
    var gate = Self.closed(at: 5_000)
    #expect(gate.refuse(at: Self.at(5_000 + closed)) == seconds)
  }

  private static func closed(at milliseconds: Int64) -> AdmissionGate {
    var gate = AdmissionGate()
    _ = gate.observe(delayMicroseconds: limit + 1, at: at(milliseconds - 100))
    #expect(gate.observe(delayMicroseconds: limit + 1, at: at(milliseconds)) != nil)
    return gate
  }

  // MARK: In an engine

  private static func overload(_ bench: Bench) {
    bench.feed(.waited(microseconds: limit + 1))
    bench.pass(milliseconds: 100)
    bench.feed(.waited(microseconds: limit + 1))
  }

  private static func log(_ bench: Bench) -> [String] {
    bench.effects.compactMap {
      if case .log(let entry) = $0, entry.call == nil { return entry.message }
      return nil
    }
  }

  @Test("new calls are refused before anything is asked of anybody; those that are up go on")
  func engine() throws {
    let bench = try Bench()
    let first = try #require(bench.place())
    try bench.answer()
    Self.overload(bench)
    #expect(Self.log(bench).last?.hasPrefix("overload: ") == true)
    let asked = bench.asked.count
    #expect(bench.place() == nil)
    #expect(bench.lastRefusal?.code == .congestion)
    #expect(bench.lastRefusal?.sipStatus == 503)
    #expect(bench.lastRefusal?.retryAfterSeconds == 1)
    #expect(bench.asked.count == asked, "no hold is taken")
    #expect(bench.invites.count == 1)
    #expect(bench.engine.call(first) != nil, "a call that is up goes on")
    #expect(bench.engine.admission.refusals == 1)
    bench.request(.hangUp(first))
    bench.feed(.waited(microseconds: 0))
    #expect(Self.log(bench).last?.contains("1 were refused") == true)
    #expect(bench.place() != nil)
    bench.finish()
  }

  @Test("an emergency call is taken whatever the load is; another short number is not")
  func emergency() throws {
    let bench = try Bench()
    Self.overload(bench)
    #expect(bench.place("112") != nil)
    #expect(bench.place("+4670") == nil)
    bench.finish()
  }

  @Test("a call that is asked for over REST is refused as well")
  func origination() throws {
    let bench = try Bench()
    Self.overload(bench)
    let number = try E164Number(Scene.phone)
    bench.feed(
      .originate(
        OriginationID(1),
        Origination(first: .phone(number), second: .phone(number), payer: bench.caller.payer)))
    guard case .originated(_, .failure(let failure)) = bench.effects.last else {
      Issue.record("refused: \(String(describing: bench.effects.last))")
      return
    }
    #expect(failure.code == .congestion)
    #expect(failure.retryAfterSeconds == 1)
    #expect(bench.asked.isEmpty)
  }
}
