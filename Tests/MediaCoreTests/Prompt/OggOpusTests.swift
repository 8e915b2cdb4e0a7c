import Foundation
import MediaCore
import SDPCore
import TestVectors
import Testing

@Suite struct OggOpusTests {
  private static let whole = Array(PromptLibrary.opusFile(.goodbye))

  @Test func aPromptIsRead() throws {
    let file = try OggOpus(PromptLibrary.opusFile(.connected))
    #expect(file.preSkip == 312)
    #expect((file.packets.count - 1) * 960 < file.duration + file.preSkip)
    #expect(file.duration + file.preSkip <= file.packets.count * 960)
  }

  @Test func whatTheTestNumberSaysLastsLongEnoughToBeUnderstood() throws {
    let seconds = Double(try OggOpus(PromptLibrary.opusFile(.connected)).duration) / 48_000
    #expect((4.0...6.0).contains(seconds), "\(seconds) s")
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func aFileFromElsewhereIsRead() throws {
    let file = TestVectors.folder.appendingPathComponent("codec/audio/asterisk-48k.opus")
    let bytes = [UInt8](try Data(contentsOf: file))
    switch Self.read(bytes) {
    case .success(let file):
      let sound = try AudioDecoder(.opus, samplingRate: 8_000).sound(file.packets)
      #expect(sound.count >= file.duration / 6 && Sound.level(sound) > 100)
    case .failure(let failure): Issue.record("\(failure)")
    }
  }

  @Test func refusalsSayWhere() {
    #expect(Self.failure([]) == .head)
    #expect(Self.failure([1, 2, 3]) == .page(0))
    #expect(Self.failure(Array(repeating: 0, count: OggOpus.maximumSize + 1)) == .size(OggOpus.maximumSize + 1))
    var bytes = Self.whole
    bytes[bytes.count - 1] ^= 1
    if case .page(let place)? = Self.failure(bytes) {
      #expect(place > 100)
    } else {
      Issue.record("a wrong checksum passed")
    }
    // The first page alone, and a page twice.
    let first = Array(Self.whole[..<47])
    #expect(Self.failure(first) == .head)
    #expect(Self.failure(first + first) == .sequence(47))
  }

  @Test func changedFilesAreRefused() {
    var generator = SeededNoise(state: 7_845)
    for _ in 0..<300 {
      var bytes = Self.whole
      bytes[Int.random(in: bytes.indices, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
      #expect(Self.failure(bytes) != nil)
      #expect(Self.failure(Array(Self.whole.prefix(Int.random(in: 0..<47, using: &generator)))) != nil)
    }
  }

  private static func read(_ bytes: [UInt8]) -> Result<OggOpus, OggOpus.Failure> {
    bytes.withUnsafeBytes { raw in Result { () throws(OggOpus.Failure) in try OggOpus(raw) } }
  }

  private static func failure(_ bytes: [UInt8]) -> OggOpus.Failure? {
    if case .failure(let failure) = read(bytes) { failure } else { nil }
  }
}
