import CallModel
import Foundation
import LandlineRecording
import PeerKit
import Testing

@Suite("Keys of recordings")
struct RecordingKeyTests {
  private func mode(_ path: String) throws -> Int {
    let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    return try #require((value as? NSNumber)?.intValue)
  }

  private func refusal(_ folder: TemporaryFolder, _ keyFile: String? = nil, environment: String = "production")
    -> String?
  {
    do {
      _ = try Archive(folder, keyFile: keyFile, environment: environment)
      return nil
    } catch {
      return (error as? InvalidValue)?.rule
    }
  }

  private func keyFile(_ folder: TemporaryFolder, _ text: String, mode: Int = 0o600) throws -> String {
    let path = try folder.write(text, to: "key").path
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  private let first = String(repeating: "0f", count: 32)
  private let second = String(repeating: "A1", count: 32)

  @Test("a key is made once, for its owner alone, and so are the folder and its files")
  func made() async throws {
    let first = try Archive()
    let key = Archive.path(first.folder) + "/recording.key"
    let text = try String(contentsOfFile: key, encoding: .utf8)
    #expect(text.utf8.count == 65)
    #expect(try mode(key) == 0o600)
    #expect(try mode(Archive.path(first.folder)) == 0o700)
    #expect(first.lines.all.contains { $0.contains("keep a copy") && !$0.contains(text.prefix(64)) })
    try first.begin("r1").get().finish()
    let ended = try await first.ended("r1")
    #expect(try mode(first.file("r1").path) == 0o600)
    await first.archive.close()
    let second = try Archive(first.folder)
    #expect(try String(contentsOfFile: key, encoding: .utf8) == text)
    #expect(!second.lines.all.contains { $0.contains("keep a copy") })
    #expect(try second.whole(ended).count == 44)
    await second.archive.close()
  }

  @Test("a key file that others may read, that is none, or that is not there is refused")
  func refused() throws {
    let folder = try TemporaryFolder("keys")
    for mode in [0o640, 0o604, 0o620, 0o666] {
      #expect(refusal(folder, try keyFile(folder, first, mode: mode)) == "recording.key", "mode \(mode)")
    }
    for text in ["", "\n\n", "0f", first + "0", first.dropLast() + "g", first + first, "é" + first.dropLast(2)] {
      #expect(refusal(folder, try keyFile(folder, String(text))) == "recording.key", "\(text)")
    }
    #expect(refusal(folder, try keyFile(folder, String(repeating: first + "\n", count: 17))) == "recording.key")
    #expect(refusal(folder, folder.url.path + "/none") == "recording.key")
    #expect(refusal(folder, folder.url.path) == "recording.key")
    #expect(refusal(folder, try keyFile(folder, "\(first)\r\n\n  \(second)\n")) == nil)
    do {
      _ = try Archive(folder, keyFile: try keyFile(folder, first, mode: 0o644))
    } catch let error as InvalidValue {
      #expect(error.description.contains("chmod 600"))
      #expect(!error.description.contains(first))
    }
  }

  @Test("the newest key seals, and older ones still open; also the one that was made before a file was named")
  func rotation() async throws {
    let made = try Archive()
    try made.begin("made").get().finish()
    var ended = [try await made.ended("made")]
    await made.archive.close()
    let folder = made.folder
    for (id, keys) in [("one", [first]), ("two", [second, first])] {
      let archive = try Archive(folder, keyFile: try keyFile(folder, keys.joined(separator: "\n")))
      try archive.begin(id).get().finish()
      ended.append(try await archive.ended(id))
      for each in ended { #expect(try archive.whole(each).count == 44) }
      await archive.archive.close()
    }
    let newest = try Archive(folder, keyFile: try keyFile(folder, second))
    #expect(throws: SealedFault.unknownKey) { try newest.whole(ended[1]) }
    #expect(try newest.whole(ended[2]).count == 44)
    await newest.archive.close()
  }

  @Test("a folder of another environment is refused, and so is one that cannot be made")
  func folders() async throws {
    let archive = try Archive()
    await archive.archive.close()
    #expect(refusal(archive.folder, environment: "sandbox") == "recording.folder")
    #expect(refusal(archive.folder) == nil)
    let folder = try TemporaryFolder("keys")
    try folder.write("", to: "sound")
    #expect(refusal(folder) == "recording.folder")
  }
}
