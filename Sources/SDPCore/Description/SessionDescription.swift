/// A session description (RFC 8866), as written: what it says is kept, line by line, known or not.
///
/// ``text`` prints it with the lines in the order of the RFC and CRLF after each; reading that gives an equal value.
/// A missing `s=` reads as `-` and a missing `t=` as `0 0`.
public struct SessionDescription: Hashable, Sendable {
  /// `o=`.
  public var origin: SessionOrigin
  /// `s=`.
  public var name: String
  /// `i=`, for people.
  public var information: String?
  /// `u=`, as written.
  public var uri: String?
  /// `e=` lines, as written.
  public var emails: [String]
  /// `p=` lines, as written.
  public var phones: [String]
  /// For every media section without a connection of its own.
  public var connection: ConnectionData?
  /// `b=` lines above the first `m=`.
  public var bandwidths: [Bandwidth]
  /// Never empty in a description that was read.
  public var times: [SessionTime]
  /// The obsolete `k=` line: kept, never used.
  public var key: String?
  /// `a=` lines above the first `m=`, in order.
  public var attributes: [SessionAttribute]
  /// `m=` lines, each with the lines below it, in order.
  public var media: [MediaDescription]

  /// Nothing is checked; what is left out prints as little as the RFC allows: `s=-`, `t=0 0`.
  public init(
    origin: SessionOrigin, name: String = "-", information: String? = nil, uri: String? = nil, emails: [String] = [],
    phones: [String] = [], connection: ConnectionData? = nil, bandwidths: [Bandwidth] = [],
    times: [SessionTime] = [SessionTime()], key: String? = nil, attributes: [SessionAttribute] = [],
    media: [MediaDescription] = []
  ) {
    self.origin = origin
    self.name = name
    self.information = information
    self.uri = uri
    self.emails = emails
    self.phones = phones
    self.connection = connection
    self.bandwidths = bandwidths
    self.times = times
    self.key = key
    self.attributes = attributes
    self.media = media
  }
}

extension SessionDescription {
  /// The description with CRLF line ends, in the order of RFC 8866 section 9. Holds keys and passwords.
  public var text: String { printed(hidingSecrets: false) }

  private func printed(hidingSecrets: Bool) -> String {
    var printed = SessionDescriptionText()
    printed.line("v", "0")
    printed.line("o", origin.words)
    printed.line("s", name)
    printed.line("i", information)
    printed.line("u", uri)
    for email in emails { printed.line("e", email) }
    for phone in phones { printed.line("p", phone) }
    if let connection { printed.line("c", connection.words) }
    for bandwidth in bandwidths { printed.line("b", "\(bandwidth.modifier):\(bandwidth.value)") }
    for time in times {
      printed.line("t", [time.start, time.stop])
      for value in time.repeats { printed.line("r", value) }
      printed.line("z", time.timeZones)
    }
    printed.line("k", key)
    for attribute in attributes { printed.line(attribute, hidingSecrets) }
    for section in media { printed.media(section, hidingSecrets) }
    return printed.text
  }
}

extension SessionDescription: CustomStringConvertible {
  /// ``text`` for a log: keys and passwords are hidden.
  public var description: String {
    var hidden = self
    if key != nil { hidden.key = "<redacted>" }
    for index in media.indices where media[index].key != nil { hidden.media[index].key = "<redacted>" }
    return hidden.printed(hidingSecrets: true)
  }
}

/// Appends lines. A line break inside a value would start a line of someone else's choosing, so it ends the value.
private struct SessionDescriptionText {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(1024) }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func line(_ type: Unicode.Scalar, _ value: String?) {
    guard let value else { return }
    line(type) { $0 += value.utf8 }
  }

  mutating func line(_ type: Unicode.Scalar, _ words: [String]) {
    line(type) { bytes in
      for (place, word) in words.enumerated() {
        if place > 0 { bytes.append(0x20) }
        bytes += word.utf8
      }
    }
  }

  mutating func line(_ attribute: SessionAttribute, _ hidingSecrets: Bool) {
    line("a") { bytes in
      bytes += attribute.name.utf8
      guard let value = attribute.value else { return }
      bytes.append(UInt8(ascii: ":"))
      bytes += (hidingSecrets && attribute.isSecret ? SessionAttribute.hidden : value).utf8
    }
  }

  mutating func media(_ section: MediaDescription, _ hidingSecrets: Bool) {
    let count = section.portCount.map { "/\($0)" } ?? ""
    line("m", [section.kind, "\(section.port)\(count)", section.profile] + section.formats)
    line("i", section.information)
    for connection in section.connections { line("c", connection.words) }
    for bandwidth in section.bandwidths { line("b", "\(bandwidth.modifier):\(bandwidth.value)") }
    line("k", section.key)
    for attribute in section.attributes { line(attribute, hidingSecrets) }
  }

  private mutating func line(_ type: Unicode.Scalar, _ appendValue: (inout [UInt8]) -> Void) {
    bytes.append(UInt8(ascii: type))
    bytes.append(UInt8(ascii: "="))
    let start = bytes.count
    appendValue(&bytes)
    if let end = bytes[start...].firstIndex(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) {
      bytes.removeLast(bytes.count - end)
    }
    bytes += "\r\n".utf8
  }
}
