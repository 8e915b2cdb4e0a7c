import CallModel
import Foundation
import LandlineWire
import PeerKit
import SIPCore

/// Cases with Kamailio as registrar and proxy.
enum KamailioCases {
  static let cases: [PeerCase] =
    [SIPTransport.udp, .tcp, .tls].flatMap { transport in
      [
        make(transport, "register, MD5", expected: "challenged, registered, unregistered") {
          try await registered($0, transport)
        },
        make(transport, "call through the proxy", expected: "407 answered, BYE follows Record-Route") {
          try await called($0, transport)
        },
      ]
    } + [
      make(.udp, "register, SHA-256", expected: "challenged, registered, unregistered", algorithm: "SHA-256") {
        try await registered($0, .udp)
      },
      make(.udp, "call through the proxy, SHA-256", expected: "407 answered", algorithm: "SHA-256") {
        try await called($0, .udp)
      },
      make(.udp, "register, wrong password", expected: "failed once, not tried again") { setup in
        let query = setup.register(.udp, user: "alice", password: "wrong")
        let failure = try await setup.node.event("failed registration") { event -> RegistrationFailure? in
          if case .registration(query, .failed(let failure)) = event { return failure }
          return nil
        }
        try require(failure.kind == .credentials, "credentials, not \(failure.kind)")
        let requests = setup.kamailio.count("REQUEST REGISTER")
        try require(requests == 2, "one REGISTER without and one with credentials, not \(requests)")
        return "failed: credentials, 2 REGISTER"
      },
      make(.udp, "call, wrong password", expected: "failed as an authentication failure") { setup in
        var plan = try setup.plan(.udp)
        plan.account = DigestAccount(username: "alice", password: Redacted("wrong"))
        let end = try await setup.node.place(plan).ended()
        try require(end.failure?.code == .trunkAuth, "sip.trunkAuth, not \(end.failure?.code.rawValue ?? "none")")
        let invites = setup.kamailio.count("REQUEST INVITE")
        try require(invites == 2, "2 INVITEs, not \(invites)")
        return "failed: sip.trunkAuth, 2 INVITE"
      },
      make(.udp, "call to nobody", expected: "404") { setup in
        var plan = try setup.plan(.udp)
        plan.target.user = "nobody"
        let end = try await setup.node.place(plan).ended()
        try require(end.failure?.sipStatus == 404, "404, not \(end.failure?.sipStatus ?? 0)")
        return "failed: \(end.failure?.code.rawValue ?? "")"
      },
      make(.udp, "callee busy", expected: "486 through the proxy") { setup in
        try await setup.withCallee { call, taken in
          taken.reject(Rejection(486))
          let end = try await call.ended()
          try require(end.failure?.code == .busy, "sip.busy, not \(end.failure?.code.rawValue ?? "none")")
          return "failed: sip.busy"
        }
      },
      make(.udp, "caller gives up", expected: "CANCEL through the proxy, 487") { setup in
        try await setup.withCallee { call, taken in
          taken.ring()
          _ = try await call.progress(180)
          call.hangUp()
          let end = try await taken.ended()
          try require(end.cause == .remote && !end.wasEstablished, "the CANCEL arrives")
          _ = try await call.ended()
          return "CANCEL, 487"
        }
      },
      make(.udp, "outbound proxy by Route", expected: "found by its Route, 407 answered") { setup in
        var plan = try setup.plan(.udp)
        plan.routes = [try SIPURI(parsing: "sip:127.0.0.1:\(setup.kamailio.port);lr")]
        plan.paths = []
        plan.target.user = "nobody"
        let end = try await setup.node.place(plan).ended()
        try require(end.failure?.sipStatus == 404, "404, not \(end.failure?.sipStatus ?? 0)")
        try require(setup.kamailio.count("route=<sip:127.0.0.1") > 0, "Route in the INVITE")
        return "404 behind the proxy"
      },
      make(.tls, "server of another authority", expected: "no request, certificate untrusted", isTrusted: false) {
        setup in
        _ = setup.register(.tls, user: "alice")
        try await setup.refuses(.certificateUntrusted)
        return "tls.certificateUntrusted"
      },
      make(.tls, "server of another name", expected: "no request, certificate of another name") { setup in
        _ = setup.register(.tls, user: "alice", serverName: "other.example.test")
        try await setup.refuses(.certificateName)
        return "tls.certificateName"
      },
      make(.udp, "pings of the dispatcher", expected: "OPTIONS answered, we are up", isPinging: true) { setup in
        try await setup.kamailio.says("PING UP")
        try require(setup.kamailio.count("PING DOWN") == 0, "never down")
        return "up"
      },
      make(.udp, "ping by us", expected: "200") { setup in
        let query = QueryID(setup.node.nextNumber())
        let port = setup.kamailio.port
        setup.node.execute(
          .ping(
            query,
            OutgoingQuery(
              target: try SIPURI(parsing: "sip:127.0.0.1:\(port)"), paths: [setup.node.path(to: port)],
              from: try NodeUnderTest.caller)))
        let outcome = try await setup.node.event("answer to OPTIONS") { event -> QueryOutcome? in
          if case .queryAnswered(query, let outcome) = event { return outcome }
          return nil
        }
        try require(outcome.status == 200, "200, not \(outcome.status ?? 0)")
        return "200"
      },
    ]

  /// Kamailio and a node of ours in front of it.
  private struct Setup: Sendable {
    let kamailio: KamailioPeer
    let node: NodeUnderTest
    let settings: NodeUnderTest.Settings

    func path(_ transport: SIPTransport, from node: NodeUnderTest, serverName: String? = nil) -> SIPPath {
      let name = transport == .tls ? serverName ?? CertificateFolder.serverName : nil
      return node.path(transport, to: transport == .tls ? kamailio.tlsPort : kamailio.port, serverName: name)
    }

