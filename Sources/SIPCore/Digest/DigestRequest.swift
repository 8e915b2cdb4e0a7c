/// What of a request enters a digest.
public struct DigestRequest: Hashable, Sendable {
  /// The method, case-sensitive: `INVITE`.
  public var method: String
  /// The Request-URI as written in the request line.
  public var uri: String
  /// The whole body, empty where there is none; only `auth-int` reads it.
  public var body: [UInt8]

  /// The body matters where `auth-int` is agreed on, and nowhere else.
  public init(method: String, uri: String, body: [UInt8] = []) {
    self.method = method
    self.uri = uri
    self.body = body
  }

  /// RFC 3261 section 22.1: an ACK and a CANCEL cannot be sent again with a new CSeq, so nobody may challenge them.
  public var canBeChallenged: Bool { method != "ACK" && method != "CANCEL" }
}
