/// A dialog as this node sees it (RFC 3261 section 12).
public struct DialogID: Hashable, Sendable {
  /// SIP's Call-ID, compared byte for byte.
  public let callID: String
  /// Ours: the tag of From in a call that we placed, of To in one that came in.
  public let localTag: String
  /// The peer's; empty for a peer of RFC 2543, which has none.
  public let remoteTag: String

  public init(callID: String, localTag: String, remoteTag: String) {
    self.callID = callID
    self.localTag = localTag
    self.remoteTag = remoteTag
  }
}

extension DialogID {
  /// The dialog that a request of the peer belongs to. A peer of RFC 2543 has no tag, which counts as an empty one
  /// (RFC 3261 section 12.1.1).
  init(receivedIn request: SIPMessage) {
    self.init(callID: request.callID, localTag: request.to.tag ?? "", remoteTag: request.from.tag ?? "")
  }

  /// The same, before the request is parsed.
  init(receivedIn request: ScannedMessage) {
    self.init(callID: request.callID ?? "", localTag: request.to?.tag ?? "", remoteTag: request.from?.tag ?? "")
  }
}
