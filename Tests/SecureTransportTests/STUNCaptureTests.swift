import Foundation
import SecureTransport
import TestVectors
import Testing

/// What real clients sent: every datagram finds its kind, and the STUN ones are read.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct STUNCaptureTests {
  struct Tally: Equatable {
    var stun = 0
    var dtls = 0
    var media = 0
    var other = 0
    /// Of the STUN ones, those that are well formed.
    var read = 0
    /// Of those, checks that name a user fragment.
    var named = 0
  }

  static func tally(_ file: String) throws -> Tally {
    var tally = Tally()
    for datagram in try CaptureFile.datagrams(TestVectors.folder.appendingPathComponent("captures/stun/\(file)"))
    where datagram.count <= PacketBuffer.capacity {
      let packet = PacketBuffer(datagram)
      switch DatagramKind.of(packet) {
      case .stun:
        tally.stun += 1
        guard let message = STUNMessage(packet) else { continue }
        tally.read += 1
        if STUNMessage.userFragment(in: packet) != nil {
          #expect(message.kind == .request && message.userName != nil)
          tally.named += 1
        }
      case .dtls: tally.dtls += 1
      case .rtp, .rtcp: tally.media += 1
      case .other: tally.other += 1
      }
    }
    return tally
  }

  /// Counted with tshark. One check of the first file has a fingerprint that its anonymizer broke.
  static let expected: [String: Tally] = [
    "stun.pcap": Tally(stun: 121, dtls: 16, media: 9, other: 19, read: 120, named: 5),
    "stun_google_meet.pcapng": Tally(stun: 87, dtls: 55, media: 220, other: 0, read: 87, named: 32),
    "stun_signal.pcapng": Tally(stun: 300, dtls: 0, media: 107, other: 0, read: 300, named: 29),
  ]

  @Test(arguments: expected.keys.sorted()) func everyDatagramFindsItsKind(_ file: String) throws {
    #expect(try STUNCaptureTests.tally(file) == STUNCaptureTests.expected[file])
  }
}
