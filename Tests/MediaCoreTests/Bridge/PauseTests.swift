import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Senders that fall silent without a word, and packets that come late.
@Suite struct PauseTests {
  /// White noise at about -60 dBov, as a quiet room has it.
  private static func room(_ generator: inout SeededNumbers) -> [Int16] {
    (0..<160).map { _ in Int16.random(in: -57...57, using: &generator) }
  }

  /// A telephone that sends room noise for a second.
  private static func talking(_ harness: BridgeHarness, _ codec: AudioCodec) throws {
    let encoder = try AudioEncoder(codec, samplingRate: 8_000)
    var generator = SeededNumbers(seed: 5)
    for _ in 0..<50 {
      harness.send(
        .far, TestSound.encode(room(&generator), encoder), ticks: UInt32(codec.clockRate / 50))
      harness.advance(milliseconds: 20)
    }
  }

  private static func steps(_ packets: some BidirectionalCollection<BridgeHarness.Packet>) -> [UInt32] {
    zip(packets, packets.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
  }

  @Test(arguments: [AudioCodec.pcmu, .pcma, .g722], [0, 50])
  func aLongPauseIsFilledWithTheNoiseBehindTheVoice(_ codec: AudioCodec, _ lost: UInt16) throws {
    let harness = try BridgeHarness(.opus, codec)
    try PauseTests.talking(harness, codec)
    let before = harness.heard(.near).count
    harness.advance(milliseconds: 1_000)
    let filled = Array(harness.heard(.near)[before...])
    // From 200 ms on, 20 ms each.
    #expect((38...42).contains(filled.count))
    #expect(PauseTests.steps(filled).allSatisfy { $0 == 960 })
    let first = try #require(filled.first)
    let last = harness.heard(.near)[before - 1]
    let silence = first.header.timestamp &- last.header.timestamp
    #expect((9_000...11_000).contains(silence))

    // Loud as the room was, within 6 dB.
    let decoder = try AudioDecoder(.opus, samplingRate: 8_000)
    var power = 0.0
    var samples = 0
    for packet in filled.dropFirst(5) {
      for sample in TestSound.decode(packet.payload, decoder) {
        power += Double(sample) * Double(sample)
        samples += 1
      }
    }
    let room = 57.0 * 57.0 / 3
    #expect((room / 4...room * 4).contains(power / Double(max(samples, 1))))

    // Sound again, with the numbers of the pause missing or not: it follows on, and nothing is made up for the pause.
    harness.phones[.far]?.sequence &+= lost
    harness.phones[.far]?.timestamp &+= UInt32(codec.clockRate)
    let resumed = harness.heard(.near).count
    try PauseTests.talking(harness, codec)
    let after = harness.heard(.near)[(resumed - 1)...]
    #expect((50...51).contains(after.count - 1))
    #expect(PauseTests.steps(after).allSatisfy { (960...1_920).contains($0) })
    let all = harness.heard(.near)
    #expect(zip(all, all.dropFirst()).allSatisfy { $1.header.sequence &- $0.header.sequence == 1 })
  }

  @Test func aShortGapIsConcealedAndNotFilled() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try PauseTests.talking(harness, .pcmu)
    let before = harness.heard(.near).count
    harness.advance(milliseconds: 140)
    #expect(harness.heard(.near).count == before)
    harness.phones[.far]?.sequence &+= 7
    harness.phones[.far]?.timestamp &+= 7 * 160
    try PauseTests.talking(harness, .pcmu)
    #expect(harness.heard(.near).count == before + 57)
    #expect(PauseTests.steps(harness.heard(.near)).allSatisfy { $0 == 960 })
  }

  /// Opus says itself what a pause sounds like, and a telephone that holds the call wants silence.
  @Test func opusAndHoldAreNotFilled() throws {
    let opus = try BridgeHarness(.pcmu, .opus)
    try PauseTests.talking(opus, .opus)
    let before = opus.heard(.near).count
    opus.advance(milliseconds: 1_000)
    #expect(opus.heard(.near).count == before)

    let held = try BridgeHarness(.opus, .pcmu)
    try PauseTests.talking(held, .pcmu)
    try held.agree(.far, "a=recvonly\r\n", clock: 8_000)
    let quiet = held.heard(.near).count
    held.advance(milliseconds: 1_000)
    #expect(held.heard(.near).count == quiet)
  }

  /// What a stalled network delivers at once is all heard, behind the noise that took its place.
  @Test func aBurstAfterAStallKeepsItsSoundAndItsOrder() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try PauseTests.talking(harness, .pcmu)
    harness.advance(milliseconds: 500)
    let encoder = try AudioEncoder(.pcmu, samplingRate: 8_000)
    let before = harness.heard(.near).count
    for _ in 0..<25 {
      harness.send(.far, TestSound.encode(TestSound.sine(440, samples: 160), encoder), ticks: 160)
    }
    let burst = harness.heard(.near)[(before - 1)...]
    #expect(burst.count == 26)
    #expect(PauseTests.steps(burst).allSatisfy { (960...1_920).contains($0) })
  }

  /// 30 ms where packets come evenly, up to 60 ms where they do not, and 30 ms again afterwards.
  @Test func theWaitForALatePacketFollowsTheJitter() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    let encoder = try AudioEncoder(.pcmu, samplingRate: 8_000)
    let payload = TestSound.encode(TestSound.sine(440, samples: 160), encoder)
    func wait() -> Int64 {
      harness.send(.far, payload, ticks: 160, lost: true)
      let before = harness.heard(.near).count
      harness.send(.far, payload, ticks: 160)
      var waited: Int64 = 0
      while harness.heard(.near).count == before, waited < 200 {
        harness.advance(milliseconds: 1)
        waited += 1
      }
      return waited
    }
    func settle(_ delays: [Int64]) {
      for index in 0..<100 {
        let delay = delays[index % delays.count]
        harness.advance(milliseconds: delay)
        harness.send(.far, payload, ticks: 160)
        harness.advance(milliseconds: max(0, 40 - delay))
        harness.send(.far, payload, ticks: 160)
      }
    }
    settle([20])
    #expect((29...31).contains(wait()))
    settle([0, 40])
    #expect((40...60).contains(wait()))
    settle([20])
    #expect((29...31).contains(wait()))
  }
}
