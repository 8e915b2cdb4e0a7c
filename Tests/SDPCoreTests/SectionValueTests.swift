import CallModel
import SDPCore
import Testing

/// The small values of a media section.
struct SectionValueTests {
  @Test(arguments: [
    ("0-15", "0-15"), ("", "0-15"), ("0-11,16", "0-11,16"), ("0, 2 ,4", "0,2,4"), ("255", "255"), ("0-256", "0-15"),
    ("15-0", "0-15"), ("x", "0-15"), ("events=0-15", "0-15"), ("0-1,1-3,3", "0-3"),
    ("120-130,200", "120-130,200"),
  ])
  func telephoneEvents(text: String, expected: String) {
    #expect(TelephoneEvents(FormatParameters(text)).parameters.text == expected)
  }

  @Test func opusParametersWithinTheirRanges() {
    let read = OpusParameters(
      FormatParameters(
        "minptime=10; useinbandfec=1;MaxAverageBitrate=16000;maxplaybackrate=8000;stereo=0;usedtx=1;cbr=2"))
    #expect(
      read
        == OpusParameters(
          maximumPlaybackRate: 8_000, maximumAverageBitRate: 16_000, inBandFEC: true, discontinuous: true,
          minimumPacketTime: 10))
    #expect(OpusParameters(read.parameters) == read)
    #expect(OpusParameters(FormatParameters("maxplaybackrate=99999999999;maxaveragebitrate=1")) == OpusParameters())
    #expect(OpusParameters().parameters.text == "")
  }

  @Test(
    arguments: [
      ("opus", 48_000, 2, AudioCodec.opus), ("OPUS", 48_000, 2, .opus), ("opus", 48_000, nil, nil),
      ("opus", 16_000, 2, nil), ("pcmu", 8_000, 1, .pcmu), ("PCMA", 8_000, nil, .pcma), ("PCMA", 8_000, 2, nil),
      ("G722", 8_000, nil, .g722), ("G722", 16_000, nil, nil), ("G729", 8_000, nil, nil), ("PCMU", nil, nil, nil),
    ] as [(String, Int?, Int?, AudioCodec?)])
  func codecs(name: String, clockRate: Int?, channels: Int?, codec: AudioCodec?) {
    #expect(AudioCodec(RTPEncoding(name: name, clockRate: clockRate, channels: channels)) == codec)
  }

  @Test func candidates() throws {
    let section = try #require(
      SDPFixtures.description(
        "m=audio 9 RTP/AVP 0",
        "a=candidate:1 1 udp 2130706431 192.0.2.9 4000 typ host generation 0 network-id 1",
        "a=candidate:2 2 UDP 1694498815 2001:db8::9 4001 typ srflx raddr 10.0.0.1 rport 9 tcptype active",
        "a=candidate:3 1 udp 0 192.0.2.9 4000 typ host", "a=candidate:4 1 udp 4294967295 192.0.2.9 4000 typ host",
        "a=candidate:5 1 udp 1 192.0.2.9 70000 typ host", "a=candidate:6 1 udp 1 192.0.2.9 4000 host",
        "a=end-of-candidates", "a=ice-ufrag:abcd", "a=ice-pwd:0123456789012345678901"
      ).sections.first)
    #expect(section.candidates.map(\.foundation) == ["1", "2"])
    #expect(section.candidates.first?.extensions == "generation 0 network-id 1")
    #expect(section.candidates.last?.relatedAddress == "10.0.0.1")
    #expect(section.candidates.last?.relatedPort == 9)
    #expect(
      section.candidates.last?.description
        == "2 2 UDP 1694498815 2001:db8::9 4001 typ srflx raddr 10.0.0.1 rport 9 tcptype active")
    #expect(section.endOfCandidates)
    #expect(section.iceCredentials?.userFragment == "abcd")
  }

  @Test(arguments: [
    ("typ host raddr", nil, nil, "raddr"), ("typ host  raddr  ::1  x y ", "::1", nil, "x y"),
    ("typ host rport 9 raddr ::1", nil, 9, "raddr ::1"), ("typ host raddr ::1 rport x", "::1", nil, ""),
    ("typ host raddr ::1 rport", "::1", nil, "rport"),
  ])
  func whatFollowsTheKindOfACandidate(text: String, address: String?, port: Int?, extensions: String) throws {
    let description = try SDPFixtures.description("m=audio 9 RTP/AVP 0", "a=candidate:1 1 udp 1 192.0.2.9 4000 \(text)")
    let candidate = try #require(description.sections.first?.candidates.first)
    #expect(candidate.relatedAddress == address)
    #expect(candidate.relatedPort == port)
    #expect(candidate.extensions == extensions)
  }

  @Test(arguments: [
    ("abc", "0123456789012345678901", false), ("abcd", "012345678901234567890", false),
    ("abcd", "0123456789012345678901", true), ("ab cd", "0123456789012345678901", false),
    ("+/aZ", "0123456789012345678901", true), ("ab:d", "0123456789012345678901", false),
  ])
  func iceCredentials(userFragment: String, password: String, isValid: Bool) {
    #expect((ICECredentials(userFragment: userFragment, password: password) != nil) == isValid)
  }

  @Test func freshICECredentials() {
    var generator = SeededGenerator(seed: 8839)
    var seen: Set<ICECredentials> = []
    var letters: Set<Character> = []
    for _ in 0..<200 {
      let fresh = ICECredentials(draw: { generator.next() })
      let password = fresh.password.exposed
      #expect(fresh.userFragment.count == 8 && password.count == 24)
      #expect(ICECredentials(userFragment: fresh.userFragment, password: password) == fresh)
      seen.insert(fresh)
      letters.formUnion(fresh.userFragment + password)
    }
    #expect(seen.count == 200)
    #expect(letters.count == 64)
  }

  @Test(arguments: [
    ("sha-256 \(SDPFixtures.fingerprint)", true), ("SHA-256 \(SDPFixtures.fingerprint.lowercased())", true),
    ("sha-256 AB:CD", false), ("sha-256 \(SDPFixtures.fingerprint):AB", false), ("sha-257 AB", false),
    ("sha-1 " + [String](repeating: "AB", count: 20).joined(separator: ":"), false), ("sha-256 +1:+2", false),
    ("sha-256", false), ("sha-256 \(SDPFixtures.fingerprint) x", false),
  ])
  func fingerprints(text: String, isAcceptable: Bool) throws {
    let section = try #require(SDPFixtures.description("m=audio 9 RTP/AVP 0", "a=fingerprint:\(text)").sections.first)
    #expect(section.acceptableFingerprints.isEmpty != isAcceptable)
    if isAcceptable { #expect(section.fingerprints.first?.description == "sha-256 \(SDPFixtures.fingerprint)") }
  }

  @Test(
    arguments: [
      ("20", 20_000), ("0.125", 125), ("2.5", 2_500), ("0", nil), ("-20", nil), ("99999999999999999999", nil),
      ("20.", nil), (".5", nil), ("20ms", nil), ("1.0000000001", nil),
    ] as [(String, Int?)])
  func packetTime(text: String, microseconds: Int?) throws {
    let section = try SDPFixtures.description("m=audio 9 RTP/AVP 0", "a=ptime:\(text)").sections.first
    #expect(section?.packetTime == microseconds)
  }

  @Test(
    arguments: [
      ("IN IP4 192.0.2.1", "192.0.2.1", false), ("IN IP4 0.0.0.0", nil, true), ("IN IP6 ::", nil, true),
      ("IN IP4 224.2.1.1/127", nil, false), ("IN IP6 FF15::101", nil, false),
      ("IN IP6 2001:DB8::1", "2001:db8::1", false),
      ("IN IP4 2001:db8::1", "2001:db8::1", false), ("IN IP4 Host.Example.com", "host.example.com", false),
      ("TN RFC2543 +1-201-406-4090", nil, false), ("IN IP4 256.1.1.1", nil, false), ("IN IP6 [::1]", nil, false),
    ] as [(String, String?, Bool)])
  func connections(line: String, host: String?, isUnspecified: Bool) throws {
    let connection = try #require(
      SDPFixtures.description("m=audio 9 RTP/AVP 0", connection: "c=\(line)").sections.first?.connection)
    #expect(connection.unicastHost.map { ConnectionData($0).address } == host)
    #expect(connection.isUnspecified == isUnspecified)
  }

  @Test func attributesOfTheSessionAreTakenOver() throws {
    let description = try SDPFixtures.description(
      "a=ice-lite", "a=ice-ufrag:sess", "a=ice-pwd:0123456789012345678901", "a=setup:passive", "a=recvonly",
      "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)", "a=group:BUNDLE 0 1", "m=audio 9 RTP/AVP 0", "a=mid:0",
      "m=audio 9 RTP/AVP 0", "a=mid:1", "a=inactive", "a=setup:active", "a=rtcp:4001 IN IP4 192.0.2.8",
      "a=ssrc:1 cname:a", "a=ssrc:1 msid:b", "a=ssrc:2 cname:a", "a=extmap:1 urn:x", "a=rtcp-rsize")
    let (first, second) = (description.sections[0], description.sections[1])
    #expect(first.isICELite && second.isICELite)
    #expect(first.iceCredentials?.userFragment == "sess")
    #expect([first.setup, second.setup] == [.passive, .active])
    #expect([first.direction, second.direction] == [.receiveOnly, .inactive])
    #expect(first.isBundled && second.isBundled)
    #expect(second.fingerprints.count == 1)
    #expect(second.rtcp?.port == 4_001)
    #expect(second.rtcp?.unicastHost == .ipv4(0xC000_0208))
    #expect(second.sources == [1, 2])
    #expect(second.extensions == ["1 urn:x"])
    #expect(second.reducedSizeRTCP && !first.reducedSizeRTCP)
  }
}
