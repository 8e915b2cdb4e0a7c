import CallModel
import Foundation
import LandlineWire
import NIOCore
import NIOPosix
import PeerKit
import SIPCore
import Testing

/// A node of a test, with the events of its agent.
final class TestNode: Sendable {
  private final class Delegate: SIPNodeDelegate {
    let owner: TestNode
    init(_ owner: TestNode) { self.owner = owner }
    func node(_ node: SIPNode, happened event: UserAgentEvent) {
      owner.events.append(event)
      owner.respond(node, event)
    }
    func node(_ node: SIPNode, met problem: TransportProblem) { owner.problems.append(problem) }
  }

  let events = Recorder<UserAgentEvent>()
  let problems = Recorder<TransportProblem>()
  /// Runs on the node's loop.
  let respond: @Sendable (SIPNode, UserAgentEvent) -> Void

  init(_ respond: @escaping @Sendable (SIPNode, UserAgentEvent) -> Void = { _, _ in }) { self.respond = respond }

  func start(_ configuration: SIPNode.Configuration) async throws -> SIPNode {
    try await SIPNode.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next()) { _ in Delegate(self) }
  }

  func outcome(_ query: QueryID) async throws -> QueryOutcome {
    try await events.wait(for: "outcome of \(query)") { events in
      for case .queryAnswered(query, let outcome) in events { return outcome }
      return nil
    }
  }
}

extension SocketTests {
  @Suite struct SIPNodeTests {
    private static func listeners(_ tls: TLSServerSettings) -> [SIPListener] {
      [
        SIPListener(id: ListenerID(1), transport: .udp, host: .loopback, port: 0),
        SIPListener(id: ListenerID(2), transport: .tcp, host: .loopback, port: 0),
        SIPListener(id: ListenerID(3), transport: .tls, host: .loopback, port: 0, tls: tls),
        SIPListener(id: ListenerID(4), transport: .udp, host: .loopback6, port: 0),
      ]
    }

    private static func query(_ path: SIPPath, names: Bool = true) throws -> OutgoingQuery {
      let target = SIPURI(
        scheme: .sip, user: "ping", host: path.remote.host, port: path.remote.port,
        parameters: path.remote.transport == .udp
          ? [] : [SIPParameter("transport", path.remote.transport.rawValue)])
      let from = NameAddress(SIPURI(scheme: .sip, user: "here", host: .loopback))
      return OutgoingQuery(target: target, paths: names ? [path] : [], from: from)
    }

