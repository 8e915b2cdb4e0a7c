import CallModel
import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

/// Packets and keys that others made, on both transforms.
@Suite struct SRTPVectorTests {
  /// Rows that cannot be had from a master key through our door, and why.
  static let excused = ["libsrtp-rfc6904-rtp": "header extension encryption (RFC 6904) is never negotiated"]

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func keysAreDerivedAsTheRFCsShow() throws {
    let rows = try TestVectors.table("srtp/kdf.tsv")
    #expect(rows.count == 6)
    for row in rows {
      let expected = SRTPFixtures.bytes(try #require(row["output"]))
      let label = try #require(row["label"].flatMap { UInt8($0) })
      let derived = SRTPKeyDerivation.derive(
        key: SRTPFixtures.bytes(try #require(row["master_key"])),
        salt: SRTPFixtures.bytes(try #require(row["master_salt"])), label: label, count: expected.count)
      #expect(derived == expected, "\(row["case"] ?? "")")
    }
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)), arguments: SRTPTransform.allCases)
  func everyPacketOfTheTable(transform: SRTPTransform) throws {
    var sealed = 0
    var opened = 0
    var skipped = 0
    for row in try TestVectors.table("srtp/packets.tsv") {
      let name = try #require(row["case"])
      if SRTPVectorTests.excused[name] != nil {
        skipped += 1
        continue
      }
      let profile = try #require(row["profile"])
      let suite = try #require(
        CryptoSuite(name: String(profile.prefix { $0 != " " })), "\(name): an unknown profile")
      let isSessionKey = profile.contains("SESSION")
      if transform == .libsrtp && (isSessionKey || suite.keyLength == 24) {
        // libsrtp takes master keys only, and Debian's cannot do AES-192.
        skipped += 1
        continue
      }
      let bytes =
        SRTPFixtures.bytes(try #require(row["master_key"])) + SRTPFixtures.bytes(try #require(row["master_salt"]))
      let key = try SRTPFixtures.key(suite, bytes, identifier: SRTPFixtures.bytes(row["mki"] ?? ""))
      func context(_ direction: SRTPContext.Direction) throws -> SRTPContext {
        isSessionKey
          ? try SRTPContext(sessionKeyAndSalt: bytes, suite, direction)
          : try SRTPContext(suite, key, direction, transform: transform)
      }
      let plain = SRTPFixtures.bytes(try #require(row["plain"]))
      let protected = SRTPFixtures.bytes(try #require(row["protected"]))
      let rollover = try #require(row["roc"].flatMap { UInt32($0) })
      let packet = PacketBuffer(plain)
      let receiver = try context(.receive)
      let sender = try context(.send)
      if row["kind"] == "rtp" {
        let source = packet.integer(at: 8, as: UInt32.self)
        let sequence = packet.integer(at: 2, as: UInt16.self)
        if rollover > 0 {
          #expect(sender.resume(source, rollover: rollover, sequence: sequence))
          #expect(receiver.resume(source, rollover: rollover, sequence: sequence))
        }
        #expect(sender.protectRTP(packet), "\(name)")
        #expect(packet.bytes == protected, "\(name)")
        sealed += 1
        #expect(receiver.unprotectRTP(packet) == .opened, "\(name)")
        #expect(packet.bytes == plain, "\(name)")
        opened += 1
        packet.replace(with: protected)
        #expect(receiver.unprotectRTP(packet) == .replay, "\(name)")
      } else {
        let index = try #require(row["srtcp_index"].flatMap { UInt32($0) })
        packet.replace(with: protected)
        #expect(receiver.unprotectRTCP(packet) == .opened, "\(name)")
        #expect(packet.bytes == plain, "\(name)")
        opened += 1
        // libsrtp's counter cannot be set: it seals the first index only.
        guard transform == .libcrypto || index == 1 else { continue }
        if index > 1 {
          let source = packet.integer(at: 4, as: UInt32.self)
          #expect(sender.resume(source, rollover: 0, sequence: 0, controlIndex: index - 1))
        }
        #expect(sender.protectRTCP(packet), "\(name)")
        #expect(packet.bytes == protected, "\(name)")
        sealed += 1
      }
    }
    print("packets.tsv, \(transform): \(sealed) sealed, \(opened) opened, \(skipped) skipped")
    #expect(opened >= 24 && sealed >= 20)
  }

  struct Sequence: Decodable {
    struct Step: Decodable {
      let `in`: String
      let expect: String
      let plain: String?
    }
    let `case`: String
    let profile: String
    let masterKey: String
    let masterSalt: String
    let steps: [Step]
  }

  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)), arguments: SRTPTransform.allCases)
  func everySequence(transform: SRTPTransform) throws {
    let lines = try TestVectors.text("srtp/sequences.jsonl").split(separator: "\n")
    #expect(lines.count >= 7)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    for line in lines {
      let sequence = try decoder.decode(Sequence.self, from: Data(line.utf8))
      let suite = try #require(CryptoSuite(name: sequence.profile))
      let key = SRTPMasterKey(
        keyAndSalt: SRTPFixtures.bytes(sequence.masterKey) + SRTPFixtures.bytes(sequence.masterSalt))
      let receiver = try SRTPContext(suite, key, .receive, transform: transform)
      for (number, step) in sequence.steps.enumerated() {
        let packet = PacketBuffer(SRTPFixtures.bytes(step.in))
        let verdict = receiver.unprotectRTP(packet)
        let expected: [SRTPVerdict] =
          switch step.expect {
          case "ok": [.opened]
          case "drop: authentication": [.authentication]
          case "drop: short": [.length]
          case "drop: short or authentication": [.length, .authentication]
          default: [.replay]
          }
        #expect(expected.contains(verdict), "\(sequence.case) \(number): \(verdict), \(step.expect)")
        if let plain = step.plain { #expect(packet.bytes == SRTPFixtures.bytes(plain), "\(sequence.case) \(number)") }
        if verdict != .opened { #expect(packet.bytes == SRTPFixtures.bytes(step.in)) }
      }
    }
  }
}
