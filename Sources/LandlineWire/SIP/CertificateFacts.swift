import CallModel
import NIOSSL

/// What a certificate says of itself, for people: nothing is judged by it.
public struct CertificateFacts: Hashable, Sendable {
  /// The common name, or the organization where there is none; `nil` where neither is there.
  public let subject: String?
  /// The same of who signed it.
  public let issuer: String?
  /// Names that count for SIP (RFC 5922 section 7.1): hosts and addresses.
  public let names: [String]
  /// Seconds since 1970.
  public let validFrom: Int
  /// Seconds since 1970.
  public let validUntil: Int
  /// SHA-256 of the certificate, 32 bytes; empty where it cannot be computed.
  public let fingerprint: [UInt8]

  /// Most names that are kept.
  static let maximumNames = 32

  init(_ certificate: NIOSSLCertificate) {
    let names = PeerIdentity.names(of: certificate)
    self.names = Array((names.domains + names.addresses.map(\.unbracketed)).prefix(CertificateFacts.maximumNames))
    validFrom = Int(certificate.notValidBefore)
    validUntil = Int(certificate.notValidAfter)
    fingerprint = PeerIdentity.fingerprint(of: certificate) ?? []
    let distinguished = (try? certificate.toDERBytes()).flatMap(DistinguishedNames.init)
    subject = distinguished?.subject
    issuer = distinguished?.issuer
  }
}
