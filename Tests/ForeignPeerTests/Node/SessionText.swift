import PeerKit
import SIPCore

/// Session descriptions of one PCMU stream, as the application above the node would write them.
enum SessionText {
  /// Nobody listens there: media is no matter of these tests.
  private static let port = 49_170

  static func body(_ direction: String = "sendrecv", version: Int = 1, padding: Int = 0) -> MessageBody {
    var lines = [
      "v=0", "o=- 4711 \(version) IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
      "m=audio \(port) RTP/AVP 0 101", "a=rtpmap:0 PCMU/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
      "a=ptime:20", "a=\(direction)",
    ]
    for number in 0..<padding { lines.append("a=x-padding:\(number) " + String(repeating: "p", count: 60)) }
    return MessageBody(sessionDescription: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
  }

  /// The answer to an offer; an offer when there is none. `nil` when there is no audio in it.
  static func answer(to offer: MessageBody?) -> MessageBody? {
    guard let offer else { return body(version: 3) }
    let text = String(decoding: offer.bytes, as: UTF8.self)
    guard text.contains("m=audio") else { return nil }
    let mirrored = [("sendonly", "recvonly"), ("recvonly", "sendonly"), ("inactive", "inactive")]
    return body(mirrored.first { text.contains("a=\($0.0)") }?.1 ?? "sendrecv", version: 2)
  }
}

extension MessageBody {
  var text: String { String(decoding: bytes, as: UTF8.self) }
}
