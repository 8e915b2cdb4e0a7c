public import Foundation

/// A certificate authority of its own and one server certificate that it signed, for `127.0.0.1`, `::1` and
/// ``serverName``.
public final class CertificateFolder: Sendable {
  public static let serverName = "sip.example.test"

  private static let made = Task {
    let certificates = try await CertificateFolder()
    certificates.folder.removeAtExit()
    return certificates
  }
  private let folder: TemporaryFolder

  /// One for the whole process: making keys takes a while.
  public static func shared() async throws -> CertificateFolder { try await made.value }

  public init() async throws {
    folder = try TemporaryFolder("certificates")
    try folder.write(
      """
      subjectAltName=DNS:\(Self.serverName),IP:127.0.0.1,IP:::1
      basicConstraints=CA:FALSE
      extendedKeyUsage=serverAuth,clientAuth
      """, to: "extensions")
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try await openssl(
      [
        "req", "-x509", "-days", "30", "-subj", "/CN=Test authority", "-keyout", "authority.key", "-out",
        "authority.pem",
      ]
        + curve)
    try await openssl(
      ["req", "-subj", "/CN=\(Self.serverName)", "-keyout", "server.key", "-out", "server.request"] + curve)
    try await openssl([
      "x509", "-req", "-days", "30", "-in", "server.request", "-CA", "authority.pem", "-CAkey", "authority.key",
      "-CAcreateserial", "-extfile", "extensions", "-out", "server.pem",
    ])
  }

  private func openssl(_ arguments: [String]) async throws {
    let process = try PeerProcess(.openssl, arguments, in: folder)
    let status = try await process.exited(within: 20)
    guard status == 0 else { throw PeerFailure("openssl \(arguments[0]): \(process.diagnostics.lastLines(3))") }
  }

  public var authority: URL { folder.url.appendingPathComponent("authority.pem") }
  public var serverCertificate: URL { folder.url.appendingPathComponent("server.pem") }
  public var serverKey: URL { folder.url.appendingPathComponent("server.key") }
  var serverKeyText: String { folder.text("server.key") }
  var serverCertificateText: String { folder.text("server.pem") }
}
