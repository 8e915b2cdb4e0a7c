import CallModel
import LandlineWire
import Testing

@Suite("Memory is given back once a flood is over")
struct MemoryReturnTests {
  @Test("when an eighth of many is left, once, and not again at once")
  func due() {
    var memory = MemoryReturn()
    // (live transactions, milliseconds, whether memory is given back)
    let steps: [(Int, Int64, Bool)] = [
      (4999, 0, false),
      // Too few to be worth it.
      (0, 1, false), (20_000, 2, false), (2501, 3, false), (2500, 4, true), (0, 5, false), (8000, 6, false),
      // Not twice within five seconds.
      (10, 5003, false), (10, 5004, true),
    ]
    for (live, milliseconds, isDue) in steps {
      let found = memory.isDue(live: live, at: MonotonicInstant(milliseconds: milliseconds))
      #expect(found == isDue, "\(live) after \(milliseconds) ms")
    }
  }
}
