import PeerKit
import Testing

/// The drivers themselves, with foreign programs at both ends.
@Suite("Foreign peers among themselves", .together)
struct PeerKitTests {
  @Test(
    "baresip calls baresip",
    .enabled(if: PeerProgram.baresip.isInstalled && PeerProgram.openssl.isInstalled, "baresip or openssl is absent"),
    arguments: BaresipPeer.Transport.allCases)
  func baresip(_ transport: BaresipPeer.Transport) async throws {
    let certificates = transport == .tls ? try await CertificateFolder() : nil
    let callee = try await BaresipPeer(transport: transport, certificates: certificates)
    let caller = try await BaresipPeer(transport: transport, certificates: certificates)
    let port = transport == .tls ? callee.tlsPort : callee.port
    try caller.run("dial", "sip:bob@127.0.0.1:\(port);transport=\(transport.rawValue)")
    try await callee.event("CALL_INCOMING")
    try callee.run("accept")
    try await caller.event("CALL_ESTABLISHED")
    try caller.run("hangup")
    try await callee.event("CALL_CLOSED")
  }

  @Test(
    "Kamailio starts",
    .enabled(if: PeerProgram.kamailio.isInstalled && PeerProgram.openssl.isInstalled, "kamailio or openssl is absent"),
    arguments: ["MD5", "SHA-256"])
  func kamailio(_ algorithm: String) async throws {
    let certificates = try await CertificateFolder()
    var options = KamailioPeer.Options()
    options.algorithm = algorithm
    options.certificate = certificates.server
    let kamailio = try await KamailioPeer(options)
    let peer = try DatagramPeer(target: kamailio.port)
    try peer.send(
      peer.message(
        "OPTIONS", to: "sip:127.0.0.1:\(kamailio.port)", from: "<sip:a@example.test>;tag=1",
        toHeader: "<sip:example.test>", callID: "c1", cseq: 1))
    _ = try await peer.response(200, to: "OPTIONS")
    try peer.send(
      peer.message(
        "REGISTER", to: "sip:example.test", from: "<sip:a@example.test>;tag=1",
        toHeader: "<sip:a@example.test>", callID: "c2", cseq: 1))
    let challenge = try await peer.response(401, to: "REGISTER")
    #expect(challenge["WWW-Authenticate"]?.contains("algorithm=\(algorithm)") == true)
  }
}
