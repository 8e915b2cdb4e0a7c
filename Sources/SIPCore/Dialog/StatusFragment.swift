/// The status line that reports on a transfer: a body of message/sipfrag (RFC 3420, RFC 3515 section 2.4.5).
package struct StatusFragment: Hashable, Sendable {
  /// Most bytes of a status line that is read.
  package static let maximumLineBytes = 512

  /// 100 to 699.
  package let status: Int
  package let phrase: String

  package init(status: Int, phrase: String) {
    self.status = status
    self.phrase = phrase
  }

  /// Reads the first line that is not empty; what follows is passed over, and a line feed alone ends a line.
  /// - Returns: `nil` for another media type and for what is no status line.
  package init?(_ body: MessageBody) {
    guard body.isType("message/sipfrag") else { return nil }
    let line = body.bytes.prefix(MessageBody.maximumBytes)
      .drop { $0 == MessageCharacter.cr || $0 == MessageCharacter.lf || MessageCharacter.isBlank($0) }
      .prefix { $0 != MessageCharacter.cr && $0 != MessageCharacter.lf }
    guard line.count <= StatusFragment.maximumLineBytes, !line.contains(where: MessageCharacter.isControl) else {
      return nil
    }
    let parts = line.split(maxSplits: 2, omittingEmptySubsequences: true, whereSeparator: MessageCharacter.isBlank)
    guard parts.count >= 2, parts[0].map(MessageCharacter.lowercase).elementsEqual("sip/2.0".utf8), parts[1].count == 3,
      let status = FieldValueReader.number(String(decoding: parts[1], as: UTF8.self), through: 699), status >= 100
    else { return nil }
    self.init(
      status: status,
      phrase: parts.count > 2 ? String(decoding: parts[2].drop(while: MessageCharacter.isBlank), as: UTF8.self) : "")
  }

  package var body: MessageBody {
    let clean = phrase.utf8.filter { !MessageCharacter.isControl($0) }.prefix(StatusFragment.maximumLineBytes / 2)
    let line = Array("SIP/2.0 \(status) ".utf8) + clean + [MessageCharacter.cr, MessageCharacter.lf]
    return MessageBody(contentType: "message/sipfrag;version=2.0", bytes: line)
  }
}
