/// A SIP message of a trace, read as far as it can be: whatever stands in it, reading ends and says nothing wrong of
/// what it could not read.
struct TracedMessage: Sendable {
  /// Header fields that are read at most.
  static let maximumFields = 256

  enum Start: Hashable, Sendable {
    case request(method: String, uri: String)
    case response(status: Int, phrase: String)
    /// No start line of SIP.
    case unreadable(String)
  }

  let start: Start
  /// Names in lower case, in full; values without the space around them.
  let fields: [(name: String, value: String)]
  let body: String

  init(_ text: String) {
    var lines: [Substring.UTF8View] = []
    var rest = text.utf8[...]
    while lines.count <= TracedMessage.maximumFields, !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      var line = rest[..<end]
      if line.last == 0x0D { line.removeLast() }
      rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
      if line.isEmpty { break }
      lines.append(line)
    }
    body = String(Substring(rest))
    start = TracedMessage.start(lines.first.map { String(Substring($0)) } ?? "")
    var fields: [(name: String, value: String)] = []
    for line in lines.dropFirst() {
      if let first = line.first, first == 0x20 || first == 0x09 {
        if let last = fields.indices.last { fields[last].value += " " + TracedMessage.trimmed(line) }
      } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
        let name = TracedMessage.trimmed(line[..<colon]).lowercased()
        fields.append((TracedMessage.full[name] ?? name, TracedMessage.trimmed(line[line.index(after: colon)...])))
      }
    }
    self.fields = fields
  }

  /// The first value of a header; its name in lower case.
  func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
  func values(_ name: String) -> [String] { fields.lazy.filter { $0.name == name }.map(\.value) }

  var status: Int? { if case .response(let status, _) = start { status } else { nil } }
  var phrase: String? { if case .response(_, let phrase) = start { phrase } else { nil } }

  /// Of the request, or of the one that a response answers.
  var method: String? {
    if case .request(let method, _) = start { return method }
    return sequence?.method
  }

  var isRequest: Bool { if case .request = start { true } else { false } }

  /// CSeq.
  var sequence: (number: Int, method: String)? {
    guard let parts = value("cseq")?.split(separator: " ", maxSplits: 1), parts.count == 2,
      let number = Int(parts[0])
    else { return nil }
    return (number, String(parts[1]).uppercased())
  }

  /// The session description in the body, also where it is one part of several.
  var sessionDescription: String? {
    guard !body.isEmpty else { return nil }
    let type = value("content-type")?.lowercased() ?? ""
    if type.hasPrefix("application/sdp") { return body }
    guard type.isEmpty || type.hasPrefix("multipart/"), let start = TracedMessage.descriptionStart(body) else {
      return nil
    }
    let rest = body.utf8[start...]
    var end = rest.startIndex
    while end < rest.endIndex, rest[end] != UInt8(ascii: "-") {
      let next = rest[end...].firstIndex(of: 0x0A)
      end = next.map { rest.index(after: $0) } ?? rest.endIndex
    }
    return String(Substring(rest[..<end]))
  }

  private static func descriptionStart(_ body: String) -> String.Index? {
    var line = body.utf8.startIndex
    while line < body.utf8.endIndex {
      if body.utf8[line...].starts(with: "v=0".utf8) { return line }
      guard let end = body.utf8[line...].firstIndex(of: 0x0A) else { return nil }
      line = body.utf8.index(after: end)
    }
    return nil
  }

  private static func start(_ line: String) -> Start {
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    if let first = words.first, first.uppercased() == "SIP/2.0", words.count >= 2, let status = Int(words[1]),
      (100...699).contains(status)
    {
      return .response(status: status, phrase: words.count == 3 ? String(words[2]) : "")
    }
    guard words.count == 3, words[2].uppercased() == "SIP/2.0", !words[0].isEmpty else { return .unreadable(line) }
    return .request(method: words[0].uppercased(), uri: String(words[1]))
  }

  private static func trimmed(_ bytes: Substring.UTF8View) -> String {
    var bytes = bytes
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return String(Substring(bytes))
  }

  /// Short names of headers (RFC 3261 section 7.3.3 and later).
  private static let full: [String: String] = [
    "i": "call-id", "m": "contact", "e": "content-encoding", "l": "content-length", "c": "content-type", "f": "from",
    "s": "subject", "k": "supported", "t": "to", "v": "via", "o": "event", "r": "refer-to", "b": "referred-by",
    "u": "allow-events", "x": "session-expires", "j": "reject-contact", "d": "request-disposition",
    "a": "accept-contact",
  ]
}
