public import Foundation

/// A certificate authority of its own and one server certificate that it signed, for `127.0.0.1`, `::1` and
/// ``serverName``.
public final class CertificateFolder: Sendable {
  public static let serverName = "sip.example.test"

  private static let made = Task {
    let certificates = try await CertificateFolder()
    certificates.issuer.removeAtExit()
    return certificates
  }
  private let issuer: CertificateAuthority
  public let server: IssuedCertificate

  /// One for the whole process: making keys takes a while.
  public static func shared() async throws -> CertificateFolder { try await made.value }

  public init() async throws {
    issuer = try await CertificateAuthority("Test authority")
    server = try await issuer.issue(
      "server", commonName: Self.serverName, names: "DNS:\(Self.serverName),IP:127.0.0.1,IP:::1",
      extensions: ["basicConstraints=CA:FALSE", "extendedKeyUsage=serverAuth,clientAuth"])
  }

  /// The PEM file of the authority's certificate.
  public var authority: URL { issuer.certificate }
}
