import CallModel
import Foundation
import SIPCore
import Testing

/// What the builder writes, read back.
struct BuilderTests {
  static let path = SIPPath(
    listener: ListenerID(1), remote: TransportAddress(.udp, .ipv4(0xC000_0209), port: 40_000))

  static func via() -> Via {
    Via(
      transport: "UDP", host: .ipv4(0xC000_0201), port: 5060,
      parameters: [SIPParameter("branch", "z9hG4bK1"), SIPParameter("rport")])
  }

  static func request(_ user: String = "alice") throws -> OutgoingRequest {
    let target = SIPURI(
      scheme: .sip, user: user, host: .name("example.com"), parameters: [SIPParameter("user", "phone")])
    return OutgoingRequest(
      .invite, uri: target,
      routes: [NameAddress(try SIPURI(parsing: "sip:proxy.example.com;lr"))],
      from: NameAddress(
        try SIPURI(parsing: "sip:+46701234567@[2001:db8::1]:5070"), displayName: "Åsa \"the\\ one\" 😀",
        parameters: [SIPParameter("tag", "a1")]),
      to: NameAddress(target), callID: "call-1@192.0.2.1", cseq: 7,
      contact: NameAddress(
        try SIPURI(parsing: "sip:+46701234567@192.0.2.1:5060;transport=tcp"),
        parameters: [SIPParameter("+sip.instance", "<urn:uuid:1>"), SIPParameter("q", "0.5")]),
      fields: [try OutgoingField("Supported", "100rel, timer"), try OutgoingField("x-order", "4711; a, \"b")],
      body: MessageBody(sessionDescription: Array("v=0\r\n".utf8)))
  }

  static func read(_ bytes: [UInt8], _ transport: SIPTransport = .tcp) throws -> SIPMessage {
    try MessageParser.values(of: SIPGate.admit(bytes, transport: transport).get()).get()
  }

  @Test func requestsReadBackAsTheyWere() throws {
    let request = try BuilderTests.request()
    let message = try BuilderTests.read(request.encoded(via: BuilderTests.via()))
    #expect(message.startLine == .request(.invite, request.uri))
    #expect(message.vias == [BuilderTests.via()])
    #expect(message.routes == request.routes)
    #expect(message.from == request.from)
    #expect(message.to == request.to)
    #expect(message.callID == request.callID)
    #expect(message.cseq == CSeq(7, .invite))
    #expect(message.contacts == [request.contact])
    #expect(message.body == request.body)
    #expect(message.value("max-forwards") == "70")
    #expect(message.value("X-Order") == "4711; a, \"b")
  }

