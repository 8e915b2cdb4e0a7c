package import CallModel
import Glibc
import LandlineDigest
import NIOCore
import NIOSSL
import SIPCore

/// Everything that was read from certificate files, ready for handshakes. Replaced as a whole on reload: connections
/// that are open keep what they were made with.
package struct TLSContexts: Sendable {
  let servers: [ListenerID: NIOSSLContext]
  let policies: TLSClientPolicies
  let clients: [TLSClientPolicy: NIOSSLContext]

  /// Reads all files. Blocks: never on an event loop.
  /// - Throws: ``InvalidValue`` with rules `tls.certificateFile`, `tls.keyFile`, `tls.keyMismatch`,
  ///   `tls.authorityFile`, `tls.fingerprint`, `tls.systemAuthorities`.
  package init(listeners: [SIPListener], policies: TLSClientPolicies) throws(InvalidValue) {
    var servers: [ListenerID: NIOSSLContext] = [:]
    for listener in listeners {
      if let settings = listener.tls { servers[listener.id] = try TLSContexts.server(settings) }
    }
    var clients: [TLSClientPolicy: NIOSSLContext] = [:]
    // Without a TLS listener there is nothing to connect from.
    let hasTLS = listeners.contains { $0.transport == .tls }
    for policy in hasTLS ? policies.all : [] { clients[policy] = try TLSContexts.client(policy) }
    self.servers = servers
    self.policies = policies
    self.clients = clients
  }

  /// Forward secrecy and authenticated encryption only; TLS 1.3 has nothing else.
  private static let cipherSuites: [NIOTLSCipher] = [
    .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]
  /// How long a peer may take to answer the end of the stream.
  private static let shutdownTimeout = TimeAmount.seconds(1)

  /// Reads what a listener would, and throws as it would.
  /// - Returns: the first certificate of the chain.
  fileprivate static func checkServer(_ settings: TLSServerSettings) throws(InvalidValue) -> CertificateFacts? {
    _ = try server(settings)
    return try certificates(settings.identity.certificateChain, rule: "certificateFile").first.map(
      CertificateFacts.init)
  }

  fileprivate static func checkClient(_ policy: TLSClientPolicy) throws(InvalidValue) -> CertificateFacts? {
    _ = try client(policy)
    guard let identity = policy.identity else { return nil }
    return try certificates(identity.certificateChain, rule: "certificateFile").first.map(CertificateFacts.init)
  }

  private static func server(_ settings: TLSServerSettings) throws(InvalidValue) -> NIOSSLContext {
    let identity = try read(settings.identity)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
    configuration.minimumTLSVersion = settings.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
    configuration.cipherSuiteValues = cipherSuites
    configuration.shutdownTimeout = shutdownTimeout
    if !settings.clientAuthorities.isEmpty {
      configuration.certificateVerification = .noHostnameVerification
      configuration.trustRoots = .certificates(try authorities(settings.clientAuthorities))
      configuration.sendCANameList = true
    }
    return try context(configuration, settings.identity)
  }

  private static func client(_ policy: TLSClientPolicy) throws(InvalidValue) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = policy.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
    configuration.cipherSuiteValues = cipherSuites
    configuration.shutdownTimeout = shutdownTimeout
    // Names are judged by PeerIdentity, which knows the rules of SIP.
    configuration.certificateVerification = .noHostnameVerification
    switch policy.trust {
    case .system: configuration.trustRoots = .default
    case .authorities(let files): configuration.trustRoots = .certificates(try authorities(files))
    case .fingerprints(let fingerprints):
      let length = MessageDigest.Algorithm.sha256.byteCount
      guard !fingerprints.isEmpty, fingerprints.allSatisfy({ $0.count == length }) else {
        throw refusal(
          "fingerprint", "there is none, or one has not \(length) bytes",
          accepted: "the SHA-256 digest of the certificate: openssl x509 -noout -fingerprint -sha256")
      }
      configuration.trustRoots = .certificates([])
    }
    if let files = policy.identity {
      let identity = try read(files)
      configuration.certificateChain = identity.chain.map { .certificate($0) }
      configuration.privateKey = .privateKey(identity.key)
    }
    return try context(configuration, policy.identity)
  }

  private static func context(
    _ configuration: TLSConfiguration, _ identity: TLSIdentityFiles?
  ) throws(InvalidValue) -> NIOSSLContext {
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch NIOSSLError.failedToLoadPrivateKey {
      throw refusal(
        "keyMismatch", "\(identity?.privateKey ?? "the key") does not belong to \(identity?.certificateChain ?? "-")",
        accepted: "the private key that the first certificate of the chain was made for")
    } catch {
      throw refusal(
        "context", "the TLS library refuses the settings: \(ErrorText.text(error))",
        accepted: "certificates with RSA keys of at least 2048 bits or keys on P-256, P-384 or P-521")
    }
  }

  private static func read(
    _ files: TLSIdentityFiles
  ) throws(InvalidValue) -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
    let chain = try certificates(files.certificateChain, rule: "certificateFile")
    try checkReadable(files.privateKey, "keyFile")
    do {
      return (chain, try NIOSSLPrivateKey(file: files.privateKey, format: .pem))
    } catch {
      throw refusal(
        "keyFile", "\(files.privateKey) cannot be read as a private key",
        accepted: "a PEM file with one unencrypted private key")
    }
  }

  private static func authorities(_ files: [String]) throws(InvalidValue) -> [NIOSSLCertificate] {
    var all: [NIOSSLCertificate] = []
    for file in files { all += try certificates(file, rule: "authorityFile") }
    guard !all.isEmpty else {
      throw refusal("authorityFile", "no file is named", accepted: "at least one PEM file with certificates")
    }
    return all
  }

  private static func certificates(_ file: String, rule: String) throws(InvalidValue) -> [NIOSSLCertificate] {
    try checkReadable(file, rule)
    let found: [NIOSSLCertificate]
    do {
      found = try NIOSSLCertificate.fromPEMFile(file)
    } catch {
      throw refusal(
        rule, "\(file) cannot be read as certificates",
        accepted: "a PEM file with one or more BEGIN CERTIFICATE blocks")
    }
    guard !found.isEmpty else {
      throw refusal(rule, "\(file) holds no certificate", accepted: "a PEM file with BEGIN CERTIFICATE blocks")
    }
    return found
  }

  private static func checkReadable(_ file: String, _ rule: String) throws(InvalidValue) {
    guard access(file, R_OK) != 0 else { return }
    throw refusal(
      rule, "\(file) cannot be read: \(String(cString: strerror(errno)))",
      accepted: "a PEM file that this process may read")
  }

  private static func refusal(_ rule: String, _ problem: String, accepted: String) -> InvalidValue {
    InvalidValue(kind: "TLS setting", rule: "tls.\(rule)", offset: nil, problem: problem, accepted: accepted)
  }
}

extension CertificateFacts {
  /// Reads the files of a TLS server as if it were started.
  /// - Returns: what its own certificate says.
  /// - Throws: ``InvalidValue`` with rules `tls.…`.
  package static func check(_ settings: TLSServerSettings) throws(InvalidValue) -> CertificateFacts? {
    try TLSContexts.checkServer(settings)
  }

  /// Reads the files of a TLS client as if it were started.
  /// - Returns: what the certificate says that it shows; `nil` where it has none.
  /// - Throws: ``InvalidValue`` with rules `tls.…`.
  package static func check(_ policy: TLSClientPolicy) throws(InvalidValue) -> CertificateFacts? {
    try TLSContexts.checkClient(policy)
  }
}
