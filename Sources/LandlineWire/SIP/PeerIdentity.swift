import CallModel
import LandlineDigest
import NIOSSL
import SIPCore

/// Whether a certificate names the peer that a request is meant for (RFC 5922 section 7).
enum PeerIdentity {
  /// The names that count for SIP: hosts of `sip:` URIs, and DNS names only where there is none of these.
  struct Names {
    var domains: [String] = []
    var addresses: [SIPHost] = []
  }

  /// - Returns: What is wrong, or `nil`.
  static func problem(
    with certificate: NIOSSLCertificate, serverName: String?, remote: SIPHost, allowsWildcards: Bool
  ) -> String? {
    let names = names(of: certificate)
    let shown = (names.domains + names.addresses.map(\.unbracketed)).prefix(8).joined(separator: ", ")
    let found = shown.isEmpty ? "no name that counts for SIP" : shown
    guard let serverName, host(serverName) == nil else {
      let wanted = serverName.flatMap(host) ?? remote
      if names.addresses.contains(wanted) { return nil }
      return "the certificate names \(found), not the address \(wanted.unbracketed) that was asked for without a name"
    }
    let wanted = canonical(serverName)
    if names.domains.contains(where: { $0 == wanted }) { return nil }
    let covering = names.domains.first { covers($0, wanted) }
    if covering != nil, allowsWildcards { return nil }
    if let covering {
      return "the certificate names \(covering), and wildcards are not allowed for this peer (RFC 5922 section 7.2)"
    }
    return "the certificate names \(found), not \(wanted)"
  }

  static func names(of certificate: NIOSSLCertificate) -> Names {
    var names = Names()
    var hosts: [String] = []
    for name in certificate._subjectAlternativeNames() {
      let bytes = Array(name.contents)
      switch name.nameType {
      case .dnsName: hosts.append(canonical(String(decoding: bytes, as: UTF8.self)))
      case .uri: sipDomain(String(decoding: bytes, as: UTF8.self)).map { names.domains.append($0) }
      case .ipAddress: address(bytes).map { names.addresses.append($0) }
      default: continue
      }
    }
    if names.domains.isEmpty { names.domains = hosts }
    return names
  }

  /// The host of a `sip:` URI without user part, which alone stands for a whole domain.
  static func sipDomain(_ uri: String) -> String? {
    guard uri.lowercased().hasPrefix("sip:"), !uri.contains("@") else { return nil }
    let host = uri.dropFirst(4).prefix { !";?:/".contains($0) }
    return host.isEmpty ? nil : canonical(String(host))
  }

  /// SHA-256 of the certificate as it is sent.
  static func fingerprint(of certificate: NIOSSLCertificate) -> [UInt8]? {
    guard let bytes = try? certificate.toDERBytes() else { return nil }
    let digest = MessageDigest.sha256()
    return bytes.withUnsafeBytes { digest.digest(of: $0) }
  }

  /// A numeric address, with or without brackets.
  static func host(_ text: String) -> SIPHost? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    guard let host = try? SIPHost(unbracketed: isBracketed ? String(text.dropFirst().dropLast()) : text) else {
      return nil
    }
    if case .name = host { return nil }
    return host
  }

  private static func canonical(_ name: String) -> String {
    let lowercase = name.lowercased()
    return lowercase.hasSuffix(".") ? String(lowercase.dropLast()) : lowercase
  }

  /// `*.` stands for exactly one label.
  private static func covers(_ pattern: String, _ name: String) -> Bool {
    guard pattern.hasPrefix("*."), let dot = name.firstIndex(of: "."), pattern.dropFirst(2).contains(".") else {
      return false
    }
    return pattern.dropFirst(2) == name[name.index(after: dot)...]
  }

  private static func address(_ bytes: [UInt8]) -> SIPHost? {
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    return switch bytes.count {
    case 4: .ipv4(UInt32(truncatingIfNeeded: number(0..<4)))
    case 16: .ipv6(high: number(0..<8), low: number(8..<16))
    default: nil
    }
  }
}
