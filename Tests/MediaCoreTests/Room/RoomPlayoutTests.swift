import CallModel
import Foundation
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// How long sound waits in rooms for what the network does, and what is missing of it.
@Suite struct RoomPlayoutTests {
  /// What networks do to packets.
  enum Network: String, CaseIterable, CustomTestStringConvertible {
    case still, uneven5, uneven20, normal5, normal20, bursty

    var testDescription: String { rawValue }

    /// Microseconds that each packet is on its way, by a seed: evenly or normally spread, or one in a hundred far too late.
    func transit(_ seed: UInt64) -> () -> Double {
      var noise = SeededNoise(state: seed)
      func even() -> Double { Double.random(in: 0..<1, using: &noise) }
      func normal() -> Double { (-2 * log(1 - even())).squareRoot() * cos(2 * .pi * even()) }
      switch self {
      case .still: return { 0 }
      case .uneven5: return { 5_000 * even() }
      case .uneven20: return { 20_000 * even() }
      case .normal5: return { max(0, 20_000 + 5_000 * normal()) }
      case .normal20: return { max(0, 80_000 + 20_000 * normal()) }
      case .bursty: return { even() < 0.01 ? 30_000 + 60_000 * even() : 3_000 * even() }
      }
    }

    /// Of it, what all packets are on their way.
    var constant: Double {
      switch self {
      case .normal5: 20_000
      case .normal20: 80_000
      default: 0
      }
    }
  }

  struct Outcome: CustomStringConvertible {
    /// Milliseconds, ascending.
    var delays: [Double] = []
    var concealed = 0.0
    var packets = 0.0
    var lost = 0.0
    var median: Double { share(0.5) }
    /// The delay that so many bursts, 0 to 1, had at most.
    func share(_ part: Double) -> Double {
      delays.isEmpty ? .infinity : delays[Int(Double(delays.count - 1) * part)]
    }
    var description: String {
      "median \(median) ms, \(share(0)) to \(share(1)) in \(delays.count) bursts; "
        + "\(concealed) made up of \(packets), \(lost) lost"
    }
  }

  /// Two phones in each of some rooms; one of them speaks for 1.2 s of every two and is quiet otherwise.
  /// - Parameter between: how loud the noise is in which it does.
  static func measure(
    _ network: Network, codec: AudioCodec = .pcmu, loss: Int = 0, packetTime: Int = 20, seconds: Int64 = 60,
    between: Double = 20
  ) throws -> Outcome {
    let all = RoomNetwork()
    var pairs: [(speaker: RoomNetwork.Phone, listener: RoomNetwork.Phone, first: Double)] = []
    for index in 0..<12 {
      let room = RoomIdentifier(rawValue: UInt64(100 + index))
      func enter() throws -> RoomNetwork.Phone {
        let phone = try all.add(codec, packetTime: packetTime, room: nil)
        all.command(phone, .enterRoom(.near, room, RoomOptions()))
        return phone
      }
      let pair = (try enter(), try enter())
      pair.0.transit = network.transit(UInt64(index + 1))
      pair.0.loss = loss
      let rate = pair.0.rate
      pair.0.says = { place in
        let isLoud = place % (2 * rate) < rate * 6 / 5
        return Int16((isLoud ? 10_000 : between) * sin(2 * .pi * 400 * Double(place) / Double(rate)))
      }
      pairs.append((pair.0, pair.1, pair.0.nextSend))
    }
    all.run(milliseconds: seconds * 1_000)
    var outcome = Outcome()
    for pair in pairs {
      let loud = pair.listener.heard.map { $0.peak > 8_000 }
      for index in loud.indices.dropFirst() where loud[index] && !loud[..<index].suffix(10).contains(true) {
        let at = Double(pair.listener.heard[index].at.microseconds) - pair.first - network.constant
        let turn = pair.speaker.period * 2_000 / Double(packetTime)
        let delay = at - (at / turn).rounded(.down) * turn
        outcome.delays.append(delay / 1_000)
      }
      outcome.concealed += concealed(all, pair.speaker)
      let received = statistics(all, pair.speaker).received
      outcome.packets += Double(received.packets)
      outcome.lost += Double(received.lost)
    }
    outcome.delays.sort()
    return outcome
  }

  static func statistics(_ network: RoomNetwork, _ phone: RoomNetwork.Phone) -> MediaStatistics {
    for case .statistics(_, let statistics) in network.told(phone).reversed() { return statistics }
    return MediaStatistics()
  }

