/// A dialog as this node sees it (RFC 3261 section 12).
public struct DialogID: Hashable, Sendable {
  public let callID: String
  public let localTag: String
  public let remoteTag: String

  public init(callID: String, localTag: String, remoteTag: String) {
    self.callID = callID
    self.localTag = localTag
    self.remoteTag = remoteTag
  }
}
