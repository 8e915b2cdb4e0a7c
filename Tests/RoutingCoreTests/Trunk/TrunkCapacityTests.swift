import CallModel
import RoutingCore
import Testing

@Suite("Capacity of a trunk")
struct TrunkCapacityTests {
  static func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: milliseconds) }

  func expectRefusal(_ capacity: inout TrunkCapacity, _ refusal: TrunkCapacity.Refusal) {
    let result = capacity.reserve(at: .zero)
    #expect(result == .failure(refusal))
  }

  func expectRelease(_ capacity: inout TrunkCapacity, _ reservation: TrunkCapacity.Reservation, _ wasHeld: Bool) {
    let result = capacity.release(reservation)
    #expect(result == wasHeld)
  }

  @Test("A place is given back once")
  func release() throws {
    var capacity = TrunkCapacity(TrunkCapacity.Limits(concurrentCalls: 2))
    let first = try capacity.reserve(at: .zero).get()
    _ = try capacity.reserve(at: .zero).get()
    expectRefusal(&capacity, .concurrentCalls(limit: 2))
    expectRelease(&capacity, first, true)
    expectRelease(&capacity, first, false)
    #expect(capacity.liveCalls == 1)
    _ = try capacity.reserve(at: .zero).get()
    expectRefusal(&capacity, .concurrentCalls(limit: 2))
  }

  @Test(
    "New calls a second, to the millisecond",
    arguments: [
      // rate, burst, calls asked for at these milliseconds, what each gets: nil for a place, else when to come back
      (1, nil, [0, 0, 999, 1000, 1000], [nil, 1000, 1, nil, 1000]),
      (3, 1, [0, 0, 333, 334, 667, 668], [nil, 334, 1, nil, 1, nil]),
      (10, 2, [0, 0, 0, 100, 100, 5000, 5000, 5000], [nil, nil, 100, nil, 100, nil, nil, 100]),
      // A clock that steps back gives nothing and takes nothing.
      (1, nil, [5000, 4000, 6000], [nil, 1000, nil]),
      (0, nil, [0, 1_000_000], [-1, -1]),
    ] as [(Int, Int?, [Int64], [Int64?])])
  func rate(rate: Int, burst: Int?, times: [Int64], expected: [Int64?]) {
    var capacity = TrunkCapacity(TrunkCapacity.Limits(callsPerSecond: rate, burst: burst))
    for (time, wait) in zip(times, expected) {
      switch capacity.reserve(at: TrunkCapacityTests.at(time)) {
      case .success: #expect(wait == nil, "at \(time)")
      case .failure(let refusal):
        let retry = wait.flatMap { $0 < 0 ? nil : $0 }
        #expect(wait != nil && refusal == .callsPerSecond(limit: rate, retryAfterMilliseconds: retry), "at \(time)")
      }
    }
  }

  @Test("Over a long time exactly the rate goes through, however often it is asked", arguments: [1, 7, 30, 333, 999])
  func exact(rate: Int) {
    var capacity = TrunkCapacity(TrunkCapacity.Limits(callsPerSecond: rate, burst: 1))
    var placed = 0
    for millisecond in 0..<60_000 {
      if case .success = capacity.reserve(at: TrunkCapacityTests.at(Int64(millisecond))) { placed += 1 }
    }
    // A bucket of one call cannot save up a fraction that a whole millisecond overshoots.
    let every = (1000 + rate - 1) / rate
    #expect(placed >= 60_000 / every && placed <= 60 * rate + 1, "\(placed)")
  }

  @Test("A concurrent refusal costs no allowance; draining comes first and live calls go on")
  func precedence() throws {
    var capacity = TrunkCapacity(TrunkCapacity.Limits(concurrentCalls: 1, callsPerSecond: 2))
    let first = try capacity.reserve(at: .zero).get()
    for _ in 0..<10 { expectRefusal(&capacity, .concurrentCalls(limit: 1)) }
    capacity.release(first)
    let second = try capacity.reserve(at: .zero).get()
    capacity.isDraining = true
    expectRefusal(&capacity, .draining)
    #expect(capacity.liveCalls == 1)
    expectRelease(&capacity, second, true)
    capacity.isDraining = false
    expectRefusal(&capacity, .callsPerSecond(limit: 2, retryAfterMilliseconds: 500))
  }

  @Test("Lowered limits hold for new calls; extreme times do not break the count")
  func extremes() throws {
    var capacity = TrunkCapacity(TrunkCapacity.Limits(callsPerSecond: .max, burst: .max))
    _ = try capacity.reserve(at: TrunkCapacityTests.at(.min)).get()
    _ = try capacity.reserve(at: TrunkCapacityTests.at(.max)).get()
    capacity.limits = TrunkCapacity.Limits(concurrentCalls: 1)
    expectRefusal(&capacity, .concurrentCalls(limit: 1))
    #expect(capacity.liveCalls == 2)
    #expect(
      "\(TrunkCapacity.Refusal.callsPerSecond(limit: 3, retryAfterMilliseconds: 334))"
        == "cap of 3 new calls a second reached, free in 334 ms")
  }

  @Test("A rate that a reload brings takes calls, and one that it changes forgets none")
  func reload() throws {
    var capacity = TrunkCapacity()
    _ = try capacity.reserve(at: .zero).get()
    capacity.limits = TrunkCapacity.Limits(callsPerSecond: 2)
    for _ in 0..<2 { _ = try capacity.reserve(at: .zero).get() }
    expectRefusal(&capacity, .callsPerSecond(limit: 2, retryAfterMilliseconds: 500))
    capacity.limits = TrunkCapacity.Limits(callsPerSecond: 4)
    expectRefusal(&capacity, .callsPerSecond(limit: 4, retryAfterMilliseconds: 250))
    capacity.limits = TrunkCapacity.Limits()
    _ = try capacity.reserve(at: .zero).get()
  }
}
