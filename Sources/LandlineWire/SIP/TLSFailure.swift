import CallModel
import NIOCore
import NIOSSL

/// Why a TLS handshake failed, in words that say what to change.
struct TLSFailure: Error {
  let kind: TransportProblem.Kind
  let text: String

  init(_ kind: TransportProblem.Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// - Parameters:
  ///   - certificate: What the peer showed, as far as the handshake came.
  ///   - policy: What it was judged by, where it is a server.
  ///   - seconds: The wall clock since 1970.
  init(
    _ error: any Error, certificate: NIOSSLCertificate?, policy: TLSClientPolicy?, seconds: Int, isServer: Bool
  ) {
    if let failure = error as? TLSFailure {
      self = failure
      return
    }
    let description = ErrorText.text(error)
    func says(_ word: String) -> Bool { description.contains(word) }
    let alert = TLSFailure.alerts.first { says($0.code) }
    self =
      if says("CERTIFICATE_VERIFY_FAILED") {
        TLSFailure.untrusted(certificate, policy, seconds)
      } else if says("PEER_DID_NOT_RETURN_A_CERTIFICATE") {
        TLSFailure(.certificateMissing, "the client shows no certificate, and this listener wants one")
      } else if says("UNSUPPORTED_PROTOCOL") || says("ALERT_PROTOCOL_VERSION") || says("WRONG_SSL_VERSION") {
        TLSFailure(.version, "no common TLS version: this end speaks 1.2 and 1.3, or 1.3 alone where set so")
      } else if let alert {
        TLSFailure(.rejectedByPeer, "the peer ended the handshake: \(alert.text)")
      } else if says("WRONG_VERSION_NUMBER") || says("HTTP_REQUEST") || says("HTTPS_PROXY_REQUEST") {
        TLSFailure(.notTLS, "the peer does not speak TLS on this port")
      } else if says("NO_SHARED_CIPHER") || says("HANDSHAKE_FAILURE") {
        TLSFailure(.handshake, "no common cipher suite: this end wants ECDHE with AES-GCM or ChaCha20")
      } else if says("EOF during handshake") {
        TLSFailure(
          .handshake,
          isServer
            ? "the client closed the connection during the handshake"
            : "the server closed the connection during the handshake: it may not speak TLS here, or want a certificate")
      } else {
        TLSFailure(.handshake, description)
      }
  }

  /// An alert of the peer on an open stream; `nil` for any other error.
  init?(afterHandshake error: any Error) {
    let description = "\(error)"
    guard let alert = TLSFailure.alerts.first(where: { description.contains($0.code) }) else { return nil }
    self.init(.rejectedByPeer, "the peer ended the connection: \(alert.text)")
  }

  /// The TLS library says only that the chain is no good; the dates of the certificate tell the commonest reasons apart.
  private static func untrusted(
    _ certificate: NIOSSLCertificate?, _ policy: TLSClientPolicy?, _ seconds: Int
  ) -> TLSFailure {
    if case .fingerprints = policy?.trust {
      let found = certificate.flatMap(PeerIdentity.fingerprint)?.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return TLSFailure(
        .certificateFingerprint,
        "the peer's certificate is none of those that are pinned; its SHA-256 fingerprint is "
          + (found?.joined(separator: ":") ?? "unknown"))
    }
    if let certificate, Int(certificate.notValidAfter) < seconds {
      let days = (seconds - Int(certificate.notValidAfter)) / 86_400
      return TLSFailure(.certificateExpired, "the peer's certificate expired \(days) days ago")
    }
    if let certificate, Int(certificate.notValidBefore) > seconds {
      return TLSFailure(
        .certificateNotYetValid, "the peer's certificate is not valid yet: one of the two clocks may be wrong")
    }
    return TLSFailure(
      .certificateUntrusted,
      "the peer's certificate does not lead to a trusted authority: it is self-signed or of an unknown authority, or "
        + "an intermediate certificate is missing or expired")
  }

  private static let alerts: [(code: String, text: String)] = [
    ("ALERT_UNKNOWN_CA", "it does not know the authority of our certificate (unknown_ca)"),
    ("ALERT_CERTIFICATE_EXPIRED", "our certificate is expired to it (certificate_expired)"),
    ("ALERT_CERTIFICATE_REVOKED", "our certificate is revoked (certificate_revoked)"),
    ("ALERT_BAD_CERTIFICATE", "it refuses our certificate (bad_certificate)"),
    ("ALERT_UNSUPPORTED_CERTIFICATE", "it cannot use our kind of certificate (unsupported_certificate)"),
    ("ALERT_CERTIFICATE_UNKNOWN", "it refuses our certificate (certificate_unknown)"),
    ("ALERT_CERTIFICATE_REQUIRED", "it wants a client certificate, and none is configured (certificate_required)"),
    ("ALERT_ACCESS_DENIED", "it denies access to our certificate (access_denied)"),
    ("ALERT_UNRECOGNIZED_NAME", "it does not know the server name (unrecognized_name)"),
    ("ALERT_HANDSHAKE_FAILURE", "no common cipher suite, or it wants a client certificate (handshake_failure)"),
    ("ALERT_INSUFFICIENT_SECURITY", "it wants stronger cipher suites (insufficient_security)"),
    ("ALERT_INTERNAL_ERROR", "an error inside it (internal_error)"),
  ]
}
