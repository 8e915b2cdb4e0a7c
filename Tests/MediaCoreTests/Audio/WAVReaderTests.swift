import Foundation
import MediaCore
import TestVectors
import Testing

@Suite struct WAVReaderTests {
  @Test(arguments: WAVReader.rates.map(Int.init)) func soundIsRead(_ rate: Int) throws {
    let sound = Sound.voice(rate: rate, samples: rate)
    let file = try WAVReader(Self.file(sound, rate: UInt32(rate)))
    #expect(file.samplingRate == rate && file.samples == sound && file.milliseconds == 1_000)
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence))) func aFileFromElsewhereIsRead()
    throws
  {
    let bytes = [UInt8](try Data(contentsOf: TestVectors.folder.appendingPathComponent("codec/audio/re-beep.wav")))
    let result = Result { () throws(WAVReader.Failure) in try WAVReader(bytes) }
    let file = try result.get()
    #expect([8_000, 16_000, 32_000].contains(file.samplingRate) && Sound.level(file.samples) > 100)
  }

  /// Other chunks are passed over, odd ones with their padding.
  @Test func otherChunksArePassedOver() throws {
    let sound: [Int16] = [1, -2, 3]
    var bytes = Self.file(sound)
    bytes.insert(contentsOf: Array("LIST".utf8) + [3, 0, 0, 0, 9, 9, 9, 0], at: 12)
    bytes += Array("junk".utf8) + [1, 0, 0, 0, 7]
    #expect(try WAVReader(bytes).samples == sound)
  }

  @Test func refusalsNameWhatWasFound() {
    func failure(_ bytes: [UInt8]) -> WAVReader.Failure? {
      do {
        _ = try WAVReader(bytes)
        return nil
      } catch { return error }
    }
    let sound: [Int16] = [1, 2]
    #expect(failure([]) == .notRIFF)
    #expect(failure(Array("RIFX____WAVE".utf8)) == .notRIFF)
    #expect(failure(Array("RIFF____WAVE".utf8)) == .noFormat)
    #expect(failure(Self.file(sound, tag: 7)) == .encoding(7))
    #expect(failure(Self.file(sound, channels: 3)) == .channels(3))
    #expect(failure(Self.file(sound, bits: 8)) == .bits(8))
    #expect(failure(Self.file(sound, rate: 44_101)) == .samplingRate(44_101))
    #expect(failure(Self.file([])) == .noSound)
    #expect(failure(Array(Self.file(sound).dropLast())) == .cutOff("data"))
    #expect(failure(Array(Self.file(sound)[..<12]) + Array(Self.file(sound)[36...])) == .noFormat)
    #expect(failure(Array(Self.file(sound)[..<36])) == .noSound)
    var odd = Self.file(sound)
    odd[32] = 4
    #expect(failure(odd) == .inconsistent)
    #expect(failure(Array(repeating: 0, count: WAVReader.maximumSize + 1)) == .size(WAVReader.maximumSize + 1))
    let text = WAVReader.Failure.samplingRate(44_101).description
    #expect(text.contains("44101") && text.contains("8000, 11025"))
  }

  @Test func twoChannelsBecomeOne() throws {
    let file = try WAVReader(Self.file([100, 300, -32_768, -32_768, 32_767, 32_767, 1, 2], rate: 48_000, channels: 2))
    #expect(file.samplingRate == 48_000 && file.samples == [200, -32_768, 32_767, 1])
  }

  /// A tone keeps its pitch and level at another rate, and what the lower rate cannot hold is gone.
  @Test(arguments: [(44_100, 48_000), (22_050, 48_000), (11_025, 48_000), (96_000, 48_000), (192_000, 48_000)])
  func aToneStaysATone(_ source: Int, _ target: Int) throws {
    func tone(_ hertz: Double, _ rate: Int) -> [Int16] {
      (0..<rate).map { Int16(10_000 * sin(2 * Double.pi * hertz * Double($0) / Double(rate))) }
    }
    let converted = try #require(SoundResampler.convert(tone(1_000, source), from: source, to: target))
    #expect(abs(converted.count - target) <= 1)
    let wanted = tone(1_000, target)
    let inside = 2_000..<(target - 2_000)
    let error = inside.reduce(0.0) { $0 + pow(Double(converted[$1]) - Double(wanted[$1]), 2) } / Double(inside.count)
    #expect(error.squareRoot() < 20, "\(error.squareRoot())")
    guard source > target else { return }
    let beyond = try #require(SoundResampler.convert(tone(40_000, source), from: source, to: target))
    #expect(beyond[inside].allSatisfy { abs(Int($0)) < 20 })
  }

  /// Files with some bytes changed are read or refused, and never give sound that is not in them.
  @Test func changedFilesAreSurvived() {
    var generator = SeededNoise(state: 11)
    let whole = Self.file(Array(repeating: 7, count: 50))
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<44, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      bytes.removeLast(Int.random(in: 0...20, using: &generator))
      if let file = try? WAVReader(bytes) { #expect(file.samples.count * 2 <= bytes.count) }
    }
  }

  static func file(
    _ samples: [Int16], rate: UInt32 = 8_000, tag: UInt16 = 1, channels: UInt16 = 1, bits: UInt16 = 16
  ) -> [UInt8] {
    func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian, Array.init)
    }
    let data = samples.flatMap { bytes($0) }
    return Array("RIFF".utf8) + bytes(UInt32(36 + data.count)) + Array("WAVEfmt ".utf8) + bytes(UInt32(16)) + bytes(tag)
      + bytes(channels) + bytes(rate) + bytes(rate * 2 * UInt32(channels)) + bytes(2 * channels) + bytes(bits)
      + Array("data".utf8)
      + bytes(UInt32(data.count)) + data
  }
}
