import CallModel
import SIPCore
import Testing

/// Our 2xx until its ACK, to the millisecond.
@Suite struct SuccessRepeaterTests {
  /// Every instant at which something is due, and what.
  private func ticks(_ repeater: SuccessRepeater) -> [(Int64, SuccessRepeater.Action)] {
    var repeater = repeater
    var seen: [(Int64, SuccessRepeater.Action)] = []
    while let deadline = repeater.nextDeadline, seen.count < 100 {
      #expect(repeater.advance(to: deadline.advanced(byMilliseconds: -1)) == nil)
      guard let action = repeater.advance(to: deadline) else { break }
      seen.append((deadline.milliseconds, action))
    }
    return seen
  }

  @Test func `the 2xx is repeated at T1 doubling to T2, and given up after 64 × T1`() {
    let seen = ticks(SuccessRepeater(sentAt: MonotonicInstant(milliseconds: 1_000)))
    #expect(
      seen.dropLast().map(\.0) == [1_500, 2_500, 4_500, 8_500, 12_500, 16_500, 20_500, 24_500, 28_500, 32_500])
    #expect(seen.dropLast().allSatisfy { $0.1 == .sendAgain })
    #expect(seen.last?.0 == 33_000)
    #expect(seen.last?.1 == .fail)
  }

  @Test func `an ACK ends it once`() {
    var repeater = SuccessRepeater(sentAt: .zero)
    #expect(repeater.advance(to: MonotonicInstant(milliseconds: 500)) == .sendAgain)
    #expect(repeater.acknowledged() == true)
    #expect(repeater.acknowledged() == false)
    #expect(repeater.nextDeadline == nil)
    #expect(repeater.advance(to: MonotonicInstant(milliseconds: 60_000)) == nil)
  }

  @Test func `a late clock repeats once and does not catch up`() {
    var repeater = SuccessRepeater(sentAt: .zero)
    #expect(repeater.advance(to: MonotonicInstant(milliseconds: 9_000)) == .sendAgain)
    #expect(repeater.advance(to: MonotonicInstant(milliseconds: 9_000)) == nil)
    #expect(repeater.nextDeadline == MonotonicInstant(milliseconds: 10_000))
  }
}
