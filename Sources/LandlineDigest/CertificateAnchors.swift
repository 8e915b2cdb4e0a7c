import CLandlineCrypto

/// Certificates that are trusted, and what follows from them (RFC 5280 section 6). Revocation is not asked for.
// What libcrypto keeps behind the pointer has a lock of its own, and nothing changes it after the start.
public final class CertificateAnchors: @unchecked Sendable {
  /// Why a chain does not hold.
  public enum Problem: Error, Hashable, Sendable {
    /// It does not lead to a trusted certificate, or a signature in it is wrong.
    case untrusted
    /// A certificate of it is past its end.
    case expired
    /// A certificate of it has not begun.
    case notYetValid
    /// Anything else, with libcrypto's number (`X509_V_ERR_…`).
    case refused(Int32)
  }

  /// Certificates between the first of a chain and a trusted one.
  public static let maximumIntermediates = 4

  private let store: OpaquePointer
  /// In their order.
  public let certificates: [Certificate]

  /// - Returns: `nil` where memory runs out, or libcrypto refuses one of them.
  public init?(_ certificates: [Certificate]) {
    guard MessageDigest.isReady, let store = X509_STORE_new() else { return nil }
    self.store = store
    self.certificates = certificates
    for certificate in certificates {
      guard let read = Certificate.read(certificate.der) else { return nil }
      defer { X509_free(read) }
      guard X509_STORE_add_cert(store, read) == 1 else { return nil }
    }
  }

  deinit { X509_STORE_free(store) }

  /// Looks whether a chain leads from its first certificate to a trusted one, each within its dates.
  /// - Parameters:
  ///   - chain: First the one in question; the others in any order. More than ``maximumIntermediates`` of these are refused.
  ///   - seconds: Since 1970.
  public func verify(_ chain: [Certificate], atUnixSeconds seconds: Int64) throws(Problem) {
    guard let leaf = chain.first, chain.count <= 1 + CertificateAnchors.maximumIntermediates else {
      throw .refused(X509_V_ERR_CERT_CHAIN_TOO_LONG)
    }
    var read: [OpaquePointer?] = []
    defer { for certificate in read { X509_free(certificate) } }
    for certificate in chain.dropFirst() { read.append(Certificate.read(certificate.der)) }
    guard let first = Certificate.read(leaf.der), !read.contains(nil) else { throw .refused(X509_V_ERR_UNSPECIFIED) }
    defer { X509_free(first) }
    let (isGood, code) = verify(first, &read, seconds)
    guard !isGood else { return }
    switch code {
    case X509_V_ERR_CERT_HAS_EXPIRED: throw .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: throw .notYetValid
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
      throw .untrusted
    default: throw .refused(code)
    }
  }

  private func verify(
    _ leaf: OpaquePointer, _ others: inout [OpaquePointer?], _ seconds: Int64
  ) -> (isGood: Bool, code: Int32) {
    var held: OpaquePointer?
    let count = Int32(others.count)
    let context = others.withUnsafeMutableBufferPointer { buffer in
      landline_chain_new(store, leaf, buffer.baseAddress, count, &held)
    }
    guard let context, let parameters = X509_STORE_CTX_get0_param(context) else {
      return (false, X509_V_ERR_OUT_OF_MEM)
    }
    defer {
      landline_chain_free(context, held)
      ERR_clear_error()
    }
    X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
    // A list of authorities may name one that is itself signed by another.
    X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    X509_VERIFY_PARAM_set_depth(parameters, Int32(CertificateAnchors.maximumIntermediates))
    // No key or digest below 112 bits of strength.
    X509_VERIFY_PARAM_set_auth_level(parameters, 2)
    let isGood = X509_verify_cert(context) == 1
    return (isGood, X509_STORE_CTX_get_error(context))
  }
}
