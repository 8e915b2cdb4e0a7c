import Logging
import Synchronization

/// What a gateway under test logged, for the reports of cases that failed.
final class GatewayLog: Sendable {
  private static let mostLines = 2_000
  private let kept = Mutex<[String]>([])

  var lines: [String] { kept.withLock { $0 } }

  func append(_ line: String) {
    kept.withLock { lines in
      if lines.count < Self.mostLines { lines.append(line) }
    }
  }

  var logger: Logger { Logger(label: "gateway") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: GatewayLog
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.debug

    init(log: GatewayLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      log.append("\(event.level) \(event.message) \(values.joined(separator: " "))")
    }
  }
}
