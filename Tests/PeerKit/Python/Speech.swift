public import Foundation

/// Words as flite says them, in a WAV file of one channel and 16 bits.
public struct Speech: Sendable {
  public let text: String
  public let file: URL

  public init(_ text: String, in folder: TemporaryFolder) async throws {
    self.text = text
    file = folder.url.appendingPathComponent("speech.wav")
    let result = try await PeerProcess.run(.flite, ["-voice", "slt", "-t", text, "-o", file.path])
    guard result.status == 0 else { throw PeerFailure("flite: \(result.diagnostics.lastLines(3))") }
  }
}
