import CallModel
import MediaCore
import SDPCore
import Testing

/// The drift of a sender's clock, from when its packets come.
@Suite struct ClockDriftTests {
  /// Packets of 20 ms by a clock that is wrong, on a network that delays each by up to so much.
  struct Stream {
    var statistics = ReceptionStatistics(clockRate: 48_000)
    private var noise = SeededNoise(state: 11)
    private var sequence = 0
    let partsPerMillion: Double
    /// Milliseconds.
    let jitter: Double
    /// Milliseconds that all packets are on their way.
    var delay = 40.0
    var source: UInt32 = 1
    var origin: UInt32 = 4_294_000_000

    init(_ partsPerMillion: Double, jitter: Double) {
      self.partsPerMillion = partsPerMillion
      self.jitter = jitter
    }

    mutating func run(seconds: Int, sendsEach share: Int = 1) {
      for _ in 0..<(seconds * 50) {
        sequence += 1
        guard sequence % share == 0 else { continue }
        let sent = Double(sequence) * 20_000 / (1 + partsPerMillion / 1_000_000)
        let late = 1_000 * (delay + Double.random(in: 0...1, using: &noise) * jitter)
        _ = statistics.received(
          sequence: UInt16(truncatingIfNeeded: sequence),
          timestamp: origin &+ UInt32(truncatingIfNeeded: sequence * 960), source: source, payloadCount: 80,
          arrival: MonotonicInstant(microseconds: Int64(sent + late)))
      }
    }
  }

  @Test(arguments: [0.0, 300, -300], [0.0, 5, 20])
  func aClockThatIsWrongIsMeasuredUnderJitter(_ partsPerMillion: Double, _ jitter: Double) throws {
    var stream = Stream(partsPerMillion, jitter: jitter)
    stream.run(seconds: 30)
    #expect(stream.statistics.clockDrift == nil, "too early to say")
    stream.run(seconds: 10)
    let early = try #require(stream.statistics.clockDrift)
    #expect(abs(early - partsPerMillion) < 25, "\(early)")
    stream.run(seconds: 300)
    let late = try #require(stream.statistics.clockDrift)
    #expect(abs(late - partsPerMillion) < 5, "\(late)")
  }

  @Test func aNetworkWhoseDelayMovesIsNoClock() {
    var stream = Stream(0, jitter: 5)
    stream.run(seconds: 60)
    stream.delay = 100
    stream.run(seconds: 30)
    #expect(stream.statistics.clockDrift == nil)
    // Two minutes later that is forgotten.
    stream.run(seconds: 150)
    #expect(stream.statistics.clockDrift.map { abs($0) < 5 } ?? false)
  }

  @Test func anotherSourceBeginsAnew() {
    var stream = Stream(300, jitter: 5)
    stream.run(seconds: 60)
    #expect(stream.statistics.clockDrift != nil)
    stream.source = 2
    stream.run(seconds: 20)
    #expect(stream.statistics.clockDrift == nil)
    // As do time stamps of another origin.
    stream.run(seconds: 40)
    #expect(stream.statistics.clockDrift != nil)
    stream.origin &+= 2_000_000_000
    stream.run(seconds: 20)
    #expect(stream.statistics.clockDrift == nil)
  }

  @Test func aSenderThatPausesIsMeasuredAsWell() throws {
    var stream = Stream(-300, jitter: 2)
    stream.run(seconds: 120, sendsEach: 20)
    let found = try #require(stream.statistics.clockDrift)
    #expect(abs(found + 300) < 40, "\(found)")
  }

  @Test func itIsInTheStatisticsOfALeg() throws {
    let network = RoomNetwork()
    let fast = try network.add(.pcmu)
    let slow = try network.add(.opus)
    fast.period /= 1 + 300.0 / 1_000_000
    slow.period /= 1 - 300.0 / 1_000_000
    for phone in [fast, slow] { phone.says = { _ in 0 } }
    func drift(_ phone: RoomNetwork.Phone) -> Double? {
      for case .statistics(_, let statistics) in network.told(phone).reversed() {
        return statistics.received.clockDrift
      }
      return nil
    }
    network.run(milliseconds: 20_000)
    #expect(drift(fast) == nil)
    network.run(milliseconds: 40_000)
    let found = (try #require(drift(fast)), try #require(drift(slow)))
    #expect(abs(found.0 - 300) < 10 && abs(found.1 + 300) < 10, "\(found)")
  }
}
