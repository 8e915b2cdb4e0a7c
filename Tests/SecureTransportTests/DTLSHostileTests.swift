import CallModel
import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite struct DTLSHostileTests {
  private func network(seed: UInt64 = 1) throws -> DTLSNetwork {
    DTLSNetwork(
      server: try DTLSFixture.association(.server), client: try DTLSFixture.association(.client), seed: seed)
  }

  private static func recordLayerInputs() throws -> [[UInt8]] {
    let folder = TestVectors.folder.appendingPathComponent("dtls/record-layer")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
  }

  private func plainAlert(level: UInt8 = 2, _ description: UInt8) -> [UInt8] {
    [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 77, 0, 2, level, description]
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func recordLayerCrashersDisturbNoHandshakeAtAnyPoint() throws {
    let inputs = try Self.recordLayerInputs()
    #expect(inputs.count > 100)
    // Fresh, then after each of the four datagrams of a handshake.
    for turn in 0...4 {
      let network = try network()
      if turn == 0 {
        network.server.start(
          at: network.now, outbox: PacketOutbox(), on: DTLSFixture.port, to: DTLSFixture.ours)
        for input in inputs { network.inject(input, toServer: true) }
      }
      network.start()
      for _ in 0..<turn { _ = network.step() }
      for toServer in [true, false] {
        for input in inputs { network.inject(input, toServer: toServer) }
      }
      network.runHandshake()
      #expect(network.server.keys != nil, "turn \(turn): \(network.server.lastError ?? "-")")
      #expect(network.client.keys?.send == network.server.keys?.receive, "turn \(turn)")
    }
  }

  /// Each input alone, and changed at random: whatever it does to this association, the next one works.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func changedCrashersNeverTrapAndLeaveNothingBehind() throws {
    var chance = DTLSChance(seed: 7)
    for input in try Self.recordLayerInputs() {
      let network = try network()
      network.start()
      for _ in 0..<Int.random(in: 0...4, using: &chance) { _ = network.step() }
      for _ in 0..<50 {
        var changed = input
        // A true record header in front of the input's body lets it further in.
        if changed.count > 13 {
          changed.replaceSubrange(1..<5, with: [0xFE, 0xFD, 0, UInt8.random(in: 0...1, using: &chance)])
          changed[11] = UInt8((changed.count - 13) >> 8)
          changed[12] = UInt8((changed.count - 13) & 0xFF)
        }
        for _ in 0..<Int.random(in: 0...4, using: &chance) where !changed.isEmpty {
          changed[Int.random(in: 0..<changed.count, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
        }
        network.inject(changed, toServer: Bool.random(using: &chance))
      }
      network.run(for: 20_000)
    }
    let next = try network()
    next.start()
    next.runHandshake()
    #expect(next.server.keys != nil && next.client.keys != nil)
  }

  /// Every datagram of a real handshake, cut at every length and with every byte changed, to fresh associations.
  @Test func cutAndChangedDatagramsNeverTrap() throws {
    let model = try network()
    model.start()
    model.runHandshake()
    var chance = DTLSChance(seed: 11)
    for datagram in model.sent {
      for index in stride(from: 0, to: datagram.bytes.count, by: 7) {
        let network = try network()
        network.start()
        network.inject(Array(datagram.bytes.prefix(index)), toServer: datagram.toServer)
        var changed = datagram.bytes
        changed[index] ^= UInt8.random(in: 1...255, using: &chance)
        network.inject(changed, toServer: datagram.toServer)
        network.inject(changed, toServer: !datagram.toServer)
      }
    }
    let next = try network()
    next.start()
    next.runHandshake()
    #expect(next.server.keys != nil && next.client.keys != nil)
  }

  @Test func junkOfAnyLengthAndALongDatagramAreDropped() throws {
    let network = try network()
    network.start()
    network.runHandshake()
    let count = network.sent.count
    for length in 0...PacketBuffer.capacity where length < 40 || length.isMultiple(of: 97) {
      for first in [0, 20, 21, 22, 23, 24, 63, 255] as [UInt8] {
        var bytes = [UInt8](repeating: 0xFE, count: length)
        if length > 0 { bytes[0] = first }
        network.inject(bytes, toServer: true)
        network.inject(bytes, toServer: false)
      }
    }
    #expect(network.sent.count == count)
    #expect(network.server.keys != nil && network.client.keys != nil)
  }

  /// Anyone can write a plain alert: a handshake that goes on shows that the peer did not.
  @Test func plainAlertsDoNotEndALiveHandshake() throws {
    for description in [0, 10, 20, 40, 42, 80, 90, 255] as [UInt8] {
      for turn in 0..<4 {
        let network = try network()
        network.start()
        for _ in 0..<turn { _ = network.step() }
        for toServer in [true, false] {
          network.inject(plainAlert(description), toServer: toServer)
          network.inject(plainAlert(level: 1, description), toServer: toServer)
        }
        network.runHandshake()
        #expect(network.server.keys != nil && network.client.keys != nil, "alert \(description), turn \(turn)")
      }
    }
  }

  @Test func aPlainAlertOfAPeerThatFallsSilentEndsTheHandshakeSoon() throws {
    let network = try network()
    network.harm.lost = 100
    network.start()
    let begin = network.now
    network.inject(plainAlert(40), toServer: false)
    #expect(network.client.isHandshaking)
    network.run { network.client.isHandshaking }
    #expect(network.client.state == .failed(.handshake))
    #expect(network.client.lastError == "the peer ended the handshake with alert 40")
    #expect(network.now.milliseconds(since: begin) == DTLSAssociation.alertPatience)
    #expect(network.client.nextDeadline == nil)
  }

  @Test func anAlertBeforeTheClientHelloMeansNothing() throws {
    let server = try DTLSFixture.association(.server)
    let network = DTLSNetwork(server: server, client: try DTLSFixture.association(.client))
    server.start(at: network.now, outbox: PacketOutbox(), on: DTLSFixture.port, to: DTLSFixture.ours)
    network.inject(plainAlert(40), toServer: true)
    #expect(server.nextDeadline == nil)
    network.start()
    network.runHandshake()
    #expect(server.keys != nil && network.client.keys != nil)
  }

  @Test func alertsAndHandshakesWithoutProtectionCannotTouchAnAssociation() throws {
    let network = try network()
    network.start()
    network.runHandshake()
    let sent = network.sent
    for description in 0...255 as ClosedRange<UInt8> {
      network.inject(plainAlert(description), toServer: true)
      network.inject(plainAlert(description), toServer: false)
    }
    for datagram in sent.prefix(1) { network.inject(datagram.bytes, toServer: datagram.toServer) }
    #expect(network.server.keys != nil && network.client.keys != nil)
    #expect(network.sent.count == sent.count)
    #expect(network.server.nextDeadline == nil)
  }

  @Test(arguments: [true, false]) func closeNotifyEndsBothEnds(byServer: Bool) throws {
    let network = try network()
    network.start()
    network.runHandshake()
    let count = network.sent.count
    let keys = (byServer ? network.server : network.client).keys
    network.close(server: byServer)
    network.close(server: byServer)
    network.run()
    #expect((byServer ? network.client : network.server).state == .closedByPeer)
    #expect((byServer ? network.server : network.client).keys == keys)
    // One from each end.
    #expect(network.sent.count == count + 2)
    #expect(network.sent.dropFirst(count).allSatisfy { $0.bytes.first == 21 && $0.bytes[4] == 1 })
    // Neither reads nor sends any more.
    network.inject(network.sent[count].bytes, toServer: true)
    network.inject(network.sent[count].bytes, toServer: false)
    #expect(network.sent.count == count + 2)
  }

  @Test func closeBeforeTheEndOfAHandshakeIsSilentAndFinal() throws {
    let network = try network()
    network.start()
    network.close(server: false)
    #expect(network.sent.count == 1)
    #expect(network.client.nextDeadline == nil)
    network.run(for: 100_000)
    #expect(network.client.state == .handshaking)
    #expect(network.server.keys == nil)
  }

  @Test func protectedRecordsAheadOfTheHandshakeAreLimitedAndHarmless() throws {
    let network = try network()
    network.start()
    for number in 0..<2_000 {
      for type in [20, 21, 22, 23] as [UInt8] {
        let header: [UInt8] = [
          type, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF), 0, 60,
        ]
        let record = header + Array(repeating: 9, count: 60)
        network.inject(record + record + record, toServer: true)
        network.inject(record, toServer: false)
      }
    }
    network.runHandshake()
    #expect(network.server.keys != nil && network.client.keys != nil)
  }

  /// What one association leaves behind would be seen a thousand times. Tests that run beside this one use memory
  /// too, so the round that grew least counts.
  @Test func aThousandAssociationsLeaveNoMemory() throws {
    // What is left of one association is seen 100 times a round: 4 kB of each would be told.
    let boundPerRound = 400_000
    try liveAndDie(100)
    var growths: [Int] = []
    for _ in 0..<10 {
      let before = try residentBytes()
      try liveAndDie(50)
      growths.append(try residentBytes() - before)
    }
    #expect(try #require(growths.min()) < boundPerRound, "grew by \(growths) bytes")
  }

  /// Whole lives of `count` pairs, and as many that break in the middle.
  private func liveAndDie(_ count: Int) throws {
    let unexpected: [UInt8] = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 13, 2, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 7]
    for _ in 0..<count {
      let whole = try network()
      whole.start()
      whole.runHandshake()
      #expect(whole.server.keys != nil)
      whole.close(server: true)
      whole.run()
      let broken = try network()
      broken.start()
      _ = broken.step()
      broken.inject(unexpected, toServer: false)
    }
  }

  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (Int(fields[1]) ?? 0) * 4096
  }
}
