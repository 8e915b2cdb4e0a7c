/// What either side of the generator offers and answers, as session descriptions: the same for every gateway.
package struct CallDescription {
  let codec: MediaWorkload.Codec
  let port: UInt16
  /// What this side protects with; `nil`: plain RTP.
  let key: String?
  /// bit/s of Opus that this side takes; `nil`: any.
  var bitRate: Int?
  /// Number of the header extension by which its packets say how loud they are (RFC 6464); `nil`: they do not.
  var levels: Int?

  /// The two sides of the calls of a workload.
  static func sides(
    _ workload: MediaWorkload, app: UInt16, trunk: UInt16
  ) -> (app: CallDescription, trunk: CallDescription) {
    (
      CallDescription(codec: workload.app, port: app, key: workload.protectsApp ? MediaWorkload.Keys.app : nil),
      CallDescription(codec: workload.trunk, port: trunk, key: workload.protectsTrunk ? MediaWorkload.Keys.trunk : nil)
    )
  }

  /// The payload type of Opus.
  static let opusNumber: UInt8 = 111

  var text: String {
    let number = codec.isOpus ? Int(Self.opusNumber) : 0
    var lines = [
      "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
      "m=audio \(port) \(key == nil ? "RTP/AVP" : "RTP/SAVP") \(number)",
      codec.isOpus ? "a=rtpmap:\(number) opus/48000/2" : "a=rtpmap:0 PCMU/8000",
    ]
    if codec.isOpus {
      let limit = bitRate.map { ";maxaveragebitrate=\($0)" } ?? ""
      lines.append("a=fmtp:\(number) minptime=10;useinbandfec=1\(limit)")
    }
    if let levels { lines.append("a=extmap:\(levels) urn:ietf:params:rtp-hdrext:ssrc-audio-level") }
    lines.append("a=ptime:20")
    if let key { lines.append("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)") }
    return lines.joined(separator: "\r\n") + "\r\n"
  }

  /// The port that a description names.
  package static func port(in description: String) -> UInt16? {
    description.split(separator: "\r\n").first { $0.hasPrefix("m=audio ") }
      .flatMap { UInt16($0.split(separator: " ")[1]) }
  }

  /// The key that a description names.
  package static func key(in description: String) -> String? {
    let mark = " AES_CM_128_HMAC_SHA1_80 inline:"
    return description.split(separator: "\r\n").first { $0.contains(mark) }
      .flatMap { line in line.firstRange(of: mark).map { line[$0.upperBound...] } }
      .map { String($0.prefix { $0 != "|" && $0 != " " }) }
  }
}
