import Foundation
import PeerKit

/// What a gateway under test is configured with.
struct GatewaySettings: Sendable {
  struct Trunk: Sendable {
    var name: String
    /// `sip:127.0.0.1:5070;transport=tcp`.
    var uri: String
    /// Further lines of its entry.
    var lines: [String]
    var environment = "production"

    init(_ name: String = "first", port: UInt16, transport: String = "udp", _ lines: [String] = []) {
      self.init(name, uri: "sip:127.0.0.1:\(port);transport=\(transport)", lines)
    }

    init(_ name: String, uri: String, _ lines: [String] = []) {
      self.name = name
      self.uri = uri
      self.lines = lines
    }
  }

  var trunks: [Trunk]
  var payers: [GatewayPayer] = [.main, .trial]
  /// Lines of `calls`.
  var calls: [String] = []
  /// Who may sign in on the pages.
  var people: [BrowserPerson] = []
  /// Whether calls of the sandbox go over the trunks as well.
  var sandboxHasTrunks = false
  /// Lines of `numbers` of the sandbox.
  var numbers: [String] = []
  /// Lines of `desk-phones` of the sandbox.
  var deskPhones: [String] = []
  /// What desk phones are challenged for: MD5 is all that SIPp and baresip of today's Debian know.
  var deskPhoneAlgorithms = "MD5"
  /// Port on loopback that copies of messages go to.
  var collector: UInt16?
  /// Lines of `stir`.
  var stir: [String] = []
  /// Lines of `http`.
  var http: [String] = []
  /// Opens a TLS listener with this certificate.
  var certificates: CertificateFolder?

  init(_ trunks: [Trunk] = [], payers: [GatewayPayer] = [.main, .trial], calls: [String] = []) {
    self.trunks = trunks
    self.payers = payers
    self.calls = calls
  }

  /// Ports that a gateway under test opens; HTTP has one of the system's choice.
  struct Ports: Sendable {
    /// For UDP and TCP.
    let sip: UInt16
    let tls: UInt16
    let app: UInt16
    /// Of no other test, and below the ports that peers are given.
    let trunk: ClosedRange<UInt16> = 12_400...16_383

    init() throws {
      sip = try FreePort.next()
      tls = try FreePort.next()
      app = try FreePort.next()
    }
  }

  /// The text of the configuration file.
  func text(_ ports: Ports) -> String {
    // All apps and pages of a test are one host.
    let limits = http.contains("limits:") ? [] : ["limits:", "  requests-per-second: 10000", "  burst: 10000"]
    var lines =
      [
        "node: gateway-under-test", "state: state", "http:", "  bind: 127.0.0.1:0",
      ] + (http + limits).map { "  \($0)" }
    lines += [
      "drain:", "  timeout: 1s", "media:",
      "  app:", "    - bind: 127.0.0.1", "      port: \(ports.app)", "  trunk:", "    - bind: 127.0.0.1",
      "      ports: \(ports.trunk.lowerBound)-\(ports.trunk.upperBound)", "listeners:",
      "  udp:", "    transport: udp", "    bind: 127.0.0.1:\(ports.sip)",
      "  tcp:", "    transport: tcp", "    bind: 127.0.0.1:\(ports.sip)",
    ]
    if let server = certificates?.server {
      lines += [
        "  tls:", "    transport: tls", "    bind: 127.0.0.1:\(ports.tls)",
        "    certificate: \(server.certificate.path)",
        "    key: \(server.key.path)",
      ]
    }
    if let collector { lines += ["hep:", "  collector: 127.0.0.1:\(collector)", "  capture-id: 77"] }
    if !deskPhones.isEmpty { lines += ["registrar:", "  algorithms: [\(deskPhoneAlgorithms)]"] }
    if !calls.isEmpty { lines += ["calls:"] + calls.map { "  \($0)" } }
    if !stir.isEmpty { lines += ["stir:"] + stir.map { "  \($0)" } }
    if !trunks.isEmpty { lines.append("trunks:") }
    for (number, trunk) in trunks.enumerated() {
      // No pings: the scripts of peers expect none.
      lines += ["  \(trunk.name):", "    uri: \(trunk.uri)", "    ping: 0s", "    priority: \(10 + number)"]
      lines += trunk.lines.map { "    \($0)" }
    }
    lines.append("environments:")
    for environment in ["production", "sandbox"] {
      lines += ["  \(environment):", "    ledger: \(environment).ledger"]
      if environment == "sandbox" { lines.append("    sandbox-numbers: true") }
      let names = trunks.filter { $0.environment == environment || environment == "sandbox" && sandboxHasTrunks }.map(
        \.name)
      lines.append("    trunks: [\(names.joined(separator: ", "))]")
      lines.append("    countries: any")
      if environment == "sandbox", !numbers.isEmpty { lines += ["    numbers:"] + numbers.map { "      \($0)" } }
      if environment == "sandbox", !deskPhones.isEmpty {
        lines += ["    desk-phones:"] + deskPhones.map { "      \($0)" }
      }
      lines.append("    applications:")
      for payer in payers where payer.environment == environment {
        lines += [
          "      \(payer.name):", "        key: \(payer.key)", "        secret: \(GatewayPayer.secret)",
          "        account: \(payer.name)", "        caller-numbers: [\"\(GatewayRate.caller)\"]",
        ]
      }
      for (kind, isOwner) in [("operators", false), ("owners", true)] {
        let chosen = people.filter { $0.environment == environment && ($0.account != nil) == isOwner }
        if !chosen.isEmpty { lines.append("    \(kind):") }
        for person in chosen {
          lines += ["      \(person.name):", "        key-file: \(Self.keyFile(person))"]
          if let account = person.account { lines.append("        account: \(account.name)") }
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Where the key of somebody lies, beside the configuration.
  static func keyFile(_ person: BrowserPerson) -> String { "\(person.name).key" }
}
