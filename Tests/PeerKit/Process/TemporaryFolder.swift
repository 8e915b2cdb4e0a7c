public import Foundation
import Glibc
import Synchronization

/// A folder that lives as long as this object.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init(_ prefix: String) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("\(prefix)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  private static let kept = Mutex<[URL]>([])

  /// For a folder that lives as long as the process: nothing is deinitialised at its end.
  func removeAtExit() {
    let isFirst = Self.kept.withLock { kept in
      kept.append(url)
      return kept.count == 1
    }
    guard isFirst else { return }
    atexit {
      TemporaryFolder.kept.withLock { kept in
        for url in kept { try? FileManager.default.removeItem(at: url) }
      }
    }
  }

  @discardableResult
  public func write(_ text: String, to name: String) throws -> URL {
    let file = url.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file
  }

  /// What a file holds by now; empty where there is none.
  public func text(_ name: String) -> String {
    (try? Data(contentsOf: url.appendingPathComponent(name))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
