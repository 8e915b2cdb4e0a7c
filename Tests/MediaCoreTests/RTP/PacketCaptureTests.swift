import TestVectors
import Testing

/// The reader of captures that other tests stand on.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct PacketCaptureTests {
  @Test(arguments: [
    ("dtmf/sipp-dtmf_2833_0.pcap", 10), ("dtmf/asterisk-ulaw-2013785496.pcap", 974),
    ("rtp/asterisk-40ms-alaw.pcap", 200), ("rtp/asterisk-opus-60ms-fec.pcapng", 200),
    ("rtp/freeswitch-milliwatt-long-pcmu.pcap", 713),
  ])
  func datagramsOfEveryFormat(file: String, atLeast count: Int) throws {
    let capture = try PacketCapture("captures/" + file)
    #expect(capture.datagrams.count >= count)
    #expect(zip(capture.datagrams, capture.datagrams.dropFirst()).allSatisfy { $0.microseconds <= $1.microseconds })
  }

  @Test func addressesAndTimes() throws {
    let datagrams = try PacketCapture("captures/rtp/freeswitch-milliwatt-long-pcmu.pcap").datagrams
    #expect(datagrams.contains { $0.source == "192.168.0.2:31566" && $0.payload.count == 172 })
    let seconds = Double(datagrams[datagrams.count - 1].microseconds - datagrams[0].microseconds) / 1_000_000
    #expect(abs(seconds - 14.26) < 0.5)
  }

  @Test func othersAreRefused() {
    #expect(throws: PacketCapture.Unreadable.self) { try PacketCapture(bytes: Array(repeating: 0, count: 64)) }
    #expect(throws: PacketCapture.Unreadable.self) { try PacketCapture(bytes: [1, 2, 3]) }
  }
}
