import CallModel
import SDPCore
import SecureTransport
import Testing

@Suite struct DTLSHandshakeTests {
  @Test func aHandshakeWithoutLossGivesBothEndsTheSameKeys() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client))
    network.start()
    network.runHandshake()
    let server = try #require(network.server.keys)
    let client = try #require(network.client.keys)
    #expect(server.suite == .aesGCM128)
    #expect(server.send == client.receive)
    #expect(server.receive == client.send)
    #expect(server.send != server.receive)
    #expect(server.send.keyAndSalt.exposed.count == 28)
    #expect(network.sent.count == 4)
    #expect(network.server.nextDeadline == nil)
    #expect(network.client.nextDeadline == nil)
    #expect(network.sent.allSatisfy { $0.bytes.count <= DTLSAssociation.maximumDatagram })
    #expect(network.now == MonotonicInstant(milliseconds: 5_080))
  }

  /// The server's order decides; what DTLS-SRTP does not know is passed over.
  @Test func everyPairOfProfileListsGivesTheServersFirstCommonOne() throws {
    let lists: [[CryptoSuite]] = [
      [.aesGCM128], [.aesGCM256], [.aesCM128HMAC80], [.aesCM128HMAC32], [.aesGCM128, .aesGCM256, .aesCM128HMAC80],
      [.aesCM128HMAC80, .aesGCM256], [.aesCM256HMAC80, .aesCM128HMAC32, .aesCM128HMAC80], [.aesGCM256, .aesGCM128],
    ]
    for servers in lists {
      for clients in lists {
        let network = DTLSNetwork(
          server: try DTLSFixture.association(.server, suites: servers),
          client: try DTLSFixture.association(.client, suites: clients))
        network.start()
        network.runHandshake()
        let expected = servers.first { $0 != .aesCM256HMAC80 && clients.contains($0) }
        if let expected {
          let keys = try #require(network.server.keys)
          #expect(keys.suite == expected)
          #expect(keys.send.keyAndSalt.exposed.count == expected.keyLength + expected.saltLength)
          #expect(network.client.keys?.suite == expected)
          #expect(network.client.keys?.receive == keys.send)
          #expect(network.client.keys?.send == keys.receive)
        } else {
          network.run()
          #expect(network.server.state == .failed(.handshake))
          #expect(network.client.state == .failed(.handshake))
        }
      }
    }
  }

  @Test(arguments: [256, 400, 600]) func fragmentsOfEveryMessageAreJoined(size: Int) throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server, maximumDatagram: size),
      client: try DTLSFixture.association(.client, maximumDatagram: size))
    network.start()
    network.runHandshake()
    #expect(network.server.keys != nil)
    #expect(network.client.keys != nil)
    #expect(network.sent.allSatisfy { $0.bytes.count <= size })
    #expect(network.sent.count > 4)
  }

  @Test func handshakesEndUnderLossDoublingReorderingAndCorruption() throws {
    let harms: [DTLSNetwork.Harm] = [
      .init(lost: 30), .init(doubled: 50), .init(delayed: 50), .init(lost: 30, doubled: 20, delayed: 30),
    ]
    for (kind, harm) in harms.enumerated() {
      for seed in 1...40 as ClosedRange<UInt64> {
        let size = seed.isMultiple(of: 4) ? 400 : DTLSAssociation.maximumDatagram
        let network = DTLSNetwork(
          server: try DTLSFixture.association(.server, maximumDatagram: size),
          client: try DTLSFixture.association(.client, maximumDatagram: size), harm: harm, seed: seed)
        network.start()
        network.runHandshake()
        #expect(network.server.keys != nil, "harm \(kind), seed \(seed): \(network.server.lastError ?? "-")")
        #expect(network.client.keys != nil, "harm \(kind), seed \(seed): \(network.client.lastError ?? "-")")
      }
    }
  }

  /// A changed byte of a plain handshake may end it; it may never give two ends different keys, and a new one works.
  @Test func corruptionNeverMakesTwoEndsDisagree() throws {
    var established = 0
    for seed in 1...150 as ClosedRange<UInt64> {
      let network = DTLSNetwork(
        server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client),
        harm: .init(lost: 5, corrupted: 15), seed: seed)
      network.start()
      network.runHandshake(for: 15_000)
      if let server = network.server.keys, let client = network.client.keys {
        established += 1
        #expect(server.send == client.receive && server.receive == client.send, "seed \(seed)")
        #expect(server.suite == client.suite, "seed \(seed)")
      }
    }
    #expect(established > 75)
  }

  @Test func ourOwnTimerRepeatsFlightsAndNothingElseDoes() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client),
      harm: .init(lost: 100))
    network.start()
    #expect(network.server.nextDeadline == nil)
    let begin = network.now
    network.run(for: 100_000)
    var expected: [Int64] = [0]
    var wait = DTLSAssociation.initialRetransmission
    while expected[expected.count - 1] + wait <= 100_000 {
      expected.append(expected[expected.count - 1] + wait)
      wait = min(2 * wait, DTLSAssociation.maximumRetransmission)
    }
    #expect(network.sent.map { $0.at.milliseconds(since: begin) } == expected)
    #expect(network.client.isHandshaking)
  }

  /// libssl repeats a flight twelve times; a caller with a deadline of its own is earlier.
  @Test func aPeerThatNeverAnswersEndsTheHandshakeInTheEnd() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client),
      harm: .init(lost: 100))
    network.start()
    network.run(for: 3_600_000)
    #expect(network.client.state == .failed(.handshakeTimeout))
    #expect(network.client.nextDeadline == nil)
    #expect(network.sent.count == 13)
  }

  @Test func nothingIsSentBeforeTheDeadline() throws {
    let client = try DTLSFixture.association(.client)
    let outbox = PacketOutbox()
    let begin = MonotonicInstant(milliseconds: 1)
    client.start(at: begin, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    #expect(outbox.count == 1)
    let first = outbox.buffer(at: 0).bytes
    outbox.removeAll()
    let due = try #require(client.nextDeadline)
    #expect(due == begin.advanced(byMilliseconds: DTLSAssociation.initialRetransmission))
    client.advance(to: due.advanced(byMicroseconds: -1), outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    #expect(outbox.count == 0)
    #expect(client.nextDeadline == due)
    client.advance(to: due, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    try #require(outbox.count == 1)
    // The same message in a record of its own number.
    #expect(outbox.buffer(at: 0).bytes.dropFirst(13) == first.dropFirst(13))
    #expect(outbox.buffer(at: 0).bytes.prefix(13) != first.prefix(13))
    #expect(client.nextDeadline == due.advanced(byMilliseconds: 2 * DTLSAssociation.initialRetransmission))
  }

  /// The last flight is repeated when the client repeats its own, and only then.
  @Test func aLostLastFlightIsSentAgainWhenTheClientAsks() throws {
    let network = DTLSNetwork(
      server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client))
    network.start()
    network.run { network.server.keys == nil }
    let before = network.sent.count
    network.loseAll()
    network.run { network.client.keys == nil }
    #expect(network.client.keys?.receive == network.server.keys?.send)
    #expect(network.sent.dropFirst(before).map(\.toServer) == [true, false])
  }

  @Test func oneThreadsCertificateServesOthers() async throws {
    let ends = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var established = 0
          for _ in 0..<10 {
            let network = DTLSNetwork(
              server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client))
            network.start()
            network.runHandshake()
            if network.server.keys != nil, network.client.keys != nil { established += 1 }
          }
          return established
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(ends == 40)
  }

  @Test func eachCertificateIsItsOwn() throws {
    let certificates = try (0..<8).map { _ in try DTLSCertificate() }
    #expect(Set(certificates.map(\.fingerprint)).count == certificates.count)
    #expect(certificates.allSatisfy { $0.fingerprint.isAcceptable && $0.fingerprint.hash == .sha256 })
  }
}
