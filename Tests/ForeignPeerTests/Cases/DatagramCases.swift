import CallModel
import Foundation
import PeerKit
import SIPCore

/// Cases with a peer of our own that loses, repeats, forks and races, which no scenario of SIPp can.
enum DatagramCases {
  private static let description = """
    v=0\r
    o=peer 7 1 IN IP4 127.0.0.1\r
    s=-\r
    c=IN IP4 127.0.0.1\r
    t=0 0\r
    m=audio 40000 RTP/AVP 0\r
    a=rtpmap:0 PCMU/8000\r

    """

  /// A description with another port.
  private static func description(port: Int, _ direction: String = "sendrecv") -> String {
    description.replacing("40000", with: String(port)) + "a=\(direction)\r\n"
  }

  private static func make(
    _ name: String, expected: String, isLong: Bool = false,
    settings: @escaping @Sendable (inout NodeUnderTest.Settings) -> Void = { _ in },
    _ body: @escaping @Sendable (NodeUnderTest, DatagramPeer) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "datagrams", transport: "UDP", name, expected: expected, isLong: isLong) {
      var chosen = NodeUnderTest.Settings()
      settings(&chosen)
      let node = try await NodeUnderTest.start(chosen)
      let peer = try DatagramPeer(target: node.port)
      let happened: String
      do { happened = try await body(node, peer) } catch {
        await node.stop()
        let transcript = peer.messages().map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n--\n")
        throw PeerFailure("\(error); node: \(node.summary)\n\(transcript)")
      }
      await node.stop()
      return happened
    }
  }

  // MARK: - Our node calls

  static let callingCases: [PeerCase] = [
    make("first INVITE lost", expected: "the same INVITE again after 0.5 s") { node, peer in
      let start = ContinuousClock.now
      let call = node.place(try node.plan(to: peer.port))
      let first = try await peer.request("INVITE")
      let second = try await peer.request("INVITE")
      let waited = start.duration(to: .now)
      try require(first.bytes == second.bytes, "both are the same")
      try require(waited > .milliseconds(495) && waited < .seconds(5), "T1, not \(waited)")
      try peer.respond(200, "OK", to: second, tag: "a", description: description)
      _ = try await peer.request("ACK")
      return try await hangUp(call, peer)
    },
    make("200 repeated", expected: "an ACK each, one answer") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      for _ in 0..<3 {
        try peer.respond(200, "OK", to: invite, tag: "a", description: description)
        _ = try await peer.request("ACK")
      }
      try require(call.timesEstablished == 1, "one answer is reported")
      return "3 ACKs, " + (try await hangUp(call, peer))
    },
    make("100, then silence", expected: "no INVITE again") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      try peer.respond(100, "Trying", to: invite, tag: nil)
      _ = try await node.event("100") { if case .trying = $0 { true } else { nil } }
      try await peer.stays(without: "INVITE", for: 1.2) { $0.method == "INVITE" }
      try peer.respond(200, "OK", to: invite, tag: "a", description: description)
      _ = try await peer.request("ACK")
      return "quiet, " + (try await hangUp(call, peer))
    },
    make("hung up before any response", expected: "CANCEL waits for a response, then the same branch") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      call.hangUp()
      try await peer.stays(without: "CANCEL", for: 0.3) { $0.method == "CANCEL" }
      try peer.respond(180, "Ringing", to: invite, tag: "a")
      let cancel = try await peer.request("CANCEL")
      try require(cancel.branch == invite.branch, "the branch of the INVITE")
      try require(cancel.requestURI == invite.requestURI && cancel["To"] == invite["To"], "the same URI and To")
      try peer.respond(200, "OK", to: cancel, tag: "a")
      try peer.respond(487, "Request Terminated", to: invite, tag: "a")
      _ = try await peer.request("ACK")
      let end = try await call.ended()
      try require(end.cause == .local, "ended by us")
      return "CANCEL, 487, ACK"
    },
    make("200 crosses our CANCEL", expected: "ACK, then BYE") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      try peer.respond(180, "Ringing", to: invite, tag: "a")
      _ = try await call.progress(180)
      call.hangUp()
      let cancel = try await peer.request("CANCEL")
      try peer.respond(200, "OK", to: invite, tag: "a", description: description)
      try peer.respond(200, "OK", to: cancel, tag: "a")
      _ = try await peer.request("ACK")
      let bye = try await peer.request("BYE")
      try peer.respond(200, "OK", to: bye, tag: nil)
      let end = try await call.ended()
      try require(end.cause == .local && call.timesEstablished == 0, "it never was answered for us")
      return "ACK, BYE"
    },
    make("two forks answer", expected: "ACK to both, BYE to the second, one answer") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      try peer.respond(180, "Ringing", to: invite, tag: "a")
      try peer.respond(180, "Ringing", to: invite, tag: "b")
      try peer.respond(200, "OK", to: invite, tag: "a", description: description)
      try peer.respond(200, "OK", to: invite, tag: "b", description: description)
      _ = try await peer.next("ACK to a") { $0.method == "ACK" && $0.toTag == "a" }
      _ = try await peer.next("ACK to b") { $0.method == "ACK" && $0.toTag == "b" }
      let bye = try await peer.next("BYE to b") { $0.method == "BYE" && $0.toTag == "b" }
      try peer.respond(200, "OK", to: bye, tag: nil)
      try require(call.timesEstablished == 1, "one answer is reported")
      return "BYE to the second, " + (try await hangUp(call, peer))
    },
    make("each fork rings for itself", expected: "the description of the fork that answers counts") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      try peer.respond(183, "Session Progress", to: invite, tag: "a", description: description(port: 40100))
      try peer.respond(
        183, "Session Progress", to: invite, tag: "b", headers: [("Require", "100rel"), ("RSeq", "5")],
        description: description(port: 40200))
      let prack = try await peer.request("PRACK")
      try require(prack.toTag == "b" && prack["RAck"]?.hasPrefix("5 ") == true, "PRACK in the dialog of b")
      try peer.respond(200, "OK", to: prack, tag: nil)
      // The description came in the reliable 183; this peer does not repeat it.
      try peer.respond(200, "OK", to: invite, tag: "b")
      let answer = try await call.established()
      try require(answer.body?.text.contains("40200") == true, "the description of b")
      let ack = try await peer.request("ACK")
      try require(ack.toTag == "b", "ACK to b")
      return "b won, " + (try await hangUp(call, peer))
    },
    make("our BYE lost", expected: "BYE again until it is answered") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      try peer.respond(200, "OK", to: invite, tag: "a", description: description)
      _ = try await peer.request("ACK")
      call.hangUp()
      let first = try await peer.request("BYE")
      let second = try await peer.request("BYE")
      try require(first.bytes == second.bytes, "both are the same")
      try peer.respond(200, "OK", to: second, tag: nil)
      try await peer.stays(without: "BYE", for: 1.2) { $0.method == "BYE" }
      return "BYE twice"
    },
    make("routes of the answer", expected: "ACK and BYE follow Record-Route to the Contact") { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let invite = try await peer.request("INVITE")
      var response = peer.response(
        200, "OK", to: invite, tag: "a", headers: [("Contact", "<sip:far@192.0.2.9:5999>")], description: description)
      response.headers.append(.init(name: "Record-Route", value: "<sip:127.0.0.1:\(peer.port);lr;hop=far>"))
      response.headers.append(.init(name: "Record-Route", value: "<sip:127.0.0.1:\(peer.port);lr;hop=near>"))
      try peer.send(response)
      for method in ["ACK", "BYE"] {
        let request = try await peer.request(method)
        try require(request.requestURI == "sip:far@192.0.2.9:5999", "\(method) to the Contact")
        let routes = request.values("Route").joined(separator: ",")
        let near = routes.range(of: "hop=near")
        let far = routes.range(of: "hop=far")
        guard let near, let far else { throw PeerFailure("\(method) has no Route: \(routes)") }
        try require(near.lowerBound < far.lowerBound, "\(method): the near hop first")
        if method == "ACK" { call.hangUp() } else { try peer.respond(200, "OK", to: request, tag: nil) }
      }
      return "near, far"
    },
    make(
      "two re-INVITEs of the peer at once", expected: "500 with Retry-After or 491 to the second",
      settings: { $0.answersOffers = false },
      {
        node, peer in
        let call = node.place(try node.plan(to: peer.port))
        let invite = try await peer.request("INVITE")
        try peer.respond(200, "OK", to: invite, tag: "a", description: description)
        let ack = try await peer.request("ACK")
        func reinvite(_ number: Int) throws -> PeerMessage {
          let message = peer.message(
            "INVITE", to: invite.contactURI ?? "", from: ack["To"] ?? "", toHeader: ack["From"] ?? "",
            callID: invite["Call-ID"] ?? "", cseq: number, description: description(port: 40_000 + 2 * number))
          try peer.send(message)
          return message
        }
        _ = try reinvite(1)
        let (exchange, _) = try await call.offered()
        let second = try reinvite(2)
        let refusal = try await peer.next("refusal of the second") {
          $0["CSeq"] == "2 INVITE" && ($0.status ?? 0) >= 300
        }
        let hasAdvice = refusal.status == 491 || refusal.status == 500 && refusal["Retry-After"] != nil
        try require(hasAdvice, "500 with Retry-After or 491, not \(refusal.startLine)")
        try peer.send(
          peer.message(
            "ACK", to: invite.contactURI ?? "", from: second["From"] ?? "", toHeader: refusal["To"] ?? "",
            callID: invite["Call-ID"] ?? "", cseq: 2, branch: second.branch))
        node.execute(.answer(exchange, SessionText.body(version: 2)))
        let success = try await peer.next("200 to the first") { $0["CSeq"] == "1 INVITE" && $0.status == 200 }
        try peer.send(
          peer.message(
            "ACK", to: invite.contactURI ?? "", from: ack["To"] ?? "", toHeader: success["To"] ?? "",
            callID: invite["Call-ID"] ?? "", cseq: 1))
        return "\(refusal.status ?? 0), " + (try await hangUp(call, peer))
      }),
    make("no answer at all", expected: "INVITE 7 times, then failed after 32 s", isLong: true) { node, peer in
      let call = node.place(try node.plan(to: peer.port))
      let end = try await call.ended(within: 40)
      try require(end.cause == .failed, "failed")
      let invites = peer.messages().count { $0.method == "INVITE" }
      try require(invites == 7, "7 INVITEs, not \(invites)")
      return "failed: \(end.failure?.code.rawValue ?? "")"
    },
  ]

  private static func hangUp(_ call: CallUnderTest, _ peer: DatagramPeer) async throws -> String {
    try await call.established()
    call.hangUp()
    let bye = try await peer.request("BYE")
    try peer.respond(200, "OK", to: bye, tag: nil)
    let end = try await call.ended()
    try require(end.cause == .local && end.wasEstablished, "the call ends by our BYE")
    return "BYE"
  }

  // MARK: - Our node is called

  /// A call of the peer, as far as the test got with it.
  private struct Call {
    let peer: DatagramPeer
    let invite: PeerMessage
    let uri: String

    init(_ peer: DatagramPeer, _ node: NodeUnderTest, headers: [(String, String)] = []) {
      self.peer = peer
      uri = "sip:service@127.0.0.1:\(node.port)"
      invite = peer.message(
        "INVITE", to: uri, from: "<sip:peer@127.0.0.1:\(peer.port)>;tag=p", toHeader: "<\(uri)>",
        callID: "c\(peer.port)", cseq: 1, headers: headers, description: DatagramCases.description)
    }

    func request(
      _ method: String, after response: PeerMessage, cseq: Int, branch: String? = nil, description: String? = nil
    ) -> PeerMessage {
      peer.message(
        method, to: response.contactURI ?? uri, from: invite["From"] ?? "", toHeader: response["To"] ?? "",
        callID: invite["Call-ID"] ?? "", cseq: cseq, branch: branch, description: description)
    }

    func acknowledge(_ response: PeerMessage) throws {
      let isSuccess = response.status == 200
      try peer.send(request("ACK", after: response, cseq: 1, branch: isSuccess ? nil : invite.branch))
    }

    func hangUp(after response: PeerMessage, cseq: Int = 2) async throws {
      try peer.send(request("BYE", after: response, cseq: cseq))
      _ = try await peer.response(200, to: "BYE")
    }
  }

  static let calledCases: [PeerCase] = [
    make("our 200 lost", expected: "200 again after 0.5 s, one answer, quiet after the ACK") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      let start = ContinuousClock.now
      call.accept()
      let first = try await peer.response(200, to: "INVITE")
      let second = try await peer.response(200, to: "INVITE")
      let waited = start.duration(to: .now)
      try require(first.bytes == second.bytes, "both are the same")
      try require(waited > .milliseconds(495) && waited < .seconds(5), "T1, not \(waited)")
      try peerCall.acknowledge(second)
      try await call.established()
      try await peer.stays(without: "200", for: 1.2) { $0.status == 200 }
      try require(call.timesEstablished == 1, "one answer is reported")
      try await peerCall.hangUp(after: second)
      return "200 twice"
    },
    make("our 503 lost", expected: "503 again until its ACK") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.reject(Rejection(503, retryAfterSeconds: 9))
      let first = try await peer.response(503, to: "INVITE")
      try require(first["Retry-After"]?.hasPrefix("9") == true, "Retry-After")
      let second = try await peer.response(503, to: "INVITE")
      try peerCall.acknowledge(second)
      try await peer.stays(without: "503", for: 1.2) { $0.status == 503 }
      return "503 twice"
    },
    make("INVITE repeated", expected: "the same response again, one call") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.ring()
      let first = try await peer.response(180, to: "INVITE")
      try peer.send(peerCall.invite)
      let second = try await peer.response(180, to: "INVITE")
      try require(first.bytes == second.bytes, "both are the same")
      let calls = node.events().count { if case .incoming = $0 { true } else { false } }
      try require(calls == 1, "one call is reported")
      call.accept()
      let answer = try await peer.response(200, to: "INVITE")
      try peerCall.acknowledge(answer)
      try await peerCall.hangUp(after: answer)
      return "180 twice, one call"
    },
    make("INVITE came by two ways", expected: "482 to the second (RFC 3261 section 8.2.2.2)") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      var merged = peerCall.invite
      merged.headers[0].value = "SIP/2.0/UDP 127.0.0.1:\(peer.port);branch=\(peer.newBranch());rport"
      try peer.send(merged)
      _ = try await peer.response(482, to: "INVITE")
      call.reject(Rejection(486))
      _ = try await peer.response(486, to: "INVITE")
      return "482"
    },
    make("CANCEL after our 200", expected: "200 to the CANCEL, the call stays up") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.accept()
      let answer = try await peer.response(200, to: "INVITE")
      try peer.send(
        peer.message(
          "CANCEL", to: peerCall.uri, from: peerCall.invite["From"] ?? "", toHeader: peerCall.invite["To"] ?? "",
          callID: peerCall.invite["Call-ID"] ?? "", cseq: 1, branch: peerCall.invite.branch))
      _ = try await peer.next("answer to the CANCEL") {
        $0["CSeq"] == "1 CANCEL" && ($0.status == 200 || $0.status == 481)
      }
      try peerCall.acknowledge(answer)
      try await call.established()
      try await peerCall.hangUp(after: answer)
      return "up, then BYE"
    },
    make("CANCEL of nothing", expected: "481") { node, peer in
      let uri = "sip:service@127.0.0.1:\(node.port)"
      try peer.send(
        peer.message(
          "CANCEL", to: uri, from: "<sip:peer@127.0.0.1>;tag=p", toHeader: "<\(uri)>", callID: "nobody", cseq: 1))
      _ = try await peer.response(481, to: "CANCEL")
      return "481"
    },
    make("OPTIONS as proxies send it", expected: "200: no user, no Contact") { node, peer in
      var ping = peer.message(
        "OPTIONS", to: "sip:127.0.0.1:\(node.port)", from: "<sip:dispatcher@localhost>;tag=p",
        toHeader: "<sip:127.0.0.1:\(node.port)>", callID: "ping", cseq: 10)
      ping.headers.removeAll { $0.name == "Contact" }
      try peer.send(ping)
      _ = try await peer.response(200, to: "OPTIONS")
      return "200"
    },
    make("NOTIFY as a keep-alive", expected: "any final response") { node, peer in
      let uri = "sip:127.0.0.1:\(node.port)"
      try peer.send(
        peer.message(
          "NOTIFY", to: uri, from: "<sip:ping@localhost>;tag=p", toHeader: "<\(uri)>", callID: "keepalive", cseq: 1,
          headers: [("Event", "keep-alive"), ("Subscription-State", "active")]))
      let answer = try await peer.next("final response") { ($0.status ?? 0) >= 200 }
      return "\(answer.status ?? 0)"
    },
    make("option that nobody knows", expected: "420 with Unsupported") { node, peer in
      let peerCall = Call(peer, node, headers: [("Require", "teleport")])
      try peer.send(peerCall.invite)
      let refusal = try await peer.response(420, to: "INVITE")
      try require(refusal["Unsupported"] == "teleport", "Unsupported: teleport")
      try peerCall.acknowledge(refusal)
      return "420"
    },
    make("method that nobody knows", expected: "405 or 501 with Allow") { node, peer in
      let uri = "sip:service@127.0.0.1:\(node.port)"
      try peer.send(
        peer.message(
          "TELEPORT", to: uri, from: "<sip:peer@127.0.0.1>;tag=p", toHeader: "<\(uri)>", callID: "t", cseq: 1))
      let refusal = try await peer.next("405 or 501") { $0.status == 405 || $0.status == 501 }
      try require(refusal["Allow"]?.contains("INVITE") == true, "Allow")
      return "\(refusal.status ?? 0)"
    },
    make("BYE of no dialog", expected: "481") { node, peer in
      let uri = "sip:service@127.0.0.1:\(node.port)"
      try peer.send(
        peer.message(
          "BYE", to: uri, from: "<sip:peer@127.0.0.1>;tag=p", toHeader: "<\(uri)>;tag=q", callID: "b", cseq: 1))
      _ = try await peer.response(481, to: "BYE")
      return "481"
    },
    make("body that nobody can read", expected: "415 with Accept") { node, peer in
      let uri = "sip:service@127.0.0.1:\(node.port)"
      var invite = peer.message(
        "INVITE", to: uri, from: "<sip:peer@127.0.0.1>;tag=p", toHeader: "<\(uri)>", callID: "body", cseq: 1,
        headers: [("Content-Type", "application/x-drawing")])
      invite.body = "scribble"
      try peer.send(invite)
      let refusal = try await peer.response(415, to: "INVITE")
      try require(refusal["Accept"]?.contains("application/sdp") == true, "Accept: application/sdp")
      return "415"
    },
    make("CSeq runs backwards", expected: "500") { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.accept()
      let answer = try await peer.response(200, to: "INVITE")
      try peerCall.acknowledge(answer)
      try await call.established()
      try peer.send(peerCall.request("INFO", after: answer, cseq: 7))
      _ = try await peer.next("answer to the INFO") { $0["CSeq"] == "7 INFO" }
      try peer.send(peerCall.request("INFO", after: answer, cseq: 5))
      let refusal = try await peer.next("answer to the old INFO") { $0["CSeq"] == "5 INFO" }
      try require(refusal.status == 500, "500, not \(refusal.startLine)")
      try await peerCall.hangUp(after: answer, cseq: 8)
      return "500"
    },
    make("no ACK to our 200", expected: "200 until 32 s, then BYE, failed", isLong: true) { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.accept()
      let bye = try await peer.request("BYE", within: 40)
      try peer.respond(200, "OK", to: bye, tag: nil)
      let end = try await call.ended()
      try require(end.cause == .failed, "failed, not \(end.cause)")
      let answers = peer.messages().count { $0.status == 200 }
      try require(answers >= 10 && answers <= 12, "11 times 200, not \(answers)")
      return "\(answers) times 200, BYE"
    },
    make("no ACK to our 486", expected: "486 until 32 s, then nothing", isLong: true) { node, peer in
      let peerCall = Call(peer, node)
      try peer.send(peerCall.invite)
      let (call, _) = try await node.incoming()
      call.reject(Rejection(486))
      _ = try await call.ended()
      let deadline = Deadline(seconds: 34)
      while peer.messages().count(where: { $0.status == 486 }) < 11, !deadline.hasPassed {
        try await Task.sleep(for: .milliseconds(100))
      }
      let responses = peer.messages().count { $0.status == 486 }
      try require(responses >= 10 && responses <= 12, "11 times 486, not \(responses)")
      try await peer.stays(without: "486", for: 5) { $0.status == 486 }
      return "\(responses) times 486"
    },
  ]
}
