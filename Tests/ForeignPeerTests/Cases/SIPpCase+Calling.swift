import CallModel
import PeerKit
import SIPCore

extension SIPpCase {
  private static let q850 = CallFailure.Reason(protocolName: "Q.850", cause: 16)

  /// Our node calls.
  static let callingCases: [PeerCase] = [
    calling("plain call", "plain", expected: "rings, is answered, ends by our BYE") { call in
      _ = try await call.progress(180)
      return try await answeredThenHungUp(call)
    },
    calling("plain call", "plain", expected: "rings, is answered, ends by our BYE", transport: .tcp),
    calling("peer hangs up", "hangs-up", expected: "BYE answered, its Reason and X- headers reported") { call in
      let answer = try await call.established()
      try require(answer.headers["X-Answer"] == "two hundred", "X-Answer of the 200")
      let end = try await call.ended()
      try require(end.cause == .remote, "the peer hangs up")
      try require(end.reasons.first?.cause == 16, "Reason Q.850;cause=16")
      try require(end.headers["X-Bye"] == "from the peer", "X-Bye of the BYE")
      return "BYE with cause 16 and X-Bye"
    },
    calling(
      "custom headers both ways", "headers", expected: "X- headers in INVITE, 183, 200 and BYE, Reason in BYE",
      plan: { $0.headers = try headers(("X-Order", "4711")) },
      during: { call in
        let progress = try await call.progress(183)
        try require(progress.headers["x-ringing"] == "one eighty", "X-Ringing of the 183")
        let answer = try await call.established()
        try require(answer.headers["x-answer"] == "two hundred", "X-Answer of the 200")
        call.hangUp(HangUp(reasons: [q850], headers: try headers(("X-Order", "4712"))))
        _ = try await call.ended()
        return "all arrived"
      }),
    calling("early media, then other descriptions", "early-media", expected: "each description reported, the last wins")
    { call in
      let early = try await call.progress(183)
      try require(early.body?.text.contains("m=audio 40000") == true, "the description of the 183")
      let ringing = try await call.progress(180)
      try require(ringing.body?.text.contains("m=audio 40002") == true, "the description of the 180")
      let answer = try await call.established()
      try require(answer.body?.text.contains("m=audio 40004") == true, "the description of the 200")
      call.hangUp()
      _ = try await call.ended()
      return "183, 180, 200 with a description each"
    },
    calling("reliable 180", "reliable", expected: "PRACK with the right RAck") { call in
      let progress = try await call.progress(180)
      try require(progress.isReliable, "the 180 is reliable")
      return try await answeredThenHungUp(call)
    },
    calling(
      "100rel required by us", "reliable-required", expected: "Require: 100rel, PRACK, answer in the 183",
      plan: { $0.reliability = .required },
      during: { call in
        let answer = try await call.established()
        try require(answer.body != nil, "the description of the 183 counts")
        call.hangUp()
        _ = try await call.ended()
        return "PRACK, answered"
      }),
    calling("repeated reliable 183", "reliable-twice", expected: "one PRACK, one event") { call in
      try await call.established()
      try require(call.provisionals.count == 1, "one provisional response is reported, not \(call.provisionals.count)")
      return try await answeredThenHungUp(call)
    },
    calling("100rel offered, not used", "unreliable", expected: "no PRACK"),
    calling("407 answered", "proxy-challenge", expected: "ACK, CSeq 2, right digest", plan: credentials("secret")),
    calling("401 answered", "challenge", expected: "ACK, CSeq 2, right digest", plan: credentials("secret")),
    calling(
      "407 without a challenge", "challenge-empty", expected: "no second INVITE, authentication failure",
      plan: credentials("secret"), during: fails(.trunkAuth, status: 407)),
    calling(
      "401, then 403", "challenge-then-forbidden", expected: "one attempt with credentials, then rejected",
      plan: credentials("secret")
    ) { call in
      let end = try await call.ended()
      try require(end.failure?.sipStatus == 403, "403 is reported")
      return "failed: \(end.failure?.code.rawValue ?? "")"
    },
    calling(
      "302 with a bad Contact", "redirects", expected: "fails cleanly", keys: ["contact": "<http://nowhere>"],
      plan: { $0.maximumRedirections = 3 },
      during: { call in
        let end = try await call.ended()
        try require(end.cause == .failed, "the call fails")
        return "failed: \(end.failure?.code.rawValue ?? "")"
      }),
    calling(
      "302 with redirections off", "redirects", expected: "reported as a redirection",
      keys: ["contact": "<sip:other@127.0.0.1:9>"], during: fails(.redirect, status: 302)),
    rejection(486, "Busy Here", .busy),
    rejection(480, "Temporarily Unavailable", nil),
    rejection(603, "Decline", .declined, extra: "Reason: Q.850;cause=21", cause: 21),
    rejection(404, "Not Found", .unallocated),
    rejection(488, "Not Acceptable Here", .media),
    rejection(
      500, "Server Internal Error", nil, extra: "X-Why: a header in a failure",
      header: ("X-Why", "a header in a failure")),
    rejection(503, "Service Unavailable", nil, extra: "Retry-After: 7", retryAfter: 7),
    calling("hung up while it rings", "ringing-cancelled", expected: "CANCEL, 487, ACK") { call in
      _ = try await call.progress(180)
      call.hangUp(HangUp(reasons: [q850]))
      let end = try await call.ended()
      try require(end.cause == .local && !end.wasEstablished, "the call ends by our CANCEL")
      return "CANCEL, 487"
    },
    calling("200 without Contact", "without-contact", expected: "ACK, BYE, failed as broken") { call in
      let end = try await call.ended()
      try require(end.failure?.code == .protocolBroken, "broken, but \(end.failure?.code.rawValue ?? "no failure")")
      return "failed: sip.protocol"
    },
    calling("BYE before the answer", "early-bye", expected: "481, or 200 and the fork is over; nothing hangs") { call in
      _ = try await call.progress(180)
      let isUp = try await call.node.event("answer or end") { event -> Bool? in
        switch event {
        case .established(call.handle, _): true
        case .ended(call.handle, _): false
        default: nil
        }
      }
      call.hangUp()
      _ = try await call.ended()
      return isUp ? "answered after all, hung up" : "ended"
    },
    calling(
      "re-INVITE of the peer", "reinvites", expected: "200 with an answer", during: answered(1, then: "answered")),
    calling("UPDATE of the peer", "updates", expected: "200 with an answer", during: answered(1, then: "answered")),
    calling("hold by the peer", "holds", expected: "answer recvonly", during: answered(1, then: "recvonly")),
    calling(
      "hold twice", "holds-twice", expected: "the same answer twice", during: answered(2, then: "recvonly twice")),
    calling(
      "resume without a description", "resumes-without-description", expected: "offer in the 200, answer in the ACK",
      during: answered(2, then: "offered in the 200")),
    calling("inactive hold", "holds-inactive", expected: "answer inactive", during: answered(1, then: "inactive")),
    calling("transfer asked, off", "refers-refused", expected: "603") { call in
      try await call.established()
      let end = try await call.ended()
      try require(end.cause == .remote, "the peer hangs up after its 603")
      return "603, hung up by the peer"
    },
    calling(
      "transfer asked, on", "refers", expected: "202, NOTIFYs until the end", plan: { $0.allowsTransfer = true },
      during: { call in
        try await call.established()
        try await transferred(call)
        call.hangUp()
        _ = try await call.ended()
        return "202, NOTIFY 100, NOTIFY 200"
      }),
    calling("491 to our re-INVITE", "pending", expected: "again after 2.1 to 4 s") { call in
      try await call.established()
      let start = ContinuousClock.now
      let answer = try await call.offer(SessionText.body("sendonly", version: 2))
      let waited = start.duration(to: call.node.lastEventTime)
      try require(answer?.text.contains("a=recvonly") == true, "the second try is answered")
      try require(waited > .milliseconds(2100) && waited < .milliseconds(4600), "2.1 to 4 s, not \(waited)")
      call.hangUp()
      _ = try await call.ended()
      return "answered at the second try"
    },
    calling("both offer at once", "glare", expected: "491 to the offer of the peer") { call in
      try await call.established()
      let answer = try await call.offer(SessionText.body("sendonly", version: 2))
      try require(answer?.text.contains("a=recvonly") == true, "our offer is answered")
      call.hangUp()
      _ = try await call.ended()
      return "491, ours answered"
    },
    calling("hold by us", "offered", expected: "re-INVITE with sendonly, answer reported") { call in
      try await call.established()
      let answer = try await call.offer(SessionText.body("sendonly", version: 2))
      try require(answer?.text.contains("a=recvonly") == true, "recvonly")
      call.hangUp()
      _ = try await call.ended()
      return "recvonly"
    },
    calling("422 to our INVITE", "interval-too-small", expected: "again with Session-Expires of Min-SE"),
    calling(
      "session timer", "session-timer", expected: "90 s agreed on",
      plan: { $0.sessionTimer = SessionTimerPolicy(interval: 90) }),
    calling(
      "session refreshed by us", "session-refreshed", expected: "UPDATE after 45 s", isLong: true,
      plan: { $0.sessionTimer = SessionTimerPolicy(interval: 90) },
      during: { call in
        try await call.established()
        // Nothing is reported of a refresh: the scenario sees it, half of the interval after the answer.
        _ = try? await call.ended(within: 55)
        call.hangUp()
        _ = try await call.ended()
        return "refreshed"
      }),
    calling(
      "INVITE without a description", "late-offer", expected: "answer in the ACK", plan: { $0.offer = nil },
      during: {
        call in
        try await call.established()
        _ = try await call.offered()
        call.hangUp()
        _ = try await call.ended()
        return "answered in the ACK"
      }),
    calling("INFO of the peer", "sends-info", expected: "200, reported") { call in
      try await call.established()
      let body = try await call.node.event("INFO") { event -> MessageBody? in
        if case .info(call.handle, let body) = event { return body }
        return nil
      }
      try require(body.text.contains("Signal=5"), "the digit")
      call.hangUp()
      _ = try await call.ended()
      return "Signal=5"
    },
    calling(
      "INVITE too large for a datagram", "large", expected: "goes over TCP", transport: .tcp, plan: tooLarge),
    calling(
      "INVITE too large, no TCP there", "plain", expected: "TCP is refused, goes over UDP", plan: tooLarge),
    failover,
    refusedConnection,
    redirected,
  ]

