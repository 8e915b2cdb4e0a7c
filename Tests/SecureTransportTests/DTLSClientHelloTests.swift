import CallModel
import Foundation
import SDPCore
import SecureTransport
import TestVectors
import Testing

/// ClientHellos that other stacks sent, as they lie in captures.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence))) struct DTLSClientHelloTests {
  private struct Hello {
    let record: [UInt8]
    /// The message without its header.
    var body: ArraySlice<UInt8> { record[25...] }
    var version: UInt8 { record[26] }
    var isFirst: Bool { record[17] == 0 && record[18] == 0 }
    /// Offset of the length of the extensions in the record.
    let extensions: Int
    let extensionTypes: Set<Int>
    /// Each with its type and length.
    let extensionList: [[UInt8]]

    init?(_ record: [UInt8]) {
      self.record = record
      var offset = 25 + 34
      func length8() -> Int? { offset < record.count ? Int(record[offset]) + 1 : nil }
      func length16() -> Int? {
        offset + 1 < record.count ? Int(record[offset]) << 8 + Int(record[offset + 1]) + 2 : nil
      }
      // Session, cookie, suites, compression methods.
      for length in [length8, length8, length16, length8] {
        guard let count = length() else { return nil }
        offset += count
      }
      extensions = offset
      var types: Set<Int> = []
      var list: [[UInt8]] = []
      offset += 2
      while offset + 4 <= record.count {
        let start = offset
        types.insert(Int(record[offset]) << 8 + Int(record[offset + 1]))
        offset += 2
        guard let count = length16(), offset + count <= record.count else { return nil }
        offset += count
        list.append(Array(record[start..<offset]))
      }
      extensionTypes = types
      extensionList = list
    }
  }

  /// Every whole, unfragmented ClientHello record in the bytes of a capture, whatever its format.
  private func hellos(_ file: String) throws -> [Hello] {
    let bytes = Array(try Data(contentsOf: TestVectors.folder.appendingPathComponent("captures/dtls/" + file)))
    var found: [Hello] = []
    for start in bytes.indices.dropLast(25) where bytes[start] == 22 && bytes[start + 1] == 0xFE {
      let length = Int(bytes[start + 11]) << 8 + Int(bytes[start + 12])
      let message = bytes[(start + 13)...]
      guard bytes[start + 3] == 0, bytes[start + 4] == 0, length > 50, length <= message.count, bytes[start + 13] == 1,
        Array(bytes[(start + 14)..<(start + 17)]) == Array(bytes[(start + 22)..<(start + 25)]),
        Int(bytes[start + 15]) << 8 + Int(bytes[start + 16]) + 12 == length,
        let hello = Hello(Array(bytes[start..<(start + 13 + length)]))
      else { continue }
      found.append(hello)
    }
    return found
  }

  /// The first handshake message of each answer.
  private func answer(_ datagrams: [[UInt8]]) throws -> (server: DTLSAssociation, types: [UInt8]) {
    let server = try DTLSFixture.association(.server)
    let outbox = PacketOutbox()
    server.start(at: .zero, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    for datagram in datagrams {
      server.receive(PacketBuffer(datagram), at: .zero, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    }
    return (server, (0..<outbox.count).flatMap { dtlsRecords(outbox.buffer(at: $0).bytes) }.map { $0[13] })
  }

  /// One hello as datagrams of fragments.
  private func fragments(_ hello: [UInt8], size: Int) -> [[UInt8]] {
    let body = Array(hello[25...])
    return stride(from: 0, to: body.count, by: size).enumerated().map { number, offset in
      let part = body[offset..<min(offset + size, body.count)]
      func uint24(_ value: Int) -> [UInt8] { [UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255)] }
      let length = uint24(part.count + 12)
      let record: [UInt8] = [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, UInt8(number + 1), length[1], length[2]]
      let header: [UInt8] = [1] + uint24(body.count) + [0, 0] + uint24(offset) + uint24(part.count)
      return record + header + part
    }
  }

  @Test func theClientHelloOfEveryStackWithSRTPIsAnswered() throws {
    var answered = 0
    for file in ["dtls.pcap", "stun_dtls_rtp.pcapng"] {
      for hello in try hellos(file) where hello.extensionTypes.contains(14) {
        let (server, types) = try answer([hello.record])
        // ServerHello, Certificate, ServerKeyExchange, CertificateRequest, ServerHelloDone.
        #expect(types == [2, 11, 12, 13, 14], "\(file): \(server.lastError ?? "-")")
        #expect(server.isHandshaking)
        #expect(server.nextDeadline != nil)
        answered += 1
      }
    }
    #expect(answered >= 6)
  }

  /// A stack that offers DTLS 1.3 first gets 1.2.
  @Test func aClientHelloOfDTLS13IsAnsweredWithDTLS12() throws {
    let hello = try #require(try hellos("dtls.pcap").first { $0.extensionTypes.contains(43) && $0.isFirst })
    let (server, types) = try answer([hello.record])
    #expect(types.first == 2, "\(server.lastError ?? "-")")
  }

  @Test func dtls10IsRefusedWithProtocolVersion() throws {
    let hello = try #require(try hellos("stun_dtls_unidirectional_client.pcap").first)
    #expect(hello.version == 0xFF)
    let (server, types) = try answer([hello.record])
    #expect(server.state == .failed(.handshake))
    // The level of the alert stands where a message has its type.
    #expect(types == [2])
    #expect(server.lastError == "unsupported protocol")
  }

  /// A post-quantum key share makes a hello longer than any datagram; its parts come in any order, also twice.
  @Test func aClientHelloInPiecesIsAnsweredWhenTheLastHasCome() throws {
    let hello = try #require(try hellos("stun_dtls_rtp.pcapng").first)
    let padding = 1_600
    var long = hello.record
    long += [0, 21, UInt8(padding >> 8), UInt8(padding & 255)] + Array(repeating: 0, count: padding)
    let extensions = long.count - hello.extensions - 2
    long[hello.extensions] = UInt8(extensions >> 8)
    long[hello.extensions + 1] = UInt8(extensions & 255)
    for size in [300, 900, 1_100] {
      let parts = fragments(long, size: size)
      #expect(parts.count > 1)
      for order in [parts, parts.reversed(), parts + parts, [parts[0]] + parts] {
        let (server, types) = try answer(order)
        #expect(types == [2, 11, 12, 13, 14], "\(size): \(server.lastError ?? "-")")
      }
      for missing in parts.indices {
        var rest = parts
        rest.remove(at: missing)
        let (server, types) = try answer(rest)
        #expect(types == [])
        #expect(server.isHandshaking)
        // The peer's timer sends the whole hello again.
        for again in [parts, parts.reversed()] {
          let (server, types) = try answer(rest + again)
          #expect(types == [2, 11, 12, 13, 14], "\(size) without \(missing): \(server.lastError ?? "-")")
        }
      }
    }
  }

  /// Browsers put their extensions in an order of their own each time.
  @Test func extensionsInAnyOrderAreAnswered() throws {
    let hello = try #require(try hellos("stun_dtls_rtp.pcapng").first { $0.extensionTypes.contains(14) })
    let all = hello.extensionList
    #expect(all.count > 4)
    let protection = try #require(all.first { $0.starts(with: [0, 14]) })
    let others = all.filter { $0 != protection }
    var chance = DTLSChance(seed: 13)
    let orders = [[protection] + others, others + [protection]] + (0..<100).map { _ in all.shuffled(using: &chance) }
    for order in orders {
      let (server, types) = try answer([Array(hello.record[..<(hello.extensions + 2)]) + order.joined()])
      #expect(types == [2, 11, 12, 13, 14], "\(order.map { $0[1] }): \(server.lastError ?? "-")")
    }
  }
}
