import Foundation
import PeerKit

/// The peers behind the trunks of all rows, and the gateway before them.
enum ExplainCarriers {
  /// Tried first by every call to a phone number, and by the second trunk of the sandbox.
  private static let first = "127.0.1.3"
  private static let sandboxSecond = "127.0.1.4"
  private static let overloaded = "sl_send_reply(\"503\", \"Service Unavailable\");"

  static func run(_ rows: [ExplainRow], _ body: (ExplainStage) async throws -> Void) async throws {
    var addresses: [String: String] = [:]
    for (place, row) in rows.enumerated() where row.trunk != nil { addresses[row.rule] = "127.0.1.\(10 + place)" }
    let certificates = try await Certificates()
    var statements = [
      first: "if ($rU == \"112\") { sl_send_reply(\"486\", \"Busy Here\"); exit; } \(overloaded)",
      sandboxSecond: overloaded,
    ]
    var shown: [String: IssuedCertificate] = [:]
    for row in rows {
      guard case .kamailio(let text, let transport) = row.trunk?.peer, let address = addresses[row.rule] else {
        continue
      }
      statements[address] = text
      if transport == "tls" { shown[address] = certificates.server(of: row.rule) }
    }
    let kamailio = try await ExplainKamailio(statements, certificates: shown, else: certificates.own.server)

    var peers: [SIPpPeer] = []
    var telephone: (BaresipPeer, TemporaryFolder)?
    var trunks: [GatewaySettings.Trunk] = [.init("first", uri: "sip:\(first):\(kamailio.port)")]
    var others: [GatewaySettings.Trunk] = []
    for row in rows {
      guard let trunk = row.trunk, var address = addresses[row.rule] else { continue }
      var port = kamailio.port
      var transport = "udp"
      var lines = trunk.lines
      switch trunk.peer {
      case .kamailio(_, "tls"):
        transport = "tls"
        port = kamailio.tlsPort
        lines += ["tls:", "  authorities: [\(certificates.authority.path)]"]
      case .kamailio: break
      case .nobody(let name):
        transport = name
        port = try FreePort.next()
      case .sipp(let script, let keys, let echoes):
        var options = SIPpPeer.Options()
        options.host = address
        options.keys = keys
        options.echoesMedia = echoes
        options.calls = nil
        // So many calls at once may take longer than the first repetition of an INVITE.
        options.abortsOnUnexpected = false
        options.patienceMilliseconds = 60_000
        let sipp = try await SIPpPeer(SIPpCase.scenario(script), as: .server, options)
        port = sipp.port
        peers.append(sipp)
      case .baresip:
        let baresip = try await speaking()
        address = "127.0.0.1"
        addresses[row.rule] = address
        port = baresip.0.port
        telephone = baresip
      }
      let name = "\(row.rule.lowercased())"
      var entry = GatewaySettings.Trunk(name, uri: "sip:\(address):\(port);transport=\(transport)", lines)
      if row.rule == "allTrunksFailed" { entry.environment = "sandbox" }
      if row.rule == "rescued" { trunks.append(entry) } else { others.append(entry) }
    }
    var second = GatewaySettings.Trunk("sandbox-second", uri: "sip:\(sandboxSecond):\(kamailio.port)")
    second.environment = "sandbox"
    var settings = GatewaySettings(
      trunks + others + [second], payers: ExplainStage.payers,
      calls: ["per-session: 200", "ledger-timeout: 5s", "dead-media: 9s", "media-set-up: 8s"])
    settings.http = ["limits:", "  registrations-per-second: 100", "  requests-per-second: 10000", "  burst: 10000"]
    settings.certificates = certificates.own
    do {
      try await GatewayRunning.run(settings) { gateway in
        let apps = try await ExplainApps(gateway)
        for (place, session) in ["main", "talk", "lost", "back", "gone"].enumerated() {
          try await apps.register(session, as: ExplainStage.rich, sequence: place + 1)
        }
        for payer in ExplainStage.payers where payer.name != "main" {
          try await apps.register(payer.name, as: payer, sequence: 1)
        }
        try kamailio.stillRuns()
        try await body(ExplainStage(gateway: gateway, apps: apps, addresses: addresses))
      }
    } catch {
      let said = peers.map(\.complaint).filter { !$0.isEmpty }.joined(separator: "\n")
      throw PeerFailure("\(error)\nKamailio: \(kamailio.log.lastLines(10))\nSIPp: \(said)")
    }
    withExtendedLifetime((peers, telephone)) {}
  }

  /// A telephone that answers at once and speaks by itself for a minute.
  private static func speaking() async throws -> (BaresipPeer, TemporaryFolder) {
    let folder = try TemporaryFolder("speaking")
    let file = folder.url.appendingPathComponent("tone.wav")
    let tone = (0..<480_000).map { Int16(8_000 * sin(Double($0) * 2 * .pi * 440 / 8_000)) }
    try SoundFile(samplingRate: 8_000, samples: tone).write(to: file)
    let baresip = try await BaresipPeer(
      user: ExplainStage.number, transport: .udp, answerMode: .auto,
      sound: .init(file, samplingRate: 8_000, codecs: ["PCMU/8000/1"]))
    return (baresip, folder)
  }

  /// What the carriers over TLS show, and whom the gateway trusts.
  private struct Certificates {
    let own: CertificateFolder
    private let stranger: CertificateAuthority
    private let untrusted: IssuedCertificate
    private let misnamed: IssuedCertificate
    private let expired: IssuedCertificate

    init() async throws {
      own = try await CertificateFolder.shared()
      stranger = try await CertificateAuthority("Stranger")
      let names = "DNS:carrier.example.test"
      untrusted = own.server
      misnamed = try await stranger.issue("misnamed", names: names)
      let everywhere = (10...250).map { "IP:127.0.1.\($0)" }.joined(separator: ",")
      expired = try await stranger.issue("expired", names: everywhere, days: -10 ... -1)
    }

    func server(of rule: String) -> IssuedCertificate {
      switch rule {
      case "certificateName": misnamed
      case "certificateExpired": expired
      default: untrusted
      }
    }

    var authority: URL {
      stranger.certificate
    }
  }
}
