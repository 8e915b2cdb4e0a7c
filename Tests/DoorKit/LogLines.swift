package import Logging
import Synchronization

/// Everything that was logged.
package final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])
  package init() {}

  package func add(_ line: String) { lines.withLock { $0.append(line) } }
  package var all: String { lines.withLock { $0.joined(separator: "\n") } }
}

/// Writes a log to ``LogLines``.
package struct LineHandler: LogHandler {
  package let lines: LogLines
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .trace

  package init(lines: LogLines) { self.lines = lines }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    lines.add("\(event.level) \(event.message) \(all)")
  }
}
