import Foundation
import LandlineGateway

/// Certificates made by the openssl command in a folder of their own, which goes when this goes.
final class TestAuthority: Sendable {
  struct Failure: Error {
    let arguments: [String]
    let output: String
  }

  let folder: String
  private let name: String

  init(_ name: String = "Authority") throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "landline-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = url.path()
    self.name = name
    try openssl(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        + ["-subj", "/CN=\(name)", "-keyout", path("ca.key"), "-out", path("ca.pem")])
    try Data().write(to: URL(filePath: path("index.txt")))
    let settings = """
      [ca]
      default_ca = this
      [this]
      database = \(path("index.txt"))
      new_certs_dir = \(folder)
      rand_serial = yes
      default_md = sha256
      policy = any
      unique_subject = no
      copy_extensions = copy
      [any]
      commonName = supplied
      """
    try Data(settings.utf8).write(to: URL(filePath: path("ca.conf")))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var certificate: String { path("ca.pem") }

  func path(_ file: String) -> String { folder + "/" + file }

  /// - Parameters:
  ///   - names: As in subjectAltName: `DNS:…`, `IP:…`, `URI:…`.
  ///   - days: From when until when it is valid, from now.
  func issue(_ file: String, names: String, days: ClosedRange<Int> = -1...30) throws -> TLSIdentityFiles {
    let identity = TLSIdentityFiles(certificateChain: path("\(file).pem"), privateKey: path("\(file).key"))
    try openssl(
      ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(file)"]
        + ["-addext", "subjectAltName=\(names)", "-keyout", identity.privateKey, "-out", path("\(file).csr")])
    try openssl(
      ["ca", "-batch", "-notext", "-config", path("ca.conf"), "-cert", certificate, "-keyfile", path("ca.key")]
        + ["-startdate", date(days.lowerBound), "-enddate", date(days.upperBound)]
        + ["-in", path("\(file).csr"), "-out", identity.certificateChain])
    return identity
  }

  private func date(_ days: Int) -> String {
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyyMMddHHmmss'Z'"
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.locale = Locale(identifier: "en_US_POSIX")
    return formatter.string(from: Date(timeIntervalSinceNow: Double(days) * 86_400))
  }

  /// SHA-256 of the first certificate of a file.
  func fingerprint(_ file: String) throws -> [UInt8] {
    let text = try openssl(["x509", "-in", file, "-noout", "-fingerprint", "-sha256"])
    let digits = text.split(separator: "=").last ?? ""
    return digits.split(separator: ":").compactMap { UInt8($0.filter(\.isHexDigit), radix: 16) }
  }

  @discardableResult
  func openssl(_ arguments: [String]) throws -> String { try TestAuthority.openssl(arguments) }

  /// - Returns: Everything it printed.
  @discardableResult
  static func openssl(_ arguments: [String], allowsFailure: Bool = false) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self)
    guard allowsFailure || process.terminationStatus == 0 else { throw Failure(arguments: arguments, output: text) }
    return text
  }
}
