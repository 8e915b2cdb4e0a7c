/// A SIP message as text: enough of it for a peer that plays tricks, and lenient on purpose.
public struct PeerMessage: Sendable {
  public struct Header: Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public var startLine: String
  public var headers: [Header]
  public var body: String

  public init(startLine: String, headers: [Header], body: String) {
    self.startLine = startLine
    self.headers = headers
    self.body = body
  }

  public init(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let halves = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let lines = (halves.first ?? "").split(separator: "\r\n", omittingEmptySubsequences: false)
    startLine = lines.first.map(String.init) ?? ""
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return Header(
        name: String(parts.first ?? "").trimmed, value: parts.count > 1 ? String(parts[1]).trimmed : "")
    }
    body = halves.count > 1 ? String(halves[1]) : ""
  }

  /// `nil` for a response.
  public var method: String? {
    startLine.hasPrefix("SIP/2.0 ") ? nil : startLine.split(separator: " ").first.map(String.init)
  }

  /// `nil` for a request.
  public var status: Int? {
    startLine.hasPrefix("SIP/2.0 ") ? startLine.split(separator: " ").dropFirst().first.flatMap { Int($0) } : nil
  }

  public var requestURI: String? {
    method == nil ? nil : startLine.split(separator: " ").dropFirst().first.map(String.init)
  }

  /// The first value of a header with this name.
  public subscript(name: String) -> String? { values(name).first }

  public func values(_ name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  public var cseqNumber: Int? { self["CSeq"]?.split(separator: " ").first.flatMap { Int($0) } }
  public var branch: String? { self["Via"].flatMap { Self.parameter("branch", of: $0) } }
  public var fromTag: String? { self["From"].flatMap { Self.parameter("tag", of: $0) } }
  public var toTag: String? { self["To"].flatMap { Self.parameter("tag", of: $0) } }
  /// The URI of the first Contact.
  public var contactURI: String? {
    guard let contact = self["Contact"] else { return nil }
    guard let open = contact.firstIndex(of: "<"), let end = contact[open...].firstIndex(of: ">") else {
      return contact.split(separator: ";").first.map(String.init)
    }
    return String(contact[contact.index(after: open)..<end])
  }

  public var bytes: [UInt8] {
    var text = startLine + "\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    return Array("\(text)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
  }

  private static func parameter(_ name: String, of value: String) -> String? {
    // Parameters of the header stand behind the URI.
    let tail = value.lastIndex(of: ">").map { value[value.index(after: $0)...] } ?? value[...]
    for part in tail.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1)
      if pair.count == 2, String(pair[0]).trimmed.lowercased() == name { return String(pair[1]).trimmed }
    }
    return nil
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop(while: { $0 == " " || $0 == "\t" }).reversed().drop(while: { $0 == " " || $0 == "\t" }).reversed())
  }
}
