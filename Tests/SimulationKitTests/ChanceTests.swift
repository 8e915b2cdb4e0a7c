import CallModel
import SimulationKit
import Testing

@Suite("Chance and time")
struct ChanceTests {
  @Test("SplitMix64 gives the published sequence of seed 1234567")
  func sequence() {
    var generator = SeededGenerator(seed: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
      16_408_922_859_458_223_821,
    ]
    for value in expected { #expect(generator.next() == value) }
  }

  @Test("a fork is a stream of its own")
  func fork() {
    var generator = SeededGenerator(seed: 1)
    var fork = generator.fork()
    #expect(fork.next() != generator.next())
  }

  @Test("setting the wall clock leaves the monotonic one alone")
  func clock() {
    var clock = VirtualClock(Instant(milliseconds: 10_000))
    clock.advance(milliseconds: 250)
    clock.step(milliseconds: -3_600_000)
    clock.advance(milliseconds: -5)
    #expect(clock.now == Instant(milliseconds: 10_250 - 3_600_000))
    #expect(clock.monotonicMilliseconds == 250)
  }
}
