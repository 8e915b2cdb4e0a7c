public import Foundation

/// A certificate authority made by the openssl command in a folder of its own, which goes when this goes.
public final class CertificateAuthority: Sendable {
  private let folder: TemporaryFolder

  /// - Parameter name: its common name.
  public init(_ name: String = "Authority") async throws {
    folder = try TemporaryFolder("certificates")
    try await Self.openssl(
      ["req", "-x509", "-days", "30", "-subj", "/CN=\(name)", "-keyout", file("authority.key").path]
        + ["-out", certificate.path] + Self.newKey)
    try folder.write("", to: "index.txt")
    try folder.write(
      """
      [ca]
      default_ca = this
      [this]
      database = \(file("index.txt").path)
      new_certs_dir = \(folder.url.path)
      rand_serial = yes
      default_md = sha256
      policy = any
      unique_subject = no
      copy_extensions = copy
      [any]
      commonName = supplied

      """, to: "authority.cnf")
  }

  /// The PEM file of its own certificate.
  public var certificate: URL { file("authority.pem") }

  /// - Parameters:
  ///   - name: of the files and the common name, unless there is another.
  ///   - names: as in subjectAltName: `DNS:…`, `IP:…`, `URI:…`.
  ///   - days: from when until when it is valid, from now.
  ///   - extensions: further ones, as in `extendedKeyUsage=serverAuth`.
  public func issue(
    _ name: String, commonName: String? = nil, names: String, days: ClosedRange<Int> = -1...30,
    extensions: [String] = []
  ) async throws -> IssuedCertificate {
    let issued = IssuedCertificate(certificate: file("\(name).pem"), key: file("\(name).key"))
    let request = file("\(name).csr").path
    let added = (["subjectAltName=\(names)"] + extensions).flatMap { ["-addext", $0] }
    try await Self.openssl(
      ["req", "-new", "-subj", "/CN=\(commonName ?? name)", "-keyout", issued.key.path, "-out", request]
        + Self.newKey + added)
    try await Self.openssl(
      ["ca", "-batch", "-notext", "-config", file("authority.cnf").path, "-cert", certificate.path]
        + ["-keyfile", file("authority.key").path, "-startdate", Self.date(days.lowerBound)]
        + ["-enddate", Self.date(days.upperBound), "-in", request, "-out", issued.certificate.path])
    return issued
  }

  /// SHA-256 of the first certificate of a file, as `AB:CD:…`.
  public static func fingerprint(of certificate: URL) async throws -> String {
    let text = try await openssl(["x509", "-in", certificate.path, "-noout", "-fingerprint", "-sha256"])
    return text.split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
  }

  func removeAtExit() { folder.removeAtExit() }

  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  private func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

  private static func date(_ days: Int) -> String {
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyyMMddHHmmss'Z'"
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.locale = Locale(identifier: "en_US_POSIX")
    return formatter.string(from: Date(timeIntervalSinceNow: Double(days) * 86_400))
  }

  @discardableResult
  private static func openssl(_ arguments: [String]) async throws -> String {
    let result = try await PeerProcess.run(.openssl, arguments)
    guard result.status == 0 else { throw PeerFailure("openssl \(arguments[0]): \(result.diagnostics.lastLines(3))") }
    return result.output
  }
}
