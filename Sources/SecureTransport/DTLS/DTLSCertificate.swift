import CLandlineTLS
public import SDPCore

/// Our certificate for DTLS: a fresh P-256 key, self-signed, in memory only. Made once per process; the description
/// names its fingerprint, which is all that a peer trusts (RFC 8122).
///
/// It is valid from the year 2000 without an end: no party to DTLS-SRTP asks a clock about a certificate that a
/// fingerprint names, and so neither do we.
// Unchecked: the C object is never written after its making but for reference counts, which libcrypto counts atomically.
public final class DTLSCertificate: @unchecked Sendable {
  let identity: OpaquePointer
  /// SHA-256 of the certificate, for `a=fingerprint`.
  public let fingerprint: CertificateFingerprint

  /// Takes a fraction of a millisecond. Fails with ``TransportFailure/key`` without memory or randomness, or on another
  /// libssl than OpenSSL 3.0.
  public convenience init() throws(TransportFailure) { try self.init(isShown: true, padding: 0) }

  /// `isShown` false: as client it is kept back. `padding`: bytes by which it is longer than needed. Both only make
  /// the peers whom an association has to refuse.
  package init(isShown: Bool, padding: Int) throws(TransportFailure) {
    guard let identity = landline_dtls_identity_new(isShown, padding) else { throw .key }
    let bytes = [UInt8](unsafeUninitializedCapacity: 32) { room, count in
      count = landline_dtls_identity_fingerprint(identity, room.baseAddress) ? 32 : 0
    }
    guard let fingerprint = CertificateFingerprint(hash: .sha256, bytes: bytes) else {
      landline_dtls_identity_free(identity)
      throw .key
    }
    self.identity = identity
    self.fingerprint = fingerprint
  }

  deinit { landline_dtls_identity_free(identity) }

  /// Whether a certificate in DER has one of these fingerprints. Weak hashes match nothing.
  package static func matches(_ der: [UInt8], _ fingerprints: [CertificateFingerprint]) -> Bool {
    let digests = DTLSAssociation.digests(fingerprints)
    return landline_dtls_certificate_matches(der, der.count, digests, digests.count)
  }
}
