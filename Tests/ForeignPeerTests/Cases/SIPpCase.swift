import CallModel
import Foundation
import PeerKit
import SIPCore

/// How cases with SIPp are put together; the lists stand beside.
enum SIPpCase {
  static func scenario(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Scenarios/\(name).xml")
  }

  /// Our node calls, SIPp answers with `answer-…`.
  static func calling(
    _ name: String, _ scenario: String, expected: String, transport: SIPpPeer.Transport = .udp, isLong: Bool = false,
    keys: [String: String] = [:], settings: NodeUnderTest.Settings = NodeUnderTest.Settings(),
    plan prepare: @escaping @Sendable (inout OutgoingCall) throws -> Void = { _ in },
    during: @escaping @Sendable (CallUnderTest) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "SIPp", transport: transport.rawName, "we call: \(name)", expected: expected, isLong: isLong) {
      var options = SIPpPeer.Options()
      options.transport = transport
      options.keys = keys
      if isLong { options.patienceMilliseconds = 90_000 }
      let peer = try await SIPpPeer(Self.scenario("answer-\(scenario)"), as: .server, options)
      let node = try await NodeUnderTest.start(settings)
      return try await finish(node, peer, isLong: isLong) {
        var plan = try node.plan(to: peer.port, transport == .udp ? .udp : .tcp)
        try prepare(&plan)
        return try await during(node.place(plan))
      }
    }
  }

  /// As above, and our node hangs up when it is answered.
  static func calling(
    _ name: String, _ scenario: String, expected: String, transport: SIPpPeer.Transport = .udp,
    plan: @escaping @Sendable (inout OutgoingCall) throws -> Void = { _ in }
  ) -> PeerCase {
    calling(
      name, scenario, expected: expected, transport: transport, plan: plan, during: answeredThenHungUp)
  }

  /// SIPp calls our node with `call-…`.
  static func called(
    _ name: String, _ scenario: String, expected: String, transport: SIPpPeer.Transport = .udp, isIPv6: Bool = false,
    isLong: Bool = false, allowsTransfer: Bool = false,
    during: @escaping @Sendable (NodeUnderTest) async throws -> String
  ) -> PeerCase {
    PeerCase(
      peer: "SIPp", transport: transport.rawName + (isIPv6 ? ", IPv6" : ""), "it calls: \(name)", expected: expected,
      isLong: isLong
    ) {
      var settings = NodeUnderTest.Settings()
      settings.hasIPv6 = isIPv6
      settings.agent.allowsTransfer = allowsTransfer
      let node = try await NodeUnderTest.start(settings)
      var options = SIPpPeer.Options()
      options.transport = transport
      if isIPv6 { options.host = "::1" }
      if isLong { options.patienceMilliseconds = 90_000 }
      let peer = try await SIPpPeer(Self.scenario("call-\(scenario)"), as: .client(target: node.port), options)
      return try await finish(node, peer, isLong: isLong) { try await during(node) }
    }
  }

  /// As above, and the call is taken at once.
  static func called(
    _ name: String, _ scenario: String, expected: String, transport: SIPpPeer.Transport = .udp, isIPv6: Bool = false
  ) -> PeerCase {
    called(name, scenario, expected: expected, transport: transport, isIPv6: isIPv6, during: takenThenEnded)
  }

  private static func finish(
    _ node: NodeUnderTest, _ peer: SIPpPeer, isLong: Bool, _ body: () async throws -> String
  ) async throws -> String {
    let happened: String
    do {
      happened = try await body()
      try await peer.succeeds(within: isLong ? 100 : 30)
    } catch {
      await node.stop()
      throw PeerFailure(
        "\(error); node: \(node.summary); SIPp: \(peer.complaint)\n\(peer.transcript)", wasLate: peer.sawDelay)
    }
    await node.stop()
    return happened
  }

  /// The plain end of most calls that we place.
  static let answeredThenHungUp: @Sendable (CallUnderTest) async throws -> String = { call in
    try await call.established()
    call.hangUp()
    let end = try await call.ended()
    try require(end.cause == .local && end.wasEstablished, "the call ends by our BYE")
    return "answered, hung up"
  }

  /// The peer does things inside the call; it waits for our BYE at the end.
  static func answered(
    _ offers: Int, then happened: String
  ) -> @Sendable (CallUnderTest) async throws -> String {
    { call in
      try await call.established()
      if offers > 0 { _ = try await call.offered(offers) }
      call.hangUp()
      let end = try await call.ended()
      try require(end.cause == .local && end.wasEstablished, "the call ends by our BYE")
      return happened
    }
  }

  /// The call fails before it comes up.
  static func fails(
    _ code: CallFailureCode, status: Int?
  ) -> @Sendable (CallUnderTest) async throws -> String {
    { call in
      let end = try await call.ended()
      try require(end.cause == .failed && !end.wasEstablished, "the call fails, it \(end.cause)")
      try require(end.failure?.code == code, "\(code.rawValue), but \(end.failure?.code.rawValue ?? "no failure")")
      if let status { try require(end.failure?.sipStatus == status, "status \(status)") }
      return "failed: \(code.rawValue)"
    }
  }

  /// The plain life of most calls that come in: ring, answer, the peer hangs up.
  static let takenThenEnded: @Sendable (NodeUnderTest) async throws -> String = { node in
    let (call, incoming) = try await node.incoming()
    call.ring()
    call.accept(incoming.offer.map { SessionText.answer(to: $0) } ?? SessionText.body())
    try await call.established()
    let end = try await call.ended()
    try require(end.cause == .remote && end.wasEstablished, "the peer hangs up")
    return "taken, hung up by the peer"
  }

  static func headers(_ pairs: (String, String)...) throws -> CustomHeaders {
    try CustomHeaders(pairs.map { (name: $0.0, value: $0.1) })
  }
}

extension SIPpPeer.Transport {
  var rawName: String { self == .udp ? "UDP" : "TCP" }
}
