import Foundation
import MediaCore
import SecureTransport
import TestVectors
import Testing

@Suite struct RTCPCompoundTests {
  private static let names: [UInt8: String] = [
    200: "SR", 201: "RR", 202: "SDES", 203: "BYE", 204: "APP", 205: "RTPFB", 206: "PSFB", 207: "XR",
  ]

  /// The verdict on every chain, the packets before the fault, and the reason in the words of the table.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func verdictsPacketsAndReasons() throws {
    let rows = try TestVectors.table("rtp-rtcp/facts.tsv").filter { $0["kind"] == "rtcp" }
    var counts: [String: Int] = [:]
    for row in rows {
      let file = row["file"] ?? ""
      let packet = PacketBuffer(
        [UInt8](try Data(contentsOf: TestVectors.folder.appendingPathComponent("rtp-rtcp/" + file))))
      var walk = RTCPCompound.Walk(packet)
      var parts: [String] = []
      var reason = ""
      do throws(RTCPFault) {
        while let part = try walk.step() {
          parts.append("\(RTCPCompoundTests.names[part.type] ?? String(part.type))(\(part.count))\(part.size)B")
        }
      } catch {
        reason = RTCPCompoundTests.words(error, after: parts.count)
      }
      #expect((reason.isEmpty ? "valid" : "invalid") == row["structure"], "\(file)")
      #expect(parts.joined(separator: " ") == row["fields"], "\(file)")
      #expect(reason == row["why_invalid"], "\(file)")
      #expect((try? RTCPCompound(packet)) == nil ? row["structure"] == "invalid" : row["structure"] == "valid")
      counts[row["structure"] ?? "", default: 0] += 1
    }
    #expect(counts["valid", default: 0] >= 53)
    #expect(counts["invalid", default: 0] >= 17)
  }

  private static func words(_ fault: RTCPFault, after count: Int) -> String {
    switch fault {
    case .short: "shorter than 4 bytes"
    case .version(let version): "version \(version) in block \(count + 1)"
    case .length: "length runs past the end"
    case .padding: "padding wrong"
    case .count(let type): "\(names[type] ?? String(type)) too short for its count"
    }
  }

  private static func compound(_ path: String) throws -> RTCPCompound {
    try RTCPCompound(
      PacketBuffer([UInt8](try Data(contentsOf: TestVectors.folder.appendingPathComponent("rtp-rtcp/rtcp/" + path)))))
  }

  /// What aiortc's own tests read from its packets.
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func contents() throws {
    let receiver = try RTCPCompoundTests.compound("aiortc/rtcp_rr.bin")
    let part = try #require(receiver.first { _ in true })
    #expect(receiver.sender(of: part) == 817_267_719)
    let block = try #require(receiver.report(on: 1_200_895_919, in: part))
    #expect(
      block
        == RTCPReportBlock(
          source: 1_200_895_919, fractionLost: 0, cumulativeLost: 0, extendedHighestSequence: 630, jitter: 1906,
          lastSenderReport: 0, delaySinceLastSenderReport: 0))
    #expect(receiver.report(on: 1, in: part) == nil)

    let description = try RTCPCompoundTests.compound("aiortc/rtcp_sdes.bin")
    let name = try #require(description.compactMap { description.canonicalName(in: $0) }.first)
    #expect(name.source == 1_831_097_322)
    #expect(String(decoding: name.name, as: UTF8.self) == "{63f459ea-41fe-4474-9d33-9707c9ee79d1}")

    let truncated = try RTCPCompoundTests.compound("aiortc/rtcp_sdes_item_truncated.bin")
    #expect(truncated.allSatisfy { truncated.canonicalName(in: $0) == nil })
  }

  /// The voice metrics, reference times and delays in WebRTC's own test packets (source 0x12345678).
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func extendedReports() throws {
    let voice = try RTCPCompoundTests.compound("janus/2webrtc-61.rtcp")
    let metrics = try #require(voice.compactMap { voice.voiceMetrics(in: $0) }.first)
    #expect(metrics.source == 0x8B6E_A85C)
    #expect(metrics.lossRate == 2)
    #expect(metrics.discardRate == 0xC6)
    #expect(metrics.burstDuration == 0x26AB)
    #expect(metrics.bufferAbsoluteMaximum == 0x7D46)

    let both = try RTCPCompoundTests.compound("janus/2webrtc-33.rtcp")
    #expect(both.compactMap { both.referenceTime(in: $0) } == [0x8B6E_A85C_87FE_5B02])

    let delays = try RTCPCompoundTests.compound("janus/2webrtc-43.rtcp")
    for (source, reference, delay) in [
      (0x8B6E_A85C, 0x87FE_5B02, 0xDFFF_2EC6), (0x678D_4332, 0x412C_5308, 0xAE95_26AB),
    ] as [(UInt32, UInt32, UInt32)] {
      let found = delays.compactMap { delays.delaySinceReference(of: source, in: $0) }.first
      #expect(found?.reference == reference)
      #expect(found?.delay == delay)
    }
    #expect(delays.allSatisfy { delays.delaySinceReference(of: 0x87FE_5B02, in: $0) == nil })
  }

  @Test func whatIsWrittenIsRead() throws {
    let packet = PacketBuffer()
    let writer = RTCPWriter(packet)
    let information = RTCPSenderInformation(networkTime: 0x0123_4567_89AB_CDEF, timestamp: 2, packets: 3, octets: 4)
    let block = RTCPReportBlock(
      source: 9, fractionLost: 255, cumulativeLost: -2, extendedHighestSequence: 0x1_0005, jitter: 6,
      lastSenderReport: 7, delaySinceLastSenderReport: 8)
    var voice = RTCPVoiceMetrics()
    voice.source = 9
    voice.lossRate = 12
    voice.rating = 93
    voice.conversationalScore = 44
    voice.bufferMaximum = 60
    writer.report(from: 5, information, block)
    writer.description(of: 5, canonicalName: Array("somebody@example".utf8))
    writer.extendedReport(from: 5, referenceTime: 77, delaySinceReference: (9, 10, 11), voice: voice)
    writer.goodbye(of: 5)
    let compound = try RTCPCompound(packet)
    #expect(compound.map(\.kind) == [.senderReport, .description, .extendedReport, .goodbye])
    for part in compound {
      switch part.kind {
      case .senderReport:
        #expect(compound.senderInformation(of: part) == information)
        #expect(compound.report(on: 9, in: part) == block)
        #expect(compound.report(on: 5, in: part) == nil)
      case .description:
        #expect(compound.canonicalName(in: part)?.source == 5)
        #expect(compound.canonicalName(in: part)?.name == Array("somebody@example".utf8))
      case .extendedReport:
        #expect(compound.referenceTime(in: part) == 77)
        #expect(compound.delaySinceReference(of: 9, in: part)?.delay == 11)
        #expect(compound.voiceMetrics(in: part) == voice)
      default:
        #expect(compound.says(goodbye: part, of: 5))
        #expect(!compound.says(goodbye: part, of: 9))
        #expect(compound.says(goodbye: part, of: nil))
      }
    }
  }

  /// Names of every length: whole words, one zero at least behind the name, and never too long for a path.
  @Test func namesOfEveryLength() throws {
    for length in 0...300 {
      let packet = PacketBuffer()
      let writer = RTCPWriter(packet)
      writer.report(from: 1, nil, nil)
      writer.description(of: 1, canonicalName: Array(repeating: 65, count: length))
      let compound = try RTCPCompound(packet)
      let name = compound.compactMap { compound.canonicalName(in: $0) }.first
      #expect(name?.name.count == min(length, RTCPWriter.maximumName))
      #expect(packet[packet.count - 1] == 0)
      #expect(packet.count <= RTCPWriter.maximumSize)
    }
  }

  /// Any bytes behind any header: refused, or read to the end without a step outside.
  @Test func anyBytes() throws {
    var generator = SeededNumbers(seed: 11)
    var wellFormed = 0
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if bytes.count >= 8 {
        bytes[0] = 0x80 | bytes[0] & 0x03
        bytes[1] = 200 + bytes[1] % 8
        bytes[2] = 0
        bytes[3] = UInt8(bytes.count / 4 - 1)
        if bytes.count % 4 != 0 { bytes.removeLast(bytes.count % 4) }
      }
      let packet = PacketBuffer(bytes)
      guard let compound = try? RTCPCompound(packet) else { continue }
      wellFormed += 1
      for part in compound {
        #expect(part.end <= packet.count)
        _ = (compound.sender(of: part), compound.senderInformation(of: part), compound.report(on: 0, in: part))
        _ = (compound.canonicalName(in: part), compound.says(goodbye: part, of: 0), compound.voiceMetrics(in: part))
        _ = (compound.referenceTime(in: part), compound.delaySinceReference(of: 0, in: part))
      }
    }
    #expect(wellFormed > 1000)
  }
}
