public import CallModel
import LandlineDigest

/// Who may sign certificates of callers: the list that an operator puts into the configuration.
public struct IdentityAuthorities: Sendable, Hashable {
  /// Most authorities of a list.
  public static let maximumCount = 256
  /// Most bytes of a file of them.
  public static let maximumFileBytes = 1_048_576

  /// Without any, no certificate is trusted.
  private let certificates: [Certificate]
  /// `nil` for an empty list.
  private let anchors: CertificateAnchors?

  /// Nobody is trusted.
  public init() {
    certificates = []
    anchors = nil
  }

  /// - Parameter pems: The contents of files with certificates in PEM (RFC 7468).
  /// - Throws: `InvalidValue` with rules `authorities.pem` (no certificate, or one that cannot be read),
  ///   `authorities.authority` (a certificate that may not sign others) and `authorities.count`.
  public init(pems: [[UInt8]]) throws(InvalidValue) {
    var certificates: [Certificate] = []
    for pem in pems {
      guard let found = PEMText.certificates(pem, atMost: IdentityAuthorities.maximumCount), !found.isEmpty else {
        throw IdentityAuthorities.refusal("pem", "it holds no certificate, or one that cannot be read")
      }
      guard found.allSatisfy(\.isAuthority) else {
        throw IdentityAuthorities.refusal("authority", "it holds a certificate that may not sign others")
      }
      for certificate in found where !certificates.contains(certificate) { certificates.append(certificate) }
    }
    guard certificates.count <= IdentityAuthorities.maximumCount else {
      throw IdentityAuthorities.refusal("count", "there are more than \(IdentityAuthorities.maximumCount) certificates")
    }
    guard let anchors = CertificateAnchors(certificates) else {
      throw IdentityAuthorities.refusal("pem", "libcrypto does not take one of the certificates")
    }
    self.certificates = certificates
    self.anchors = anchors
  }

  /// The key that a fetched chain stands for, where it is trusted now and gives a right to the number.
  /// - Parameters:
  ///   - fetched: PEM, the signer's own certificate first; or one certificate as DER.
  ///   - number: Digits alone.
  func key(_ fetched: [UInt8], for number: String, at clock: Instant) throws(IdentityFailure) -> [UInt8] {
    let chain = PEMText.certificates(fetched, atMost: 1 + CertificateAnchors.maximumIntermediates)
    guard let chain, let leaf = chain.first else {
      throw IdentityFailure(.certificate, "what its address holds is no chain of certificates that is read here")
    }
    guard leaf.isP256 else { throw IdentityFailure(.certificate, "the certificate's key is not on the curve P-256") }
    guard !leaf.isAuthority else { throw IdentityFailure(.certificate, "the certificate is that of an authority") }
    guard let anchors else { throw IdentityFailure(.untrusted, "no authority is trusted here") }
    do throws(CertificateAnchors.Problem) {
      try anchors.verify(chain, atUnixSeconds: clock.milliseconds / 1000)
    } catch {
      switch error {
      case .untrusted:
        throw IdentityFailure(.untrusted, "the certificate does not lead to an authority that is trusted here")
      case .expired: throw IdentityFailure(.expired, "a certificate of the chain has expired")
      case .notYetValid: throw IdentityFailure(.expired, "a certificate of the chain is not valid yet")
      case .refused(let code):
        throw IdentityFailure(.untrusted, "the certificate's chain is refused (\(code))")
      }
    }
    guard let list = leaf.value(ofExtension: NumberAuthority.identifier).flatMap({ NumberAuthority(der: $0) }) else {
      throw IdentityFailure(.authority, "the certificate gives no right to any number")
    }
    guard list.covers(number) else {
      throw IdentityFailure(.authority, "the certificate gives no right to the number")
    }
    return leaf.key
  }

  public static func == (left: IdentityAuthorities, right: IdentityAuthorities) -> Bool {
    left.certificates == right.certificates
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(certificates) }

  private static func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "list of authorities", rule: "authorities.\(rule)", offset: nil, problem: problem,
      accepted: "certificates of authorities in PEM, between -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----")
  }
}

/// Certificates in PEM (RFC 7468).
enum PEMText {
  private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
  private static let end = Array("-----END CERTIFICATE-----".utf8)

  /// The certificates in their order; text between them is passed over. Bytes that begin like DER are one certificate.
  /// - Returns: `nil` for more than `maximum` of them, and where one cannot be read.
  static func certificates(_ bytes: [UInt8], atMost maximum: Int) -> [Certificate]? {
    if bytes.first == 0x30 { return Certificate(der: bytes).map { [$0] } }
    var certificates: [Certificate] = []
    var letters: [UInt8]?
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      let line = trimmed(line)
      if line.elementsEqual(begin) {
        guard letters == nil, certificates.count < maximum else { return nil }
        letters = []
      } else if line.elementsEqual(end) {
        guard let written = letters, let der = Base64.decode(written), let read = Certificate(der: der) else {
          return nil
        }
        certificates.append(read)
        letters = nil
      } else {
        letters?.append(contentsOf: line)
      }
    }
    return letters == nil ? certificates : nil
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line.drop(while: MessageCharacter.isBlank)
    while let last = line.last, MessageCharacter.isBlank(last) { line.removeLast() }
    return line
  }
}
