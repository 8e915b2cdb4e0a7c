import CallModel
import Testing

@Suite struct DeadlineQueueTests {
  /// Against a dictionary that is searched from end to end.
  @Test(arguments: [1, 2, 3] as [UInt64]) func agreesWithASearch(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func draw(_ bound: UInt64) -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state % bound
    }
    var queue = DeadlineQueue<UInt64>()
    var model: [UInt64: Int64] = [:]
    for _ in 0..<20_000 {
      let key = draw(50)
      switch draw(4) {
      case 0:
        queue.set(key, nil)
        model[key] = nil
      case 1:
        let now = Int64(draw(1_000))
        let popped = queue.popDue(at: MonotonicInstant(milliseconds: now))
        if let popped {
          #expect(model[popped] == model.values.min(), "seed \(seed)")
          #expect((model[popped] ?? .max) <= now, "seed \(seed)")
          model[popped] = nil
        } else {
          #expect(model.values.allSatisfy { $0 > now }, "seed \(seed)")
        }
      default:
        let time = Int64(draw(1_000))
        queue.set(key, MonotonicInstant(milliseconds: time))
        model[key] = time
      }
      #expect(queue.next?.milliseconds == model.values.min(), "seed \(seed)")
      #expect(queue.count == model.count, "seed \(seed)")
    }
  }

  @Test func replacedDeadlinesDoNotGather() {
    var queue = DeadlineQueue<Int>()
    for round in 0..<100_000 { queue.set(round % 10, MonotonicInstant(milliseconds: Int64(round))) }
    #expect(queue.count == 10)
    #expect(queue.heapCount <= 65)
  }

  @Test func equalDeadlinesKeepTheirOrder() {
    var queue = DeadlineQueue<Int>()
    for key in [3, 1, 2] { queue.set(key, MonotonicInstant(milliseconds: 5)) }
    let now = MonotonicInstant(milliseconds: 5)
    #expect(
      [queue.popDue(at: now), queue.popDue(at: now), queue.popDue(at: now), queue.popDue(at: now)] == [3, 1, 2, nil])
  }

  @Test func nothingIsDueOnceAllAreRemoved() {
    var queue = DeadlineQueue<Int>()
    for key in 0..<10 { queue.set(key, MonotonicInstant(milliseconds: Int64(key))) }
    queue.removeAll()
    #expect(queue.next == nil && queue.count == 0 && queue.popDue(at: MonotonicInstant(milliseconds: 100)) == nil)
    queue.set(3, MonotonicInstant(milliseconds: 3))
    #expect(queue.popDue(at: MonotonicInstant(milliseconds: 3)) == 3)
  }
}
