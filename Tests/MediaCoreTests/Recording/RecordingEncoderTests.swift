import CallModel
import Foundation
import MediaCore
import SDPCore
import Testing

/// Frames to files, as others read them.
@Suite struct RecordingEncoderTests {
  private static let rate = RecordingEncoder.samplingRate

  @Test func aWAVFileIsItsFramesBehindAHead() throws {
    for channels in 1...2 {
      let encoder = try RecordingEncoder(.wav, channels: channels, serial: 1)
      let frames = Self.frames((0..<channels).map { Sound.noise(samples: 16_001, seed: UInt64($0)) })
      #expect(encoder.head.isEmpty && encoder.append(frames) == frames && encoder.finish().isEmpty)
      let file = RecordingEncoder.wavHead(channels: channels, dataSize: frames.count) + frames
      let read = try WAVReader(file)
      #expect(read.samplingRate == Self.rate && read.samples.count == 16_001)
    }
    // What is too long for the format says all that it can.
    #expect(RecordingEncoder.wavHead(channels: 2, dataSize: 1 << 40).suffix(4) == [255, 255, 255, 255])
  }

  @Test func moreChannelsAreRefused() {
    for channels in [-1, 0, 3] {
      for format in RecordingFormat.allCases {
        #expect(throws: CodecFailure.self) { try RecordingEncoder(format, channels: channels, serial: 1) }
      }
    }
  }

  @Test(arguments: [0, 1, 215, 216, 217, 319, 320, 321, 16_000, 16_320, 51_111])
  func aMonoFileIsAsLongAsItsSound(_ samples: Int) throws {
    let sound = Sound.voice(rate: Self.rate, samples: samples)
    let file = try Self.file([sound], pieces: 777)
    let read = try file.withUnsafeBytes { try OggOpus($0) }
    #expect(read.preSkip == 120 && read.duration == samples * 3)
    #expect(RecordingEncoder.milliseconds(ofOpusTail: file) == Int64(samples) / 16)
    #expect(RecordingEncoder.milliseconds(ofOpusTail: file.suffix(RecordingEncoder.maximumPage)) == Int64(samples) / 16)
    #expect(RecordingEncoder.closingPage(after: file) == nil)
    #expect(RecordingEncoder.endOfLastPage(in: file) == file.count)
    // Two packets more than the sound at most: what was pushed out of the encoder.
    #expect(read.packets.count * 320 < samples + 104 + 320)
  }

  @Test func howItIsCutMakesNoDifference() throws {
    let sound = Sound.voice(rate: Self.rate, samples: 40_000)
    let one = try Self.file([sound, sound.reversed()], pieces: 1_000_000)
    for pieces in [1, 319, 640, 16_000] {
      let other = try Self.file([sound, sound.reversed()], pieces: pieces)
      #expect(other == one)
    }
  }

  @Test func aPageComesTwiceASecond() throws {
    let encoder = try RecordingEncoder(.opus, channels: 2, serial: 9)
    let sound = Self.frames([Sound.voice(rate: Self.rate, samples: 320), Sound.noise(samples: 320)])
    var pages: [Int] = []
    for packet in 1...200 where !encoder.append(sound).isEmpty { pages.append(packet) }
    #expect(pages == Array(stride(from: 25, through: 200, by: 25)))
  }

  @Test func theBitRateIsKept() throws {
    for channels in 1...2 {
      let sound = (0..<channels).map { Sound.voice(rate: Self.rate, samples: 160_000, seed: UInt64($0)) }
      let rate = try Self.file(sound, pieces: 16_000).count * 8 / 10
      #expect((8_000...30_000).contains(rate / channels), "\(rate) bit/s")
    }
  }

  @Test(.enabled(if: RecordingJudge.arePresent, Comment(rawValue: RecordingJudge.absence)), arguments: [1, 2])
  func othersReadTheFiles(_ channels: Int) throws {
    let tones = [440.0, 1_000]
    let sound = tones.prefix(channels).map { Sound.sine($0, rate: Self.rate, samples: 51_111) }
    let opus = try Self.file(Array(sound), pieces: 5_000)
    let said = try RecordingJudge.opusInfo(opus)
    #expect(!said.contains("WARNING") && said.contains("Encoded with Landline"), "\(said)")
    let frames = Self.frames(Array(sound))
    let wav = RecordingEncoder.wavHead(channels: channels, dataSize: frames.count) + frames
    for (file, kind) in [(opus, "opus"), (wav, "wav")] {
      let seconds = try #require(try RecordingJudge.duration(file, kind))
      #expect(abs(seconds - 51_111.0 / 16_000) < 0.02, "\(kind): \(seconds) s")
      let heard = try RecordingJudge.decode(file, kind, channels: channels)
      #expect(heard.allSatisfy { abs($0.count - 51_111) <= 320 }, "\(kind): \(heard.map(\.count))")
      for (index, samples) in heard.enumerated() {
        let middle = samples.dropFirst(4_000).prefix(40_000)
        for (place, tone) in tones.enumerated() {
          let strength = Sound.strength(tone, in: middle, rate: Self.rate)
          // The other's tone is 30 dB below at least, by libopus; ffmpeg's own decoder of stereo is less exact.
          #expect(place == index ? strength > 7_000 : strength < 250, "\(kind) \(index): \(tone) Hz \(strength)")
        }
      }
    }
  }

