import CallModel
import Foundation
import LandlineClient
import Testing

/// WAV files for tests.
enum SoundBytes {
  /// A square wave of 500 Hz, mono, 16 bits.
  static func wav(samplingRate: Int, milliseconds: Int, channels: Int = 1) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let count = samplingRate * milliseconds / 1_000
    let data = (0..<count).flatMap { bytes(($0 * 1_000 / samplingRate) % 2 == 0 ? 8_000 : -8_000, 2) }
    return Array("RIFF".utf8) + bytes(data.count + 36, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4) + bytes(1, 2)
      + bytes(channels, 2) + bytes(samplingRate, 4) + bytes(2 * channels * samplingRate, 4) + bytes(2 * channels, 2)
      + bytes(16, 2) + Array("data".utf8) + bytes(data.count, 4) + data
  }
}

@Suite(.timeLimit(.minutes(1))) struct AudioTests {
  @Test(arguments: [8_000, 16_000, 32_000]) func filesOfEveryRateLastAsLongAsTheyDo(_ rate: Int) throws {
    let file = try SoundFile(SoundBytes.wav(samplingRate: rate, milliseconds: 500))
    #expect(file.milliseconds == 500)
    let source = FileSource(file)
    var samples: [Int16] = []
    while true {
      let frame = source.next(960)
      samples += frame
      if frame.count < 960 { break }
    }
    #expect(samples.count == 24_000)
    // A square wave of 500 Hz changes its sign a thousand times a second.
    let changes = zip(samples, samples.dropFirst()).count { ($0 < 0) != ($1 < 0) }
    #expect((450...550).contains(changes))
    #expect((samples.max() ?? 0) > 6_000)
  }

  @Test func aFileThatLoopsHasNoEnd() throws {
    let source = FileSource(try SoundFile(SoundBytes.wav(samplingRate: 8_000, milliseconds: 30)), loops: true)
    for _ in 0..<100 { #expect(source.next(960).count == 960) }
  }

  @Test func anyUsualRateIsBroughtToThatOfCalls() throws {
    let file = try SoundFile(SoundBytes.wav(samplingRate: 44_100, milliseconds: 100))
    #expect(file.samplingRate == 48_000)
    #expect(FileSource(file).next(9_600).count == 4_800)
  }

  /// The samples of 10 ms, shared by two channels.
  @Test func twoChannelsBecomeOne() throws {
    let file = try SoundFile(SoundBytes.wav(samplingRate: 8_000, milliseconds: 10, channels: 2))
    #expect(FileSource(file).next(9_600).count == 240)
  }

  @Test func otherFilesAreRefusedWithTheReason() {
    #expect { try SoundFile(SoundBytes.wav(samplingRate: 44_000, milliseconds: 10)) } throws: {
      "\($0)".contains("44000")
    }
    #expect { try SoundFile(SoundBytes.wav(samplingRate: 8_000, milliseconds: 10, channels: 3)) } throws: {
      "\($0)".contains("channels")
    }
    #expect { try SoundFile(path: "/nonexistent/file.wav") } throws: { "\($0)".contains("/nonexistent/file.wav") }
  }

  @Test func aToneHasItsFrequency() {
    let source = ToneSource(frequency: 1_000, level: -10)
    let samples = (0..<50).flatMap { _ in source.next(960) }
    let changes = zip(samples, samples.dropFirst()).count { ($0 < 0) != ($1 < 0) }
    #expect((1_960...2_040).contains(changes))
  }

  @Test func silenceAndCallbacks() {
    #expect(SilenceSource().next(960).isEmpty)
    #expect(CallbackSource { Array(repeating: 7, count: $0) }.next(3) == [7, 7, 7])
  }

  @Test func aFileIsHeardOnceByTheOtherSide() async throws {
    let file = try SoundFile(SoundBytes.wav(samplingRate: 16_000, milliseconds: 300))
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      // Before the file is: on a busy machine it has been heard when this test has its turn again.
      let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
      call.audio.sink = CallbackSink { if ($0.max() ?? 0) > 3_000 { continuation.yield() } }
      call.audio.startSendingSoundFile(file)
      #expect(call.audio.isSendingSoundFile)
      #expect(await call.reaches("mediaSecured"))
      for await _ in heard { break }
      while call.audio.isSendingSoundFile { await Task.yield() }
    }
  }

  @Test func aFileForTheAppsOwnUserIsNotHeardByTheOtherSide() async throws {
    let tone = try SoundFile(SoundBytes.wav(samplingRate: 8_000, milliseconds: 300))
    let recording = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).wav").path
    defer { try? FileManager.default.removeItem(atPath: recording) }
    try await withClient { gateway, client in
      let recorder = try RecordingSink(path: recording)
      client.audio.sink = recorder
      let call = try client.calls.callPhoneNumber("+46000000202")
      let (peaks, continuation) = AsyncStream.makeStream(of: Int16.self)
      call.audio.sink = CallbackSink { continuation.yield($0.max() ?? 0) }
      call.audio.startPlayingSoundFile(tone, loops: true)
      #expect(call.audio.isPlayingSoundFile)
      #expect(await call.reaches("mediaSecured"))
      // Longer than the file: it begins anew.
      var loud = 0
      for await peak in peaks {
        loud += peak > 3_000 ? 1 : 0
        if loud == 25 { break }
      }
      #expect(try await gateway.ask { $0.loudest } < 500)
      call.audio.stopPlayingSoundFile()
      #expect(!call.audio.isPlayingSoundFile)
      var quiet = 0
      for await peak in peaks {
        quiet = peak < 500 ? quiet + 1 : 0
        if quiet == 10 { break }
      }
      call.hangUp()
      _ = await call.ended()
      recorder.finish()
      let recorded = try Data(contentsOf: URL(fileURLWithPath: recording)).dropFirst(44)
      let loudest = stride(from: recorded.startIndex, to: recorded.endIndex - 1, by: 2).map {
        abs(Int(Int16(truncatingIfNeeded: Int(recorded[$0]) | Int(recorded[$0 + 1]) << 8)))
      }.max()
      #expect(try #require(loudest) < 500, "a recording holds the call alone")
    }
  }

  @Test func aBusyToneIsHeardWithoutACall() async throws {
    let tone = try SoundFile(SoundBytes.wav(samplingRate: 16_000, milliseconds: 200))
    try await withClient { _, client in
      let (frames, continuation) = AsyncStream.makeStream(of: (Int, Int16).self)
      client.audio.sink = CallbackSink { continuation.yield(($0.count, $0.max() ?? 0)) }
      client.audio.startPlayingSoundFile(tone)
      // One at a time: the second takes the place of the first.
      client.audio.startPlayingSoundFile(tone)
      while client.audio.isPlayingSoundFile { await Task.yield() }
      continuation.finish()
      var loud = 0
      for await (count, peak) in frames {
        #expect(count == AudioFormat.frameSamples)
        loud += peak > 3_000 ? 1 : 0
      }
      #expect((9...12).contains(loud), "200 ms are ten frames: \(loud)")
    }
  }

  @Test(arguments: [(CallTone.ringtone, 3_000), (.ringback, 5_000), (.busy, 1_000), (.congestion, 500)])
  func aToneSoundsAndFallsSilentInItsTime(_ tone: CallTone, _ milliseconds: Int) async throws {
    #expect(tone.file.milliseconds == milliseconds)
    try await withClient { _, client in
      let (peaks, continuation) = AsyncStream.makeStream(of: Int16.self)
      client.audio.sink = CallbackSink { continuation.yield($0.max() ?? 0) }
      client.audio.startPlayingTone(tone)
      for await peak in peaks where peak > 2_000 { break }
      for await peak in peaks where peak == 0 { break }
      for await peak in peaks where peak > 2_000 { break }
      client.audio.stopPlayingSoundFile()
      #expect(!client.audio.isPlayingSoundFile)
    }
  }

  @Test func aWayForSoundThatIsNotThereIsToldBeforeThreeSecondsAsTheDevicesOwn() async throws {
    try await withClient { _, client in
      let call = try client.calls.callPhoneNumber("+46000000666")
      var told: (failure: CallFailure, milliseconds: Int64)?
      for await event in call.events {
        if case .mediaBlocked(let failure) = event.kind {
          told = (failure, event.milliseconds)
          break
        }
      }
      let (failure, milliseconds) = try #require(told)
      #expect(failure.code == .networkMedia && failure.leg == .app)
      #expect(failure.phrase?.contains("UDP from 127.0.0.1 port") == true, "\(failure)")
      #expect(milliseconds < 3_000)
      call.hangUp()
      _ = await call.ended()
    }
  }

  @Test func aMutedCallSendsSilence() async throws {
    try await withClient { gateway, client in
      client.audio.mute()
      let call = try client.calls.callPhoneNumber("+46000000202")
      call.audio.source = ToneSource(frequency: 440, level: -6)
      let (frames, continuation) = AsyncStream.makeStream(of: Int16.self)
      call.audio.sink = CallbackSink { continuation.yield($0.max() ?? 0) }
      #expect(await call.reaches("mediaSecured"))
      var count = 0
      for await peak in frames {
        #expect(peak < 500)
        count += 1
        if count == 50 { break }
      }
      #expect(try await gateway.ask { $0.loudest } < 500)
    }
  }
}
