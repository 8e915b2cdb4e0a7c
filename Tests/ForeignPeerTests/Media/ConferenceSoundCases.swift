import Foundation
import MediaCore
import PeerKit
import SDPCore

/// One who speaks in a conference sounds as in a call of two: the same speech goes through both, and the same judge hears it.
enum ConferenceSoundCases {
  /// PESQ that a conference may take from a call of two.
  private static let mostLost = 0.1
  private static let text =
    "Thank you for calling. Please hold the line. Every line had a small brass label, and every label had a story that "
    + "the operators knew by heart. Most of the calls were short."

  static var cases: [PeerCase] {
    [(AudioCodec.opus, AudioCodec.pcma), (.pcma, .opus), (.pcma, .pcma), (.opus, .opus)].map { make($0, $1) }
  }

  private static func make(_ codec: AudioCodec, _ other: AudioCodec) -> PeerCase {
    PeerCase(
      peer: "PESQ", transport: "memory", "a voice in conferences of 2 and 4, \(codec.rawValue) to \(other.rawValue)",
      expected: "within \(mostLost) of a call of two"
    ) {
      let folder = try TemporaryFolder("conference")
      let speech = try await Speech(text, in: folder)
      let said = try SoundFile(speech.file).padded(before: 2, after: 0.5)
      func quality(_ way: SoundInMemory.Way) async throws -> Double {
        let file = folder.url.appendingPathComponent("\(way).wav")
        try SoundInMemory.heard(said, codec, to: other, way).write(to: file)
        let judged = try await SoundJudge.shared.quality(of: file, reference: speech.file)
        guard let quality = judged.number("pesq") else { throw PeerFailure("no PESQ: \(judged)") }
        return quality
      }
      let call = try await quality(.call)
      let rooms = [try await quality(.room(2)), try await quality(.room(4))]
      for found in rooms { try require(found >= call - mostLost, "PESQ \(call) in a call, \(rooms) in conferences") }
      return "call \(rounded(call)), conferences \(rooms.map { rounded($0) }.joined(separator: " and "))"
    }
  }
}
