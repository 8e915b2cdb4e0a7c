public import Foundation

/// A Kamailio that is a registrar and a record-routing proxy, over UDP, TCP and, with a certificate, TLS. It challenges
/// every REGISTER and, if not told otherwise, every INVITE for the password ``password``, whoever asks.
public final class KamailioPeer: Sendable {
  public static let domain = "example.test"
  public static let password = "correct horse"

  public struct Options: Sendable {
    /// MD5 or SHA-256.
    public var algorithm = "MD5"
    /// What it shows over TLS.
    public var certificate: IssuedCertificate?
    /// PEM file of the authority whose certificates clients over TLS must show; `nil`: they need show none.
    public var clientAuthority: URL?
    /// Sends OPTIONS to this port of loopback every second and logs `PING UP` or `PING DOWN`.
    public var pinged: UInt16?
    /// Whether an INVITE needs the password.
    public var challengesCalls = true
    /// Calls go to this port of loopback over UDP, whoever is registered.
    public var next: UInt16?
    public init() {}
  }

  /// Whether it is installed with its TLS module, which is a package apart.
  public static var speaksTLS: Bool {
    let folders = [
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib64",
      "/usr/local/lib",
    ]
    return PeerProgram.kamailio.isInstalled
      && folders.contains { FileManager.default.fileExists(atPath: "\($0)/kamailio/modules/tls.so") }
  }

  /// For UDP and TCP.
  public let port: UInt16
  public let tlsPort: UInt16
  private let process: PeerProcess

  public init(_ options: Options = Options()) async throws {
    let folder = try TemporaryFolder("kamailio")
    port = try FreePort.next()
    tlsPort = try FreePort.next()
    if let certificate = options.certificate {
      let wants = options.clientAuthority == nil ? "no" : "yes"
      try folder.write(
        """
        [server:default]
        method = TLSv1.2+
        verify_certificate = \(wants)
        require_certificate = \(wants)
        private_key = \(certificate.key.path)
        certificate = \(certificate.certificate.path)
        \(options.clientAuthority.map { "ca_list = \($0.path)" } ?? "")
        [client:default]
        method = TLSv1.2+
        verify_certificate = no

        """, to: "tls.cfg")
    }
    if let pinged = options.pinged { try folder.write("1 sip:127.0.0.1:\(pinged) 9\n", to: "dispatcher.list") }
    try folder.write(Self.configuration(port, tlsPort, options, folder.url.path), to: "kamailio.cfg")
    process = try PeerProcess(
      .kamailio,
      ["-f", "kamailio.cfg", "-DD", "-E", "-m", "32", "-M", "4", "-Y", folder.url.path, "-w", folder.url.path],
      in: folder)
    try await process.listens(on: port)
    if options.certificate != nil { try await process.listens(on: tlsPort) }
  }

  /// How many different lines of its log hold a text, what stands before it left aside. It logs
  /// `REQUEST method number Call-ID from to` for each request, so that a repetition does not count.
  public func count(_ text: String) -> Int {
    Set(log.split(separator: "\n").compactMap { line in line.range(of: text).map { String(line[$0.lowerBound...]) } })
      .count
  }

  public func says(_ text: String, within seconds: Double = 20) async throws {
    do { try await process.says(text, within: seconds) } catch {
      throw PeerFailure("\(error); its log: \(log.lastLines(12))")
    }
  }

  public var log: String { process.output + process.diagnostics }

  private static func configuration(
    _ port: UInt16, _ tlsPort: UInt16, _ options: Options, _ folder: String
  ) -> String {
    var modules = [
      "kex", "corex", "tm", "tmx", "sl", "rr", "pv", "maxfwd", "usrloc", "registrar", "textops", "siputils", "xlog",
      "auth",
    ]
    var listeners = ["udp:127.0.0.1:\(port)", "tcp:127.0.0.1:\(port)"]
    var parameters = [
      "modparam(\"auth\", \"algorithm\", \"\(options.algorithm)\")", "modparam(\"auth\", \"qop\", \"auth\")",
      "modparam(\"registrar\", \"min_expires\", 60)", "modparam(\"rr\", \"enable_double_rr\", 1)",
    ]
    if options.certificate != nil {
      modules.append("tls")
      listeners.append("tls:127.0.0.1:\(tlsPort)")
      parameters.append("modparam(\"tls\", \"config\", \"\(folder)/tls.cfg\")")
    }
    if options.pinged != nil {
      modules.append("dispatcher")
      parameters += [
        "modparam(\"dispatcher\", \"list_file\", \"\(folder)/dispatcher.list\")",
        "modparam(\"dispatcher\", \"ds_ping_interval\", 1)", "modparam(\"dispatcher\", \"ds_probing_mode\", 1)",
        "modparam(\"dispatcher\", \"ds_probing_threshold\", 1)",
        "modparam(\"dispatcher\", \"ds_inactive_threshold\", 1)",
        "modparam(\"dispatcher\", \"ds_ping_reply_codes\", \"code=200\")",
      ]
    }
    let pings =
      options.pinged == nil
      ? ""
      : """
      event_route[dispatcher:dst-up] { xlog("L_NOTICE", "PING UP $ru\\n"); }
      event_route[dispatcher:dst-down] { xlog("L_NOTICE", "PING DOWN $ru\\n"); }
      """
    let target =
      options.next.map { "$du = \"sip:127.0.0.1:\($0)\";" }
      ?? "if (!lookup(\"location\")) { sl_send_reply(\"404\", \"Nobody Here\"); exit; }"
    return """
      debug=1
      log_stderror=yes
      fork=yes
      children=1
      socket_workers=1
      tcp_children=1
      auto_aliases=no
      alias="\(domain)"
      dns=no
      rev_dns=no
      enable_tls=\(options.certificate == nil ? "no" : "yes")
      \(listeners.map { "listen=\($0)" }.joined(separator: "\n"))
      \(modules.map { "loadmodule \"\($0).so\"" }.joined(separator: "\n"))
      \(parameters.joined(separator: "\n"))

      request_route {
        xlog("L_NOTICE", "REQUEST $rm $cs $ci $fU $tU route=$hdr(Route) proto=$proto\\n");
        if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
        if (is_method("OPTIONS") && $rU == $null) { sl_send_reply("200", "OK"); exit; }
        if (has_totag()) {
          if (loose_route()) {
            xlog("L_NOTICE", "ROUTED $rm\\n");
            t_relay();
            exit;
          }
          if (is_method("ACK")) {
            if (t_check_trans()) t_relay();
            exit;
          }
          sl_send_reply("404", "Not Here");
          exit;
        }
        if (is_method("CANCEL")) {
          if (t_check_trans()) t_relay();
          exit;
        }
        t_check_trans();
        if (is_method("REGISTER")) {
          if (!pv_www_authenticate("$td", "\(password)", "0")) {
            www_challenge("$td", "1");
            exit;
          }
          xlog("L_NOTICE", "SAVED $tU\\n");
          save("location");
          exit;
        }
        if (!is_method("INVITE")) {
          sl_send_reply("405", "Method Not Allowed");
          exit;
        }
        if (\(options.challengesCalls ? 1 : 0) == 1 && !pv_proxy_authenticate("$fd", "\(password)", "0")) {
          proxy_challenge("$fd", "1");
          exit;
        }
        consume_credentials();
        remove_hf("Route");
        record_route();
        \(target)
        t_relay();
      }
      \(pings)

      """
  }
}
