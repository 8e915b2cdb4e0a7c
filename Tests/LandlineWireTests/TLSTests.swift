import CallModel
import Foundation
import LandlineWire
import PeerKit
import SIPCore
import Testing

extension SocketTests {
  @Suite struct TLSTests {
    private static func server(
      _ identity: TLSIdentityFiles, clients: [String] = [], minimum: TLSVersionFloor = .tls12,
      limits: TransportLimits = .standard
    ) async throws -> Endpoint {
      try await Endpoint.start(
        .tls, tls: TLSServerSettings(identity: identity, minimumVersion: minimum, clientAuthorities: clients),
        limits: limits)
    }

    private static func client(_ identity: TLSIdentityFiles, _ policy: TLSClientPolicy) async throws -> Endpoint {
      try await Endpoint.start(
        .tls, tls: TLSServerSettings(identity: identity), policies: TLSClientPolicies(standard: policy))
    }

    @Test func speaksBothWays() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "DNS:sip.example.test,IP:127.0.0.1")
      let there = try await Self.server(identity)
      let here = try await Self.client(identity, TLSClientPolicy(trust: .authorities([authority.certificate.path])))
      for serverName in ["sip.example.test", "SIP.example.test", "127.0.0.1", nil] {
        let path = here.path(to: there, serverName: serverName)
        let count = there.events.events.count
        here.send(request(count), on: path)
        let arrived = try await there.message("request for \(serverName ?? "-")", after: count)
        there.send(response(count), on: arrived.path)
        let answer = try await here.message("response", after: count)
        #expect(answer.bytes == response(count))
        #expect(answer.path.serverName == serverName)
        // The second request finds the same connection.
        here.send(request(count), on: path)
        #expect(try await there.message("again", after: count + 1).path == arrived.path)
        there.send(response(count), on: arrived.path)
        _ = try await here.message("response again", after: count + 1)
      }
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func tellsWhatTheHandshakeCameTo() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "DNS:sip.example.test,IP:127.0.0.1")
      let there = try await Self.server(identity)
      // No certificate is needed where nothing is accepted.
      let listener = SIPListener(id: .first, transport: .tls, host: .loopback, port: 0, accepts: false)
      let here = try await Endpoint.start(
        [listener],
        policies: TLSClientPolicies(standard: TLSClientPolicy(trust: .authorities([authority.certificate.path]))))
      here.send(request(0), on: here.path(to: there, serverName: "sip.example.test"))
      _ = try await there.message("request", after: 0)
      let stream = try await here.events.wait(for: "opening") { events in
        events.lazy.compactMap { if case .opened(let stream) = $0 { stream } else { nil } }.first
      }
      #expect(stream.remote == there.address)
      #expect(stream.handshake?.version == "1.3")
      let shown = try #require(stream.handshake?.certificate)
      #expect(shown.subject == "server")
      #expect(shown.issuer == "Authority")
      #expect(shown.names == ["sip.example.test", "127.0.0.1"])
      #expect((30...31).contains((shown.validUntil - shown.validFrom) / 86_400))
      let fingerprint = try await CertificateAuthority.fingerprintBytes(of: identity.certificateChain)
      #expect(shown.fingerprint == fingerprint)
      try await here.shutdown()

      let stranger = try await CertificateAuthority("Stranger")
      let other = try await Endpoint.start(
        [listener],
        policies: TLSClientPolicies(standard: TLSClientPolicy(trust: .authorities([stranger.certificate.path]))))
      other.send(request(1), on: other.path(to: there, serverName: "sip.example.test"), for: TransactionID(1))
      let problem = try await other.events.wait(for: "problem") { events in
        events.lazy.compactMap { if case .problem(let problem) = $0 { problem } else { nil } }.first
      }
      #expect(problem.kind == .certificateUntrusted)
      #expect(problem.handshake?.certificate == shown)
      try await other.shutdown()
      try await there.shutdown()
    }

    /// Names of certificates, the name asked for, whether wildcards are allowed, and what comes of it.
    @Test(arguments: [
      ("DNS:sip.example.test", "other.example.test", false, TransportProblem.Kind?.some(.certificateName)),
      ("DNS:sip.example.test", nil, false, .certificateName),
      ("IP:127.0.0.2", nil, false, .certificateName),
      ("IP:127.0.0.1", nil, false, nil),
      ("DNS:*.example.test", "sip.example.test", false, .certificateName),
      ("DNS:*.example.test", "sip.example.test", true, nil),
      ("DNS:*.example.test", "a.sip.example.test", true, .certificateName),
      ("URI:sip:example.test,DNS:node1.example.test", "example.test", false, nil),
      ("URI:sip:example.test,DNS:node1.example.test", "node1.example.test", false, .certificateName),
      ("URI:sip:user@example.test,DNS:node1.example.test", "node1.example.test", false, nil),
    ])
    func judgesNames(
      _ names: String, _ serverName: String?, _ wildcards: Bool, _ expected: TransportProblem.Kind?
    ) async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: names)
      let there = try await Self.server(identity)
      let here = try await Self.client(
        identity, TLSClientPolicy(trust: .authorities([authority.certificate.path]), allowsWildcardNames: wildcards))
      here.send(request(1), on: here.path(to: there, serverName: serverName), for: TransactionID(1))
      if let expected {
        try await here.failure(of: TransactionID(1))
        let problem = try await here.problem(expected)
        #expect(problem.text.contains("names"))
        #expect(try await there.statistics().messagesReceived == 0)
      } else {
        _ = try await there.message("request")
      }
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func saysWhyACertificateIsNoGood() async throws {
      let authority = try await CertificateAuthority()
      let other = try await CertificateAuthority("Other")
      let names = "IP:127.0.0.1"
      let good = try await authority.identity("good", names: names)
      let table: [(TLSIdentityFiles, TransportProblem.Kind)] = [
        (try await authority.identity("expired", names: names, days: -20 ... -10), .certificateExpired),
        (try await authority.identity("early", names: names, days: 10...20), .certificateNotYetValid),
        (try await other.identity("foreign", names: names), .certificateUntrusted),
      ]
      for (identity, kind) in table {
        let there = try await Self.server(identity)
        let here = try await Self.client(good, TLSClientPolicy(trust: .authorities([authority.certificate.path])))
        here.send(request(1), on: here.path(to: there), for: TransactionID(1))
        try await here.failure(of: TransactionID(1))
        try await here.problem(kind)
        let seen = try await there.problem(.rejectedByPeer)
        #expect(seen.text.contains("certificate"))
        try await here.shutdown()
        try await there.shutdown()
      }
    }

    @Test func pinsCertificates() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("old", names: "DNS:a.test", days: -20 ... -10)
      let other = try await authority.identity("other", names: "IP:127.0.0.1")
      let there = try await Self.server(identity)
      let right = try await CertificateAuthority.fingerprintBytes(of: identity.certificateChain)
      let wrong = try await CertificateAuthority.fingerprintBytes(of: other.certificateChain)
      let here = try await Self.client(other, TLSClientPolicy(trust: .fingerprints([wrong, right])))
      here.send(request(1), on: here.path(to: there, serverName: "b.test"))
      #expect(try await there.message("request").bytes == request(1))
      let stranger = try await Self.client(other, TLSClientPolicy(trust: .fingerprints([wrong])))
      stranger.send(request(1), on: stranger.path(to: there), for: TransactionID(1))
      try await stranger.failure(of: TransactionID(1))
      let problem = try await stranger.problem(.certificateFingerprint)
      #expect(problem.text.hasSuffix(right.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")))
      for endpoint in [here, there, stranger] { try await endpoint.shutdown() }
    }

    @Test(arguments: [TLSVersionFloor.tls12, .tls13])
    func wantsClientCertificates(_ minimum: TLSVersionFloor) async throws {
      let authority = try await CertificateAuthority()
      let other = try await CertificateAuthority("Other")
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      let foreign = try await other.identity("foreign", names: "IP:127.0.0.1")
      let there = try await Self.server(identity, clients: [authority.certificate.path], minimum: minimum)
      let trust = TLSClientPolicy.Trust.authorities([authority.certificate.path])
      let table: [(TLSIdentityFiles?, TransportProblem.Kind?)] = [
        (identity, nil), (nil, .certificateMissing), (foreign, .certificateUntrusted),
      ]
      for (shown, kind) in table {
        let here = try await Self.client(identity, TLSClientPolicy(trust: trust, identity: shown))
        here.send(request(1), on: here.path(to: there), for: TransactionID(1))
        if let kind {
          try await here.failure(of: TransactionID(1))
          try await there.problem(kind)
        } else {
          _ = try await there.message("request")
        }
        try await here.shutdown()
      }
      #expect(try await there.statistics().messagesReceived == 1)
      try await there.shutdown()
    }

    /// A client that comes back with the session of its last connection.
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func resumesSessionsOfClientsWithCertificates(_ version: String) async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      let here = try await Self.server(identity, clients: [authority.certificate.path])
      let client = try await PeerProcess.run(
        .openssl,
        ["s_client", "-connect", "127.0.0.1:\(here.address.port)", version, "-reconnect"]
          + ["-CAfile", authority.certificate.path, "-cert", identity.certificateChain, "-key", identity.privateKey])
      #expect(try await here.statistics().handshakesFailed == 0, "\(client)")
      #expect(try await here.statistics().connectionsAccepted > 1)
      try await here.shutdown()
    }

    /// The versions that an openssl client asks for, and whether it gets through.
    @Test(arguments: [
      (TLSVersionFloor.tls12, "-tls1_1", false), (.tls12, "-tls1_2", true), (.tls12, "-tls1_3", true),
      (.tls13, "-tls1_2", false), (.tls13, "-tls1_3", true),
    ])
    func keepsToItsVersions(_ minimum: TLSVersionFloor, _ version: String, _ works: Bool) async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      let here = try await Self.server(identity, minimum: minimum)
      let client = try await PeerProcess.run(
        .openssl,
        ["s_client", "-connect", "127.0.0.1:\(here.address.port)", version, "-CAfile", authority.certificate.path]
          + ["-cipher", "DEFAULT@SECLEVEL=0"])
      let output = client.output + client.diagnostics
      let isOpen = output.contains("Cipher is TLS_AES") || output.contains("Cipher is ECDHE")
      #expect(isOpen == works, "\(output)")
      if !works { try await here.problem(.version) }
      try await here.shutdown()
    }

    @Test func showsANewCertificateWithoutDroppingConnections() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "DNS:old.test")
      let there = try await Self.server(identity)
      let here = try await Self.client(identity, TLSClientPolicy(trust: .authorities([authority.certificate.path])))
      here.send(request(1), on: here.path(to: there, serverName: "old.test"))
      let first = try await there.message("request").path
      let renewed = try await authority.identity("renewed", names: "DNS:new.test")
      for (from, to) in [
        (renewed.certificateChain, identity.certificateChain), (renewed.privateKey, identity.privateKey),
      ] {
        try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
      }
      try await there.install()
      here.send(request(2), on: here.path(to: there, serverName: "new.test"))
      let second = try await there.message("request with the new name", after: 1).path
      #expect(first.connection != second.connection)
      here.send(request(3), on: here.path(to: there, serverName: "old.test"))
      #expect(try await there.message("request on the old connection", after: 2).path == first)
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func keepsTheOldCertificateWhenTheNewOneIsBroken() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      let other = try await authority.identity("other", names: "IP:127.0.0.1")
      let there = try await Self.server(identity)
      let here = try await Self.client(other, TLSClientPolicy(trust: .authorities([authority.certificate.path])))
      let table: [(String, Data, String)] = [
        (identity.privateKey, try Data(contentsOf: URL(filePath: other.privateKey)), "tls.keyMismatch"),
        (identity.privateKey, Data("no key".utf8), "tls.keyFile"),
        (identity.certificateChain, Data("no certificate".utf8), "tls.certificateFile"),
      ]
      for (file, content, rule) in table {
        try content.write(to: URL(filePath: file))
        let error = await #expect(throws: InvalidValue.self) { try await there.install() }
        #expect(error?.rule == rule)
        #expect(error?.problem.contains(file) == true)
      }
      try FileManager.default.removeItem(atPath: identity.certificateChain)
      let error = await #expect(throws: InvalidValue.self) { try await there.install() }
      #expect(error?.problem.contains("No such file") == true)
      here.send(request(1), on: here.path(to: there))
      _ = try await there.message("request")
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func tellsPlainTextAndSilenceFromTLS() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "IP:127.0.0.1")
      var limits = TransportLimits.standard
      limits.handshakeTimeoutMilliseconds = 200
      limits.handshakes = 2
      let here = try await Self.server(identity, limits: limits)
      let plain = try PlainSocket.connected(to: here.address.port)
      try plain.write(request(1))
      _ = try await plain.readToEnd()
      try await here.problem(.notTLS)
      let silent = try PlainSocket.connected(to: here.address.port)
      let second = try PlainSocket.connected(to: here.address.port)
      let third = try PlainSocket.connected(to: here.address.port)
      #expect(try await third.readToEnd() == [])
      try await here.problem(.handshakes)
      #expect(try await silent.readToEnd() == [])
      #expect(try await second.readToEnd() == [])
      try await here.problem(.handshakeTimeout)
      try await eventually("all are closed") { try await here.statistics().connections == 0 }
      // The places of failed handshakes are free again.
      let client = try await Self.client(identity, TLSClientPolicy(trust: .authorities([authority.certificate.path])))
      client.send(request(1), on: client.path(to: here))
      _ = try await here.message("request")
      // And a client of ours that meets a plain server says so.
      let peer = try PlainSocket.listening()
      client.send(request(1), on: client.path(toPort: peer.port, .tls), for: TransactionID(1))
      let stream = try await peer.accepted()
      try stream.write(Array("SIP/2.0 400 Bad Request\r\n\r\n".utf8))
      try await client.failure(of: TransactionID(1))
      try await client.problem(.notTLS)
      try await here.shutdown()
      try await client.shutdown()
    }
  }
}
