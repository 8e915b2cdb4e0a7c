import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// A sound that is played to both legs beneath their talk.
@Suite struct BeneathTests {
  private static let tone = 1_900.0

  private func sound(milliseconds: Int) throws -> PlayableSound {
    try PlayableSound(PlayableSoundTests.tone(Self.tone, milliseconds: milliseconds), samplingRate: 16_000)
  }

  /// What a phone has heard from a packet on, in the order of its packets, at 8 kHz.
  private func heard(_ stage: HummingBridge, _ leg: LegID, from first: Int = 0) throws -> [Int16] {
    let codec = try #require(stage.harness.phones[leg]?.codec)
    let decoder = try AudioDecoder(codec, samplingRate: codec == .g722 ? 16_000 : 8_000)
    let samples = stage.harness.heard(leg).dropFirst(first).flatMap { TestSound.decode($0.payload, decoder) }
    return codec == .g722 ? stride(from: 0, to: samples.count, by: 2).map { samples[$0] } : samples
  }

  private func strength(_ frequency: Double, _ samples: some Collection<Int16>) -> Double {
    Sound.strength(frequency, in: samples, rate: 8_000)
  }

  @Test(arguments: [
    (AudioCodec.pcmu, AudioCodec.pcmu), (.pcma, .opus), (.opus, .opus), (.g722, .pcmu),
  ])
  func bothHearItAndEachOther(_ left: AudioCodec, _ right: AudioCodec) throws {
    let stage = try HummingBridge(left, right)
    stage.hum(milliseconds: 1_000)
    let before = stage.harness.heard(.near).count
    stage.harness.command(.playBeneath(try sound(milliseconds: 2_000)))
    stage.hum(milliseconds: 2_000)
    for (leg, other) in [(LegID.near, 1_000.0), (.far, 440.0)] {
      let during = try heard(stage, leg).suffix(8_000)
      #expect(strength(other, during) > 6_000 && strength(Self.tone, during) > 6_000, "\(leg) of \(left), \(right)")
      #expect(strength(leg == .near ? 440 : 1_000, during) < 300, "nobody hears itself")
    }
    stage.hum(milliseconds: 1_500)
    for (leg, other) in [(LegID.near, 1_000.0), (.far, 440.0)] {
      let after = try heard(stage, leg).suffix(8_000)
      #expect(strength(other, after) > 6_000 && strength(Self.tone, after) < 150, "\(leg) of \(left), \(right)")
    }
    #expect(stage.harness.workspace.hall.count == 0 && stage.harness.workspace.hall.nextDeadline == nil)
    // The stream goes on: no number is missing, and there is a packet for each 20 ms but for the two changes.
    let packets = stage.harness.heard(.near)
    #expect((220...228).contains(packets.count) && (49...50).contains(before), "\(packets.count)")
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.header.sequence == one.header.sequence &+ 1)
      #expect(Int32(bitPattern: next.header.timestamp &- one.header.timestamp) > 0)
    }
  }

  /// It goes on in the pauses of both, which send nothing then.
  @Test func itNeedsNobodysPackets() throws {
    let stage = try HummingBridge(.pcmu, .pcma)
    stage.hum(milliseconds: 500)
    stage.harness.command(.playBeneath(try sound(milliseconds: 3_000)))
    stage.harness.advance(milliseconds: 2_500)
    for leg in [LegID.near, .far] {
      #expect(strength(Self.tone, try heard(stage, leg).suffix(8_000)) > 6_000)
    }
  }

  @Test func aMutedSideIsNotHeardAndAnotherSoundTakesItsPlace() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.mute(.near, true))
    stage.harness.command(.playBeneath(try sound(milliseconds: 5_000)))
    stage.hum(milliseconds: 1_000)
    let silence = try PlayableSound([Int16](repeating: 0, count: 16_000), samplingRate: 16_000)
    #expect(strength(440, try heard(stage, .far).suffix(4_000)) < 100)
    stage.harness.command(.playBeneath(silence))
    stage.hum(milliseconds: 600)
    #expect(strength(Self.tone, try heard(stage, .near).suffix(4_000)) < 100)
    #expect(strength(1_000, try heard(stage, .near).suffix(4_000)) > 6_000)
    stage.hum(milliseconds: 600)
    #expect(stage.harness.workspace.hall.count == 0)
  }

  /// Ended by word, and by all that changes who talks to whom.
  @Test func itEndsWithTheTalkOfTheTwo() throws {
    let commands: [MediaCommand] = [
      .playBeneath(nil), .part(.far), .detach(.near), .leaveRoom(.near), .close,
      .enterRoom(.far, RoomIdentifier(rawValue: 3), RoomOptions()),
    ]
    for command in commands {
      let stage = try HummingBridge(.pcmu, .pcma)
      stage.harness.command(.playBeneath(try sound(milliseconds: 2_000)))
      stage.hum(milliseconds: 200)
      // No conference: what comes for it is not gathered for longer than for any call.
      #expect(stage.harness.workspace.hall.count == 1 && stage.harness.workspace.hall.conferenceSeats == 0)
      stage.harness.command(command)
      stage.hum(milliseconds: 200)
      let rooms = if case .enterRoom = command { 1 } else { 0 }
      #expect(stage.harness.workspace.hall.count == rooms, "\(command)")
      stage.harness.advance(milliseconds: 3_000)
      #expect(stage.harness.workspace.hall.count == rooms, "\(command)")
    }
  }

  /// A bridge of one leg has nobody to talk to, and one in a conference hears what is played there.
  @Test func thereMustBeTwoWhoTalk() throws {
    let stage = try HummingBridge(.pcmu, .pcma)
    stage.harness.command(.enterRoom(.near, RoomIdentifier(rawValue: 3), RoomOptions()))
    stage.harness.command(.playBeneath(try sound(milliseconds: 500)))
    #expect(stage.harness.workspace.hall.count == 1)
    stage.harness.command(.leaveRoom(.near))
    stage.harness.command(.detach(.far))
    stage.harness.command(.playBeneath(try sound(milliseconds: 500)))
    #expect(stage.harness.workspace.hall.count == 0)
  }

  /// Whoever is put through meanwhile is heard by the one who stays.
  @Test func aTransferEndsIt() throws {
    let stage = try HummingBridge(.pcmu, .pcma)
    stage.harness.command(.playBeneath(try sound(milliseconds: 5_000)))
    stage.hum(milliseconds: 300)
    stage.harness.command(.part(.far))
    stage.harness.command(.join(.far))
    stage.hum(milliseconds: 600)
    #expect(strength(1_000, try heard(stage, .near).suffix(4_000)) > 6_000)
    #expect(strength(440, try heard(stage, .far).suffix(4_000)) > 6_000)
  }

  @Test(arguments: [8_000, nil] as [Int?]) func keysReachTheOtherSide(_ rightEvents: Int?) throws {
    let harness = try BridgeHarness(.pcmu, .pcmu, rightEvents: rightEvents)
    harness.command(.playBeneath(try PlayableSound([Int16](repeating: 0, count: 64_000), samplingRate: 16_000)))
    var receiver = TelephoneEventReceiver(clockRate: 8_000)
    var told: [DigitPressed] = []
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    let detector = DTMFDetector(samplingRate: 8_000)
    harness.press([4, 2], milliseconds: 100, pause: 100, steps: 150) { packet in
      if packet.header.payloadType == 101 {
        let payload = PacketBuffer(packet.payload)
        receiver.receive(
          payload, offset: 0, count: payload.count, marker: packet.header.marker, sequence: packet.header.sequence,
          timestamp: packet.header.timestamp, at: packet.at, digits: &told)
      } else if rightEvents == nil {
        let sound = SampleBuffer(TestSound.decode(packet.payload, decoder))
        detector.process(sound, from: 0, count: sound.count, digits: &told)
      }
    }
    detector.finish(digits: &told)
    #expect(String(told.map(\.character)) == "42")
    #expect(harness.digits == ["near 4", "near 2"])
  }
}
