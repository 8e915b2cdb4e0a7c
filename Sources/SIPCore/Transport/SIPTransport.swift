/// What carried the bytes of a message (RFC 3261 section 18).
public enum SIPTransport: String, Hashable, Sendable, CaseIterable {
  case udp, tcp, tls

  /// Whether messages are cut out of a stream by their Content-Length, so that nothing may stand behind a body.
  public var isStream: Bool { self != .udp }
}