    @Test func pingsOverEveryTransport() async throws {
      let authority = try await CertificateAuthority()
      let identity = try await authority.identity("server", names: "DNS:sip.example.test,IP:127.0.0.1")
      let listeners = Self.listeners(TLSServerSettings(identity: identity))
      let policies = TLSClientPolicies(standard: TLSClientPolicy(trust: .authorities([authority.certificate.path])))
      let test = TestNode()
      let here = try await test.start(SIPNode.Configuration(listeners: listeners, tlsClients: policies))
      let there = try await TestNode().start(SIPNode.Configuration(listeners: listeners, shard: 1))
      var number: UInt64 = 0
      for listener in listeners {
        let remote = try #require(there.addresses[listener.id])
        for namesPath in [true, false] {
          number += 1
          let path = SIPPath(
            listener: listener.id, remote: remote,
            serverName: listener.transport == .tls && namesPath ? "sip.example.test" : nil)
          here.execute(.ping(QueryID(number), try Self.query(path, names: namesPath)))
          let outcome = try await test.outcome(QueryID(number))
          #expect(outcome.status == 200, "\(listener.transport) \(outcome) \(test.problems.events)")
          #expect(outcome.path?.remote == remote)
          #expect(outcome.allow.contains("INVITE"))
        }
      }
      let statistics = try await there.statistics()
      #expect(statistics.connectionsAccepted == 3)
      try await there.reloadCertificates()
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func failsAtOnceWhereNobodyListens() async throws {
      let test = TestNode()
      let here = try await test.start(
        SIPNode.Configuration(
          listeners: [SIPListener(id: .first, transport: .tcp, host: .loopback, port: 0)]))
      let gone = try PlainSocket.listening().port
      let path = SIPPath(listener: .first, remote: TransportAddress(.tcp, .loopback, port: gone))
      let start = ContinuousClock.now
      here.execute(.ping(QueryID(1), try Self.query(path)))
      let outcome = try await test.outcome(QueryID(1))
      #expect(outcome.status == nil)
      #expect(outcome.failure == .transport)
      #expect(ContinuousClock.now - start < .seconds(5))
      try await here.shutdown()
    }

    /// A scanner over TCP hears nothing, whatever it says, and its stream ends.
    @Test(arguments: [true, false])
    func endsTheStreamsOfStrangers(_ isFramed: Bool) async throws {
      let test = TestNode()
      var agent = UserAgentConfiguration(addresses: [])
      agent.acquaintance = .peers([])
      let node = try await test.start(
        SIPNode.Configuration(
          listeners: [SIPListener(id: .first, transport: .tcp, host: .loopback, port: 0)], agent: agent))
      let stranger = try PlainSocket.connected(to: try #require(node.addresses[.first]).port)
      let text = String(decoding: request(), as: UTF8.self)
      try stranger.write(Array((isFramed ? text : text.replacing("Content-Length: 0", with: "Content-Length: x")).utf8))
      #expect(try await stranger.readToEnd() == [])
      _ = try await test.problems.wait(for: "the report") { problems in
        problems.first { $0.kind == (isFramed ? .stranger : .framing) }
      }
      #expect(try await node.statistics().connections == 0)
      try await node.shutdown()
    }

    /// Commands of the delegate are done in the turn of the event; answers come while the next ping is already out.
    @Test func takesCommandsFromItsDelegate() async throws {
      let there = try await TestNode().start(
        SIPNode.Configuration(listeners: [SIPListener(id: .first, transport: .udp, host: .loopback, port: 0)]))
      let remote = try #require(there.addresses[.first])
      let query = try Self.query(SIPPath(listener: .first, remote: remote))
      let count: UInt64 = 200
      let test = TestNode { node, event in
        guard case .queryAnswered(let id, _) = event, id.number < count else { return }
        node.execute(.ping(QueryID(id.number + 1), query))
      }
      let here = try await test.start(
        SIPNode.Configuration(listeners: [SIPListener(id: .first, transport: .udp, host: .loopback, port: 0)]))
      here.execute(.ping(QueryID(1), query))
      #expect(try await test.outcome(QueryID(count)).status == 200)
      try await here.shutdown()
      try await there.shutdown()
    }

    @Test func advertisesWhatItIsToldOrWhatItIsBoundTo() async throws {
      let node = try await TestNode().start(
        SIPNode.Configuration(listeners: [
          SIPListener(
            id: ListenerID(1), transport: .udp, host: .ipv4(0), port: 0, advertisedHost: .name("sip.example.test"),
            advertisedPort: 5070),
          SIPListener(id: ListenerID(2), transport: .tcp, host: .loopback, port: 0),
        ]))
      let bound = try #require(node.addresses[ListenerID(2)])
      #expect(
        node.advertisedAddresses == [
          AdvertisedAddress(
            listener: ListenerID(1), transport: .udp, host: .name("sip.example.test"), port: 5070),
          AdvertisedAddress(listener: ListenerID(2), transport: .tcp, host: .loopback, port: bound.port),
        ])
      try await node.shutdown()
    }

    @Test func refusesConfigurationsThatCannotWork() async throws {
      let files = TLSIdentityFiles(certificateChain: "/nowhere.pem", privateKey: "/nowhere.key")
      let table: [([SIPListener], String)] = [
        ([], "listener.none"),
        ([SIPListener(id: .first, transport: .udp, host: .name("a.test"), port: 0)], "listener.host"),
        ([SIPListener(id: .first, transport: .udp, host: .ipv4(0), port: 0)], "listener.advertisedHost"),
        ([SIPListener(id: .first, transport: .tls, host: .loopback, port: 0)], "listener.tls"),
        (
          [
            SIPListener(id: .first, transport: .udp, host: .loopback, port: 0),
            SIPListener(id: .first, transport: .tcp, host: .loopback, port: 0),
          ], "listener.id"
        ),
        (
          [
            SIPListener(
              id: .first, transport: .tls, host: .loopback, port: 0, tls: TLSServerSettings(identity: files))
          ], "tls.certificateFile"
        ),
      ]
      for (listeners, rule) in table {
        let error = await #expect(throws: InvalidValue.self) {
          try await TestNode().start(SIPNode.Configuration(listeners: listeners))
        }
        #expect(error?.rule == rule)
      }
    }
  }
}
