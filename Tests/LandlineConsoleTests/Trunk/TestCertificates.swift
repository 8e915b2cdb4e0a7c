import Foundation

/// Certificates made by the openssl command in a folder of their own, which goes when this goes.
final class TestCertificates {
  struct Failure: Error { let output: String }

  private let folder: URL
  var authority: String { path("ca.pem") }

  init() async throws {
    folder = LandlineProcess.temporary.appendingPathComponent("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await run(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        + ["-subj", "/O=Test/CN=Test Authority", "-keyout", path("ca.key"), "-out", path("ca.pem")])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ file: String) -> String { folder.appendingPathComponent(file).path }

  /// - Parameter days: From now until it ends; negative: it has ended.
  func issue(_ name: String, names: String, days: Int) async throws -> (certificate: String, key: String) {
    let (certificate, key, request, extensions) = (
      path("\(name).pem"), path("\(name).key"), path("\(name).csr"), path("\(name).ext")
    )
    try await run(
      ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)"]
        + ["-keyout", key, "-out", request])
    try Data("subjectAltName=\(names)\n".utf8).write(to: URL(fileURLWithPath: extensions))
    try await run(
      ["x509", "-req", "-in", request, "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial"]
        + ["-days", "\(days)", "-extfile", extensions, "-out", certificate])
    return (certificate, key)
  }

  func fingerprint(_ certificate: String) async throws -> String {
    let text = try await run(["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"])
    return text.split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
  }

  @discardableResult
  private func run(_ arguments: [String]) async throws -> String {
    let result = try await LandlineProcess.run(URL(fileURLWithPath: "/usr/bin/openssl"), arguments, in: folder)
    guard result.status == 0 else { throw Failure(output: result.diagnostics) }
    return result.output
  }
}
