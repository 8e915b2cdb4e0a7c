import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// How long sound waits in a room.
@Suite struct RoomDelayTests {
  /// Bursts of a tone, 300 ms every two seconds, over what goes on between them.
  private static func bursts(_ phone: RoomNetwork.Phone, between: Double) {
    phone.says = { place in
      let isLoud = place % 16_000 < 2_400
      return TestSound.sine(400, samples: 1, from: place, level: isLoud ? 10_000 : between)[0]
    }
  }

  /// Milliseconds from when a packet with the beginning of a burst was sent to when a listener was sent it.
  private static func delays(_ network: RoomNetwork, _ speaker: RoomNetwork.Phone, _ listener: RoomNetwork.Phone)
    -> [Double]
  {
    let loud = listener.heard.map { $0.peak > 8_000 }
    let onsets = zip(loud, loud.dropFirst()).enumerated().filter { !$1.0 && $1.1 }.map { $0.offset + 1 }
    return onsets.map { onset in
      let at = Double(listener.heard[onset].at.microseconds - 1_000_000)
      let burst = (at / (speaker.period * 100)).rounded(.down) * speaker.period * 100
      return (at - burst) / 1_000
    }
  }

  @Test(arguments: [(300.0, 0.0), (-300, 0), (300, 3_000), (-300, 3_000)])
  func aClockThatIsWrongAddsNoDelay(_ partsPerMillion: Double, _ between: Double) throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    speaker.period /= 1 + partsPerMillion / 1_000_000
    Self.bursts(speaker, between: between)
    network.run(milliseconds: 600_000)
    let delays = Self.delays(network, speaker, listener)
    #expect(delays.count >= 295)
    // Without a pause sound waits until there is too much of it.
    #expect(delays.allSatisfy { $0 <= (between == 0 ? 70 : 130) }, "\(delays.max() ?? 0)")
  }

  @Test func onACalmNetworkSoundWaitsAFrameOrTwo() throws {
    let network = RoomNetwork()
    let listener = try network.add(.pcmu)
    let speaker = try network.add(.pcmu)
    Self.bursts(speaker, between: 0)
    network.run(milliseconds: 20_000)
    let delays = Self.delays(network, speaker, listener)
    #expect(delays.count >= 9 && delays.allSatisfy { (20...50).contains($0) }, "\(delays)")
  }

  @Test func afterABurstTheDelayIsGoneWithTheFirstPause() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    speaker.hum(400)
    network.run(milliseconds: 2_000)
    #expect(network.waiting(speaker) <= 60)
    speaker.isStalled = true
    network.run(milliseconds: 1_000)
    speaker.isStalled = false
    network.run(milliseconds: 40)
    #expect(network.waiting(speaker) > 900)
    speaker.says = { _ in 0 }
    network.run(milliseconds: 3_000)
    #expect(network.waiting(speaker) <= 60, "\(network.waiting(speaker))")
    // All of what was said is heard; only the pause is shorter.
    let loud = listener.heard.filter { $0.peak > 2_000 && $0.at > MonotonicInstant(milliseconds: 4_000) }.count
    #expect(loud >= 45)
    speaker.hum(400)
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) > 3_700)
  }

  @Test func whoNeverPausesIsNotLeftBehindForEver() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    try network.add(.pcmu)
    speaker.hum(400)
    network.run(milliseconds: 1_000)
    speaker.isStalled = true
    network.run(milliseconds: 1_000)
    speaker.isStalled = false
    network.run(milliseconds: 12_000)
    #expect(network.waiting(speaker) <= 140, "\(network.waiting(speaker))")
  }

  @Test func aThreadThatComesLateMakesUpForFiveFrames() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    speaker.hum(400)
    network.run(milliseconds: 1_000)
    #expect(network.hall.conferenceSeats == 2)
    for (late, made, leftOut) in [(60, 4, 0), (100, 5, 1), (1_000, 5, 46)] {
      // Just before a frame is due.
      let due = try #require(network.hall.nextDeadline)
      network.run(milliseconds: due.milliseconds(since: network.now))
      network.isBusy = true
      network.run(milliseconds: Int64(late))
      let before = (listener.heard.count, network.hall.leftOut)
      network.isBusy = false
      network.advanceHall()
      #expect(listener.heard.count - before.0 == made, "\(late) ms")
      #expect(network.hall.leftOut - before.1 == UInt64(leftOut), "\(late) ms")
      #expect(try #require(network.hall.nextDeadline) > network.now)
      network.run(milliseconds: 3_000)
    }
    // The time of what was left out has gone by in the time stamps as well.
    let stamps = listener.heard.map(\.header.timestamp)
    let frames = zip(stamps, stamps.dropFirst()).map { Int($1 &- $0) / 160 }
    #expect(frames.filter { $0 != 1 } == [2, 47])
    #expect(listener.strength(400) > 3_700)
  }
}

extension RoomNetwork {
  /// Milliseconds of a phone's sound that wait in the room.
  func waiting(_ phone: Phone) -> Int { phone.bridge.roomDelay(of: .near) ?? 0 }
}
