import SIPCore

/// A SIP message of a trace, as far as rules read it: its start line, its fields as texts, its body.
///
/// The text came from strangers and may have been cut off: what cannot be read is left out, and nothing is believed.
struct EvidenceMessage: Hashable, Sendable {
  /// Fields of one message that are looked at.
  static let maximumFields = 128

  struct Field: Hashable, Sendable {
    /// In lower case, compact forms spelled out.
    let name: String
    let value: String
  }

  /// Microseconds since the call began.
  let at: Int64
  let isSent: Bool
  /// Place in the trace's dialogs.
  let dialog: Int
  let transport: String
  /// With its port.
  let remote: String
  let isRepeated: Bool
  let startLine: String
  /// Of a request.
  let method: String?
  let requestURI: String?
  /// Of a response.
  let status: Int?
  let phrase: String
  let sequence: Int?
  /// Of the CSeq: for a response the method that it answers.
  let sequenceMethod: String
  let fields: [Field]
  let body: String

  init(_ message: CallTrace.Message) {
    at = message.at
    isSent = message.isSent
    dialog = message.dialog
    transport = message.transport
    remote = message.remote
    isRepeated = message.isRepeated
    let (head, body) = EvidenceMessage.parts(message.text)
    self.body = body
    let lines = EvidenceMessage.unfolded(head)
    startLine = lines.first ?? ""
    fields = lines.dropFirst().prefix(EvidenceMessage.maximumFields).compactMap(EvidenceMessage.field)
    let words = startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
    if let first = words.first, first.uppercased().hasPrefix("SIP/") {
      status = words.count > 1 ? Int(words[1]).flatMap { (100...699).contains($0) ? $0 : nil } : nil
      phrase = words.count > 2 ? String(words[2]) : ""
      method = nil
      requestURI = nil
    } else {
      status = nil
      phrase = ""
      method = words.first.map(String.init)
      requestURI = words.count > 1 ? String(words[1]) : nil
    }
    let count = fields.first { $0.name == "cseq" }?.value.split(separator: " ", omittingEmptySubsequences: true) ?? []
    sequence = count.first.flatMap { Int($0) }
    sequenceMethod = count.count > 1 ? count[1].uppercased() : method ?? ""
  }

  func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// The start line and those of the named fields that are there, as they would be quoted.
  func quoted(_ names: [String]) -> [String] {
    [startLine]
      + names.flatMap { name in values(name.lowercased()).map { "\(name): \(EvidenceMessage.cut($0))" } }
  }

  /// User part of a field such as From, or of the request's URI.
  func user(of name: String) -> String? { value(name).flatMap(EvidenceMessage.user) }

  // MARK: Reading

  /// Scalars, not characters: `\r\n` is one character.
  private static func parts(_ text: String) -> (head: Substring, body: String) {
    let bytes = text.utf8
    var previous: UInt8 = 0
    var lineStart = true
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      let next = bytes.index(after: index)
      if byte == 0x0A {
        if lineStart { return (text[..<index], String(text[next...])) }
        lineStart = true
      } else if byte != 0x0D {
        lineStart = false
      } else if previous == 0x0D {
        lineStart = false
      }
      previous = byte
      index = next
    }
    return (text[...], "")
  }

  /// Lines, those that go on with a space joined to the one before (RFC 3261 section 7.3.1).
  private static func unfolded(_ head: Substring) -> [String] {
    var lines: [String] = []
    for part in head.utf8.split(separator: 0x0A, omittingEmptySubsequences: true) {
      let line = String(Substring(part.last == 0x0D ? part.dropLast() : part))
      if let first = line.utf8.first, first == 0x20 || first == 0x09, !lines.isEmpty {
        lines[lines.count - 1] += " " + trimmed(line[...])
      } else if !line.isEmpty {
        lines.append(line)
      }
    }
    return lines
  }

  private static let compactForms: [String: String] = [
    "v": "via", "f": "from", "t": "to", "m": "contact", "i": "call-id", "l": "content-length", "c": "content-type",
    "e": "content-encoding", "k": "supported", "s": "subject", "x": "session-expires", "r": "refer-to",
    "b": "referred-by", "a": "accept-contact", "o": "event", "u": "allow-events",
  ]

  private static func field(_ line: String) -> Field? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let name = trimmed(line[..<colon]).lowercased()
    guard !name.isEmpty else { return nil }
    return Field(name: compactForms[name] ?? name, value: trimmed(line[line.index(after: colon)...]))
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }

  static func cut(_ text: String) -> String { text.count > 160 ? String(text.prefix(160)) + "…" : text }

  /// What stands between the scheme and the `@`.
  static func user(_ text: String) -> String? {
    for scheme in ["sip:", "sips:", "tel:"] {
      guard let range = text.lowercased().firstRange(of: scheme) else { continue }
      let offset = text.lowercased().distance(from: text.lowercased().startIndex, to: range.upperBound)
      let rest = text.dropFirst(offset)
      if scheme == "tel:" { return String(rest.prefix { $0 != ";" && $0 != ">" }) }
      guard let at = rest.firstIndex(of: "@") else { continue }
      return String(rest[..<at].prefix { $0 != ";" && $0 != ":" })
    }
    return nil
  }
}
