import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Packets whose senders say that they are quiet (RFC 6464): in large rooms they are not decoded, and nobody hears that.
@Suite struct RoomQuietTests {
  /// A room of so many, the first of which says how loud it is.
  private static func room(_ count: Int, _ codec: AudioCodec = .opus) throws -> (
    network: RoomNetwork, speaker: RoomNetwork.Phone, listener: RoomNetwork.Phone
  ) {
    let network = RoomNetwork()
    let speaker = try network.add(codec)
    try network.agree(speaker, attributes: RoomNetwork.levels)
    let listener = try network.add(.pcmu)
    // The others never say anything.
    for _ in 2..<count { try network.add(.pcma) }
    return (network, speaker, listener)
  }

  @Test func inALargeRoomWhoSaysThatItIsSilentIs() throws {
    let (network, speaker, listener) = try Self.room(9)
    speaker.hum(400)
    speaker.level = { _ in 127 }
    network.run(milliseconds: 2_000)
    #expect(listener.strength(400) < 4 && listener.sound.allSatisfy { abs(Int($0)) < 60 })
    #expect((85...95).contains(network.hall.spared), "\(network.hall.spared)")
    #expect(!network.told(speaker).contains { if case .speaking = $0 { true } else { false } })
    // 60 below the loudest is heard, and no more than what the packet says at that moment counts.
    let before = network.hall.spared
    for level in [UInt8(60), 20, 0] {
      speaker.level = { _ in level }
      network.run(milliseconds: 1_500)
      #expect(listener.strength(400) > 3_200, "\(level)")
    }
    #expect(network.hall.spared - before <= 2)
    #expect(network.told(speaker).contains { if case .speaking(_, true, _) = $0 { true } else { false } })
    speaker.level = { _ in 61 }
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) < 4)
    // Who stops saying anything of it is decoded.
    speaker.level = nil
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) > 3_200)
  }

  @Test(arguments: [(8, AudioCodec.opus), (2, .opus), (9, .pcmu), (9, .g722)])
  func inASmallRoomAndOfOtherCodecsAllIsDecoded(_ count: Int, _ codec: AudioCodec) throws {
    let (network, speaker, listener) = try Self.room(count, codec)
    speaker.hum(400)
    speaker.level = { _ in 127 }
    network.run(milliseconds: 2_000)
    #expect(listener.strength(400) > 3_200 && network.hall.spared == 0)
  }

  @Test func aRoomThatGrowsAndShrinks() throws {
    let (network, speaker, listener) = try Self.room(8)
    speaker.hum(400)
    speaker.level = { _ in 127 }
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) > 3_200)
    let ninth = try network.add(.pcma)
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) < 4)
    network.command(ninth, .leaveRoom(.near))
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) > 3_200)
    #expect(Sound.step(listener.sound) < 1_800, "\(Sound.step(listener.sound))")
  }

  /// Without the agreement, or with another number, a block says nothing.
  @Test func whatWasNotAgreedOnSaysNothing() throws {
    for attributes in ["", RoomNetwork.levels.replacing(":5", with: ":6")] {
      let (network, speaker, listener) = try Self.room(9)
      try network.agree(speaker, attributes: attributes)
      speaker.hum(400)
      speaker.level = { _ in 127 }
      network.run(milliseconds: 2_000)
      #expect(listener.strength(400) > 3_200 && network.hall.spared == 0)
    }
  }

  /// A voice in syllables with faint noise between them, whose packets tell the truth, sounds the same as one whose packets
  /// tell nothing, from the first loud packet on; also where it comes in amid a stream, with noise at first.
  @Test(arguments: [0, 10]) func pausesThatAreNotDecodedAreNotHeard(_ loss: Int) throws {
    // -67 dBov.
    let noise = Sound.noise(samples: 16_000 * 9, amplitude: 25)
    let voice = zip(Array(repeating: 0, count: 16_000) + Sound.voice(rate: 16_000, samples: 16_000 * 8), noise)
      .map { $0 + $1 }
    func heard(_ level: (([Int16]) -> UInt8)?) throws -> (sound: [Int16], spared: UInt64) {
      let (network, speaker, listener) = try Self.room(9)
      speaker.says = { $0 < voice.count ? voice[$0] : 0 }
      speaker.level = level
      network.command(speaker, .leaveRoom(.near))
      network.run(milliseconds: 500)
      network.command(speaker, .enterRoom(.near, RoomNetwork.room, RoomOptions()))
      speaker.loss = loss
      network.run(milliseconds: 8_500)
      return (listener.sound, network.hall.spared)
    }
    let reference = try heard(nil)
    let honest = try heard { sound in
      UInt8(min(max(-sound.withUnsafeBufferPointer { SpeechLevel.level($0) }, 0), 127).rounded())
    }
    #expect(reference.spared == 0 && honest.spared > 120, "\(honest.spared) of 400")
    #expect(honest.sound.count == reference.sound.count)
    let clarity = Sound.clarity(of: honest.sound, like: reference.sound)
    #expect(clarity > (loss == 0 ? 35 : 20), "\(clarity) dB")
    #expect(Sound.step(honest.sound) <= Sound.step(reference.sound) + 100)
  }

  /// Whatever is claimed of a tone that goes on: what is heard of it comes and goes without a click.
  @Test(arguments: [1, 2, 3, 5, 8, 20]) func aLiarMakesNoClick(_ packets: Int) throws {
    let (network, speaker, listener) = try Self.room(9)
    speaker.hum(100, level: 8_000)
    var sent = 0
    speaker.level = { _ in
      sent += 1
      return sent / packets % 2 == 0 ? 127 : 10
    }
    network.run(milliseconds: 6_000)
    // 630 is the tone's own, 200 that of fading; the codecs add to both.
    #expect(Sound.step(listener.sound) < 1_600, "\(Sound.step(listener.sound))")
    #expect(listener.sound.contains { $0 > 7_000 })
  }

  @Test func whoBecomesLoudIsHeardAtOnce() throws {
    for isTold in [false, true] {
      let (network, speaker, listener) = try Self.room(9)
      speaker.says = { _ in 0 }
      if isTold { speaker.level = { sound in sound.contains { abs(Int($0)) > 100 } ? 15 : 127 } }
      network.run(milliseconds: 2_003)
      let start = listener.sound.count
      // The first loud sample is the first of a packet.
      speaker.hum(400)
      network.run(milliseconds: 200)
      let first = try #require(listener.sound[start...].firstIndex { abs(Int($0)) > 1_000 })
      #expect((first - start) < 8 * 70, "\((first - start) / 8) ms, \(isTold)")
      #expect(Sound.strength(400, in: listener.last(100), rate: 8_000) > 3_200)
      #expect(Sound.step(listener.sound) < 2_200)
    }
  }

  /// A packet that carries the one before it again has one level, its own.
  @Test func whatIsCarriedTwice() throws {
    let (network, speaker, listener) = try Self.room(9)
    try network.agree(speaker, attributes: RoomNetwork.levels, carries: 63)
    let encoder = try AudioEncoder(.opus, samplingRate: 16_000)
    var earlier: [UInt8] = []
    for (level, isHeard) in [(UInt8(127), false), (20, true), (90, false)] {
      for index in 0..<80 {
        let sound = TestSound.encode(
          TestSound.sine(400, samples: 320, from: index * 320, rate: 16_000, level: 4_000), encoder)
        let copy = UInt32(0x8000_0000) | 111 << 24 | 960 << 10 | UInt32(earlier.count)
        let heads = earlier.isEmpty ? [111] : (0..<4).map { UInt8(copy >> (24 - 8 * $0) & 0xFF) } + [111]
        network.send(heads + earlier + sound, payloadType: 63, level: level, speaker)
        speaker.timestamp &+= 960
        earlier = sound
        network.run(milliseconds: 20)
      }
      #expect((listener.strength(400) > 3_000) == isHeard, "\(level)")
    }
    #expect(network.hall.spared > 140)
  }
}
