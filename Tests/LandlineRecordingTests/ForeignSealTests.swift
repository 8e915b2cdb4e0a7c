import CallModel
import Foundation
import LandlineRecording
import PeerKit
import Testing

/// A program of others, in another language and with another library, reads the sealed form by its description alone.
@Suite("The sealed form, read by Python's cryptography")
struct ForeignSealTests {
  private func read(_ archive: Archive, _ id: String, key: String? = nil) async throws -> (
    status: Int32, [UInt8], String
  ) {
    let python = try #require(PythonPeer.python)
    let output = archive.folder.url.appendingPathComponent("\(id).sound")
    let result = try await PeerProcess.run(
      URL(fileURLWithPath: python),
      [
        PythonPeer.scripts.appendingPathComponent("sealed_recording.py").path, archive.file(id).path,
        key ?? Archive.path(archive.folder) + "/recording.key", output.path,
      ], environment: [:], startedIn: archive.folder.url)
    let bytes = (try? Data(contentsOf: output)).map { [UInt8]($0) } ?? []
    return (result.status, bytes, result.output + result.diagnostics)
  }

  @Test(
    "it finds the same sound, and refuses what was changed",
    .enabled(if: PythonPeer.isInstalled, "\(PythonPeer.absence)"))
  func read() async throws {
    let archive = try Archive()
    let sound = stereo(milliseconds: 3200)
    for (id, format) in [("wav", RecordingFormat.wav), ("opus", .opus)] {
      let writer = try archive.begin(id, format).get()
      writer.append(sound)
      writer.finish()
      let ended = try await archive.ended(id)
      let (status, bytes, said) = try await read(archive, id)
      #expect(status == 0, "\(said)")
      #expect(said.contains("closed"))
      let whole = try archive.whole(ended)
      #expect(Sound(bytes) == Sound(whole.dropFirst(format == .wav ? 44 : 0)))
    }
    var file = try Data(contentsOf: archive.file("wav"))
    file[60] ^= 1
    try file.write(to: archive.file("wav"))
    #expect(try await read(archive, "wav").status == 1)
    let other = try archive.folder.write(String(repeating: "00", count: 32), to: "other").path
    #expect(try await read(archive, "opus", key: other).status == 1)
    await archive.archive.close()
  }
}
