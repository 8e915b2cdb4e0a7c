import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// What those who are recorded hear of it, guests in a bridge's own room, and the track of one participant.
@Suite struct RecordingToneTests {
  private static let tone = 1_400.0
  private static let own = RoomIdentifier(of: BridgeIdentifier(rawValue: 0))

  private func strength(_ frequency: Double, _ samples: some Collection<Int16>, _ rate: Int) -> Double {
    Sound.strength(frequency, in: samples, rate: rate)
  }

  /// Where the tone begins, in parts of 100 ms.
  private func tones(_ samples: [Int16], rate: Int) -> [Int] {
    let part = rate / 10
    let heard = (0..<samples.count / part).map { strength(Self.tone, samples[$0 * part..<($0 + 1) * part], rate) > 800 }
    return heard.indices.filter { heard[$0] && ($0 == 0 || !heard[$0 - 1]) }
  }

  @Test func allInARoomHearItEvery15Seconds() throws {
    let network = RoomNetwork()
    let first = try network.add(.pcmu)
    let second = try network.add(.g722)
    first.hum(400)
    network.run(milliseconds: 1_000)
    network.command(first, .toneInRoom(RoomNetwork.room, true))
    network.run(milliseconds: 31_000)
    network.command(first, .toneInRoom(RoomNetwork.room, false))
    network.run(milliseconds: 20_000)
    for phone in [first, second] {
      let places = tones(phone.sound, rate: phone.rate)
      #expect(places.count == 3, "\(places)")
      for (one, next) in zip(places, places.dropFirst()) { #expect(abs(next - one - 150) <= 1) }
    }
    #expect(second.strength(400) > 3_000, "whoever speaks is heard all the while")
  }

  @Test func theTwoOfACallHearItBeneathTheirTalk() throws {
    let stage = try HummingBridge(.pcmu, .opus)
    stage.hum(milliseconds: 500)
    stage.harness.command(.toneBeneath(true))
    stage.hum(milliseconds: 16_000)
    #expect(stage.harness.workspace.hall.count == 1)
    // A sound of another kind ends; the tone goes on. So it does for whoever is put through.
    stage.harness.command(.playBeneath(try PlayableSound([Int16](repeating: 0, count: 8_000), samplingRate: 16_000)))
    stage.hum(milliseconds: 2_000)
    #expect(stage.harness.workspace.hall.count == 1)
    stage.harness.command(.part(.far))
    #expect(stage.harness.workspace.hall.count == 0, "nobody is recorded with whoever waits")
    stage.harness.command(.join(.far))
    #expect(stage.harness.workspace.hall.count == 1)
    stage.hum(milliseconds: 2_000)
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    let heard = stage.harness.heard(.near).flatMap { TestSound.decode($0.payload, decoder) }
    #expect(tones(heard, rate: 8_000).count == 3, "\(tones(heard, rate: 8_000))")
    #expect(strength(1_000, heard.suffix(4_000), 8_000) > 6_000)
    stage.harness.command(.toneBeneath(false))
    #expect(stage.harness.workspace.hall.count == 0 && stage.harness.workspace.hall.nextDeadline == nil)
    stage.hum(milliseconds: 1_000)
    let after = stage.harness.heard(.near).suffix(25).flatMap { TestSound.decode($0.payload, decoder) }
    #expect(strength(1_000, after, 8_000) > 6_000)
  }

  /// Three talk with each other in the room of a bridge's own, and two when the guest has left.
  @Test func aGuestTalksWithTheLegsOfABridge() throws {
    let network = RoomNetwork()
    let host = try network.add(.pcmu, room: nil)
    let guest = try network.add(.opus, room: nil)
    host.hum(400)
    guest.hum(1_100)
    network.command(host, .shareRoom(true))
    network.command(guest, .enterRoom(.near, Self.own, RoomOptions()))
    network.run(milliseconds: 2_000)
    #expect(network.hall.count == 1)
    #expect(host.strength(1_100) > 3_000 && guest.strength(400) > 3_000)
    #expect(host.strength(400) < 200 && guest.strength(1_100) < 200)
    network.command(guest, .close)
    network.command(host, .shareRoom(false))
    network.run(milliseconds: 100)
    #expect(network.hall.count == 0)
  }

  @Test func theTwoOfABridgeShareTheirRoom() throws {
    let stage = try HummingBridge(.pcmu, .pcma)
    stage.harness.command(.shareRoom(true))
    stage.hum(milliseconds: 1_000)
    #expect(stage.harness.workspace.hall.count == 1 && stage.harness.workspace.hall.conferenceSeats == 0)
    stage.harness.command(.detach(.far))
    #expect(stage.harness.workspace.hall.count == 1, "the one who stays talks with the guests")
    stage.harness.command(.shareRoom(false))
    #expect(stage.harness.workspace.hall.count == 0)
  }

  /// What comes from one, without what it hears; silence while it is muted.
  @Test(arguments: [AudioCodec.pcmu, .opus]) func aTrackIsWhatComesFromOne(_ codec: AudioCodec) throws {
    let network = RoomNetwork()
    let first = try network.add(codec)
    let second = try network.add(.g722)
    first.hum(400)
    second.hum(1_100)
    network.run(milliseconds: 1_000)
    network.command(first, .record(.sound))
    network.run(milliseconds: 2_000)
    network.command(first, .mute(.near, true))
    network.run(milliseconds: 2_000)
    network.command(first, .record(nil))
    let track = network.sound(first.bridge)
    let rate = RecordingEncoder.samplingRate
    #expect(abs(track.count - 4 * rate) <= 320)
    #expect(strength(400, track[rate / 2..<3 * rate / 2], rate) > 3_000)
    #expect(strength(1_100, track[rate / 2..<3 * rate / 2], rate) < 60)
    #expect(track[5 * rate / 2..<7 * rate / 2].allSatisfy { $0 == 0 })
    #expect(network.recordingEnds(first.bridge) == 1)
  }
}
