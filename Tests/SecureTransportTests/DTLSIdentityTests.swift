import CallModel
import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite struct DTLSIdentityTests {
  private func stranger() throws -> [CertificateFingerprint] { [try DTLSCertificate().fingerprint] }

  /// Alerts of one direction that nothing protects, by their descriptions.
  private func plainAlerts(_ network: DTLSNetwork, toServer: Bool) -> [UInt8] {
    let records = network.sent.filter { $0.toServer == toServer }.flatMap { dtlsRecords($0.bytes) }
    let alerts = records.filter { $0.count == 15 && $0[0] == 21 && $0[4] == 0 }
    return alerts.map { $0[14] }
  }

  @Test func aClientWithAnotherCertificateIsRefusedWithBadCertificate() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server, fingerprints: stranger()),
      client: try DTLSFixture.association(.client))
    network.start()
    network.run()
    #expect(network.server.state == .failed(.fingerprint))
    #expect(network.server.nextDeadline == nil)
    #expect(network.server.lastError?.contains("fingerprint") == true)
    #expect(plainAlerts(network, toServer: false) == [42])
    // The client believes the alert once the server stays silent.
    #expect(network.client.state == .failed(.handshake))
    #expect(network.client.lastError?.contains("42") == true)
  }

  @Test func aServerWithAnotherCertificateIsRefusedWithBadCertificate() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server),
      client: try DTLSFixture.association(.client, fingerprints: stranger()))
    network.start()
    network.run()
    #expect(network.client.state == .failed(.fingerprint))
    #expect(plainAlerts(network, toServer: true) == [42])
    #expect(network.server.state == .failed(.handshake))
    #expect(network.server.keys == nil)
  }

  @Test func oneMatchingFingerprintOfSeveralIsEnough() throws {
    let right = try DTLSFixture.peerCertificate.get().fingerprint
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server, fingerprints: stranger() + [right]),
      client: try DTLSFixture.association(.client))
    network.start()
    network.runHandshake()
    #expect(network.server.keys != nil)
  }

  @Test func fingerprintsBeyondTheLimitMatchNothing() throws {
    let right = try DTLSFixture.peerCertificate.get().fingerprint
    let other = try DTLSCertificate().fingerprint
    let many = Array(repeating: other, count: DTLSAssociation.maximumFingerprints)
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server, fingerprints: many + [right]),
      client: try DTLSFixture.association(.client))
    network.start()
    network.run()
    #expect(network.server.state == .failed(.fingerprint))
  }

  @Test func weakOrMissingFingerprintsAreNoDescription() throws {
    let weak = try #require(CertificateFingerprint(hash: .sha1, bytes: Array(repeating: 1, count: 20)))
    #expect(throws: TransportFailure.fingerprint) {
      _ = try DTLSFixture.association(.server, fingerprints: [weak])
    }
    #expect(throws: TransportFailure.fingerprint) {
      _ = try DTLSFixture.association(.client, fingerprints: [])
    }
    #expect(throws: TransportFailure.handshake) {
      _ = try DTLSFixture.association(.client, suites: [.aesCM192HMAC80])
    }
  }

  @Test func aClientWithoutCertificateIsRefused() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server),
      client: try DTLSFixture.association(.client, certificate: DTLSCertificate(isShown: false, padding: 0)))
    network.start()
    network.run()
    #expect(network.server.state == .failed(.handshake))
    #expect(network.server.keys == nil)
    #expect(network.client.keys == nil)
  }

  /// A certificate of 5 kB is taken, one beyond the limit is not, from either side.
  @Test(arguments: [(5_000, true), (9_000, false)]) func theSizeOfACertificateIsLimited(
    padding: Int, isTaken: Bool
  ) throws {
    let long = try DTLSCertificate(isShown: true, padding: padding)
    for role in [MediaPlan.DTLS.Role.client, .server] {
      let network = DTLSNetwork(
        server: try DTLSFixture.association(
          .server, certificate: role == .server ? long : nil, fingerprints: role == .client ? [long.fingerprint] : nil),
        client: try DTLSFixture.association(
          .client, certificate: role == .client ? long : nil, fingerprints: role == .server ? [long.fingerprint] : nil))
      network.start()
      network.run()
      let other = role == .client ? network.server : network.client
      #expect((other.keys != nil) == isTaken)
      if !isTaken { #expect(other.state == .failed(.handshake)) }
    }
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func fingerprintsOfTheVectorsMatchTheirCertificateOnly() throws {
    let rows = try TestVectors.table("dtls/fingerprints.tsv")
    #expect(rows.count == 10)
    for row in rows {
      let name = try #require(row["certificate"])
      let hash = try #require(CertificateFingerprint.Hash(rawValue: row["hash"] ?? ""))
      let hex = try #require(row["fingerprint"]).split(separator: ":").map { UInt8($0, radix: 16) ?? 0 }
      let fingerprint = try #require(CertificateFingerprint(hash: hash, bytes: hex))
      #expect(DTLSCertificate.matches(try certificate(name), [fingerprint]) == hash.isStrong, "\(name) \(hash)")
      let other = name.contains("ec") ? "certs/rsa.pem" : "certs/ec.pem"
      #expect(!DTLSCertificate.matches(try certificate(other), [fingerprint]), "\(name) \(hash)")
      for index in hex.indices {
        var changed = hex
        changed[index] ^= 1
        let wrong = try #require(CertificateFingerprint(hash: hash, bytes: changed))
        #expect(!DTLSCertificate.matches(try certificate(name), [wrong]), "\(name) \(hash) byte \(index)")
      }
    }
    #expect(!DTLSCertificate.matches([0x30, 0x03, 1, 2, 3], [try DTLSFixture.peerCertificate.get().fingerprint]))
  }

  /// The rows of the role table that an association decides; the others are the description's.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func rolesOfTheVectors() throws {
    var decided = 0
    for row in try TestVectors.table("dtls/roles.tsv") {
      let (server, client): (DTLSAssociation, DTLSAssociation)
      switch row["case"] {
      case "offer actpass", "offer active":
        // We answer passive: the peer begins.
        (server, client) = (try DTLSFixture.association(.server), try DTLSFixture.association(.client))
      case "restart":
        // Another certificate and the same addresses: a new association, whatever the old one still sends.
        let renewed = try DTLSCertificate()
        let old = DTLSNetwork(
          server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client))
        old.start()
        old.runHandshake()
        old.close(server: false)
        server = try DTLSFixture.association(.server, fingerprints: [renewed.fingerprint])
        client = try DTLSFixture.association(.client, certificate: renewed)
        let late = try #require(old.sent.last?.bytes)
        server.start(at: old.now, outbox: PacketOutbox(), on: DTLSFixture.port, to: DTLSFixture.ours)
        DTLSNetwork(server: server, client: client).inject(late, toServer: true)
        #expect(server.isHandshaking)
      case "mismatch":
        server = try DTLSFixture.association(.server, fingerprints: stranger())
        client = try DTLSFixture.association(.client)
        let network = DTLSNetwork(server: server, client: client)
        network.start()
        network.run()
        #expect(server.state == .failed(.fingerprint))
        #expect(plainAlerts(network, toServer: false) == [42])
        decided += 1
        continue
      default: continue
      }
      let network = DTLSNetwork(server: server, client: client)
      network.start()
      #expect(network.sent.map(\.toServer) == [true])
      network.runHandshake()
      #expect(server.keys?.send == client.keys?.receive && server.keys != nil)
      decided += 1
    }
    #expect(decided == 4)
  }

  private func certificate(_ name: String) throws -> [UInt8] {
    let lines = try TestVectors.text("dtls/" + name).split(separator: "\n").filter { !$0.hasPrefix("-") }
    return Array(try #require(Data(base64Encoded: lines.joined())))
  }
}
