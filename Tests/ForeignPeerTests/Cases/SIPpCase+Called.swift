import CallModel
import PeerKit
import SIPCore

extension SIPpCase {
  /// SIPp calls.
  static let calledCases: [PeerCase] = [
    called("plain call", "plain", expected: "taken, ended by the peer"),
    called("plain call", "plain", expected: "taken, ended by the peer", transport: .tcp),
    called("plain call", "plain", expected: "taken, ended by the peer", isIPv6: true),
    called("custom headers both ways", "hung-up-on", expected: "X- headers in INVITE, 180, 200 and BYE, Reason in BYE")
    {
      node in
      let (call, incoming) = try await node.incoming()
      try require(incoming.headers["X-Order"] == "4711", "X-Order of the INVITE")
      call.ring(headers: try headers(("X-Ringing", "one eighty")))
      call.accept(headers: try headers(("X-Answer", "two hundred")))
      try await call.established()
      call.hangUp(
        HangUp(
          reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 16)],
          headers: try headers(("X-Bye", "from the gateway"))))
      let end = try await call.ended()
      try require(end.cause == .local, "the call ends by our BYE")
      return "all arrived"
    },
    called("peer cancels while it rings", "cancels", expected: "200 to CANCEL, 487 to INVITE, reported") { node in
      let (call, _) = try await node.incoming()
      call.ring()
      let end = try await call.ended()
      try require(end.cause == .remote && !end.wasEstablished, "the peer gives up")
      return "487"
    },
    called(
      "100rel required by the peer", "reliable", expected: "RSeq, PRACK, then 200", during: ringReliablyThenAccept),
    called("PRACK without RAck", "prack-without-rack", expected: "400", during: ringReliablyThenAccept),
    called("INVITE without a description", "late-offer", expected: "offer in the 200, answer in the ACK") { node in
      let (call, incoming) = try await node.incoming()
      try require(incoming.offer == nil, "there is no offer")
      call.accept()
      try await call.established()
      let answer = try await node.event("answer in the ACK") { event -> MessageBody? in
        if case .answered(call.handle, _, let body) = event { return body }
        return nil
      }
      try require(answer.text.contains("m=audio"), "a description")
      _ = try await call.ended()
      return "answered in the ACK"
    },
    called("4 kB of description", "large", expected: "taken"),
    called("4 kB of description", "large", expected: "taken", transport: .tcp),
    called("UTF-8 display name", "utf8", expected: "reported unharmed") { node in
      let (call, incoming) = try await node.incoming()
      let name = incoming.caller.presented?.displayName ?? ""
      try require(name == "Žluťoučký kůň 日本", "the display name, not \(name)")
      call.accept()
      _ = try await call.ended()
      return "Žluťoučký kůň 日本"
    },
    called("user part of 600 characters", "long-uri", expected: "taken, or 414") { node in
      let outcome = try await node.event("call or refusal", within: 20) { event -> CallHandle? in
        if case .incoming(let handle, _) = event { return handle }
        return nil
      }
      let call = CallUnderTest(node: node, handle: outcome)
      call.accept()
      _ = try await call.ended()
      return "taken"
    },
    called("INVITE without Contact", "without-contact", expected: "400") { node in
      try require(node.events().isEmpty, "nothing is reported")
      return "400"
    },
    called("Session-Expires of 60", "interval-too-small", expected: "422 with Min-SE: 90, then agreed"),
    called("session timer", "session-timer", expected: "90 s, refreshed by us, agreed on"),
    called(
      "session refreshed by us", "session-refreshed", expected: "UPDATE after 45 s", isLong: true
    ) { node in
      let (call, _) = try await node.incoming()
      call.accept()
      _ = try await call.ended(within: 70)
      return "refreshed"
    },
    called("session refreshed by the peer", "refreshes", expected: "UPDATE and re-INVITE answered with the timer"),
    called(
      "session not refreshed by the peer", "never-refreshes", expected: "BYE before it runs out", isLong: true
    ) { node in
      let (call, _) = try await node.incoming()
      call.accept()
      let end = try await call.ended(within: 100)
      try require(end.cause != .remote, "ended by us, not \(end.cause)")
      return "BYE, \(end.cause)"
    },
    called("hold and resume", "holds", expected: "recvonly, then sendrecv", during: taken(offers: 2)),
    called(
      "re-INVITE without a description", "empty-reinvite", expected: "full offer in the 200", during: taken(offers: 1)),
    called("UPDATE before the answer", "updates-early", expected: "200 with an answer") { node in
      let (call, incoming) = try await node.incoming()
      call.ring(183, body: SessionText.answer(to: incoming.offer))
      _ = try await call.offered()
      call.accept(nil)
      _ = try await call.ended()
      return "answered while it rang"
    },
    called("hold by UPDATE", "updates", expected: "recvonly", during: taken(offers: 1)),
    called("UPDATE outside of a dialog", "updates-outside", expected: "481") { _ in "481" },
    called("Max-Forwards 0", "last-hop", expected: "taken, or 483") { node in
      let (call, _) = try await node.incoming(within: 20)
      call.accept()
      _ = try await call.ended()
      return "taken"
    },
    called("OPTIONS", "options", expected: "200 with Allow, Accept, Supported") { _ in "200" },
    called(
      "OPTIONS", "options", expected: "200 with Allow, Accept, Supported", transport: .tcp
    ) { _ in "200" },
    called(
      "transfer asked", "refers", expected: "202, NOTIFYs until the end", allowsTransfer: true
    ) { node in
      let (call, _) = try await node.incoming()
      call.accept()
      try await call.established()
      try await transferred(call)
      _ = try await call.ended()
      return "202, NOTIFY 100, NOTIFY 200"
    },
    called("both hang up at once", "bye-glare", expected: "200 or 481 to the BYE of the peer") { node in
      let (call, _) = try await node.incoming()
      call.accept()
      try await call.established()
      call.hangUp()
      _ = try await call.ended()
      return "ended once"
    },
    called("Route that names us", "preloaded-route", expected: "taken"),
    called("Record-Route of two proxies", "record-route", expected: "copied, and our BYE follows it") { node in
      let (call, _) = try await node.incoming()
      call.accept()
      try await call.established()
      call.hangUp()
      _ = try await call.ended()
      return "BYE with both Routes"
    },
    called("re-INVITE to T.38", "fax", expected: "488, the call stays up", during: taken(offers: 1)),
    called("603 with headers", "rejected", expected: "X- and Reason in the 603") { node in
      let (call, _) = try await node.incoming()
      var rejection = Rejection(603)
      rejection.reasons = [CallFailure.Reason(protocolName: "Q.850", cause: 21)]
      rejection.headers = try headers(("X-Reject", "no thanks"))
      call.reject(rejection)
      _ = try await call.ended()
      return "603"
    },
    called("488 acknowledged", "rejected-and-acknowledged", expected: "the ACK ends it, nothing is repeated") { node in
      let (call, _) = try await node.incoming()
      var rejection = Rejection(488)
      rejection.warning = "304 gateway \"Media type not available\""
      call.reject(rejection)
      _ = try await call.ended()
      return "488"
    },
    called("302 by us", "redirected", expected: "Contact in the 302") { node in
      let (call, _) = try await node.incoming()
      var rejection = Rejection(302)
      rejection.contacts = [NameAddress(try SIPURI(parsing: "sip:elsewhere@example.test"))]
      call.reject(rejection)
      _ = try await call.ended()
      return "302"
    },
    called("491 to our re-INVITE", "glare", expected: "again after 0 to 2 s: we do not own the call") { node in
      let (call, _) = try await node.incoming()
      call.accept()
      try await call.established()
      let start = ContinuousClock.now
      let answer = try await call.offer(SessionText.body("sendonly", version: 2))
      let waited = start.duration(to: call.node.lastEventTime)
      try require(answer?.text.contains("a=recvonly") == true, "the second try is answered")
      try require(waited < .milliseconds(2600), "within 2 s, not \(waited)")
      call.hangUp()
      _ = try await call.ended()
      return "answered at the second try"
    },
  ]

  /// Many calls at a time.
  static let crowdCases: [PeerCase] = [SIPpPeer.Transport.udp, .tcp].flatMap { transport in
    [
      PeerCase(
        peer: "SIPp", transport: transport.rawName, "it calls: 200 times, 100 a second",
        expected: "all taken, all ended"
      ) {
        var settings = NodeUnderTest.Settings()
        settings.takesCalls = true
        let node = try await NodeUnderTest.start(settings)
        var options = SIPpPeer.Options()
        options.transport = transport
        options.calls = 200
        options.abortsOnUnexpected = false
        let peer = try await SIPpPeer(scenario("call-plain"), as: .client(target: node.port), options)
        try await peer.succeeds(within: 60)
        try await node.ended(200)
        await node.stop()
        return "200 taken, 200 ended"
      },
      PeerCase(
        peer: "SIPp", transport: transport.rawName, "we call: 100 times at once", expected: "all answered, all ended"
      ) {
        var options = SIPpPeer.Options()
        options.transport = transport
        options.calls = 100
        options.abortsOnUnexpected = false
        let peer = try await SIPpPeer(scenario("answer-hangs-up"), as: .server, options)
        let node = try await NodeUnderTest.start()
        let plan = try node.plan(to: peer.port, transport == .udp ? .udp : .tcp)
        for _ in 0..<100 { _ = node.place(plan) }
        try await peer.succeeds(within: 60)
        try await node.ended(100)
        await node.stop()
        return "100 answered, 100 ended"
      },
    ]
  }

  /// Accepts at once after a reliable 183 with the answer: the 200 waits for the PRACK (RFC 3262 section 3).
  private static let ringReliablyThenAccept: @Sendable (NodeUnderTest) async throws -> String = { node in
    let (call, incoming) = try await node.incoming()
    call.ring(183, body: SessionText.answer(to: incoming.offer))
    call.accept(nil)
    try await call.established()
    _ = try await call.ended()
    return "answered after the PRACK"
  }

  private static func taken(offers: Int) -> @Sendable (NodeUnderTest) async throws -> String {
    { node in
      let (call, _) = try await node.incoming()
      call.accept()
      try await call.established()
      _ = try await call.offered(offers)
      let end = try await call.ended()
      try require(end.cause == .remote && end.wasEstablished, "the peer hangs up")
      return "\(offers) answered, call stayed up"
    }
  }
}
