extension CallTrace {
  /// What went wrong on the way to a peer, where it explains a call. A note of it is kept as its words, which begin with the
  /// problem's name: `tls.certificateName: …`. They are read here, and nowhere else.
  package enum PathProblem: String, Hashable, Sendable, CaseIterable {
    case unreachable = "transport.unreachable"
    case connect = "transport.connect"
    case connectRefused = "transport.connectRefused"
    case connectTimeout = "transport.connectTimeout"

    case handshakeTimeout = "tls.handshakeTimeout"
    case certificateExpired = "tls.certificateExpired"
    case certificateNotYetValid = "tls.certificateNotYetValid"
    case certificateUntrusted = "tls.certificateUntrusted"
    case certificateName = "tls.certificateName"
    case certificateFingerprint = "tls.certificateFingerprint"
    case certificateMissing = "tls.certificateMissing"
    case rejectedByPeer = "tls.rejectedByPeer"
    case tlsVersion = "tls.version"
    case notTLS = "tls.notTLS"
    case handshake = "tls.handshake"

    package var isTLS: Bool {
      switch self {
      case .unreachable, .connect, .connectRefused, .connectTimeout: false
      default: true
      }
    }
  }
}

extension CallTrace.Note {
  package var pathProblem: CallTrace.PathProblem? {
    kind == .story ? CallTrace.PathProblem(rawValue: String(text.prefix { $0 != ":" })) : nil
  }
}