    func account(_ user: String, _ password: String = KamailioPeer.password) -> DigestAccount {
      DigestAccount(username: user, password: Redacted(password), realm: KamailioPeer.domain)
    }

    /// Registers `user` from `node`, else from the node of the set-up.
    func register(
      _ transport: SIPTransport, user: String, password: String = KamailioPeer.password, serverName: String? = nil,
      from other: NodeUnderTest? = nil
    ) -> QueryID {
      let node = other ?? self.node
      let query = QueryID(node.nextNumber())
      let domain = SIPURI(scheme: .sip, user: nil, host: .name(KamailioPeer.domain))
      var address = domain
      address.user = user
      node.execute(
        .register(
          query,
          OutgoingRegistration(
            registrar: domain, paths: [path(transport, from: node, serverName: serverName)],
            address: NameAddress(address), contactUser: user, account: account(user, password), expires: 600)))
      return query
    }

    func isRegistered(_ query: QueryID, at node: NodeUnderTest) async throws -> UInt32 {
      try await node.event("registration") { event -> UInt32? in
        if case .registration(query, .registered(let seconds)) = event { return seconds }
        return nil
      }
    }

    func plan(_ transport: SIPTransport) throws -> OutgoingCall {
      var plan = try node.plan(to: kamailio.port)
      plan.target = try SIPURI(parsing: "sip:bob@\(KamailioPeer.domain)")
      plan.paths = [path(transport, from: node)]
      plan.account = account("alice")
      return plan
    }

    /// Registers `bob` at a second node and calls him.
    func withCallee(
      _ body: (_ call: CallUnderTest, _ taken: CallUnderTest) async throws -> String
    ) async throws -> String {
      let callee = try await NodeUnderTest.start(settings)
      let happened: String
      do {
        let query = register(.udp, user: "bob", from: callee)
        _ = try await isRegistered(query, at: callee)
        let call = node.place(try plan(.udp))
        let (taken, _) = try await callee.incoming()
        happened = try await body(call, taken)
      } catch {
        let said = callee.summary
        await callee.stop()
        throw PeerFailure("\(error); callee: \(said)")
      }
      await callee.stop()
      return happened
    }

    func refuses(_ kind: TransportProblem.Kind) async throws {
      _ = try await Deadline(seconds: 8).first("\(kind.rawValue); the node said: \(node.summary)") {
        node.problems.first { $0.kind == kind }
      }
      try require(kamailio.count("REQUEST") == 0, "no request reached Kamailio")
    }
  }

  private static func registered(_ setup: Setup, _ transport: SIPTransport) async throws -> String {
    let query = setup.register(transport, user: "alice")
    let seconds = try await setup.isRegistered(query, at: setup.node)
    try require(seconds == 600, "600 s, not \(seconds)")
    try require(setup.kamailio.count("REQUEST REGISTER") == 2, "2 REGISTER")
    setup.node.execute(.unregister(query))
    _ = try await setup.node.event("end of the registration") { event -> Bool? in
      if case .registration(query, .unregistered) = event { return true }
      return nil
    }
    return "registered for 600 s, unregistered"
  }

  private static func called(_ setup: Setup, _ transport: SIPTransport) async throws -> String {
    let callee = try await NodeUnderTest.start(setup.settings)
    do {
      let query = setup.register(transport, user: "bob", from: callee)
      _ = try await setup.isRegistered(query, at: callee)
      let call = setup.node.place(try setup.plan(transport))
      let (taken, incoming) = try await callee.incoming()
      taken.ring()
      _ = try await call.progress(180)
      taken.accept(SessionText.answer(to: incoming.offer))
      try await call.established()
      try await taken.established()
      let held = try await taken.offer(SessionText.body("sendonly", version: 2))
      try require(held?.text.contains("a=recvonly") == true, "the callee's hold is answered")
      call.hangUp()
      let end = try await taken.ended()
      try require(end.cause == .remote, "the BYE arrives")
      _ = try await call.ended()
      try await setup.kamailio.says("ROUTED ACK")
      try await setup.kamailio.says("ROUTED BYE")
      // The nodes are gone before the BYE's 200 is back otherwise.
      try require(setup.kamailio.count("REQUEST INVITE") == 3, "2 INVITEs and 1 re-INVITE")
    } catch {
      let said = callee.summary
      await callee.stop()
      throw PeerFailure("\(error); callee: \(said)")
    }
    await callee.stop()
    return "407, answered, held by the callee, BYE routed"
  }

  private static func make(
    _ transport: SIPTransport, _ name: String, expected: String, algorithm: String = "MD5", isTrusted: Bool = true,
    isPinging: Bool = false, _ body: @escaping @Sendable (Setup) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "Kamailio", transport: transport.rawValue.uppercased(), name, expected: expected) {
      let certificates = transport == .tls ? try await CertificateFolder.shared() : nil
      var settings = NodeUnderTest.Settings()
      settings.certificates = certificates
      settings.authority = isTrusted ? certificates?.authority : nil
      let node = try await NodeUnderTest.start(settings)
      var options = KamailioPeer.Options()
      options.algorithm = algorithm
      options.certificate = certificates?.server
      options.pinged = isPinging ? node.port : nil
      let kamailio = try await KamailioPeer(options)
      let happened: String
      do { happened = try await body(Setup(kamailio: kamailio, node: node, settings: settings)) } catch {
        await node.stop()
        throw PeerFailure(
          "\(error); node: \(node.summary); Kamailio: \(kamailio.log.lastLines(20))\n\(kamailio.log)")
      }
      await node.stop()
      return happened
    }
  }
}
