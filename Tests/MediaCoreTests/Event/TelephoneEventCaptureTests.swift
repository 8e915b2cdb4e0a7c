import CallModel
import MediaCore
import SecureTransport
import TestVectors
import Testing

/// What real products sent.
@Suite("Telephone events in captures", .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct TelephoneEventCaptureTests {
  private struct Expected: Equatable {
    let digit: String
    let milliseconds: Int
  }

  /// The digits of a capture by a reader of its own for the RTP header, which is plain in these files.
  private func digits(_ capture: PacketCapture, payloadType: UInt8, clockRate: Int) throws -> [DigitPressed] {
    var receiver = TelephoneEventReceiver(clockRate: clockRate)
    var digits: [DigitPressed] = []
    for datagram in capture.datagrams {
      let packet = PacketBuffer(datagram.payload)
      guard packet.count >= 12, packet[0] == 0x80, packet[1] & 0x7F == payloadType else { continue }
      let now = MonotonicInstant(microseconds: datagram.microseconds)
      receiver.advance(to: now, digits: &digits)
      receiver.receive(
        packet, offset: 12, count: packet.count - 12, marker: packet[1] & 0x80 != 0,
        sequence: packet.integer(at: 2, as: UInt16.self), timestamp: packet.integer(at: 4, as: UInt32.self), at: now,
        digits: &digits)
    }
    receiver.finish(digits: &digits)
    return digits
  }

  @Test("every event of every capture is told once, in order, with its length")
  func everyEvent() throws {
    var events = 0
    let rows = try TestVectors.table("captures/dtmf-events.tsv")
    for (file, rows) in Dictionary(grouping: rows, by: { $0["file"] ?? "" }) {
      let clockRate = file.contains("opus") ? 48_000 : 8_000
      let expected = try rows.map { row in
        let ticks = try #require(row["final_duration_ticks"].flatMap { Int($0) })
        return Expected(
          digit: try #require(row["digit"]), milliseconds: (ticks * 1000 + clockRate / 2) / clockRate)
      }
      let payloadType = try #require(rows.first?["payload_type"].flatMap { UInt8($0) })
      let digits = try digits(
        try PacketCapture("captures/\(file)"), payloadType: payloadType, clockRate: clockRate)
      #expect(
        digits.map { Expected(digit: String($0.character), milliseconds: $0.milliseconds) } == expected, "\(file)")
      #expect(digits.allSatisfy { $0.way == .event })
      events += digits.count
    }
    #expect(events == rows.count)
    #expect(events >= 28)
  }

  @Test(
    "the strings that were dialled are heard",
    arguments: ["2013785496", "3125894607"])
  func strings(number: String) throws {
    let capture = try PacketCapture("captures/dtmf/asterisk-ulaw-\(number).pcap")
    let digits = try digits(capture, payloadType: 101, clockRate: 8_000)
    #expect(String(digits.map(\.character)) == number)
  }
}
