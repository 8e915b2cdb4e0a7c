/// What finds the server transaction of a request (RFC 3261 section 17.2.3). An ACK has the key of its INVITE.
enum ServerTransactionKey: Hashable {
  /// A branch that its sender promises to be unique, with the sender's sent-by.
  case branch(String, host: String, port: UInt16?, method: String)
  /// The fields that RFC 2543 matched by, as written. To is left out: an ACK has the tag of the response there.
  case fields(uri: String, fromTag: String, callID: String, cseq: UInt32, via: String, method: String)

  static let cookie = "z9hG4bK"

  /// - Parameter method: Whose transaction is looked for; by default that of the message itself.
  init?(_ message: ScannedMessage, method wanted: String? = nil) {
    guard let via = message.vias.first, let cseq = message.cseq else { return nil }
    let own = wanted ?? cseq.method
    let method = own == SIPMethod.ack.rawValue ? SIPMethod.invite.rawValue : own
    if let branch = via.branch, branch.hasPrefix(Self.cookie), branch.utf8.count > Self.cookie.utf8.count {
      self = .branch(branch, host: via.host.lowercased(), port: via.port, method: method)
      return
    }
    guard let uri = message.requestURI, let callID = message.callID, let number = cseq.number.number else { return nil }
    self = .fields(
      uri: message.text(uri), fromTag: message.from?.tag ?? "", callID: callID, cseq: number,
      via: message.text(via.range), method: method)
  }

  /// Whether the sender follows RFC 3261.
  var isUnique: Bool {
    if case .branch = self { return true }
    return false
  }
}

extension IdentifierSource {
  /// A branch for a new transaction (RFC 3261 section 8.1.1.7).
  func branch() -> String { token(behind: ServerTransactionKey.cookie) }
}
