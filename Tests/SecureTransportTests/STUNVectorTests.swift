import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct STUNVectorTests {
  static func packet(_ file: String) throws -> PacketBuffer {
    // Some seeds of other fuzzers are longer than any buffer: the socket would cut them too.
    PacketBuffer(try Data(contentsOf: TestVectors.folder.appendingPathComponent("stun/\(file)")).prefix(2048))
  }

  @Test func everyRowOfTheTableHasItsVerdict() throws {
    var counts: [String: Int] = [:]
    for row in try TestVectors.table("stun/expected.tsv") {
      let file = row["file"] ?? ""
      let packet = try STUNVectorTests.packet(file)
      let message = STUNMessage(packet)
      switch row["verdict"] {
      case "accept": #expect(message != nil, "\(file)")
      case "reject": #expect(message == nil, "\(file)")
      case "no-crash":
        #expect(message == nil || packet.count == Int(packet[2]) << 8 + Int(packet[3]) + 20, "\(file)")
        _ = STUNMessage.userFragment(in: packet)
      case "see note": #expect(STUNVectorTests.checks[file] != nil, "\(file) has no expectation")
      default: Issue.record("\(row)")
      }
      counts[row["verdict"] ?? "", default: 0] += 1
    }
    #expect(counts["accept"] ?? 0 >= 2)
    #expect(counts["reject"] ?? 0 >= 6)
    #expect(counts["see note"] ?? 0 >= 14)
  }

  @Test func theResponseOfRFC5769IsReadAndItsIntegrityHolds() throws {
    let message = try #require(STUNMessage(STUNVectorTests.packet("rfc5769/2.2-response-ipv4.bin")))
    #expect(message.kind == .success)
    #expect(message.hasFingerprint)
    #expect(message.mappedAddress == MediaAddress(ipv4: 0xC000_0201, port: 32_853))
    #expect(message.hasIntegrity(STUNIntegrity("VOkJxbRl1RmTxUk/WvJxBt")))
    #expect(!message.hasIntegrity(STUNIntegrity("VOkJxbRl1RmTxUk/WvJxBu")))
  }

  @Test func theRequestOfRFC5769WithALongTermKeyHolds() throws {
    let message = try #require(STUNMessage(STUNVectorTests.packet("rfc5769/2.4-request-longterm.bin")))
    // MD5 of マトリックス:example.org:TheMatrIX.
    let key: [UInt8] = [
      0xE8, 0xCA, 0x7A, 0xD5, 0x9D, 0x5E, 0xB0, 0x51, 0x8E, 0x31, 0x29, 0x11, 0xD2, 0xDA, 0xB2, 0xA9,
    ]
    #expect(message.kind == .request)
    #expect(!message.hasFingerprint)
    #expect(message.userName.map { $0.map { message.packet[$0] } } == Array("マトリックス".utf8))
    #expect(message.hasIntegrity(STUNIntegrity(key)))
  }

  @Test func everyBrowserRequestIsRead() throws {
    let rows = try TestVectors.table("stun/browser-requests.tsv")
    #expect(rows.count == 14)
    for row in rows {
      let message = try #require(
        STUNMessage(PacketBuffer(Data(base64Encoded: row["base64"] ?? "") ?? Data())), "\(row)")
      let expected = row["expect"] ?? ""
      let transaction =
        String(message.transaction.high, radix: 16).leftPadded(8)
        + String(message.transaction.low, radix: 16).leftPadded(16)
      #expect(message.kind == .request && message.method == STUNMessage.bindingMethod)
      #expect(expected.contains("transaction id \(transaction)"), "\(row)")
      #expect(message.hasFingerprint == expected.contains("fingerprint ok"), "\(row)")
    }
  }

  @Test func everyFirstByteGoesWhereTheTableSays() throws {
    var seen = 0
    for row in try TestVectors.table("stun/demux.tsv") {
      let target = row["goes_to"] ?? ""
      for range in (row["first_byte"] ?? "").split(separator: ", ") {
        let ends = range.split(separator: ".", omittingEmptySubsequences: true).compactMap { UInt8($0) }
        let low = try #require(ends.first)
        let high = try #require(ends.last)
        for byte in low...high {
          seen += 1
          for second in UInt8.min...UInt8.max {
            let packet = PacketBuffer([byte, second] + Array(repeating: 0, count: 98))
            let expected: DatagramKind =
              switch target {
              case "STUN": .stun
              case "DTLS": .dtls
              case let text where text.hasPrefix("RTP"): 192...223 ~= second ? .rtcp : .rtp
              default: .other
              }
            #expect(DatagramKind.of(packet) == expected)
          }
        }
      }
    }
    #expect(seen == 256)
  }

  @Test func prioritiesAreThoseOfTheTable() throws {
    let kinds: [String: ICEPriority.Kind] = [
      "host": .host, "srflx": .serverReflexive, "prflx": .peerReflexive, "relay": .relayed,
    ]
    for row in try TestVectors.table("stun/candidate-priority.tsv") {
      let kind = try #require(kinds[row["type"] ?? ""])
      #expect(String(kind.rawValue) == row["type_preference"])
      let preference = try #require(UInt16(row["local_preference"] ?? ""))
      let component = try #require(UInt8(row["component"] ?? ""))
      #expect(String(ICEPriority.of(kind, localPreference: preference, component: component)) == row["priority"])
    }
  }

  /// What an agent does with each check of the table; where the table leaves a choice, ours.
  static let checks: [String: ICELiteAgent.Verdict] = [
    "ice-checks/02-check-use-candidate.bin": .accepted,
    "ice-checks/04-wrong-password.bin": .refused(401),
    "ice-checks/05-integrity-corrupt.bin": .refused(401),
    // ICE requires FINGERPRINT: without it nothing is told apart from media for sure.
    "ice-checks/08-no-fingerprint.bin": .silent,
    "ice-checks/09-bad-fingerprint.bin": .silent,
    "ice-checks/10-unknown-required-attr.bin": .refused(420),
    "ice-checks/12-peer-controlled.bin": .refused(487),
    "ice-checks/15-indication.bin": .silent,
    "ice-checks/16-success-response-unsolicited.bin": .silent,
    "ice-checks/19-username-no-colon.bin": .refused(400),
    "ice-checks/20-duplicate-username.bin": .accepted,
    "ice-checks/21-allocate-request.bin": .silent,
    "ice-checks/22-goog-attrs.bin": .accepted,
    "ice-checks/24-tcp-framing.bin": .silent,
  ]

  @Test(arguments: checks.keys.sorted()) func aCheckGetsItsAnswer(_ file: String) throws {
    let bench = try AgentBench()
    let packet = try STUNVectorTests.packet(file)
    let verdict = bench.receive(packet)
    #expect(verdict == STUNVectorTests.checks[file])
    #expect(bench.agent.isProved(CheckingPeer.here) == (verdict == .accepted))
    let nominates = file.contains("use-candidate") || file.contains("goog")
    #expect(bench.agent.selected == (verdict == .accepted && nominates ? CheckingPeer.here : nil))
    #expect(bench.reply.count <= packet.count)
    guard verdict != .silent else {
      #expect(bench.reply.count == 0)
      return
    }
    let answer = try #require(STUNMessage(bench.reply))
    let request = try #require(STUNMessage(packet))
    #expect(answer.transaction == request.transaction)
    #expect(answer.hasFingerprint)
    switch verdict {
    case .refused(let code):
      #expect(answer.kind == .failure && answer.errorCode == code)
      let isSigned = answer.hasIntegrity(STUNIntegrity("gwPasswordgwPasswordgw00"))
      #expect(isSigned == (code == 420 || code == 487))
    case .accepted:
      #expect(answer.kind == .success && answer.mappedAddress == CheckingPeer.here)
      #expect(answer.hasIntegrity(STUNIntegrity("gwPasswordgwPasswordgw00")))
    case .silent: break
    }
    // UNKNOWN-ATTRIBUTES with the one type in question.
    if verdict == .refused(420) {
      let bytes = bench.reply.bytes
      let list: [UInt8] = [0x00, 0x0A, 0x00, 0x02, 0x77, 0x77, 0, 0]
      #expect(bytes.indices.dropLast(7).contains { Array(bytes[$0..<$0 + 8]) == list })
    }
  }

  @Test func everyFragmentOfEveryVectorIsSurvived() throws {
    for row in try TestVectors.table("stun/expected.tsv") {
      let bytes = try STUNVectorTests.packet(row["file"] ?? "").bytes
      let bench = try AgentBench()
      for count in 0...min(bytes.count, 200) {
        bench.receive(PacketBuffer(bytes.prefix(count)))
        _ = STUNMessage.userFragment(in: PacketBuffer(bytes.prefix(count)))
      }
      #expect(bench.agent.failure == nil)
    }
  }
}

extension String {
  fileprivate func leftPadded(_ count: Int) -> String {
    String(repeating: "0", count: max(count - self.count, 0)) + self
  }
}
