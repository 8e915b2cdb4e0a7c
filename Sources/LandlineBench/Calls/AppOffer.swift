/// What an app offers for a call: the description that a browser makes for sound alone.
package struct AppOffer: Hashable, Sendable {
  package var sessionID: UInt64
  package var userFragment: String
  package var password: String
  /// `sha-256 AB:CD:…`.
  package var fingerprint: String
  /// The only candidate's port on 127.0.0.1.
  package var port: UInt16

  /// One of a call whose media never starts: nothing answers at its address.
  package init(call number: Int) {
    sessionID = 4_611_686_018_427_000_000 &+ UInt64(truncatingIfNeeded: number)
    userFragment = "b" + String(number, radix: 36)
    password = "landlineBenchPassword" + String(number, radix: 36)
    if userFragment.utf8.count < 4 { userFragment += "pad" }
    fingerprint = "sha-256 " + (0..<32).map { String(10 + ($0 * 7) % 90) }.joined(separator: ":")
    // The other end is ICE-lite: it sends nothing there unasked.
    port = UInt16(50_000 + number % 10_000)
  }

  package init(sessionID: UInt64, userFragment: String, password: String, fingerprint: String, port: UInt16) {
    self.sessionID = sessionID
    self.userFragment = userFragment
    self.password = password
    self.fingerprint = fingerprint
    self.port = port
  }

  package var text: String {
    [
      "v=0", "o=- \(sessionID) 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "a=extmap-allow-mixed",
      "a=msid-semantic: WMS", "m=audio \(port) UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126", "c=IN IP4 127.0.0.1",
      "a=rtcp:9 IN IP4 0.0.0.0",
      "a=candidate:1467250027 1 udp 2122260223 127.0.0.1 \(port) typ host generation 0 network-id 1",
      "a=ice-ufrag:\(userFragment)", "a=ice-pwd:\(password)", "a=ice-options:trickle", "a=fingerprint:\(fingerprint)",
      "a=setup:actpass", "a=mid:0", "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
      "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
      "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid", "a=sendrecv", "a=msid:- 0d3a1c52-sound", "a=rtcp-mux",
      "a=rtcp-rsize", "a=rtpmap:111 opus/48000/2", "a=rtcp-fb:111 transport-cc",
      "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:63 red/48000/2", "a=fmtp:63 111/111", "a=rtpmap:9 G722/8000",
      "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:13 CN/8000", "a=rtpmap:110 telephone-event/48000",
      "a=rtpmap:126 telephone-event/8000", "a=ssrc:2231627014 cname:c0bench", "a=ssrc:2231627014 msid:- 0d3a1c52-sound",
      "",
    ].joined(separator: "\r\n")
  }
}
