import Foundation
import LandlineNode
import MediaCore
import NodeCore
import PeerKit
import Testing

/// Files that can be played, and texts that can be spoken.
@Suite struct SoundShelfTests {
  private struct Parrot: SpeechDriver {
    func speech(_ text: SpokenText) async throws(SpeechFailure) -> PlayableSound {
      guard text.text != "silence" else { throw SpeechFailure("the parrot sleeps") }
      guard text.text != "so much" else { throw SpeechFailure("the parrot speaks", isBusy: true) }
      do { return try PlayableSound([Int16](repeating: 1, count: 8_000), samplingRate: 16_000) } catch {
        throw SpeechFailure("\(error)")
      }
    }
  }

  private static func wav(milliseconds: Int) -> Data {
    let samples = [UInt8](repeating: 3, count: 32 * milliseconds)
    return Data(RecordingEncoder.wavHead(channels: 1, dataSize: samples.count) + samples)
  }

  private func problem(_ shelf: SoundShelf, _ words: SpokenWords) async -> SoundProblem.Kind? {
    do throws(SoundProblem) {
      _ = try await shelf.sound(words)
      return nil
    } catch { return error.kind }
  }

  @Test func aFileIsReadByItsNameAndAgainWhenItHasChanged() async throws {
    let folder = try TemporaryFolder("sounds")
    let file = folder.url.appendingPathComponent("greeting.wav")
    try Self.wav(milliseconds: 500).write(to: file)
    let shelf = SoundShelf(folder: folder.url.path, speech: nil)
    #expect(try await shelf.sound(.sound("greeting")).milliseconds == 500)
    #expect(try await shelf.sound(.sound("greeting")).milliseconds == 500)
    try Self.wav(milliseconds: 700).write(to: file)
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: file.path)
    #expect(try await shelf.sound(.sound("greeting")).milliseconds == 700)
  }

  @Test func whatIsNoNameOrNoFileIsToldApart() async throws {
    let folder = try TemporaryFolder("sounds")
    try Data("no sound".utf8).write(to: folder.url.appendingPathComponent("broken.wav"))
    let shelf = SoundShelf(folder: folder.url.path, speech: nil)
    for name in ["", "../etc/passwd", "a/b", "A", "greeting.wav", String(repeating: "a", count: 65)] {
      #expect(await problem(shelf, .sound(name)) == .invalid, "\(name)")
    }
    #expect(await problem(shelf, .sound("absent")) == .missing)
    #expect(await problem(shelf, .sound("broken")) == .failed)
    #expect(await problem(SoundShelf(folder: nil, speech: nil), .sound("greeting")) == .missing)
  }

  @Test func aTextIsSpokenWhereAnEngineIs() async throws {
    let shelf = SoundShelf(folder: nil, speech: Parrot())
    #expect(try await shelf.sound(.text("Hello there.")).milliseconds == 500)
    #expect(await problem(shelf, .text("silence")) == .failed)
    #expect(await problem(shelf, .text("so much")) == .busy)
    for text in ["", " ", "a\u{0}b", "line\nbreak", String(repeating: "a", count: 501)] {
      #expect(await problem(shelf, .text(text)) == .invalid, "\(text)")
    }
    #expect(await problem(SoundShelf(folder: nil, speech: nil), .text("Hello.")) == .missing)
  }

  @Test(.enabled(if: FliteSpeech.find() != nil, "flite is absent: apt-get install flite"))
  func fliteSpeaks() async throws {
    let flite = try #require(FliteSpeech.find())
    let text = try #require(SpokenText("-o /tmp/x; Hello there, $(whoami)"))
    #expect(try await (500...10_000).contains(flite.speech(text).milliseconds))
    await #expect(throws: SpeechFailure.self) { try await FliteSpeech(path: "/bin/false").speech(text) }
  }
}
