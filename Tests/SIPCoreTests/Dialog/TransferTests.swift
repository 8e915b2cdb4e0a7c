import CallModel
import SIPCore
import Testing

/// REFER in both directions and what is reported about it.
@Suite struct TransferTests {
  private static func seconds(_ value: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: value * 1000) }

  private func fragment(_ text: String, type: String = "message/sipfrag;version=2.0") -> MessageBody {
    MessageBody(contentType: type, bytes: Array(text.utf8))
  }

  @Test func `status lines`() {
    let table: [(String, Int?, String)] = [
      ("SIP/2.0 200 OK\r\n", 200, "OK"), ("SIP/2.0 100 Trying", 100, "Trying"),
      ("\r\nSIP/2.0 486 Busy Here\n", 486, "Busy Here"),
      ("sip/2.0  180  Ringing\r\nTo: <sip:a@b>\r\n\r\n", 180, "Ringing"), ("SIP/2.0 503\r\n", 503, ""),
      ("SIP/2.0 700 No\r\n", nil, ""), ("SIP/2.0 99 No\r\n", nil, ""), ("SIP/2.0 0200 No\r\n", nil, ""), ("", nil, ""),
      ("HTTP/1.1 200 OK\r\n", nil, ""), ("INVITE sip:a@b SIP/2.0\r\n", nil, ""), ("SIP/2.0 200 \u{0}\r\n", nil, ""),
      ("SIP/2.0 200 " + String(repeating: "x", count: 600), nil, ""),
    ]
    for (text, status, phrase) in table {
      let read = StatusFragment(fragment(text))
      #expect(read?.status == status, "\(text)")
      #expect((read?.phrase ?? "") == phrase, "\(text)")
    }
    #expect(StatusFragment(fragment("SIP/2.0 200 OK\r\n", type: "text/plain")) == nil)
    #expect(StatusFragment(status: 180, phrase: "Ring\r\nVia: x").body == fragment("SIP/2.0 180 RingVia: x\r\n"))
  }

  @Test func `Refer-To`() throws {
    let plain = try TransferTarget(parsing: "\"Bob\" <sip:bob@b.example;method=INVITE>")
    #expect(try plain.address.encoded() == "\"Bob\" <sip:bob@b.example>")
    #expect(plain.replaces == nil)
    let attended = try TransferTarget(
      parsing: "<sip:bob@b.example?Replaces=12%40host%3Bto-tag%3D7%3Bfrom-tag%3D9&Subject=x>")
    #expect(try attended.address.encoded() == "<sip:bob@b.example>")
    #expect(attended.replaces == "12@host;to-tag=7;from-tag=9")
    for (text, rule) in [
      ("<sip:bob@b.example;method=BYE>", "referTo.method"),
      ("<sip:bob@b.example?Replaces=12%0D%0A>", "referTo.replaces"),
      ("<sip:bob@b.example?Replaces=12>", "replaces.tag"),
    ] {
      let error = #expect(throws: InvalidValue.self, "\(text)") { try TransferTarget(parsing: text) }
      #expect(error?.rule == rule, "\(text)")
    }
  }

  @Test func `we report until the end, once`() {
    var notifier = TransferNotifier(acceptedAt: .zero)
    let first = notifier.first(at: .zero)
    #expect(first.state == SubscriptionState(.active, expires: 300))
    #expect(first.body == fragment("SIP/2.0 100 Trying\r\n"))
    let ringing = notifier.report(status: 180, phrase: "Ringing", at: Self.seconds(10))
    #expect(ringing?.state == SubscriptionState(.active, expires: 290))
    let invalid = notifier.report(status: 99, phrase: "", at: .zero)
    #expect(invalid == nil)
    let last = notifier.report(status: 200, phrase: "OK", at: Self.seconds(20))
    #expect(last?.state == SubscriptionState(.terminated, reason: "noresource"))
    let late = notifier.report(status: 200, phrase: "OK", at: Self.seconds(20))
    #expect(late == nil && notifier.nextDeadline == nil)

    var slow = TransferNotifier(acceptedAt: .zero)
    let early = slow.advance(to: Self.seconds(299))
    let expired = slow.advance(to: Self.seconds(300))
    #expect(early == nil)
    #expect(expired?.state == SubscriptionState(.terminated, reason: "timeout"))
    #expect(slow.nextDeadline == nil)
  }

  @Test func `we hear reports until the end`() {
    typealias Event = TransferSubscriber.Event
    let active = SubscriptionState(.active, expires: 60)
    let gone = SubscriptionState(.terminated, reason: "noresource")
    let trying = fragment("SIP/2.0 100 Trying\r\n")
    let ok = fragment("SIP/2.0 200 OK\r\n")
    let sequences: [(String, [(SubscriptionState?, MessageBody?, Event)])] = [
      (
        "as usual",
        [
          (active, trying, .progress(status: 100)), (active, trying, .nothing), (gone, ok, .progress(status: 200)),
          (gone, ok, .unknown),
        ]
      ),
      ("final while active", [(active, ok, .progress(status: 200)), (gone, ok, .unknown)]),
      ("no verdict", [(active, nil, .nothing), (gone, nil, .progress(status: 408))]),
      ("ended at 100", [(gone, trying, .progress(status: 408))]),
      ("no Subscription-State", [(nil, ok, .progress(status: 200))]),
    ]
    for (name, steps) in sequences {
      var subscriber = TransferSubscriber(askedAt: .zero)
      for (number, (state, body, event)) in steps.enumerated() {
        #expect(subscriber.notify(state, body: body, at: .zero) == event, "\(name), step \(number + 1)")
      }
    }

    var refused = TransferSubscriber(askedAt: .zero)
    #expect(refused.respond(status: 202) == .nothing)
    #expect(refused.respond(status: 603) == .progress(status: 603))
    #expect(refused.isOver && refused.nextDeadline == nil)

    var silent = TransferSubscriber(askedAt: .zero)
    #expect(silent.nextDeadline == Self.seconds(300))
    _ = silent.notify(SubscriptionState(.active, expires: .max), body: trying, at: Self.seconds(1))
    #expect(silent.nextDeadline == Self.seconds(3_601))
    let early = silent.advance(to: Self.seconds(3_600))
    let expired = silent.advance(to: Self.seconds(3_601))
    #expect(early == nil && expired == .progress(status: 408))
  }
}