  /// Both speak at times: nobody is heard in the other's channel.
  @Test(.enabled(if: RecordingJudge.arePresent, Comment(rawValue: RecordingJudge.absence)))
  func talkersStayApart() throws {
    let voice = Sound.voice(rate: Self.rate, samples: 96_000)
    let silence = [Int16](repeating: 0, count: 96_000)
    let file = try Self.file([voice + silence, silence + voice], pieces: 16_000)
    let heard = try RecordingJudge.decode(file, "opus", channels: 2)
    let (first, second) = (2_000..<94_000, 98_000..<190_000)
    let own = [Sound.level(heard[0][first]), Sound.level(heard[1][second])]
    let other = [Sound.level(heard[1][first]), Sound.level(heard[0][second])]
    #expect(own.allSatisfy { $0 > 1_000 } && other.allSatisfy { $0 < 60 }, "\(own), \(other)")
  }

  @Test func aFileThatWasCutOffIsEnded() throws {
    let sound = Sound.voice(rate: Self.rate, samples: 80_000)
    for channels in 1...2 {
      let encoder = try RecordingEncoder(.opus, channels: channels, serial: 0xFFFF_FFFE)
      let head = encoder.head
      let cut = head + encoder.append(Self.frames(Array(repeating: sound, count: channels)))
      #expect(RecordingEncoder.milliseconds(ofOpusTail: cut) == 4_997)
      let page = try #require(RecordingEncoder.closingPage(after: cut))
      let tail = Array(cut.suffix(20_000))
      #expect(RecordingEncoder.closingPage(after: tail) == page)
      #expect(RecordingEncoder.closingPage(after: cut + page) == nil)
      #expect(RecordingEncoder.milliseconds(ofOpusTail: cut + page) == 5_000)
      if channels == 1 {
        let read = try (cut + page).withUnsafeBytes { try OggOpus($0) }
        #expect(read.duration == 80_000 * 3)
      }
      // A page that was not written to its end is not there.
      let torn = Array(cut.dropLast(5))
      #expect(RecordingEncoder.closingPage(after: torn) == nil)
      let end = try #require(RecordingEncoder.endOfLastPage(in: torn))
      #expect(end < torn.count && RecordingEncoder.closingPage(after: Array(torn[..<end])) != nil)
      #expect(RecordingEncoder.milliseconds(ofOpusTail: torn) == 4_497)
      if RecordingJudge.arePresent {
        for file in [cut + page, torn[..<end] + (RecordingEncoder.closingPage(after: Array(torn[..<end])) ?? [])] {
          let said = try RecordingJudge.opusInfo(file)
          #expect(!said.contains("WARNING") && !said.contains("EOS"), "\(said)")
          let heard = try RecordingJudge.decode(file, "opus", channels: channels)
          #expect(heard[0].count > 60_000)
        }
      }
    }
  }

  @Test func bytesOfOthersHaveNoPages() {
    #expect(RecordingEncoder.closingPage(after: []) == nil)
    #expect(RecordingEncoder.milliseconds(ofOpusTail: []) == nil && RecordingEncoder.endOfLastPage(in: []) == nil)
    let noise = Sound.noise(samples: 30_000).map { UInt8(truncatingIfNeeded: $0) }
    #expect(RecordingEncoder.closingPage(after: noise) == nil)
    #expect(RecordingEncoder.milliseconds(ofOpusTail: Array("OggS".utf8) + noise) == nil)
  }

  // MARK: Making

  private static func frames(_ channels: [[Int16]]) -> [UInt8] {
    (0..<(channels.first?.count ?? 0)).flatMap { index in
      channels.flatMap { [UInt8(truncatingIfNeeded: $0[index]), UInt8(truncatingIfNeeded: $0[index] >> 8)] }
    }
  }

  /// An Opus file of some channels, whose frames come so many at a time.
  private static func file(_ channels: [[Int16]], pieces: Int) throws -> [UInt8] {
    let encoder = try RecordingEncoder(.opus, channels: channels.count, serial: 4_711)
    let bytes = frames(channels)
    var file = encoder.head
    let size = pieces * channels.count * 2
    for start in stride(from: 0, to: bytes.count, by: size) {
      file += encoder.append(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    return file + encoder.finish()
  }
}
