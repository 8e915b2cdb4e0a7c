public import SIPCore

/// A stream of ours that is open: how long that took, and what TLS agreed on.
public struct StreamOpening: Sendable {
  public let listener: ListenerID
  public let remote: TransportAddress
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
  public let milliseconds: Int64
}