  /// The peer is known by a UDP address only; the description takes more than 1,300 bytes (RFC 3261 section 18.1.1).
  private static let tooLarge: @Sendable (inout OutgoingCall) throws -> Void = { plan in
    plan.offer = SessionText.body(padding: 40)
    plan.target.parameters = []
    guard let path = plan.paths.first else { return }
    let far = TransportAddress(.udp, path.remote.host, port: path.remote.port)
    plan.paths = [SIPPath(listener: ListenerID(1), remote: far)]
  }

  private static func credentials(_ password: String) -> @Sendable (inout OutgoingCall) throws -> Void {
    { $0.account = DigestAccount(username: "alice", password: Redacted(password)) }
  }

  static func transferred(_ call: CallUnderTest) async throws {
    let target = try await call.node.event("transfer asked for") { event -> NameAddress? in
      if case .transferRequested(call.handle, let target, _) = event { return target }
      return nil
    }
    try require(target.uri.user == "carol", "Refer-To names carol")
    call.node.execute(.acceptTransfer(call.handle))
    call.node.execute(.reportTransfer(call.handle, status: 200))
  }

  private static func rejection(
    _ status: Int, _ phrase: String, _ code: CallFailureCode?, extra: String = "Server: peer", cause: Int? = nil,
    header: (name: String, value: String)? = nil, retryAfter: Int? = nil
  ) -> PeerCase {
    calling(
      "\(status) \(phrase)", "rejects", expected: code.map { "failed: \($0.rawValue)" } ?? "failed with its status",
      keys: ["status": String(status), "phrase": phrase, "extra": extra]
    ) { call in
      let end = try await call.ended()
      try require(end.cause == .failed && !end.wasEstablished, "the call fails")
      let failure = end.failure
      try require(failure?.sipStatus == status, "status \(status), but \(failure?.sipStatus ?? 0)")
      if let code { try require(failure?.code == code, "\(code.rawValue), but \(failure?.code.rawValue ?? "none")") }
      if let cause { try require(end.reasons.first?.cause == cause, "Reason with cause \(cause)") }
      if let header { try require(end.headers[header.name] == header.value, "header \(header.name)") }
      if let retryAfter { try require(failure?.retryAfterSeconds == retryAfter, "Retry-After \(retryAfter)") }
      return "failed: \(failure?.code.rawValue ?? "")"
    }
  }

