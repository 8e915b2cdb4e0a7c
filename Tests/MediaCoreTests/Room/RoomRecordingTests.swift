import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// What is heard in a room, in a file.
@Suite struct RoomRecordingTests {
  private func strength(_ frequency: Double, _ samples: some Collection<Int16>) -> Double {
    Sound.strength(frequency, in: samples, rate: RecordingEncoder.samplingRate)
  }

  @Test(arguments: [[AudioCodec.pcmu, .pcma], [.opus, .g722]]) func allThatIsHeardIsRecorded(_ codecs: [AudioCodec])
    throws
  {
    let network = RoomNetwork()
    let first = try network.add(codecs[0])
    let second = try network.add(codecs[1])
    first.hum(400)
    second.hum(1_100)
    network.run(milliseconds: 1_000)
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.run(milliseconds: 3_007)
    let pieces = network.recorded(recorder)
    #expect(pieces.count == 3 * 32_000 && network.recordingEnds(recorder) == 0)
    network.command(recorder, .record(nil))
    let sound = network.sound(recorder)
    #expect(abs(sound.count - 3_007 * 16) <= 320)
    let middle = sound[8_000..<44_000]
    #expect(strength(400, middle) > 3_300 && strength(1_100, middle) > 3_300, "\(codecs)")
    network.run(milliseconds: 2_000)
    #expect(network.recordingEnds(recorder) == 1 && network.sound(recorder).count == sound.count)
    // It may be recorded again.
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.run(milliseconds: 1_000)
    network.command(recorder, .close)
    #expect(network.recordingEnds(recorder) == 2 && network.sound(recorder).count > sound.count + 15_000)
  }

  @Test(arguments: [AudioCodec.pcmu, .g722]) func whatIsPlayedIsHeardBesideWhatIsSaid(_ codec: AudioCodec) throws {
    let network = RoomNetwork()
    let first = try network.add(codec)
    _ = try network.add(.pcmu)
    first.hum(400)
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    let sound = try PlayableSound(PlayableSoundTests.tone(1_100, milliseconds: 1_000), samplingRate: 16_000)
    network.run(milliseconds: 1_000)
    network.command(recorder, .playInRoom(RoomNetwork.room, sound))
    network.run(milliseconds: 2_000)
    network.command(recorder, .playInRoom(RoomNetwork.room, sound))
    network.run(milliseconds: 500)
    network.command(recorder, .playInRoom(RoomNetwork.room, nil))
    network.run(milliseconds: 500)
    network.command(recorder, .record(nil))
    let heard = network.sound(recorder)
    for (part, isPlayed) in [(1_600..<14_400, false), (17_600..<30_400, true), (33_600..<46_400, false)] {
      #expect(strength(400, heard[part]) > 3_300)
      #expect(isPlayed ? strength(1_100, heard[part]) > 6_500 : strength(1_100, heard[part]) < 100, "\(part)")
    }
    #expect(strength(1_100, heard[48_800..<55_200]) > 6_500 && strength(1_100, heard[57_600..<63_000]) < 100)
  }

  @Test func aWideRoomIsRecordedWide() throws {
    let network = RoomNetwork()
    let narrow = try network.add(.pcmu)
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    narrow.hum(400)
    network.run(milliseconds: 2_000)
    // The room becomes wide with it.
    let wide = try network.add(.g722)
    wide.hum(6_000)
    network.run(milliseconds: 2_000)
    network.command(recorder, .record(nil))
    let sound = network.sound(recorder)
    #expect(abs(sound.count - 64_000) <= 320)
    #expect(strength(400, sound[8_000..<31_000]) > 3_300)
    #expect(strength(400, sound[40_000..<63_000]) > 3_300 && strength(6_000, sound[40_000..<63_000]) > 2_500)
  }

