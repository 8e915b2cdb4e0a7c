/// A 2xx that was sent and is repeated until its ACK comes.
public struct RepeatableResponse: Sendable {
  /// The whole message, sent again as it is.
  public let bytes: [UInt8]
  /// Where every repetition goes.
  public let path: SIPPath
  /// SIP's Call-ID in ``bytes``.
  public let callID: String

  package init(bytes: [UInt8], path: SIPPath, callID: String) {
    self.bytes = bytes
    self.path = path
    self.callID = callID
  }
}
