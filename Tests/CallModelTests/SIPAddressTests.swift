import CallModel
import Testing

@Suite("SIP addresses")
struct SIPAddressTests {
  static func label(_ count: Int) -> String { String(repeating: "a", count: count) }
  /// A host name of exactly `length` characters, three labels of 63 and the rest.
  static func host(_ length: Int) -> String {
    [label(63), label(63), label(63), label(length - 192)].joined(separator: ".")
  }

  @Test(
    "reads and prints canonically",
    arguments: [
      ("alice@example.com", "alice@example.com", "sip:alice@example.com"),
      ("sip:alice@example.com", "alice@example.com", "sip:alice@example.com"),
      ("SIP:Alice@EXAMPLE.Com", "Alice@example.com", "sip:Alice@example.com"),
      ("sips:alice@example.com:5061", "sips:alice@example.com:5061", "sips:alice@example.com:5061"),
      ("a@b", "a@b", "sip:a@b"),
      ("alice@example.com.", "alice@example.com", "sip:alice@example.com"),
      ("alice@example.com:1", "alice@example.com:1", "sip:alice@example.com:1"),
      ("alice@example.com:65535", "alice@example.com:65535", "sip:alice@example.com:65535"),
      ("alice@example.com:05060", "alice@example.com:5060", "sip:alice@example.com:5060"),
      ("a.!~*'()&=+$,;?/-_9@x-1.y2", "a.!~*'()&=+$,;?/-_9@x-1.y2", "sip:a.!~*'()&=+$,;?/-_9@x-1.y2"),
      ("%40home%2f@example.com", "%40home%2f@example.com", "sip:%40home%2f@example.com"),
      ("bj%C3%B6rn@example.se", "bj%C3%B6rn@example.se", "sip:bj%C3%B6rn@example.se"),
      ("+46701234567@192.0.2.1:5060", "+46701234567@192.0.2.1:5060", "sip:+46701234567@192.0.2.1:5060"),
      ("a@0.0.0.0", "a@0.0.0.0", "sip:a@0.0.0.0"),
      ("a@255.255.255.255", "a@255.255.255.255", "sip:a@255.255.255.255"),
      ("a@[2001:DB8::1]", "a@[2001:db8::1]", "sip:a@[2001:db8::1]"),
      ("a@[2001:db8:0:0:1:0:0:1]:5060", "a@[2001:db8::1:0:0:1]:5060", "sip:a@[2001:db8::1:0:0:1]:5060"),
      ("a@[::]", "a@[::]", "sip:a@[::]"),
      ("a@[1::]", "a@[1::]", "sip:a@[1::]"),
      ("a@[::ffff:192.0.2.1]", "a@[::ffff:192.0.2.1]", "sip:a@[::ffff:192.0.2.1]"),
      ("a@[64:ff9b::192.0.2.33]", "a@[64:ff9b::c000:221]", "sip:a@[64:ff9b::c000:221]"),
      ("a@[1:2:3:4:5:6:7:8]", "a@[1:2:3:4:5:6:7:8]", "sip:a@[1:2:3:4:5:6:7:8]"),
      ("a@[1:0:3:4:5:6:7:8]", "a@[1:0:3:4:5:6:7:8]", "sip:a@[1:0:3:4:5:6:7:8]"),
      ("a@[0:0:3:4:5:6:7:8]", "a@[::3:4:5:6:7:8]", "sip:a@[::3:4:5:6:7:8]"),
      ("a@3com.com", "a@3com.com", "sip:a@3com.com"),
    ])
  func reads(_ text: String, _ description: String, _ uri: String) throws {
    let address = try SIPAddress(text)
    #expect(address.description == description)
    #expect(address.uri == uri)
    #expect(try SIPAddress(description) == address)
    #expect(try SIPAddress(uri) == address)
  }

