import CallModel
import Testing

@Suite("Token bucket") struct TokenBucketTests {
  private func at(_ microseconds: Int64) -> MonotonicInstant { MonotonicInstant(microseconds: microseconds) }

  @Test("as many at once as may be, then one for each interval") func edge() {
    var bucket = TokenBucket(perSecond: 50, burst: 3)
    for _ in 0..<3 { expectTaken(&bucket, 0, true) }
    expectTaken(&bucket, 0, false)
    #expect(bucket.microsecondsToNext(at: at(0)) == 20_000)
    expectTaken(&bucket, 19_999, false)
    expectTaken(&bucket, 20_000, true)
    expectTaken(&bucket, 20_000, false)
    #expect(bucket.secondsToNext(at: at(20_000)) == 1)
    #expect(!bucket.isFull(at: at(79_999)))
    #expect(bucket.isFull(at: at(80_000)))
  }

  @Test("exactly the rate goes through, however often it is asked", arguments: [1, 7, 333, 999], [1, 1_900, 70_001])
  func exact(rate: Int, every step: Int64) {
    var bucket = TokenBucket(perSecond: rate, burst: 200)
    var taken = 0
    for time in stride(from: Int64(0), to: 2_000_000, by: Int64.Stride(step)) where bucket.consume(at: at(time)) {
      taken += 1
    }
    let asked = Int((2_000_000 + step - 1) / step)
    #expect(taken <= 200 + 2 * rate)
    #expect(taken >= min(asked, 200 + 2 * rate - Int(step) * rate / 1_000_000 - 1))
  }

  @Test("what is owed is waited for, and is at most a full bucket or one debt", arguments: [(100, 9, 100), (5, 9, 9)])
  func debt(burst: Int, count: Int, most: Int64) {
    var bucket = TokenBucket(perSecond: 10, burst: burst)
    for _ in 0..<1000 { bucket.owe(count, at: at(0)) }
    #expect(bucket.microsecondsToNext(at: at(0)) == (most + 1) * 100_000)
    #expect(bucket.secondsToNext(at: at(0)) == (most + 10) / 10)
    expectTaken(&bucket, (most + 1) * 100_000 - 1, false)
    expectTaken(&bucket, (most + 1) * 100_000, true)
  }

  @Test("a rate of nothing gives nothing, ever") func nothing() {
    var bucket = TokenBucket(perSecond: 0, burst: 10)
    expectTaken(&bucket, 0, false)
    expectTaken(&bucket, .max, false)
    #expect(bucket.microsecondsToNext(at: at(.max)) == nil)
    #expect(bucket.secondsToNext(at: at(.max)) == .max)
  }

  @Test("a clock that steps back gives nothing and takes nothing; extreme times fill it") func clock() {
    var bucket = TokenBucket(perSecond: 1)
    expectTaken(&bucket, 5_000_000, true)
    expectTaken(&bucket, 4_000_000, false)
    expectTaken(&bucket, 5_999_999, false)
    expectTaken(&bucket, 6_000_000, true)
    var extreme = TokenBucket(perSecond: .max)
    expectTaken(&extreme, .min, true)
    expectTaken(&extreme, .max, true)
    #expect(!extreme.isFull(at: at(.max)))
    #expect(TokenBucket(perSecond: -1) == TokenBucket(perSecond: 0))
  }

  @Test("another rate keeps what is there, as far as there is room") func change() {
    var bucket = TokenBucket(perSecond: 1, burst: 10)
    for _ in 0..<5 { expectTaken(&bucket, 0, true) }
    bucket.change(perSecond: 1000, burst: 2)
    for taken in [true, true, false] { expectTaken(&bucket, 0, taken) }
    expectTaken(&bucket, 1000, true)
  }

  private func expectTaken(
    _ bucket: inout TokenBucket, _ microseconds: Int64, _ expected: Bool,
    location: SourceLocation = #_sourceLocation
  ) {
    let isTaken = bucket.consume(at: at(microseconds))
    #expect(isTaken == expected, sourceLocation: location)
  }
}