  @Test func responsesCopyWhatTheyAnswer() throws {
    let text = GateFixtures.message([
      "INVITE sip:a@127.0.0.1 SIP/2.0", "v: SIP/2.0/UDP 10.0.0.1:5070;rport;received=1.2.3.4;branch=z9hG4bKtop",
      "Via: SIP/2.0/TCP  p.example.com;branch=z9hG4bK2;Foo=\"b a r\", SIP/2.0/UDP q.example.com;branch=z9hG4bK3",
      "Record-Route: <sip:secret:cookie@p1.example.com;lr;x=%41>;y=Z", "Record-Route: <sip:p2.example.com;lr>",
      "Max-Forwards: 70", "f: Bob   <sip:b:pw@127.0.0.1>;tag=b1", "t: <sip:a@127.0.0.1>", "i: odd#call<id>",
      "CSeq: 4 INVITE", "Contact: <sip:b@10.0.0.1>", "Timestamp: 54", "l: 0",
    ])
    let request = try BuilderTests.read(text)
    #expect(request.fields.map(\.name) == ["Max-Forwards", "Timestamp"])
    let ringing = OutgoingResponse(180, toTag: "t9", contact: NameAddress(try SIPURI(parsing: "sip:me@127.0.0.1")))
    let bytes = try ringing.encoded(to: request, receivedFrom: BuilderTests.path)
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    #expect(
      lines == [
        "SIP/2.0 180 Ringing",
        "Via: SIP/2.0/UDP 10.0.0.1:5070;branch=z9hG4bKtop;received=192.0.2.9;rport=40000",
        "Via: SIP/2.0/TCP  p.example.com;branch=z9hG4bK2;Foo=\"b a r\"",
        "Via: SIP/2.0/UDP q.example.com;branch=z9hG4bK3",
        "Record-Route: <sip:secret:cookie@p1.example.com;lr;x=%41>;y=Z", "Record-Route: <sip:p2.example.com;lr>",
        "From: Bob   <sip:b:pw@127.0.0.1>;tag=b1", "To: <sip:a@127.0.0.1>;tag=t9", "Call-ID: odd#call<id>",
        "CSeq: 4 INVITE", "Contact: <sip:me@127.0.0.1>", "Content-Length: 0", "", "",
      ])
    let trying = try OutgoingResponse(100, toTag: "t9").encoded(to: request, receivedFrom: BuilderTests.path)
    let read = try BuilderTests.read(trying)
    #expect(read.to.tag == nil && read.recordRoutes.isEmpty && read.value("Timestamp") == "54")
    let busy = try OutgoingResponse(486, toTag: "t9").encoded(to: request, receivedFrom: BuilderTests.path)
    #expect(try BuilderTests.read(busy).recordRoutes.isEmpty)
  }

  @Test func acknowledgementsAndCancellationsBelongToTheirInvite() throws {
    let invite = try BuilderTests.request()
    let response = SIPMessage(
      startLine: .response(status: 486, phrase: ""), vias: [BuilderTests.via()], from: invite.from,
      to: NameAddress(invite.uri, parameters: [SIPParameter("tag", "b2")]), callID: invite.callID,
      cseq: CSeq(7, .invite), contacts: [], routes: [], recordRoutes: [], fields: [], body: nil)
    let ack = try BuilderTests.read(invite.acknowledgement(of: response).encoded(via: BuilderTests.via()))
    #expect(ack.cseq == CSeq(7, .ack) && ack.to.tag == "b2" && ack.routes == invite.routes && ack.body == nil)
    let cancel = try BuilderTests.read(invite.cancellation().encoded(via: BuilderTests.via()))
    #expect(cancel.cseq == CSeq(7, .cancel) && cancel.to.tag == nil && cancel.contacts.isEmpty)
    #expect(cancel.vias == [BuilderTests.via()] && cancel.startLine == .request(.cancel, invite.uri))
  }

  /// libosip2 reads what we wrote, writes what it read, and we read the same.
  @Test func theParsersOwnPrinterAgrees() throws {
    for user in ["alice", "+46701234567", "a%20b", "x;y=z", "%C3%A5sa"] {
      let request = try BuilderTests.request(user)
      let first = try SIPGate.admit(request.encoded(via: BuilderTests.via()), transport: .udp).get()
      let printed = try #require(MessageParser.reprinted(first))
      let mine = try MessageParser.values(of: first).get()
      let theirs = try BuilderTests.read(printed)
      guard case .request(let method, let target) = theirs.startLine else {
        Issue.record("no request")
        continue
      }
      #expect(method == .invite && target.isEquivalent(to: request.uri), "\(user)")
      #expect(theirs.vias == mine.vias && theirs.callID == mine.callID && theirs.cseq == mine.cseq, "\(user)")
      #expect(theirs.from.uri.isEquivalent(to: mine.from.uri) && theirs.from.tag == mine.from.tag, "\(user)")
      // The parser gets no byte outside ASCII.
      let name = String(decoding: (mine.from.displayName ?? "").utf8.map { $0 < 0x80 ? $0 : 0x5F }, as: UTF8.self)
      #expect(theirs.from.displayName == name, "\(user)")
      #expect(theirs.contacts == mine.contacts && theirs.routes == mine.routes, "\(user)")
    }
  }

  /// Every byte in every text of a request: refused, or one message with the same lines.
  @Test func noTextEndsItsLine() throws {
    let places: [(String, (inout OutgoingRequest, inout Via, String) throws -> Void)] = [
      ("method", { request, _, text in request.method = SIPMethod(rawValue: "INV" + text) }),
      ("user", { request, _, text in request.uri.user = "a" + text + "b" }),
      ("host", { request, _, text in request.uri.host = .name("a" + text + "b") }),
      ("uri parameter", { request, _, text in request.uri.parameters = [SIPParameter("p" + text)] }),
      ("uri value", { request, _, text in request.uri.parameters = [SIPParameter("p", text)] }),
      ("header name", { request, _, text in request.contact?.uri.headers = [SIPParameter("h" + text, "1")] }),
      ("header value", { request, _, text in request.contact?.uri.headers = [SIPParameter("h", text)] }),
      ("number", { request, _, text in request.to.uri = SIPURI(scheme: .tel, user: "+46" + text, host: nil) }),
      ("display name", { request, _, text in request.from.displayName = "a" + text + "b" }),
      ("tag", { request, _, text in request.from.parameters = [SIPParameter("tag", "a" + text)] }),
      ("parameter", { request, _, text in request.to.parameters = [SIPParameter("p" + text, "1")] }),
      ("value", { request, _, text in request.to.parameters = [SIPParameter("p", "a" + text)] }),
      ("Call-ID", { request, _, text in request.callID = "a" + text + "b" }),
      (
        "body type",
        { request, _, text in
          request.body = MessageBody(contentType: "a/b" + text, bytes: [1])
        }
      ),
      ("field name", { request, _, text in request.fields = [try OutgoingField("x-" + text, "1")] }),
      ("field value", { request, _, text in request.fields = [try OutgoingField("x-a", "a" + text + "b")] }),
      ("transport", { _, via, text in via.transport = "UDP" + text }),
      ("sent-by", { _, via, text in via.host = .name("a" + text + "b") }),
      ("branch", { _, via, text in via.parameters = [SIPParameter("branch", "z9hG4bK" + text)] }),
      ("via parameter", { _, via, text in via.parameters.append(SIPParameter("p", text)) }),
    ]
    let texts =
      (0...255).map { String(Character(Unicode.Scalar(UInt8($0)))) }
      + ["\r\nX: y", "%00", "%0d%0a", "%", "%zz", "\u{2028}", "\u{85}", "\\", "\\\"", "\"", "a@b@c", ">,<", "?x=y", ""]
    var written = 0
    for (name, change) in places {
      for text in texts {
        var request = try BuilderTests.request()
        var via = BuilderTests.via()
        guard (try? change(&request, &via, text)) != nil, let bytes = try? request.encoded(via: via) else { continue }
        written += 1
        switch SIPGate.admit(bytes, transport: .tcp).flatMap(MessageParser.values) {
        case .failure(let refusal): Issue.record("\(name) with \(text.debugDescription): \(refusal)")
        case .success(let message):
          #expect(
            message.fields.map(\.name).allSatisfy { $0 == "Max-Forwards" || $0 == "Supported" || $0.hasPrefix("x-") },
            "\(name) with \(text.debugDescription)")
          #expect(message.vias.count == 1 && message.routes.count == 1 && message.contacts.count == 1)
        }
      }
    }
    #expect(written > 1000)
  }

  @Test func sizesAreBounded() throws {
    func refuses(_ change: (inout OutgoingRequest) throws -> Void) throws -> Bool {
      var request = try BuilderTests.request()
      try change(&request)
      return (try? request.encoded(via: BuilderTests.via())) == nil
    }
    #expect(try refuses { $0.body = MessageBody(contentType: "a/b", bytes: Array(repeating: 1, count: 32_769)) })
    #expect(try refuses { $0.fields = Array(repeating: try OutgoingField("x-a", "1"), count: 130) })
    #expect(try refuses { $0.uri.user = String(repeating: "a", count: 2100) })
    #expect(try refuses { $0.routes = Array(repeating: $0.to, count: 21) })
    #expect(try refuses { $0.to.parameters = (0..<40).map { SIPParameter("p\($0)") } })
    #expect(try refuses { $0.cseq = 1 << 31 })
    #expect(try refuses { $0.uri.headers = [SIPParameter("a", "b")] })
    #expect(throws: InvalidValue.self) { try OutgoingField("x-a", String(repeating: "a", count: 5000)) }
    for name in ["Via", "v", "CONTENT-LENGTH", "l", "Route", "From", "CSeq", "Contact", "m"] {
      #expect(throws: InvalidValue.self) { try OutgoingField(name, "1") }
    }
  }

  @Test func customHeadersCrossBothWays() throws {
    let headers = try CustomHeaders([("x-a", "1"), ("X-Ünit".replacing("Ü", with: "U"), "åäö")])
    var request = try BuilderTests.request()
    request.fields =
      try OutgoingField.fields(of: headers)
      + OutgoingField.reason([
        CallFailure.Reason(protocolName: "Q.850", cause: 16, text: "bye\r\n; \"you\"")
      ])
    let message = try BuilderTests.read(request.encoded(via: BuilderTests.via()))
    #expect(CustomHeaders(of: message) == headers)
    #expect(message.value("Reason") == "Q.850;cause=16;text=\"bye??; \\\"you\\\"\"")
    request.fields = (0..<12).compactMap { try? OutgoingField("x-\($0)", String(repeating: "a", count: 100)) }
    var dropped = 0
    let kept = CustomHeaders(of: try BuilderTests.read(request.encoded(via: BuilderTests.via())), dropped: &dropped)
    #expect(kept.count == 9 && dropped == 3)
  }
}
