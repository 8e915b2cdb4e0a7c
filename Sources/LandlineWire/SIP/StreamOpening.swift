public import SIPCore

/// A stream of ours that is open: how long that took, and what TLS agreed on.
public struct StreamOpening: Sendable {
  /// The listener whose address the stream starts from.
  public let listener: ListenerID
  /// The peer at the stream's other end.
  public let remote: TransportAddress
  /// Stands in the paths of messages that come and go on this stream.
  public let connection: ConnectionID
  /// From the first packet to an open TCP stream.
  public let connectMilliseconds: Int64
  /// `nil` without TLS.
  public let handshake: TLSHandshake?
}

/// What a TLS handshake came to.
public struct TLSHandshake: Hashable, Sendable {
  /// `1.2`, `1.3`; `nil` where it broke before that was agreed.
  public let version: String?
  /// What the server showed; `nil` where it broke before that came.
  public let certificate: CertificateFacts?
  /// From the open TCP stream until the handshake was over or broke.
  public let milliseconds: Int64
}
