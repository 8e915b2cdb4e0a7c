import SIPCore

/// Lengths that two ends read differently, and connections that hold memory.
extension PublishedAttack {
  /// `2 messages`, `closed: gate.contentLength`, `waits with 120 bytes`.
  private static func frames(_ pieces: [[UInt8]]) -> String {
    var framer = StreamFramer(role: .accepted)
    var events: [StreamFramer.Event] = []
    for piece in pieces { framer.receive(piece, into: &events) }
    var messages = 0
    for event in events {
      switch event {
      case .message: messages += 1
      case .refusal(let refusal): return "closed: \(refusal.rule.rawValue)"
      case .ping, .pong: continue
      }
    }
    if framer.bufferedBytes > 0 {
      return framer.bufferedBytes <= GateLimits.standard.streamBytes ? "waits within the limit" : "grows"
    }
    return "\(messages) messages"
  }

  private static func length(_ source: String, _ title: String, _ text: String, _ outcomes: String...)
    -> PublishedAttack
  {
    PublishedAttack(source, title, Set(outcomes)) {
      frames([
        AttackedAgent.message(["Content-Length: \(text)", "Content-Type: a/b"], body: "x".times(32)),
        AttackedAgent.message("BYE"),
      ])
    }
  }

  static var framing: [PublishedAttack] {
    [
      length(
        "CVE-2026-23457", "Content-Length of 2^32 + 32", "4294967328", "closed: gate.contentLength",
        "closed: gate.bodyBytes"),
      length(
        "GHSA-pg59-5vwg-4jxq", "Content-Length of two gigabytes", "2147483647", "closed: gate.contentLength",
        "closed: gate.bodyBytes"),
      length("CVE-2026-49840", "a negative Content-Length", "-5", "closed: gate.contentLength"),
      length("libosip2", "Content-Length with a sign", "+32", "closed: gate.contentLength"),
      length("libosip2", "Content-Length with letters behind", "32abc", "closed: gate.contentLength"),
      length("request smuggling", "Content-Length as two numbers", "32, 32", "closed: gate.contentLength"),
      length("request smuggling", "Content-Length in sixteens", "0x20", "closed: gate.contentLength"),
      length("request smuggling", "an empty Content-Length", "", "closed: gate.contentLength"),
      PublishedAttack(
        "request smuggling", "two Content-Length fields that differ", "closed: gate.contentLengthRepeated"
      ) {
        frames([AttackedAgent.message(["Content-Length: 0", "l: 400"]), AttackedAgent.message("BYE")])
      },
      PublishedAttack("request smuggling", "no Content-Length on a stream", "closed: gate.contentLengthMissing") {
        frames([AttackedAgent.message(without: ["Content-Length"]), AttackedAgent.message("BYE")])
      },
      PublishedAttack(
        "GHSA-j5j8-rhcm-7fp9", "a head without an end", "closed: gate.headUnterminated", "closed: gate.messageBytes",
        "closed: gate.lineBytes", "closed: gate.lineCount"
      ) {
        frames(
          [Array("INVITE sip:a@b SIP/2.0\r\n".utf8)]
            + Array(repeating: Array("X: \("y".times(1000))\r\n".utf8), count: 400))
      },
      PublishedAttack(
        "FreeSWITCH a097e12421", "one line without an end", "closed: gate.lineBytes", "closed: gate.messageBytes",
        "closed: gate.headUnterminated"
      ) {
        frames([Array("INVITE ".utf8)] + Array(repeating: Array("a".times(4096).utf8), count: 60))
      },
      PublishedAttack("AST-2016-005", "a megabyte of line breaks", "0 messages") {
        frames(Array(repeating: Array("\r\n".times(512).utf8), count: 1000))
      },
      PublishedAttack("CVE-2020-28327", "a message cut off in its body", "waits within the limit") {
        frames([Array(AttackedAgent.message(["Content-Length: 4000", "Content-Type: a/b"], body: "x"))])
      },
      PublishedAttack(
        "nDPI http_on_sip_port", "HTTP on the SIP port", "closed: gate.notSIP", "closed: gate.startLine",
        "closed: gate.version", "closed: gate.contentLengthMissing"
      ) {
        frames([Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)])
      },
    ]
  }
}
