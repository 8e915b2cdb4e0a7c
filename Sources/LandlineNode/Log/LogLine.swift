package import CallModel
package import LandlineConfiguration
package import Logging

/// One event as one line: whatever a text holds, it cannot begin another line or end its place in this one.
package struct LogLine {
  /// Bytes of a message.
  static let maximumMessageBytes = 4096
  /// Bytes of one value of metadata, and of a key.
  static let maximumValueBytes = 1024
  /// Keys of a mapping, entries of a list.
  static let maximumEntries = 32
  static let maximumDepth = 4
  /// Bytes after which no further value is written.
  package static let maximumLineBytes = 16_384

  private let masks: Bool
  private var bytes: [UInt8] = []

  private init(masks: Bool) {
    self.masks = masks
    bytes.reserveCapacity(256)
  }

  /// The event with a line feed at its end.
  package static func bytes(
    _ event: LogEvent, label: String, metadata: Logger.Metadata, at time: Instant, format: LogConfiguration.Format,
    masks: Bool
  ) -> [UInt8] {
    var line = LogLine(masks: masks)
    switch format {
    case .json: line.writeJSON(event, label, metadata, time)
    case .text: line.writeText(event, label, metadata, time)
    }
    line.bytes.append(UInt8(ascii: "\n"))
    return line.bytes
  }

  private mutating func writeJSON(_ event: LogEvent, _ label: String, _ metadata: Logger.Metadata, _ time: Instant) {
    write("{\"time\":\"\(time)\",\"level\":\"\(event.level.rawValue)\",\"label\":")
    writeQuoted(label, atMost: LogLine.maximumValueBytes)
    write(",\"message\":")
    writeQuoted(shown(event.message.description), atMost: LogLine.maximumMessageBytes)
    if let error = event.error {
      write(",\"error\":")
      writeQuoted(shown(String(describing: error)), atMost: LogLine.maximumValueBytes)
    }
    if !metadata.isEmpty {
      write(",\"metadata\":")
      writeValue(.dictionary(metadata), key: "", depth: 0)
    }
    write("}")
  }

  private mutating func writeText(_ event: LogEvent, _ label: String, _ metadata: Logger.Metadata, _ time: Instant) {
    write("\(time) \(event.level.rawValue) ")
    writeEscaped(label, atMost: LogLine.maximumValueBytes)
    write(": ")
    writeEscaped(shown(event.message.description), atMost: LogLine.maximumMessageBytes)
    if let error = event.error {
      write(" error=")
      writeQuoted(shown(String(describing: error)), atMost: LogLine.maximumValueBytes)
    }
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }).prefix(LogLine.maximumEntries) {
      guard bytes.count < LogLine.maximumLineBytes else { break }
      write(" ")
      writeEscaped(key, atMost: LogLine.maximumValueBytes)
      write("=")
      writeValue(value, key: key, depth: 1)
    }
  }

  // MARK: Values

  private mutating func writeValue(_ value: Logger.MetadataValue, key: String, depth: Int) {
    guard depth <= LogLine.maximumDepth, bytes.count < LogLine.maximumLineBytes else { return write("\"…\"") }
    switch value {
    case .string(let text): writeQuoted(shown(text, key: key), atMost: LogLine.maximumValueBytes)
    case .stringConvertible(let value):
      writeQuoted(shown(value.description, key: key), atMost: LogLine.maximumValueBytes)
    case .array(let values):
      write("[")
      for (index, value) in values.prefix(LogLine.maximumEntries).enumerated() {
        if index > 0 { write(",") }
        writeValue(value, key: key, depth: depth + 1)
      }
      write("]")
    case .dictionary(let values):
      write("{")
      for (index, entry) in values.sorted(by: { $0.key < $1.key }).prefix(LogLine.maximumEntries).enumerated() {
        if index > 0 { write(",") }
        writeQuoted(entry.key, atMost: LogLine.maximumValueBytes)
        write(":")
        writeValue(entry.value, key: entry.key, depth: depth + 1)
      }
      write("}")
    }
  }

  private func shown(_ text: String, key: String = "") -> String {
    // Cut first: what a stranger sent is not searched to its end. A little more stays, so that no number is cut in two
    // before it is found.
    let cut = text.utf8.count > LogLine.maximumMessageBytes ? String(text.unicodeScalars.prefix(4100)) : text
    return masks ? LogMask.masked(cut, isNumber: LogMask.keys.contains(key)) : cut
  }

  // MARK: Bytes

  private mutating func write(_ text: String) { bytes += text.utf8 }

  private mutating func writeQuoted(_ text: String, atMost maximum: Int) {
    bytes.append(UInt8(ascii: "\""))
    writeEscaped(text, atMost: maximum)
    bytes.append(UInt8(ascii: "\""))
  }

  /// A text as it stands between quotes in JSON (RFC 8259 section 7). Beyond what JSON demands, all that a terminal or an
  /// editor could take for an order or for the end of a line is escaped: C1 controls, line separators, changes of
  /// direction.
  private mutating func writeEscaped(_ text: String, atMost maximum: Int) {
    var written = 0
    for scalar in text.unicodeScalars {
      written += UTF8.width(scalar)
      guard written <= maximum else { return write("…") }
      switch scalar {
      case "\"": write("\\\"")
      case "\\": write("\\\\")
      case "\n": write("\\n")
      case "\r": write("\\r")
      case "\t": write("\\t")
      case _ where VisibleText.isHidden(scalar): write(VisibleText.jsonEscape(scalar))
      case _ where scalar.isASCII: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }
}
