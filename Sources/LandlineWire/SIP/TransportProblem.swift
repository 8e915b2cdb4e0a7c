public import SIPCore

/// Something went wrong below SIP: for logs and counters. What a transaction must know it learns on its own.
public struct TransportProblem: Sendable {
  /// The raw value is stable: counters, logs and tests match on it.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case listener = "transport.listener"
    case send = "transport.send"
    case unreachable = "transport.unreachable"
    case messageTooLarge = "transport.messageTooLarge"
    case connect = "transport.connect"
    case connectRefused = "transport.connectRefused"
    case connectTimeout = "transport.connectTimeout"
    case connectionLost = "transport.connectionLost"
    case listenerClosed = "transport.listenerClosed"

    case connections = "limit.connections"
    case connectionsPerSource = "limit.connectionsPerSource"
    case handshakes = "limit.handshakes"
    case descriptors = "limit.descriptors"
    case slowReader = "limit.slowReader"
    case partialMessage = "limit.partialMessage"
    case framing = "stream.framing"
    case pong = "stream.pong"
    case stranger = "source.stranger"

    case handshakeTimeout = "tls.handshakeTimeout"
    case certificateExpired = "tls.certificateExpired"
    case certificateNotYetValid = "tls.certificateNotYetValid"
    case certificateUntrusted = "tls.certificateUntrusted"
    case certificateName = "tls.certificateName"
    case certificateFingerprint = "tls.certificateFingerprint"
    case certificateMissing = "tls.certificateMissing"
    case rejectedByPeer = "tls.rejectedByPeer"
    case version = "tls.version"
    case notTLS = "tls.notTLS"
    case handshake = "tls.handshake"
  }

  /// What broke, or which limit was reached.
  public let kind: Kind
  /// Where it happened, or where the message was to leave from.
  public let listener: ListenerID
  /// `nil` where no single peer is concerned.
  public let remote: TransportAddress?
  /// The stream that ended; `nil` for datagrams, listeners and streams that never came to be.
  public let connection: ConnectionID?
  /// One sentence: what happened and, where it helps, what would make it work. No byte of a message.
  public let text: String
  /// How far a TLS handshake of ours came, where one broke.
  public let handshake: TLSHandshake?
}

extension TransportProblem: CustomStringConvertible {
  /// `tls.certificateName: tls 192.0.2.1:5061: the certificate names …`
  public var description: String {
    let peer = remote.map { "\($0.transport.rawValue) \($0.host):\($0.port): " } ?? ""
    return "\(kind.rawValue): \(peer)\(text)"
  }
}
