import CallModel
import MediaCore
import SecureTransport
import Testing

@Suite struct OutgoingStreamTests {
  /// An incoming packet of 20 ms and the time it came.
  private func header(_ sequence: UInt16, _ timestamp: UInt32, marker: Bool = false) throws -> RTPHeader {
    let packet = PacketBuffer()
    packet.writeRTPHeader(marker: marker, payloadType: 0, sequence: sequence, timestamp: timestamp, source: 1)
    return try #require(RTPHeader(packet))
  }

  private func instant(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: milliseconds) }

  private func stream(_ clockRate: Int = 8000) -> OutgoingStream {
    OutgoingStream(source: 7, clockRate: clockRate, sequence: 100, timestamp: 5000)
  }

  @Test func firstNumbersAreLowAndRandom() {
    var generator = SeededNumbers(seed: 1)
    let streams = (0..<200).map { _ in OutgoingStream(source: 1, clockRate: 8000, using: &generator) }
    #expect(streams.allSatisfy { $0.nextSequence < 32_768 })
    #expect(Set(streams.map(\.nextSequence)).count > 190)
    #expect(OutgoingStream(source: 1, clockRate: 8000, sequence: 0xFFFF, timestamp: 0).nextSequence == 0x7FFF)
  }

  @Test func relayKeepsDistancesAndGaps() throws {
    var stream = stream()
    #expect(
      try stream.relay(header(65_534, 1_000), clockRate: 8000, at: instant(0))
        == .init(sequence: 100, timestamp: 5000, marker: true))
    #expect(
      try stream.relay(header(65_535, 1_160), clockRate: 8000, at: instant(20))
        == .init(sequence: 101, timestamp: 5160, marker: false))
    // Two are missing.
    #expect(
      try stream.relay(header(2, 1_640), clockRate: 8000, at: instant(81))
        == .init(sequence: 104, timestamp: 5640, marker: false))
    // One of them is only late, and takes its place; once.
    #expect(
      try stream.relay(header(1, 1_480), clockRate: 8000, at: instant(82))
        == .init(sequence: 103, timestamp: 5480, marker: false))
    #expect(try stream.relay(header(1, 1_480), clockRate: 8000, at: instant(82)) == nil)
    #expect(try stream.relay(header(2, 1_640), clockRate: 8000, at: instant(82)) == nil)
    #expect(
      try stream.relay(header(3, 1_800, marker: true), clockRate: 8000, at: instant(100))
        == .init(sequence: 105, timestamp: 5800, marker: true))
  }

  @Test func whatIsSkippedLeavesNoGap() throws {
    var stream = stream()
    _ = try stream.relay(header(1, 0), clockRate: 8000, at: instant(0))
    let skipped = [stream.skip(2), stream.skip(3), stream.skip(3)]
    #expect(skipped == [true, true, false])
    #expect(try stream.relay(header(4, 480), clockRate: 8000, at: instant(60))?.sequence == 101)
    let late = stream.skip(6)
    #expect(late)
    #expect(
      try stream.relay(header(7, 960), clockRate: 8000, at: instant(120))
        == .init(sequence: 103, timestamp: 5960, marker: false))
  }

  /// Nothing that comes in makes a number come twice.
  @Test func noNumberComesTwice() throws {
    var generator = SeededNumbers(seed: 3)
    var stream = stream()
    var highest = 99
    var used: Set<Int> = []
    for step in 0..<20_000 as Range<Int64> {
      let sequence = UInt16(truncatingIfNeeded: Int(step) + .random(in: -200...200, using: &generator))
      switch Int.random(in: 0..<40, using: &generator) {
      case 0: stream.changeSource()
      case 1: _ = stream.skip(sequence)
      case 2: stream.use(clockRate: [8000, 16_000, 48_000].randomElement(using: &generator) ?? 8000)
      default:
        let timestamp = UInt32.random(in: 0...UInt32.max, using: &generator)
        guard let stamp = try stream.relay(header(sequence, timestamp), clockRate: 8000, at: instant(step)) else {
          continue
        }
        let number = highest + Int(Int16(bitPattern: stamp.sequence &- UInt16(truncatingIfNeeded: highest)))
        #expect(abs(number - highest) < 2000)
        #expect(used.insert(number).inserted)
        highest = max(highest, number)
      }
    }
    #expect(highest > 10_000)
  }

  @Test(arguments: [(8000, 48_000), (48_000, 8000), (16_000, 8000), (8000, 16_000), (48_000, 16_000)])
  func clocks(input: Int, output: Int) {
    var stream = OutgoingStream(source: 1, clockRate: output, sequence: 0, timestamp: 0xFFFF_FF00)
    let origin: UInt32 = 0xFFFF_F000
    for packet in 0..<1000 as Range<Int64> {
      let timestamp = origin &+ UInt32(Int(packet) * input / 50)
      let mapped = stream.map(timestamp: timestamp, clockRate: input, at: instant(packet * 20))
      #expect(mapped == 0xFFFF_FF00 &+ UInt32(Int(packet) * output / 50))
      _ = stream.stamp(timestamp: mapped, duration: output / 50, marker: false, at: instant(packet * 20))
    }
  }

  /// Distances that the slower clock cannot express do not add up to a drift.
  @Test func oddTicksDoNotDrift() {
    var stream = stream()
    _ = stream.map(timestamp: 0, clockRate: 48_000, at: .zero)
    var timestamp: UInt32 = 0
    for packet in 1...6000 as ClosedRange<Int64> {
      timestamp += 961
      let mapped = stream.map(timestamp: timestamp, clockRate: 48_000, at: instant(packet * 20))
      #expect(mapped == 5000 + timestamp / 6)
    }
  }

  /// Live sound, a prompt of ours, live sound of another source: the timestamps stand for the time.
  @Test func continuityOverSources() {
    var stream = stream()
    var last = stream.stamp(
      timestamp: stream.map(timestamp: 777, clockRate: 8000, at: instant(0)), duration: 160, marker: false,
      at: instant(0))
    #expect(last.timestamp == 5000)
    #expect(last.marker)
    // A prompt begins after a pause of 100 ms and goes on without one, although the clock of the shell is not exact.
    stream.changeSource()
    last = stream.stamp(timestamp: stream.following(at: instant(100)), duration: 160, marker: false, at: instant(100))
    #expect(last == .init(sequence: 101, timestamp: 5800, marker: true))
    last = stream.stamp(timestamp: stream.following(at: instant(125)), duration: 160, marker: false, at: instant(125))
    #expect(last == .init(sequence: 102, timestamp: 5960, marker: false))
    last = stream.stamp(timestamp: stream.following(at: instant(140)), duration: 160, marker: false, at: instant(140))
    #expect(last == .init(sequence: 103, timestamp: 6120, marker: false))
    // Another source speaks while the prompt's last packet is not over.
    stream.changeSource()
    let mapped = stream.map(timestamp: 0xABCD_0000, clockRate: 8000, at: instant(145))
    last = stream.stamp(timestamp: mapped, duration: 160, marker: false, at: instant(145))
    #expect(last == .init(sequence: 104, timestamp: 6280, marker: true))
    #expect(stream.map(timestamp: 0xABCD_0000 + 160, clockRate: 8000, at: instant(166)) == 6440)
  }

  /// A minute on hold is a minute of timestamps.
  @Test func hold() throws {
    var stream = stream(48_000)
    _ = try stream.relay(header(1, 0), clockRate: 48_000, duration: 960, at: instant(0))
    let stamp = try stream.relay(header(2, 60 * 48_000), clockRate: 48_000, duration: 960, at: instant(60_010))
    #expect(stamp == .init(sequence: 101, timestamp: 5000 + 60 * 48_000, marker: false))
  }

  /// The incoming clock jumps although no time went by: ours does not.
  @Test func newOriginOfTheIncomingClock() throws {
    var stream = stream()
    _ = try stream.relay(header(1, 0), clockRate: 8000, duration: 160, at: instant(0))
    #expect(
      try stream.relay(header(2, 0x6000_0000), clockRate: 8000, duration: 160, at: instant(20))
        == .init(sequence: 101, timestamp: 5160, marker: true))
    #expect(
      try stream.relay(header(3, 0x6000_0000 + 160), clockRate: 8000, duration: 160, at: instant(40))
        == .init(sequence: 102, timestamp: 5320, marker: false))
  }

  /// The packets of an event share a timestamp, whatever time they take; sound behind it follows in time.
  @Test func events() {
    var stream = stream()
    _ = stream.stamp(timestamp: stream.following(at: instant(0)), duration: 160, marker: false, at: instant(0))
    let start = stream.following(at: instant(20))
    for time in stride(from: 20, through: 220, by: 20) as StrideThrough<Int64> {
      _ = stream.stamp(timestamp: start, duration: 0, marker: time == 20, at: instant(time))
    }
    #expect(start == 5160)
    #expect(stream.following(at: instant(240)) == 5160 + 220 * 8)
    #expect(stream.counters.timestamp == 5160)
    #expect(stream.counters.instant == instant(20))
  }

  @Test func anotherCodec() {
    var stream = stream()
    _ = stream.stamp(
      timestamp: stream.map(timestamp: 9, clockRate: 8000, at: instant(0)), duration: 160, marker: false, at: instant(0)
    )
    stream.use(clockRate: 48_000)
    let next = stream.map(timestamp: 90, clockRate: 48_000, at: instant(20))
    #expect(next == 5960)
    let stamp = stream.stamp(timestamp: next, duration: 960, marker: false, at: instant(20))
    #expect(stamp.marker)
    #expect(stamp.sequence == 101)
  }

  @Test func whatWasSentIsCounted() {
    var stream = stream()
    _ = stream.stamp(timestamp: 5000, duration: 160, marker: false, at: instant(3))
    stream.sent(payloadCount: 160)
    stream.sent(payloadCount: 40)
    #expect(stream.counters.packets == 2)
    #expect(stream.counters.octets == 200)
    #expect(stream.counters.instant == instant(3))
  }
}