  @Test func silenceAndPausesLastAsLongAsTheTime() throws {
    let network = RoomNetwork()
    let phone = try network.add(.pcmu)
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.run(milliseconds: 2_000)
    phone.hum(400)
    network.run(milliseconds: 2_000)
    network.command(recorder, .pauseRecording(true))
    network.run(milliseconds: 2_000)
    network.command(recorder, .pauseRecording(false))
    network.run(milliseconds: 2_000)
    // The thread is busy for longer than is made up for.
    network.isBusy = true
    network.run(milliseconds: 3_000)
    network.isBusy = false
    network.run(milliseconds: 1_000)
    network.command(recorder, .record(nil))
    let sound = network.sound(recorder)
    #expect(abs(sound.count - 12_000 * 16) <= 320)
    #expect(sound[..<31_000].allSatisfy { $0 == 0 })
    #expect(strength(400, sound[40_000..<63_000]) > 3_300)
    #expect(sound[65_000..<95_000].allSatisfy { $0 == 0 })
    #expect(strength(400, sound[100_000..<127_000]) > 3_300)
    #expect(sound[129_000..<170_000].allSatisfy { $0 == 0 })
  }

  @Test func itEndsOnceWithTheRoom() throws {
    let network = RoomNetwork()
    let first = try network.add(.pcmu)
    let second = try network.add(.pcmu)
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.run(milliseconds: 1_500)
    network.command(first, .leaveRoom(.near))
    network.run(milliseconds: 1_500)
    #expect(network.recordingEnds(recorder) == 0)
    network.command(second, .close)
    network.run(milliseconds: 1_000)
    #expect(network.recordingEnds(recorder) == 1)
    #expect(abs(network.sound(recorder).count - 3_000 * 16) <= 320)
    // A room of the same name is another.
    network.command(first, .enterRoom(.near, RoomNetwork.room, RoomOptions()))
    network.run(milliseconds: 2_000)
    network.command(recorder, .record(nil))
    network.command(recorder, .close)
    #expect(network.recordingEnds(recorder) == 1)
    #expect(network.told(recorder).last == .closed)
  }

  @Test func whatCannotBeRecordedIsRefused() throws {
    let network = RoomNetwork()
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    #expect(network.told(recorder) == [.recordingEnded([])])
    #expect(network.hall.count == 0 && network.hall.nextDeadline == nil)
    let phone = try network.add(.pcmu)
    let other = try network.add(.pcmu, room: RoomIdentifier(rawValue: 8))
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.command(recorder, .recordRoom(RoomIdentifier(rawValue: 8)))
    #expect(network.recordingEnds(recorder) == 1)
    // A second one of the same room, and a bridge that has legs.
    let second = network.addRecorder()
    network.command(second, .recordRoom(RoomNetwork.room))
    #expect(network.recordingEnds(second) == 1)
    network.command(phone, .recordRoom(RoomIdentifier(rawValue: 8)))
    #expect(network.told(phone).contains(.recordingEnded([])))
    // Several rooms at a time.
    network.command(second, .recordRoom(RoomIdentifier(rawValue: 8)))
    phone.hum(400)
    other.hum(1_100)
    network.run(milliseconds: 2_000)
    for one in [recorder, second] { network.command(one, .record(nil)) }
    #expect(strength(400, network.sound(recorder)) > 3_000 && strength(1_100, network.sound(recorder)) < 40)
    #expect(strength(1_100, network.sound(second)) > 3_000 && strength(400, network.sound(second)) < 40)
  }

  /// A bridge that was taken away without a word holds no room's recording.
  @Test func aRecorderThatIsGoneHoldsNothing() throws {
    let network = RoomNetwork()
    let phone = try network.add(.pcmu)
    phone.hum(400)
    var gone: MediaBridge? = network.addRecorder()
    if let gone { network.command(gone, .recordRoom(RoomNetwork.room)) }
    network.run(milliseconds: 100)
    network.recorders.removeAll()
    gone = nil
    let recorder = network.addRecorder()
    network.command(recorder, .recordRoom(RoomNetwork.room))
    network.run(milliseconds: 1_500)
    #expect(network.recordingEnds(recorder) == 0 && !network.recorded(recorder).isEmpty)
  }
}
