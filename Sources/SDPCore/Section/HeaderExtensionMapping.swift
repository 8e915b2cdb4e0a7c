/// An `extmap` line: the number that stands for a header extension in the packets of its section (RFC 8285 section 5).
struct HeaderExtensionMapping {
  /// Client-to-mixer audio levels (RFC 6464).
  static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  /// Numbers that fit into elements of one byte, which every packet may have. Those of two need words of their own.
  static let oneByteIdentifiers = 1...14

  let identifier: Int
  /// As the writer of the line sees it.
  let direction: MediaDirection
  let uri: String
  /// Words behind the URI; mostly empty.
  let attributes: String

  /// Reads `1/sendonly urn:ietf:params:rtp-hdrext:ssrc-audio-level vad=on`; `nil` when it is not that.
  init?(_ text: String) {
    guard let (name, rest) = SessionDescriptionLine.firstWord(text) else { return nil }
    let (number, written) = name.utf8.cut(at: UInt8(ascii: "/"))
    let words = rest.utf8.cut(at: 0x20)
    guard let identifier = SessionDescriptionLine.number(number, upTo: 65_535),
      let direction = written.map({ MediaDirection(rawValue: String(Substring($0))) }) ?? .sendAndReceive
    else { return nil }
    self.identifier = identifier
    self.direction = direction
    uri = String(Substring(words.first))
    attributes = words.rest.map { String(Substring($0)) } ?? ""
  }
}
