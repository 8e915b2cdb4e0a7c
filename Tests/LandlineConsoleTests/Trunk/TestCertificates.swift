import Foundation

/// Certificates made by the openssl command in a folder of their own, which goes when this goes.
final class TestCertificates {
  struct Failure: Error { let output: String }

  private let folder: URL
  var authority: String { path("ca.pem") }

  init() throws {
    folder = LandlineProcess.temporary.appendingPathComponent("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try run(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        + ["-subj", "/O=Test/CN=Test Authority", "-keyout", path("ca.key"), "-out", path("ca.pem")])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ file: String) -> String { folder.appendingPathComponent(file).path }

  /// - Parameter days: From now until it ends; negative: it has ended.
  func issue(_ name: String, names: String, days: Int) throws -> (certificate: String, key: String) {
    let (certificate, key, request, extensions) = (path("\(name).pem"), path("\(name).key"), path("\(name).csr"), path("\(name).ext"))
    try run(
      ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)"]
        + ["-keyout", key, "-out", request])
    try Data("subjectAltName=\(names)\n".utf8).write(to: URL(fileURLWithPath: extensions))
    try run(
      ["x509", "-req", "-in", request, "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial"]
        + ["-days", "\(days)", "-extfile", extensions, "-out", certificate])
    return (certificate, key)
  }

  func fingerprint(_ certificate: String) throws -> String {
    let text = try run(["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"])
    return text.split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
  }

  @discardableResult
  private func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self)
    guard process.terminationStatus == 0 else { throw Failure(output: text) }
    return text
  }
}
