import AppProtocol
import CallEngine
import CallModel
import Foundation
import NIOCore
import NIOPosix
import NodeCore
import PeerKit

/// A carrier whose calls are signed by secsipidx, which serves the signer's certificate over HTTPS as well.
enum SignedCallerCases {
  private static let number = "+46850000536"

  /// How a call is signed.
  private struct Signature: Sendable {
    var caller = "46701111111"
    var attest = "A"
    /// Where the certificate is said to be.
    var file = "provider.pem"
    /// Whether a server that says nothing is named in place of secsipidx's.
    var isServerSilent = false
  }

  /// An authority of callers with one provider, and a web server with the provider's certificate.
  private struct Signer: Sendable {
    let authority: CertificateAuthority
    let web: CertificateAuthority
    let provider: IssuedCertificate
    let port: UInt16
    let server: PeerProcess
    /// Takes connections and says nothing.
    let silent: any Channel

    static func start() async throws -> Signer {
      let authority = try await CertificateAuthority("Callers")
      // A TNAuthList (RFC 8226) of one provider, 1234.
      let provider = try await authority.issue(
        "provider", names: "DNS:provider.example",
        extensions: ["1.3.6.1.5.5.7.1.26=DER:3008A006160431323334"])
      let web = try await CertificateAuthority("Web")
      let identity = try await web.issue("web", names: "IP:127.0.0.1")
      let port = try FreePort.next()
      let folder = try TemporaryFolder("secsipidx")
      try folder.write(try String(contentsOf: provider.certificate, encoding: .utf8), to: "provider.pem")
      let server = try PeerProcess(
        .secsipidx,
        ["-https-srv", "127.0.0.1:\(port)", "-https-pubkey", identity.certificate.path]
          + ["-https-prvkey", identity.key.path, "-http-dir", folder.url.path], in: folder)
      try await server.listens(on: port)
      let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .bind(host: "127.0.0.1", port: 0).get()
      return Signer(
        authority: authority, web: web, provider: provider, port: port, server: server, silent: silent)
    }

    /// The value of an Identity field.
    func sign(_ signature: Signature) async throws -> String {
      let silentPort = silent.localAddress?.port ?? 0
      let address =
        signature.isServerSilent
        ? "https://127.0.0.1:\(silentPort)/provider.pem" : "https://127.0.0.1:\(port)/v1/pub/\(signature.file)"
      let result = try await PeerProcess.run(
        .secsipidx,
        ["-sign-full", "-k", provider.key.path, "-o", signature.caller, "-d", String(number.dropFirst())]
          + ["-a", signature.attest, "-x5u", address, "-orig-id", "0f7c3b1e-7a52-4f0e-9a3c-0c1d2e3f4a5b"])
      guard result.status == 0 else { throw PeerFailure("secsipidx: \(result.diagnostics)") }
      return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// - Parameters:
  ///   - stir: of the trunk.
  ///   - sign: `nil` for a call without signature.
  ///   - isInside: whether the address of the certificate may be reached.
  private static func make(
    _ name: String, expected: String, stir: String = "verify", isInside: Bool = true, scenario: String = "call-signed",
    keys: [String: String] = [:], sign: Signature? = Signature(),
    _ body: @escaping @Sendable (AppPeer, SIPpPeer, GatewayRunning) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "secsipidx", transport: "UDP", "a signed caller: \(name)", expected: expected) {
      let signer = try await Signer.start()
      var settings = GatewaySettings([.init("first", uri: "sip:127.0.0.1:5060", ["stir: \(stir)"])])
      settings.sandboxHasTrunks = true
      settings.numbers = ["\"\(number)\": {user: bob}"]
      settings.stir = [
        "authorities: [\(signer.authority.certificate.path)]", "web-authorities: [\(signer.web.certificate.path)]",
        "internal-addresses: [\(isInside ? "127.0.0.0/8" : "192.0.2.1")]",
      ]
      let happened = try await GatewayRunning.run(settings) { gateway in
        let bob = try await AppPeer(
          gateway, as: .trial, user: "bob", sequence: 1, ["features": ["incoming.1"], "device": "phone"])
        var options = SIPpPeer.Options()
        options.user = number
        options.keys = keys
        if let sign { options.keys["identity"] = try await signer.sign(sign) }
        let carrier = try await SIPpPeer(
          SIPpCase.scenario(scenario), as: .client(target: gateway.ports.sip), options)
        do {
          return try await body(bob, carrier, gateway)
        } catch {
          throw PeerFailure("\(error)\n\(carrier.transcript)\n\(signer.server.diagnostics)")
        }
      }
      try await signer.silent.close()
      return happened
    }
  }

  /// Who calls, as the app hears it; then the carrier gives up.
  private static func heard(
    _ bob: AppPeer, _ carrier: SIPpPeer, verified: String, why: String? = nil
  ) async throws -> String {
    let incoming = try await bob.told("incoming")
    let reason = incoming.text("from.why")
    try require(
      incoming.text("from.verified") == verified && incoming.text("from.value") == "+46701111111"
        && (why == nil) == (reason == nil) && reason?.contains(why ?? "") != false,
      "verified \(verified), \(why ?? "no reason"): \(incoming)")
    try bob.peer.run("alert", ["early": false])
    try await bob.told("ended")
    try await carrier.succeeds()
    return "\(verified) \(reason ?? "")"
  }

  static let cases: [PeerCase] = [
    make("attested A", expected: "A") { bob, carrier, _ in try await heard(bob, carrier, verified: "A") },
    make("attested C", expected: "C", sign: Signature(attest: "C")) { bob, carrier, _ in
      try await heard(bob, carrier, verified: "C")
    },
    make("another caller was signed", expected: "failed", sign: Signature(caller: "46702222222")) { bob, carrier, _ in
      try await heard(bob, carrier, verified: "failed", why: "another caller")
    },
    make("the certificate is not there", expected: "failed", sign: Signature(file: "other.pem")) { bob, carrier, _ in
      try await heard(bob, carrier, verified: "failed", why: "404")
    },
    make("the certificate's address is inside", expected: "failed", isInside: false) { bob, carrier, _ in
      try await heard(bob, carrier, verified: "failed", why: "no public address")
    },
    make(
      "the certificate's server takes connections and says nothing", expected: "none, one second later",
      sign: Signature(isServerSilent: true)
    ) { bob, carrier, _ in
      let begin = ContinuousClock.now
      let happened = try await heard(bob, carrier, verified: "none", why: "in time")
      // Beside the second: SIPp's start, and what it takes to ring and to give up.
      let time = ContinuousClock.now - begin
      try require(time < .seconds(6), "the call took \(time)")
      return happened
    },
    make(
      "none, where the trunk enforces", expected: "428", stir: "enforce", scenario: "call-to-gateway",
      keys: ["refusal": "428"], sign: nil
    ) { _, carrier, gateway in
      try await carrier.succeeds()
      let record = try await gateway.stores("sandbox").records.records(.init()).records.first
      try require(record?.summary.failure?.code == .callerRefused, "its record: \(String(describing: record))")
      return "428, gw.callerRefused"
    },
    make("attested B, where the trunk enforces", expected: "B", stir: "enforce", sign: Signature(attest: "B")) {
      bob, carrier, _ in try await heard(bob, carrier, verified: "B")
    },
  ]
}
