import CallModel
import SDPCore

/// Session descriptions that ended a negotiation, or the process.
extension PublishedAttack {
  /// What each of our two ways to read it comes to; `harmless` where one of them takes it.
  private static func negotiate(_ text: String) -> String {
    guard let description = try? SessionDescription(parsing: Array(text.utf8)) else { return "refused" }
    var taken = false
    for policy in [MediaPolicy.app, .trunk([.none, .sdes])] {
      let host = SIPHost.ipv4(0x7F00_0001)
      let local = LocalMedia(
        host: host, port: 4000, keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength),
        fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 9, count: 32)),
        iceCredentials: ICECredentials(userFragment: "abcd", password: "abcdefghijklmnopqrstuv"), source: 1)
      var answering = OfferAnswer(sessionID: 1, host: host, policy: policy)
      if (try? answering.answer(description, from: local)) != nil { taken = true }
      var offering = OfferAnswer(sessionID: 1, host: host, policy: policy)
      if (try? offering.offer(from: local)) != nil, (try? offering.accept(description)) != nil { taken = true }
    }
    return taken ? "harmless" : "refused"
  }

  private static func offer(
    _ source: String, _ title: String, _ outcomes: String..., media: String = "m=audio 4000 RTP/AVP 0 101",
    lines: [String] = [], head: [String] = []
  ) -> PublishedAttack {
    let text =
      (["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1"] + head + ["t=0 0", media] + lines)
      .joined(separator: "\r\n") + "\r\n"
    return PublishedAttack(source, title, Set(outcomes)) { negotiate(text) }
  }

  static var descriptions: [PublishedAttack] {
    [
      offer(
        "CVE-2018-1000098", "a payload type of 2^32", "harmless", "refused", media: "m=audio 4000 RTP/AVP 4294967296",
        lines: ["a=rtpmap:4294967296 PCMU/8000"]),
      offer("CVE-2018-1000099", "NUL in fmtp", "harmless", "refused", lines: ["a=fmtp:101 0-15\0x"]),
      offer(
        "CVE-2021-26906", "an offer with nothing that we have", "refused", media: "m=audio 4000 RTP/AVP 99",
        lines: ["a=rtpmap:99 SILK/8000"]),
      offer(
        "CVE-2026-41416", "ptime that overflows", "harmless", "refused",
        lines: ["a=ptime:4294967295", "a=maxptime:99999999999999999999"]),
      offer(
        "PJSIP 673b978aa", "one payload type with two names", "harmless", "refused",
        lines: ["a=rtpmap:0 opus/48000/2", "a=rtpmap:0 PCMA/8000"]),
      offer(
        "PJSIP a1b707c0c", "seventy crypto lines", "harmless", "refused", media: "m=audio 4000 RTP/SAVP 0",
        lines: (1...70).map { "a=crypto:\($0) AES_CM_128_HMAC_SHA1_80 inline:\("A".times(40))" }),
      offer(
        "PJSIP fd9074547", "redundancy without a map", "harmless", "refused", media: "m=audio 4000 RTP/AVP 0 121",
        lines: ["a=fmtp:121 0/0/0/0"]),
      offer("Janus 5ba57e44", "a line of 100,000 bytes", "refused", lines: ["a=" + "x".times(100_000)]),
      offer("CVE-2020-13898", "an m-line of one word", "refused", media: "m=audio"),
      offer("CVE-2020-13899", "an m-line without formats", "refused", media: "m=audio 4000 RTP/AVP"),
      offer(
        "CVE-2020-13900", "a rtpmap of nothing", "harmless", "refused",
        lines: ["a=rtpmap:", "a=rtpmap:0", "a=rtpmap:0 "]),
      offer(
        "CVE-2020-13901", "a codec name of 5,000 letters", "harmless", "refused",
        lines: ["a=rtpmap:101 \("y".times(3000))/8000"]),
      offer(
        "CVE-2020-14033", "ten thousand media sections", "refused",
        lines: Array(repeating: "m=audio 4000 RTP/AVP 0", count: 10_000)),
      offer(
        "CVE-2020-14034", "a transport of 2,000 letters", "refused", "harmless",
        media: "m=audio 4000 \("RTP/".times(500))AVP 0"),
      offer(
        "FreeSWITCH 86b10358e2", "a crypto key of the wrong length", "refused", "harmless",
        media: "m=audio 4000 RTP/SAVP 0", lines: ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA"]),
      offer(
        "GHSA-ggff-j9pg-p572", "a description cut inside its connection line", "refused", "harmless", head: ["c=IN IP4"]
      ),
      offer("libosip2 SDP", "a description that ends behind the transport", "refused", media: "m=audio 4000 RTP/AVP"),
      offer("CVE-2022-31003", "a line of one letter", "refused", "harmless", lines: ["a"]),
      offer("RFC 4566 port", "a port of 70,000", "refused", media: "m=audio 70000 RTP/AVP 0"),
      offer("RFC 4566 port", "a negative port", "refused", media: "m=audio -1 RTP/AVP 0"),
      offer(
        "clock rate", "a clock rate of nought", "harmless", "refused", media: "m=audio 4000 RTP/AVP 0 96",
        lines: ["a=rtpmap:96 opus/0/2"]),
      offer(
        "fingerprint", "a fingerprint of 10,000 bytes", "harmless", "refused",
        lines: ["a=fingerprint:sha-256 " + "AA:".times(3000) + "AA"]),
      offer(
        "GHSA-j29p-pvh2-pvqp", "an ICE user fragment of 5,000 letters", "harmless", "refused",
        lines: ["a=ice-ufrag:" + "u".times(3000), "a=ice-pwd:" + "p".times(3000)]),
      offer(
        "candidates", "five hundred candidates", "harmless", "refused",
        lines: (1...400).map { "a=candidate:\($0) 1 udp 99 192.0.2.9 \($0) typ host" }),
    ]
  }
}
