public import CallModel

/// How the TLS server at the far end of a connection of ours is judged, and what it is shown.
public struct TLSClientPolicy: Hashable, Sendable {
  /// Who must have vouched for a server's certificate.
  public enum Trust: Hashable, Sendable {
    /// The authorities that the system trusts.
    case system
    /// PEM files of authorities; no other is trusted.
    case authorities([String])
    /// SHA-256 fingerprints of certificates, 32 bytes each. A certificate with one of them is good whoever signed it,
    /// whatever names and dates it carries.
    case fingerprints([[UInt8]])
  }

  /// Whoever is trusted, the certificate must also name the server; only fingerprints go without.
  public var trust: Trust
  /// Shown to a server that asks for it.
  public var identity: TLSIdentityFiles?
  /// A server that offers less is refused.
  public var minimumVersion: TLSVersionFloor
  /// Whether `*.example.com` in a certificate covers `sip.example.com`. RFC 5922 section 7.2 forbids it.
  public var allowsWildcardNames: Bool

  /// By default the system's authorities, TLS 1.2 or 1.3, no certificate of ours and no wildcards.
  public init(
    trust: Trust = .system, identity: TLSIdentityFiles? = nil, minimumVersion: TLSVersionFloor = .tls12,
    allowsWildcardNames: Bool = false
  ) {
    self.trust = trust
    self.identity = identity
    self.minimumVersion = minimumVersion
    self.allowsWildcardNames = allowsWildcardNames
  }
}

/// Which policy counts for which peer.
public struct TLSClientPolicies: Hashable, Sendable {
  /// For every peer without one of its own.
  public var standard: TLSClientPolicy
  /// By the name the certificate must carry, lower case.
  public var byServerName: [String: TLSClientPolicy]
  /// By numeric address, where no name matches.
  public var byHost: [SIPHost: TLSClientPolicy]

  /// - Parameters:
  ///   - byServerName: Names in lower case.
  ///   - byHost: Numeric addresses.
  public init(
    standard: TLSClientPolicy = TLSClientPolicy(), byServerName: [String: TLSClientPolicy] = [:],
    byHost: [SIPHost: TLSClientPolicy] = [:]
  ) {
    self.standard = standard
    self.byServerName = byServerName
    self.byHost = byHost
  }

  func policy(serverName: String?, host: SIPHost) -> TLSClientPolicy {
    if let serverName, let policy = byServerName[serverName.lowercased()] { return policy }
    return byHost[host] ?? standard
  }

  var all: Set<TLSClientPolicy> { Set(byServerName.values).union(byHost.values).union([standard]) }
}
