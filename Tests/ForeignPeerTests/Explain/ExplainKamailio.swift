import Foundation
import PeerKit

/// A Kamailio that plays many carriers: what it says depends on the address of loopback that a call was sent to.
final class ExplainKamailio: Sendable {
  static let password = "correct horse"
  static let realm = "example.test"

  /// For UDP and TCP, on every address.
  let port: UInt16
  let tlsPort: UInt16
  private let process: PeerProcess

  /// - Parameters:
  ///   - statements: by address.
  ///   - certificates: by address, for TLS.
  ///   - certificate: for any other address.
  init(
    _ statements: [String: String], certificates: [String: IssuedCertificate], else certificate: IssuedCertificate
  ) async throws {
    let folder = try TemporaryFolder("carriers")
    let port = try FreePort.next()
    let tlsPort = try FreePort.next()
    self.port = port
    self.tlsPort = tlsPort
    let profiles = ([("default", certificate)] + certificates.map { ("\($0):\(tlsPort)", $1) }).map { place, shown in
      """
      [server:\(place)]
      method = TLSv1.2+
      verify_certificate = no
      require_certificate = no
      private_key = \(shown.key.path)
      certificate = \(shown.certificate.path)

      """
    }
    try folder.write(profiles.joined(), to: "tls.cfg")
    let branches = statements.map { address, text in "  if ($rd == \"\(address)\") {\n    \(text)\n    exit;\n  }\n" }
    let listeners =
      statements.keys.sorted().map { "listen=udp:\($0):\(port)\nlisten=tcp:\($0):\(port)" }
      + certificates.keys.sorted().map { "listen=tls:\($0):\(tlsPort)" }
    try folder.write(
      """
      debug=1
      log_stderror=yes
      fork=yes
      children=1
      socket_workers=1
      tcp_children=3
      auto_aliases=no
      dns=no
      rev_dns=no
      enable_tls=yes
      \(listeners.joined(separator: "\n"))
      \(["tls", "kex", "corex", "sl", "pv", "textops", "siputils", "xlog", "cfgutils", "auth"]
        .map { "loadmodule \"\($0).so\"" }.joined(separator: "\n"))
      modparam("auth", "qop", "auth")
      modparam("tls", "config", "\(folder.url.path)/tls.cfg")

      request_route {
        if (is_method("ACK")) exit;
        if (is_method("CANCEL")) { sl_send_reply("200", "OK"); exit; }
        if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
      \(branches.joined())
        sl_send_reply("404", "No Such Carrier");
      }

      """, to: "kamailio.cfg")
    process = try PeerProcess(
      .kamailio,
      ["-f", "kamailio.cfg", "-DD", "-E", "-m", "64", "-M", "4", "-Y", folder.url.path, "-w", folder.url.path],
      in: folder)
    try await process.listens(on: port)
    if !certificates.isEmpty { try await process.listens(on: tlsPort) }
  }

  /// It opens its ports before it has read everything.
  func stillRuns() throws {
    if let status = process.exitStatus { throw PeerFailure("Kamailio ended with \(status): \(log.lastLines(8))") }
  }

  var log: String { process.output + process.diagnostics }
}