  /// The first trunk says 503, the next one takes the call.
  private static let failover = PeerCase(
    peer: "SIPp", transport: "UDP", "we call: 503, then the next path", expected: "the next path takes the call"
  ) {
    var options = SIPpPeer.Options()
    options.keys = ["status": "503", "phrase": "Service Unavailable", "extra": "Server: peer"]
    let first = try await SIPpPeer(scenario("answer-rejects"), as: .server, options)
    let second = try await SIPpPeer(scenario("answer-plain"), as: .server)
    let node = try await NodeUnderTest.start()
    var plan = try node.plan(to: first.port)
    plan.paths.append(node.path(to: second.port))
    let happened = try await answeredThenHungUp(node.place(plan))
    try await first.succeeds()
    try await second.succeeds()
    await node.stop()
    return "503, " + happened
  }

  /// Nobody listens at the first path.
  private static let refusedConnection = PeerCase(
    peer: "SIPp", transport: "TCP", "we call: connection refused, then the next path",
    expected: "the next path takes the call"
  ) {
    let peer = try await SIPpPeer(scenario("answer-plain"), as: .server)
    let node = try await NodeUnderTest.start()
    var plan = try node.plan(to: peer.port)
    plan.paths.insert(node.path(.tcp, to: try FreePort.next()), at: 0)
    let happened = try await answeredThenHungUp(node.place(plan))
    try await peer.succeeds()
    await node.stop()
    return "refused, " + happened
  }

  /// 302 to another port, followed.
  private static let redirected = PeerCase(
    peer: "SIPp", transport: "UDP", "we call: 302 followed", expected: "the Contact takes the call"
  ) {
    let second = try await SIPpPeer(scenario("answer-plain"), as: .server)
    var options = SIPpPeer.Options()
    options.keys = ["contact": "<sip:other@127.0.0.1:\(second.port)>"]
    let first = try await SIPpPeer(scenario("answer-redirects"), as: .server, options)
    let node = try await NodeUnderTest.start()
    var plan = try node.plan(to: first.port)
    plan.maximumRedirections = 3
    let happened = try await answeredThenHungUp(node.place(plan))
    try await first.succeeds()
    try await second.succeeds()
    await node.stop()
    return "302, " + happened
  }
}
