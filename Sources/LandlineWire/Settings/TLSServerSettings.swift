/// The least version of TLS that is spoken. 1.0 and 1.1 are refused by everything here (RFC 8996).
public enum TLSVersionFloor: String, Hashable, Sendable, CaseIterable {
  case tls12 = "1.2"
  case tls13 = "1.3"
}

/// A certificate and its key, as files. Read at the start and at every reload.
public struct TLSIdentityFiles: Hashable, Sendable {
  /// PEM: the certificate itself first, then the intermediate ones.
  public var certificateChain: String
  /// PEM, without a passphrase.
  public var privateKey: String

  /// Paths of both files; nothing is read here.
  public init(certificateChain: String, privateKey: String) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }
}

/// How a TLS listener shows itself, and what it wants to see.
public struct TLSServerSettings: Hashable, Sendable {
  /// Shown to every client.
  public var identity: TLSIdentityFiles
  /// A client that offers less is refused.
  public var minimumVersion: TLSVersionFloor
  /// PEM files of authorities. Empty: clients are not asked for a certificate; otherwise each must show one that one of
  /// these authorities vouches for.
  public var clientAuthorities: [String]

  /// By default TLS 1.2 and 1.3, and clients need no certificate.
  public init(
    identity: TLSIdentityFiles, minimumVersion: TLSVersionFloor = .tls12, clientAuthorities: [String] = []
  ) {
    self.identity = identity
    self.minimumVersion = minimumVersion
    self.clientAuthorities = clientAuthorities
  }
}
