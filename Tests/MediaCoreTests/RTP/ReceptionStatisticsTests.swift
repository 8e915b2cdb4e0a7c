import CallModel
import MediaCore
import Testing

@Suite struct ReceptionStatisticsTests {
  /// A stream of 20 ms packets at 8000 ticks a second that is fed by sequence number.
  struct Stream {
    var statistics = ReceptionStatistics(clockRate: 8000)
    var source: UInt32 = 1

    mutating func receive(_ sequence: Int, delay: Int64 = 0, timestamp: UInt32? = nil) -> Arrival {
      statistics.received(
        sequence: UInt16(truncatingIfNeeded: sequence),
        timestamp: timestamp ?? UInt32(truncatingIfNeeded: sequence &* 160), source: source, payloadCount: 160,
        arrival: MonotonicInstant(microseconds: Int64(sequence) * 20_000 + delay))
    }
  }

  @Test func inOrder() {
    var stream = Stream()
    #expect(stream.receive(100) == .first)
    #expect(!stream.statistics.isValidated)
    for sequence in 101..<200 { #expect(stream.receive(sequence) == .next) }
    #expect(stream.statistics.isValidated)
    #expect(stream.statistics.packets == 100)
    #expect(stream.statistics.bytes == 16_000)
    #expect(stream.statistics.lost == 0)
    #expect(stream.statistics.jitter == 0)
    #expect(stream.statistics.extendedHighestSequence == 199)
    #expect(stream.statistics.nextLossRate() == 0)
  }

  @Test func lossDuplicatesAndReordering() {
    var stream = Stream()
    _ = stream.receive(0)
    _ = stream.receive(1)
    #expect(stream.receive(5) == .ahead(missing: 3))
    #expect(stream.receive(3) == .late)
    #expect(stream.receive(3) == .duplicate)
    #expect(stream.receive(5) == .duplicate)
    #expect(stream.statistics.reordered == 1)
    #expect(stream.statistics.duplicated == 2)
    #expect(stream.statistics.missing == 2)
    // RFC 3550 section A.3 counts duplicates as received.
    #expect(stream.statistics.lost == 0)
    #expect(stream.statistics.nextLossRate() == 2.0 / 6)
    #expect(stream.receive(6) == .next)
    #expect(stream.statistics.nextLossRate() == 0)
  }

  /// The window remembers exactly what came, as far back as reordering is believed.
  @Test func windowOfDuplicates() {
    var stream = Stream()
    _ = stream.receive(999)
    for sequence in stride(from: 1000, through: 1200, by: 2) { _ = stream.receive(sequence) }
    for sequence in 1100...1200 {
      #expect(stream.receive(sequence) == (sequence.isMultiple(of: 2) ? .duplicate : .late), "\(sequence)")
    }
    for sequence in 1100...1200 { #expect(stream.receive(sequence) == .duplicate, "\(sequence)") }
    #expect(stream.receive(1099) == .stray)
  }

  @Test func cyclesAreCounted() {
    var stream = Stream()
    _ = stream.receive(65_534)
    #expect(stream.receive(65_535) == .next)
    #expect(stream.receive(65_537) == .ahead(missing: 1))
    #expect(stream.statistics.extendedHighestSequence == 65_537)
    #expect(stream.receive(65_536) == .late)
    #expect(stream.receive(65_535) == .duplicate)
    for sequence in 65_538..<140_000 { _ = stream.receive(sequence) }
    #expect(stream.statistics.extendedHighestSequence == 139_999)
    #expect(stream.statistics.missing == 0)
  }

  @Test func jumpsAreBelievedTheSecondTime() {
    var stream = Stream()
    for sequence in 0..<10 { _ = stream.receive(sequence) }
    #expect(stream.receive(2 + Int(ReceptionStatistics.maximumDropout)) == .ahead(missing: 2992))
    #expect(stream.receive(30_000) == .stray)
    #expect(stream.receive(40_000) == .stray)
    #expect(stream.receive(40_001) == .restarted)
    #expect(stream.statistics.isValidated)
    #expect(stream.receive(40_002) == .next)
    #expect(stream.statistics.strays == 2)
    #expect(stream.statistics.restarts == 1)
    // What was lost before the restart stays in the totals.
    #expect(stream.statistics.missing == 2992)
    #expect(stream.statistics.packets == 13)
  }

  /// A packet in order between two far ones shows that they were no new beginning.
  @Test func straysDoNotAddUp() {
    var stream = Stream()
    for sequence in 0..<10 { _ = stream.receive(sequence) }
    #expect(stream.receive(30_000) == .stray)
    #expect(stream.receive(10) == .next)
    #expect(stream.receive(30_001) == .stray)
    #expect(stream.statistics.restarts == 0)
  }

  @Test func firstPacketAloneProvesNothing() {
    var stream = Stream()
    #expect(stream.receive(50_000) == .first)
    #expect(stream.receive(7) == .restarted)
    #expect(!stream.statistics.isValidated)
    #expect(stream.receive(8) == .next)
    #expect(stream.statistics.isValidated)
    #expect(stream.statistics.missing == 0)
  }

  @Test func newSourceKeepsTotals() {
    var stream = Stream()
    for sequence in [0, 1, 3] { _ = stream.receive(sequence) }
    stream.source = 2
    #expect(stream.receive(500) == .restarted)
    #expect(stream.receive(501) == .next)
    #expect(stream.statistics.packets == 5)
    #expect(stream.statistics.lost == 1)
    #expect(stream.statistics.source == 2)
    #expect(stream.statistics.extendedHighestSequence == 501)
  }

  /// RFC 3550 section A.8 computed by hand: D = 10 ms, then J += (|D| - J) / 16.
  @Test func jitter() {
    var stream = Stream()
    var expected = 0.0
    var before: Int64 = 0
    for sequence in 0..<50 {
      let delay: Int64 = sequence.isMultiple(of: 2) ? 0 : 10_000
      _ = stream.receive(sequence, delay: delay)
      if sequence > 0 { expected += (Double(abs(delay - before)) / 1000 - expected) / 16 }
      before = delay
    }
    #expect(abs(stream.statistics.jitterMilliseconds - expected) < 0.001)
    #expect(stream.statistics.jitter == UInt32(expected * 8))
  }

  /// An event is sent many times with one timestamp; a new timestamp origin is no jitter either.
  @Test func jitterIsOfTransitAlone() {
    var stream = Stream()
    for sequence in 0..<10 { _ = stream.receive(sequence) }
    for sequence in 10..<22 { _ = stream.receive(sequence, timestamp: 1600) }
    for sequence in 22..<30 { _ = stream.receive(sequence) }
    #expect(stream.statistics.jitter == 0)
    for sequence in 30..<40 { _ = stream.receive(sequence, timestamp: 0x7000_0000 + UInt32(sequence) * 160) }
    #expect(stream.statistics.jitter == 0)
  }

  @Test func anotherClock() {
    var stream = Stream()
    for sequence in 0..<40 { _ = stream.receive(sequence, delay: sequence.isMultiple(of: 2) ? 0 : 8000) }
    let milliseconds = stream.statistics.jitterMilliseconds
    let ticks = stream.statistics.jitter
    stream.statistics.use(clockRate: 48_000)
    #expect(stream.statistics.jitterMilliseconds == milliseconds)
    #expect(stream.statistics.jitter / 6 == ticks)
    _ = stream.receive(40, timestamp: 0)
    #expect(stream.statistics.jitterMilliseconds == milliseconds)
  }

  @Test func burstsOfLoss() {
    var single = Stream()
    var double = Stream()
    for sequence in 0..<1000 {
      if sequence % 10 != 5 { _ = single.receive(sequence) }
      if sequence % 20 != 5 && sequence % 20 != 6 { _ = double.receive(sequence) }
    }
    #expect(single.statistics.missing == 100)
    #expect(double.statistics.missing == 100)
    #expect(single.statistics.burstRatio == 1)
    #expect(abs(double.statistics.burstRatio - 1.8) < 0.01)
  }

  /// Packets that only changed places leave no trace in the pattern of losses.
  @Test func reorderingIsNoBurst() {
    var stream = Stream()
    for sequence in stride(from: 0, to: 1000, by: 4) {
      for offset in [0, 3, 1, 2] { _ = stream.receive(sequence + offset) }
    }
    #expect(stream.statistics.missing == 0)
    #expect(stream.statistics.burstRatio == 1)
    #expect(stream.statistics.reordered == 500)
  }

  @Test func everythingAnAttackerMaySend() {
    var stream = Stream()
    var generator = SeededNumbers(seed: 4)
    for _ in 0..<100_000 {
      stream.source = UInt32.random(in: 0...1, using: &generator)
      _ = stream.statistics.received(
        sequence: .random(in: 0...UInt16.max, using: &generator),
        timestamp: .random(in: 0...UInt32.max, using: &generator),
        source: stream.source, payloadCount: 0,
        arrival: MonotonicInstant(microseconds: .random(in: .min ... .max, using: &generator)))
      let rate = stream.statistics.nextLossRate()
      #expect(rate >= 0 && rate <= 1)
    }
    #expect(stream.statistics.jitterMilliseconds >= 0)
    #expect(stream.statistics.jitterMilliseconds <= 5000)
  }
}