  @Test(
    "refuses by rule and place",
    arguments: [
      ("", "sip.empty", 0), ("sip:", "sip.empty", 4), ("alice", "sip.at", nil), ("@example.com", "sip.user", 0),
      ("sip:@example.com", "sip.user", 4), ("alice@", "sip.host", 6), ("al ice@example.com", "sip.user", 2),
      ("alice:secret@example.com", "sip.user", 5), ("tel:alice@example.com", "sip.user", 3),
      ("alice@example.com ", "sip.host", 17), ("alice@example.com\n", "sip.host", 17),
      ("ali\r\nce@example.com", "sip.user", 3), ("\u{E5}@example.com", "sip.user", 0), ("<a@b>", "sip.user", 0),
      ("a@b@c", "sip.host", 3), ("a@exa_mple.com", "sip.host", 5), ("a@bj\u{F6}rn.se", "sip.host", 4),
      ("a@example.com;transport=tcp", "sip.host", 13), ("a@example.com?x=y", "sip.host", 13),
      ("a@example..com", "sip.label", 10), ("a@.com", "sip.label", 2), ("a@.", "sip.ipv4", 2),
      ("a@-b.com", "sip.label", 4),
      ("a@b-.com", "sip.label", 4), ("a@host.4", "sip.label", 7), ("a@example.4com", "sip.label", 10),
      ("a%00@b.c", "sip.control", 1), ("a%0D%0A@b.c", "sip.control", 1), ("a%1f@b.c", "sip.control", 1),
      ("a%7F@b.c", "sip.control", 1), ("a%@b.c", "sip.escape", 1), ("a%4@b.c", "sip.escape", 1),
      ("a%zz@b.c", "sip.escape", 1), ("a%4g@b.c", "sip.escape", 1),
      ("a@b.c:", "sip.port", 6), ("a@b.c:0", "sip.port", 6), ("a@b.c:65536", "sip.port", 6),
      ("a@b.c:123456", "sip.port", 11), ("a@b.c:-1", "sip.port", 6), ("a@b.c:50 60", "sip.port", 8),
      ("a@1.2.3", "sip.ipv4", 2), ("a@1.2.3.4.5", "sip.ipv4", 2), ("a@256.1.1.1", "sip.ipv4", 2),
      ("a@01.2.3.4", "sip.ipv4", 2), ("a@1.2.3.", "sip.ipv4", 2), ("a@2130706433", "sip.ipv4", 2),
      ("a@1.2.3.9999999999999999999999", "sip.ipv4", 2),
      ("a@2001:db8::1", "sip.ipv6", 2), ("a@[2001:db8::1", "sip.ipv6", 2), ("a@[]", "sip.ipv6", 2),
      ("a@[:]", "sip.ipv6", 3), ("a@[:::]", "sip.ipv6", 3), ("a@[1::2::3]", "sip.ipv6", 3),
      ("a@[1:2:3]", "sip.ipv6", 3),
      ("a@[1:2:3:4:5:6:7:8:9]", "sip.ipv6", 3), ("a@[1:2:3:4:5:6:7::8]", "sip.ipv6", 3),
      ("a@[1:2:3:4::5:6:7:8]", "sip.ipv6", 3), ("a@[12345::]", "sip.ipv6", 3), ("a@[g::]", "sip.ipv6", 3),
      ("a@[fe80::1%eth0]", "sip.ipv6", 3), ("a@[::1.2.3]", "sip.ipv6", 3), ("a@[::1.2.3.4:5]", "sip.ipv6", 3),
      ("a@[1:2:3:4:5:6:7:1.2.3.4]", "sip.ipv6", 3), ("a@[:1::]", "sip.ipv6", 3), ("a@[1:]", "sip.ipv6", 3),
      ("a@[::1]x", "sip.ipv6", 2),
    ] as [(String, String, Int?)])
  func refuses(_ text: String, _ rule: String, _ offset: Int?) throws {
    let error = #expect(throws: InvalidValue.self) { try SIPAddress(text) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.accepted.contains("user@domain") == true)
  }

  @Test("holds each length limit, and one past it is refused")
  func limits() throws {
    let wide = try SIPAddress.Rules(maximumLength: SIPAddress.Rules.largestMaximumLength)
    let cases: [(String, SIPAddress.Rules, String?)] = [
      (Self.label(128) + "@b", .standard, nil),
      (Self.label(129) + "@b", .standard, "sip.userLong"),
      ("a@" + Self.label(63), .standard, nil),
      ("a@" + Self.label(64), .standard, "sip.label"),
      ("a@" + Self.host(253), .standard, nil),
      ("a@" + Self.host(253) + ".", wide, nil),
      ("a@" + Self.host(254), wide, "sip.hostLong"),
      ("sips:a@" + Self.host(253), .standard, nil),
      ("ab@" + Self.host(253), .standard, "sip.long"),
      ("a@" + Self.label(62), .short, nil),
      ("sip:a@" + Self.label(62), .short, nil),
      ("a@" + Self.label(63), .short, "sip.long"),
      (Self.label(2000), wide, "sip.long"),
    ]
    for (text, rules, rule) in cases {
      if let rule {
        let error = #expect(throws: InvalidValue.self) { try SIPAddress(text, rules: rules) }
        #expect(error?.rule == rule, "\(text)")
      } else {
        #expect(throws: Never.self, "\(text)") { try SIPAddress(text, rules: rules) }
      }
    }
    #expect(throws: InvalidValue.self) { try SIPAddress.Rules(maximumLength: 2) }
    #expect(throws: InvalidValue.self) { try SIPAddress.Rules(maximumLength: 1025) }
  }

  @Test(
    "compares as RFC 3261 says",
    arguments: [
      ("alice@example.com", "alice@EXAMPLE.COM", true),
      ("alice@example.com", "Alice@example.com", false),
      ("alice@example.com", "%61lice@example.com", true),
      ("%2Falice@example.com", "%2falice@example.com", true),
      ("/alice@example.com", "%2falice@example.com", false),
      ("alice@example.com", "alice@example.com:5060", false),
      ("alice@example.com", "sips:alice@example.com", false),
      ("a@[2001:db8::1]", "a@[2001:0DB8:0:0:0:0:0:1]", true),
      ("a@[::1]", "a@[::2]", false),
    ])
  func equality(_ left: String, _ right: String, _ equal: Bool) throws {
    let (first, second) = (try SIPAddress(left), try SIPAddress(right))
    #expect((first == second) == equal)
    if equal { #expect(first.hashValue == second.hashValue) }
  }
}