  /// Packets of a phone that had to be made up.
  static func concealed(_ network: RoomNetwork, _ phone: RoomNetwork.Phone) -> Double {
    Double(statistics(network, phone).received.concealed)
  }

  @Test(arguments: [(Network.still, 20.0), (.uneven5, 26), (.normal5, 36), (.uneven20, 46)])
  func soundWaitsForTheSlowestPacketAndNoLonger(_ network: Network, _ most: Double) throws {
    for codec in [AudioCodec.pcmu, .opus] {
      let outcome = try Self.measure(network, codec: codec, seconds: codec == .pcmu ? 60 : 30)
      #expect(outcome.concealed == 0, "\(codec): \(outcome)")
      #expect(outcome.median <= most, "\(codec): \(outcome)")
      // What is known at the beginning is too little to wait for less.
      #expect(outcome.share(1) <= 72 && outcome.share(0) >= 5, "\(codec): \(outcome)")
    }
  }

  @Test(arguments: [(Network.normal20, 60), (.bursty, 200)])
  func onABadNetworkLittleIsMadeUp(_ network: Network, _ most: Double) throws {
    let outcome = try Self.measure(network)
    #expect(outcome.concealed <= most && outcome.share(1) <= 145, "\(outcome)")
  }

  @Test func whereNobodyIsEverQuietNothingIsLeftOut() throws {
    for network in [Network.still, .uneven5, .uneven20] {
      let outcome = try Self.measure(network, between: 1_000)
      #expect(outcome.concealed == 0 && outcome.share(1) <= 75, "\(outcome)")
    }
  }

  @Test func packetsOf60MillisecondsWaitForLessThanOne() throws {
    for (network, most) in [(Network.still, 45.0), (.uneven20, 70)] {
      let outcome = try Self.measure(network, packetTime: 60)
      #expect(outcome.concealed == 0 && outcome.median <= most, "\(outcome)")
    }
  }

  /// What is missing is recovered from the packet behind it, which must have come by then.
  @Test func wherePacketsAreLostTheNextOneIsWaitedFor() throws {
    for network in [Network.still, .uneven5] {
      let calm = try Self.measure(network)
      let lossy = try Self.measure(network, loss: 3)
      #expect((15...25).contains(lossy.median - calm.median), "\(lossy)")
      // No more is made up than is missing.
      #expect(lossy.concealed <= 1.01 * lossy.lost, "\(lossy)")
    }
  }

  @Test func aNetworkThatBecomesUnevenIsFollowedWithinAPause() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    func speak() { speaker.says = { place in Int16(place % 16_000 < 9_600 ? (place % 20 < 10 ? 8_000 : -8_000) : 0) } }
    speak()
    network.run(milliseconds: 10_000)
    #expect(network.waiting(speaker) <= 40)
    speaker.transit = Network.uneven20.transit(3)
    network.run(milliseconds: 4_000)
    let before = Self.concealed(network, speaker)
    network.run(milliseconds: 60_000)
    #expect(Self.concealed(network, speaker) == before && before <= 5)
    speaker.transit = nil
    network.run(milliseconds: 8_000)
    #expect(network.waiting(speaker) <= 40)
    #expect(Self.concealed(network, speaker) == before)
    withExtendedLifetime(listener) {}
  }

  /// Time stamps that leap, and those that never move, are a stranger's right.
  @Test func timeStampsOfAnyKindAreSurvived() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    try network.add(.opus)
    speaker.hum(400)
    var noise = SeededNoise(state: 9)
    for _ in 0..<400 {
      speaker.timestamp = UInt32.random(in: 0...UInt32.max, using: &noise)
      network.run(milliseconds: 20)
    }
    for step in [0, UInt32(1) << 31, 0x7FFF_FFFF, 235_000, 0xFFFF_FF00] {
      for _ in 0..<200 {
        speaker.timestamp &+= step &- 160
        network.run(milliseconds: 20)
      }
    }
    network.run(milliseconds: 5_000)
    #expect(network.waiting(speaker) <= 200)
  }

  @Test func aClockThatLeapsKeepsNobodyWaiting() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    for (pause, leap) in [(Int64(1_000), UInt32(24_000)), (1_000, 0), (0, 24_000)] {
      speaker.hum(400)
      network.run(milliseconds: 5_000)
      speaker.says = pause > 0 ? nil : { _ in 0 }
      network.run(milliseconds: pause)
      speaker.timestamp &+= leap
      speaker.hum(400)
      network.run(milliseconds: 200)
      #expect(listener.heard.last.map { $0.peak > 3_000 } ?? false, "\(leap)")
      #expect(network.waiting(speaker) <= 200)
    }
  }
}
