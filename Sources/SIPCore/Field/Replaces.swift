public import CallModel

/// The dialog that a call takes the place of (RFC 3891 section 6.1), as its receiver names it.
public struct Replaces: Hashable, Sendable {
  /// That of the dialog to replace, not of the call that replaces it.
  public let callID: String
  /// The receiver's own tag.
  public let toTag: String
  /// The tag of the receiver's peer in that dialog.
  public let fromTag: String
  /// Only a dialog that is not yet confirmed.
  public let isEarlyOnly: Bool

  /// By default a confirmed dialog may be replaced too.
  public init(callID: String, toTag: String, fromTag: String, isEarlyOnly: Bool = false) {
    self.callID = callID
    self.toTag = toTag
    self.fromTag = fromTag
    self.isEarlyOnly = isEarlyOnly
  }

  /// - Throws: `InvalidValue` with rules `replaces.long`, `replaces.callID`, `replaces.tag`, `replaces.parameter`,
  ///   `replaces.end`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      text, kind: "Replaces header", rule: "replaces",
      accepted: "a Call-ID with both tags, such as 12@host;to-tag=7;from-tag=9", maximumBytes: 2048)
    reader.skipSpace()
    let callID = reader.run {
      $0 > 0x20 && $0 != 0x7F && $0 != MessageCharacter.semicolon && $0 != MessageCharacter.comma
    }
    guard !callID.isEmpty else { throw reader.invalid("callID", "\(reader.nextName) stands where the Call-ID begins") }
    var toTag: String?
    var fromTag: String?
    var isEarlyOnly = false
    while true {
      let place = reader.offset
      guard let (name, value) = try reader.parameter() else { break }
      switch name.lowercased() {
      case "to-tag" where toTag == nil: toTag = value
      case "from-tag" where fromTag == nil: fromTag = value
      case "to-tag", "from-tag": throw reader.invalid("tag", "a tag stands twice", at: place)
      case "early-only": isEarlyOnly = true
      default: break
      }
    }
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after the value") }
    guard let toTag, let fromTag else { throw reader.invalid("tag", "to-tag or from-tag is missing") }
    self.init(callID: callID, toTag: toTag, fromTag: fromTag, isEarlyOnly: isEarlyOnly)
  }

  /// `12@host;to-tag=7;from-tag=9`, and `;early-only` where ``isEarlyOnly`` says so.
  public var fieldValue: String {
    "\(callID);to-tag=\(toTag);from-tag=\(fromTag)" + (isEarlyOnly ? ";early-only" : "")
  }
}
