import Foundation
import Synchronization

/// One case with a foreign peer and what came of it.
public struct PeerResult: Sendable {
  public var peer: String
  public var transport: String
  public var name: String
  public var expected: String
  public var happened: String
  public var isGood: Bool

  public init(peer: String, transport: String, name: String, expected: String, happened: String, isGood: Bool) {
    self.peer = peer
    self.transport = transport
    self.name = name
    self.expected = expected
    self.happened = happened
    self.isGood = isGood
  }
}

/// The file named by `LANDLINE_PEER_RESULTS`, one line of tab-separated cells for each case; nothing where none is named.
public enum PeerResults {
  private static let file = Mutex(ProcessInfo.processInfo.environment["LANDLINE_PEER_RESULTS"])

  /// Keeps what a failed case exchanged, beside the results.
  public static func keep(_ transcript: String, of name: String) {
    file.withLock { path in
      guard let path else { return }
      let folder = URL(fileURLWithPath: path + ".failed")
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let plain = name.map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined()
      try? Data(transcript.utf8).write(to: folder.appendingPathComponent("\(plain).txt"))
    }
  }

  public static func append(_ result: PeerResult) {
    let cells = [
      result.peer, result.transport, result.name, result.expected, result.happened, result.isGood ? "ok" : "NOT OK",
    ]
    // A CR LF is one character and no "\n".
    let line =
      cells.map { $0.map { $0.isNewline || $0 == "\t" ? " " : String($0) }.joined() }
      .joined(separator: "\t") + "\n"
    file.withLock { path in
      guard let path else { return }
      if !FileManager.default.fileExists(atPath: path) {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
      }
      guard let handle = FileHandle(forWritingAtPath: path) else { return }
      defer { try? handle.close() }
      _ = try? handle.seekToEnd()
      try? handle.write(contentsOf: Data(line.utf8))
    }
  }
}
