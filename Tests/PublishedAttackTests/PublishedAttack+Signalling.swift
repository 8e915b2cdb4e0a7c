import SIPCore

/// Messages that ended a parser or slipped past a filter.
extension PublishedAttack {
  private static func invite(
    _ source: String, _ title: String, _ outcomes: [String], _ fields: [String] = [], uri: String? = nil,
    method: String = "INVITE", without: Set<String> = [], body: String = "", over transport: SIPTransport = .udp
  ) -> PublishedAttack {
    PublishedAttack(source, title, outcomes) {
      try AttackedAgent.outcome(
        AttackedAgent.message(method, uri: uri ?? "sip:+46000000000@127.0.0.1", fields, without: without, body: body),
        over: transport)
    }
  }

  static var signalling: [PublishedAttack] {
    let long = "a".times(3000)
    return [
      invite("CVE-2017-9372", "a CSeq method longer than any buffer", ["400"], ["CSeq: 1 INVITE\("X".times(2000))"]),
      invite("CVE-2017-9372", "a request method longer than any buffer", ["400"], method: "Z".times(500)),
      invite(
        "AST-2017-003", "multipart without boundary", ["400"], ["Content-Type: multipart/mixed"], body: "--x\r\n\r\n"),
      invite(
        "GHSA-hx7p-6j27-gjpv", "a part's header runs to the end of a multipart body", ["415"],
        ["Content-Type: multipart/mixed;boundary=x"], body: "--x\r\nContent-Type: application/sdp"),
      invite(
        "Kamailio d7a7f22b84", "multipart whose last boundary never comes", ["415"],
        ["Content-Type: multipart/mixed;boundary=\"x\""], body: "--x\r\n".times(200)),
      invite(
        "Kamailio 8f7b0b049a", "multipart with an empty boundary", ["400", "415"],
        ["Content-Type: multipart/mixed;boundary=\"\""], body: "----"),
      invite(
        "GHSA-x5pq-qrp4-fmrj", "a boundary of one quote", ["400", "415"],
        ["Content-Type: multipart/mixed;boundary=\""], body: "--\"\r\n"),
      invite(
        "CVE-2018-7284", "more Accept fields than a table holds, in SUBSCRIBE", ["405", "489", "400", "513"],
        (0..<60).map { "Accept: a/\($0)" } + ["Event: presence"], method: "SUBSCRIBE"),
      invite("CVE-2018-8828", "a From tag of 3,000 bytes", ["call", "400", "513"], ["From: <sip:a@b>;tag=\(long)"]),
      invite(
        "CVE-2018-8828", "a branch of 3,000 bytes", ["call", "400", "513"],
        ["Via: SIP/2.0/UDP 127.0.0.9;branch=z9hG4bK\(long)"]),
      invite(
        "CVE-2023-28098", "an Authorization parameter without an end", ["405", "400"],
        ["Authorization: Digest username=\"a, realm=, uri=,,nonce=\"\""], method: "REGISTER"),
      invite("CVE-2023-28096", "a To body of nothing but spaces", ["400"], ["To:      "]),
      invite("CVE-2023-28095", "a Via without a host", ["silence", "400"], ["Via: SIP/2.0/UDP ;branch=z9hG4bK-1"]),
      invite("CVE-2023-28097", "Content-Length above 2^31", ["400"], ["Content-Length: 4294967295"]),
      invite("CVE-2023-28099", "an Accept field without value", ["200"], ["Accept:"], method: "OPTIONS"),
      invite("CVE-2023-27596", "a Max-Forwards of letters", ["400"], ["Max-Forwards: abc"]),
      invite(
        "CVE-2023-27597", "a Via whose parameter ends at the line's end", ["400", "silence", "call"],
        ["Via: SIP/2.0/UDP 127.0.0.9;branch=z9hG4bK-1;a="]),
      invite(
        "CVE-2023-27598", "a Via port that overflows", ["400", "silence"],
        ["Via: SIP/2.0/UDP 127.0.0.9:99999999999;branch=z9hG4bK-1"]),
      invite("CVE-2023-27601", "a header field that a fold leaves open", ["400", "call"], ["Subject: \r\n \r\n "]),
      invite("CVE-2026-45538", "a field of separators alone", ["call", "400"], ["Record-Route: ,,,,,,"]),
      invite("Kamailio #4930", "an Identity field that stops in its parameter", ["call"], ["Identity: abc;info=<"]),
      invite("Kamailio 24030e5899", "a CSeq number of 2^31", ["400"], ["CSeq: 2147483648 INVITE"]),
      invite("CVE-2022-31001", "a URI that ends in a half escape", ["400"], uri: "sip:a%@127.0.0.1"),
      invite("CVE-2022-31002", "an escape cut by the host", ["400"], uri: "sip:a%4@127.0.0.1"),
      invite("CVE-2022-47516", "an IPv6 host that is never closed", ["400"], uri: "sip:a@[::1"),
      invite("CVE-2021-43611", "a display name of one quote", ["400"], ["From: \" <sip:a@b>;tag=1"]),
      invite("belle-sip #24", "a quote that an escape keeps open", ["400"], ["From: \"\\\" <sip:a@b>;tag=1"]),
      invite("CVE-2016-10324", "a typed field of spaces", ["400"], ["Contact:        "]),
      invite("CVE-2016-10325", "a body with a length and no type", ["400"], body: "x".times(2000)),
      invite(
        "CVE-2016-10326", "a body type with a thousand spaces", ["415", "400"], ["Content-Type: a/b" + " ".times(1000)],
        body: "x"),
      invite(
        "CVE-2017-7853", "a body shorter than it says", ["400"], ["Content-Length: 10", "Content-Type: a/b"], body: "x"),
      invite(
        "CVE-2022-41550", "a part that ends inside its header's name", ["415"],
        ["Content-Type: multipart/mixed;boundary=x"], body: "--x\r\nA"),
      invite("libosip2 5.2.1", "a Via that stops after its transport", ["silence", "400"], ["Via: SIP/2.0/UDP"]),
      invite(
        "libosip2 quadratic", "32,000 parameters in the Request-URI", ["400", "414", "513"],
        uri: "sip:a@b" + ";p".times(8000)),
      invite("libosip2 quadratic", "32,000 elements in Allow", ["400", "513"], ["Allow: A" + ",A".times(8000)]),
      invite("libosip2 NUL cut", "an escaped NUL in a parameter", ["400"], uri: "sip:a@127.0.0.1;p=%00"),
      PublishedAttack("libosip2 NUL cut", "a user that an escaped NUL ends", "admin%00evil") {
        let bytes = AttackedAgent.message("INVITE", uri: "sip:admin%00evil@127.0.0.1")
        let message = try MessageParser.values(of: SIPGate.admit(bytes, transport: .udp).get()).get()
        guard case .request(_, let target) = message.startLine else { return "no request" }
        return target.user ?? "no user"
      },
      invite("libosip2 host", "two at-signs in the Request-URI", ["400"], uri: "sip:a@127.0.0.1@evil"),
      invite("libosip2 port", "a negative port", ["400"], uri: "sip:a@127.0.0.1:-1"),
      invite("libosip2 scheme", "a web address as Request-URI", ["416", "400"], uri: "http://127.0.0.1/"),
      PublishedAttack("libosip2 version", "SIP version 9.9", "505") {
        try AttackedAgent.outcome(AttackedAgent.bytes("INVITE sip:a@127.0.0.1 SIP/9.9", "INVITE", []))
      },
      PublishedAttack("libosip2 status", "a response of status 99999", "silence") {
        try AttackedAgent.outcome(AttackedAgent.bytes("SIP/2.0 99999 Huge", "INVITE", []))
      },
      PublishedAttack("libosip2 status line", "a response without a space behind its status", "silence") {
        try AttackedAgent.outcome(AttackedAgent.bytes("SIP/2.0 200", "INVITE", []))
      },
      invite(
        "libosip2 mandatory fields", "no From, To, Call-ID or CSeq", ["silence", "400"],
        without: ["From", "To", "Call-ID", "CSeq"]),
      invite("libosip2 CSeq", "a CSeq of letters", ["400"], ["CSeq: abc INVITE"]),
      invite(
        "CVE-2020-28361", "a field's name with a space before the colon, twice", ["call"],
        ["X-Account : evil", "X-Account: good"]),
      invite("CVE-2016-9938", "a control byte in a field's name", ["400"], ["X\u{1}-Account: evil"]),
      invite("CVE-2016-9938", "a vertical tab before the colon", ["400"], ["Authorization\u{B}: Digest a"]),
      invite("ES2020-01", "a name with a tab before the colon", ["call", "400"], ["X-Account\t: evil"]),
      invite("header smuggling", "a bare LF that begins a field", ["400"], ["Subject: a\nX-Account: evil"]),
      invite("header smuggling", "a bare CR that begins a field", ["400"], ["Subject: a\rX-Account: evil"]),
      invite("GHSA-wcvv-g26m-wx5c", "a second Call-ID", ["400"], ["Call-ID: one", "i: two"]),
      invite("RFC 4475 escruri", "fields in the Request-URI", ["400"], uri: "sip:a@127.0.0.1?Route=%3Csip:evil%3E"),
      invite(
        "CVE-2021-37624", "MESSAGE from nowhere", ["405"], ["Content-Type: text/plain"], method: "MESSAGE", body: "x"),
      invite(
        "CVE-2021-41157", "SUBSCRIBE from nowhere", ["405", "489"], ["Event: message-summary"], method: "SUBSCRIBE"),
      invite("AST-2018-004", "PUBLISH from nowhere", ["405", "489"], ["Event: presence"], method: "PUBLISH"),
      invite(
        "pocket-dial #356", "BYE with a guessed Call-ID", ["481"], ["To: <sip:b@127.0.0.1>;tag=x", "Call-ID: known"],
        method: "BYE"),
      invite(
        "ES2021-05", "REFER outside a dialog, to a paid number", ["603", "403", "405"],
        ["Refer-To: <sip:+88213@127.0.0.1>"], method: "REFER"),
      invite(
        "FreeSWITCH fbac12b451", "a comma in Refer-To sets variables", ["603", "400", "403"],
        ["Refer-To: <sip:a@b>,x=y"], method: "REFER"),
      invite(
        "ES2018-05", "a Via list longer than a table", ["silence"],
        (0..<60).map { "Via: SIP/2.0/UDP h\($0);branch=z9hG4bK\($0)" }),
      invite("RFC 5393", "a message that comes back to where it was", ["call", "482", "483"], ["Max-Forwards: 0"]),
      invite(
        "Via reflection", "a Via that points elsewhere, with maddr", ["200"],
        ["Via: SIP/2.0/UDP 203.0.113.9:53;maddr=203.0.113.9;branch=z9hG4bK-1"], method: "OPTIONS"),
      PublishedAttack("CVE-2018-7286", "the same INVITE again and again", "call, silence, silence", "call, , ") {
        let bytes = AttackedAgent.message(["Via: SIP/2.0/TCP 127.0.0.9;branch=z9hG4bK-1"])
        return try AttackedAgent.outcome(bytes, bytes, bytes, over: .tcp)
      },
      PublishedAttack("CANCEL spoof", "CANCEL with a guessed branch", "call, 481") {
        try AttackedAgent.outcome(
          AttackedAgent.message(),
          AttackedAgent.message("CANCEL", ["Via: SIP/2.0/UDP 127.0.0.77;branch=z9hG4bK-2"]))
      },
      PublishedAttack("ES2021-06", "300 INVITEs at once from one stranger", "alive") {
        let agent = AttackedAgent()
        for number in 0..<300 {
          _ = agent.outcome(
            AttackedAgent.message([
              "Call-ID: c\(number)", "Via: SIP/2.0/UDP 127.0.0.9;branch=z9hG4bK-\(number)",
            ]))
        }
        return agent.isAlive ? "alive" : "dead"
      },
    ]
  }
}
