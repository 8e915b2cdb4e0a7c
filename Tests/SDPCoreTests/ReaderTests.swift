import Glibc
import SDPCore
import Testing

/// Lines, limits and refusals of the reader, and the canonical print.
struct ReaderTests {
  static let head = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\n"

  @Test(arguments: [
    ("", 1, 1, "sdp.origin.missing"),
    ("v=1\n", 1, 3, "sdp.version"),
    ("o=- 1 1 IN IP4 192.0.2.1\nv=0\n", 1, 3, "sdp.version"),
    ("\u{FEFF}v=0\n", 1, 1, "sdp.line.form"),
    ("v=0\nhello\n", 2, 1, "sdp.line.form"),
    ("v=0\no=- 1 1 IN IP4\n", 2, 3, "sdp.origin.fields"),
    ("v=0\no=- 1 1 IN IP4 a b\n", 2, 3, "sdp.origin.fields"),
    ("v=0\no=- -1 1 IN IP4 a\n", 2, 5, "sdp.origin.number"),
    ("v=0\no=- 1 1 IN IP4 a\no=- 1 1 IN IP4 a\n", 3, 1, "sdp.line.repeated"),
    ("v=0\no=- 1 1 IN IP4 a\n", 2, 1, "sdp.name.missing"),
    ("v=0\r\no=- 1 1 IN IP4 a\rs=-\r\n", 2, 17, "sdp.line.byte"),
    ("v=0\no=- 1 1 IN IP4 a\0\n", 2, 17, "sdp.line.byte"),
    ("v=0\n\no=- 1 1 IN IP4 a\n", 2, 1, "sdp.line.empty"),
    (head + "x=1\n", 5, 1, "sdp.line.type"),
    (head + "m=audio 1\n", 5, 3, "sdp.media.fields"),
    (head + "m=audio 65536 RTP/AVP 0\n", 5, 9, "sdp.media.port"),
    (head + "m=audio 4294967296 RTP/AVP 0\n", 5, 9, "sdp.media.port"),
    (head + "m=audio -1 RTP/AVP 0\n", 5, 9, "sdp.media.port"),
    (head + "m=audio 1/0 RTP/AVP 0\n", 5, 11, "sdp.media.portCount"),
    (head + "m=audio 1 RTP/AVP 0\ns=x\n", 6, 1, "sdp.line.order"),
    (head + "m=audio 1 RTP/AVP 0\nt=0 0\n", 6, 1, "sdp.line.order"),
    (head + "c=IN IP4\n", 5, 3, "sdp.connection.fields"),
    (head + "c=IN IP4 192.0.2.1/a\n", 5, 10, "sdp.connection.suffix"),
    (head + "c=IN IP6 ::1/1/1\n", 5, 10, "sdp.connection.suffix"),
    (head + "c=IN IP4 192.0.2.1\nc=IN IP4 192.0.2.2\n", 6, 1, "sdp.line.repeated"),
    (head + "b=AS:\n", 5, 3, "sdp.bandwidth"),
    (head + "t=0\n", 5, 3, "sdp.time"),
    (head + "r=7d 1h\n", 5, 3, "sdp.repeat"),
    ("v=0\no=- 1 1 IN IP4 a\nz=1 1h\n", 3, 1, "sdp.line.order"),
    (head + "z=1 1h 2\n", 5, 3, "sdp.timeZones"),
    (head + "z=1 1h\nz=2 1h\n", 6, 1, "sdp.line.repeated"),
    (head + "k=\n", 5, 3, "sdp.key"),
    (head + "a=\n", 5, 3, "sdp.attribute"),
    (head + "a=:x\n", 5, 3, "sdp.attribute"),
  ])
  func refusal(text: String, line: Int, column: Int, rule: String) {
    let error = #expect(throws: InvalidSessionDescription.self) { try SessionDescription(parsing: text) }
    #expect(error?.rule == rule)
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.accepted.isEmpty == false)
  }

  @Test(arguments: [
    "m=audio 49170 RTP/AVP 0", "m=audio  49170\tRTP/AVP  0 8 ", "m=audio 0 RTP/AVP", "m=image 9 udptl t38",
    "m=audio 49170 RTP/AVP 0\r\nc=IN IP6 FF15::101/3", "m=audio 49170/2 RTP/AVP 0 999999999999",
    "m=audio 49170 RTP/AVP 0\r\na=x y z:1:2:3\r\na=flag\r\na=crypto:\r\nb=TIAS:64000\r\nk=prompt\r\ni=title",
    "m=audio 49170 RTP/AVP 0\r\n\r\n\r\n", "a=key:  spaces  \r\nm=audio 1 RTP/AVP 0\r\ni=\r\n",
  ])
  func readsBackEqual(lines: String) throws {
    try readsBackEqual(ReaderTests.head + lines)
  }

  @Test("each time line has time zones of its own")
  func timeZones() throws {
    let zones = "t=1 2\r\nr=7d 1h 0\r\nz=1 -1h 2 0\r\nt=3 4\r\nz=3 1h\r\nt=5 6\r\n"
    let text = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\n\(zones)m=audio 49170 RTP/AVP 0\r\n"
    let description = try SessionDescription(parsing: text)
    #expect(description.times.map(\.timeZones) == ["1 -1h 2 0", "3 1h", nil])
    #expect(description.text == text)
    try readsBackEqual(text)
  }

  private func readsBackEqual(_ text: String) throws {
    let description = try SessionDescription(parsing: text)
    let again = try SessionDescription(parsing: description.text)
    #expect(again == description)
    #expect(again.text == description.text)
  }

  @Test func linesOfTheSessionInAnyOrder() throws {
    let description = try SessionDescription(
      parsing: """
        v=0
        s=call
        o=- 1 1 IN IP4 192.0.2.1
        c=IN IP4 192.0.2.1
        a=sendonly
        t=0 0
        b=AS:64
        m=audio 4000 RTP/AVP 0
        a=ptime:20
        c=IN IP4 192.0.2.2
        """)
    #expect(
      description.text
        == """
        v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=call\r\nc=IN IP4 192.0.2.1\r\nb=AS:64\r\nt=0 0\r\na=sendonly\r
        m=audio 4000 RTP/AVP 0\r\nc=IN IP4 192.0.2.2\r\na=ptime:20\r\n
        """)
    let section = try #require(description.sections.first)
    #expect(section.direction == .sendOnly)
    #expect(section.connection?.address == "192.0.2.2")
  }

  @Test func aValueCannotStartALineWhenPrinted() throws {
    var description = try SessionDescription(parsing: ReaderTests.head + "m=audio 1 RTP/AVP 0\n")
    description.media[0].attributes = [SessionAttribute("x", "1\r\na=injected"), SessionAttribute("y\nm=z")]
    #expect(try SessionDescription(parsing: description.text).media.map { $0.attributes.count } == [2])
  }

  @Test(arguments: [
    ("bytes", 16_384), ("lines", 512), ("lineBytes", 2_048), ("mediaSections", 16), ("formats", 64),
    ("attributes", 256),
  ])
  func limitsHoldAtTheirEdge(name: String, limit: Int) throws {
    func text(_ count: Int) -> String {
      switch name {
      case "bytes":
        let lines =
          ReaderTests.head + String(repeating: "i=\(String(repeating: "x", count: 1_000))\nm=a 1 b\n", count: 15)
        return lines + "i=" + String(repeating: "y", count: count - lines.utf8.count - 2)
      case "lines":
        return ReaderTests.head + String(repeating: "e=a\n", count: count - 5) + "m=audio 1 RTP/AVP 0\n"
      case "lineBytes": return ReaderTests.head + "i=" + String(repeating: "x", count: count - 2) + "\r\n"
      case "mediaSections": return ReaderTests.head + String(repeating: "m=audio 1 RTP/AVP 0\n", count: count)
      case "formats": return ReaderTests.head + "m=audio 1 RTP/AVP" + String(repeating: " 0", count: count)
      default: return ReaderTests.head + "m=audio 1 RTP/AVP 0\n" + String(repeating: "a=x\n", count: count)
      }
    }
    _ = try SessionDescription(parsing: text(limit))
    let error = #expect(throws: InvalidSessionDescription.self) { try SessionDescription(parsing: text(limit + 1)) }
    #expect(error?.rule == "sdp.limit.\(name)")
  }

  private static func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// 64 kB of whatever a peer thinks costly, with every limit out of the way: the time of a reading grows with the bytes.
  @Test(arguments: [
    "e=a\n", "a=x\n", "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\n", "a=rtpmap:96 opus/48000/2\n", "m=a 1 b\n",
    "a=ssrc:1 cname:x\n", "a=crypto:1 x y\n", "a=fingerprint:sha-256 AA:BB\n", "t=0 0\nr=1 1 1\n", " 0", "\u{E9}",
    "a=group:BUNDLE a\n", "a=fmtp:96 a=b;c=d\n", ":", "/",
  ])
  func timeIsLinear(unit: String) throws {
    let limits = SessionDescriptionLimits(
      bytes: 70_000, lines: 70_000, lineBytes: 70_000, mediaSections: 70_000, formats: 70_000, attributes: 70_000)
    func text(_ bytes: Int) -> [UInt8] {
      let start = ReaderTests.head + (unit.hasPrefix("t=") || unit.hasPrefix("e=") ? "" : "m=audio 1 RTP/AVP 0\n")
      let long = unit.hasSuffix("\n") ? "" : "a=fmtp:0 x"
      return Array((start + long + String(repeating: unit, count: bytes / unit.utf8.count)).utf8)
    }
    func time(_ bytes: [UInt8]) -> Duration {
      // Processor time of this thread, and the least of three: the machine is shared.
      (0..<3).map { _ in
        let start = ReaderTests.processorTime()
        if let description = try? SessionDescription(parsing: bytes, limits: limits) {
          _ = description.sections
          _ = description.text
        }
        return ReaderTests.processorTime() - start
      }.min() ?? .zero
    }
    let small = time(text(8_000))
    let large = time(text(64_000))
    // Eight times the bytes; quadratic would be 64 times the time.
    #expect(large < small * 28 + .milliseconds(5), "8 kB \(small), 64 kB \(large)")
  }
}
