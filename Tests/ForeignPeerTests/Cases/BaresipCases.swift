import CallModel
import Foundation
import PeerKit
import SIPCore

/// Cases with baresip, over each transport.
enum BaresipCases {
  static let cases: [PeerCase] = BaresipPeer.Transport.allCases.flatMap { transport in
    [
      make(transport, "we call, we hang up", expected: "answered, BYE answered") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        _ = try await call.progress(180)
        try peer.run("accept")
        try await call.established()
        call.hangUp()
        try await peer.event("CALL_CLOSED")
        let end = try await call.ended()
        try require(end.cause == .local, "ended by us")
        return "answered, BYE"
      },
      make(transport, "we call, it hangs up", expected: "answered, BYE reported") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        try peer.run("accept")
        try await call.established()
        try await peer.event("CALL_ESTABLISHED")
        try peer.run("hangup")
        let end = try await call.ended()
        try require(end.cause == .remote, "ended by the peer")
        return "answered, BYE of the peer"
      },
      make(transport, "we call, it declines", expected: "failed with its status") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        try peer.run("hangup")
        let end = try await call.ended()
        try require(end.cause == .failed && end.failure?.sipStatus ?? 0 >= 400, "failed")
        return "failed: \(end.failure?.sipStatus ?? 0) \(end.failure?.code.rawValue ?? "")"
      },
      make(transport, "we call, we give up", expected: "CANCEL, closed there") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        _ = try await call.progress(180)
        call.hangUp()
        try await peer.event("CALL_CLOSED")
        let end = try await call.ended()
        try require(end.cause == .local && !end.wasEstablished, "ended by us")
        return "CANCEL, 487"
      },
      make(transport, "hold and resume by us", expected: "recvonly, then sendrecv") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        try peer.run("accept")
        try await call.established()
        let held = try await call.offer(SessionText.body("sendonly", version: 2))
        try require(held?.text.contains("a=recvonly") == true, "recvonly, not \(held?.text ?? "a refusal")")
        let resumed = try await call.offer(SessionText.body("sendrecv", version: 3))
        try require(resumed?.text.contains("a=sendrecv") == true, "sendrecv, not \(resumed?.text ?? "a refusal")")
        call.hangUp()
        try await peer.event("CALL_CLOSED")
        return "recvonly, sendrecv"
      },
      make(transport, "hold and resume by it", expected: "each offer reported and answered") { node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        try peer.run("accept")
        try await call.established()
        try await peer.event("CALL_ESTABLISHED")
        try peer.run("hold")
        let (_, hold) = try await call.offered(1)
        try require(hold?.text.contains("a=sendonly") == true, "sendonly, not \(hold?.text ?? "nothing")")
        try peer.run("resume")
        let (_, resume) = try await call.offered(2)
        try require(resume?.text.contains("a=sendrecv") == true, "sendrecv, not \(resume?.text ?? "nothing")")
        call.hangUp()
        try await peer.event("CALL_CLOSED")
        return "sendonly, sendrecv"
      },
      make(transport, "it transfers", expected: "REFER reported, accepted, its end notified", transfers: true) {
        node, peer, plan in
        let call = node.place(plan)
        try await peer.event("CALL_INCOMING")
        try peer.run("accept")
        try await call.established()
        try await peer.event("CALL_ESTABLISHED")
        try peer.run("transfer", "sip:carol@127.0.0.1:9")
        try await SIPpCase.transferred(call)
        // baresip hangs up when the transfer went through.
        _ = try await call.ended()
        return "202, NOTIFY, BYE of the peer"
      },
      make(transport, "it calls, we hang up", expected: "taken, BYE answered") { node, peer, _ in
        try peer.run("dial", target(node, transport))
        let (call, incoming) = try await node.incoming()
        try require(incoming.offer?.text.contains("m=audio") == true, "an offer")
        call.ring()
        try await peer.event("CALL_RINGING")
        call.accept(SessionText.answer(to: incoming.offer))
        try await peer.event("CALL_ESTABLISHED")
        try await call.established()
        call.hangUp()
        try await peer.event("CALL_CLOSED")
        let end = try await call.ended()
        try require(end.cause == .local, "ended by us")
        return "taken, BYE"
      },
      make(transport, "it calls, it hangs up", expected: "taken, BYE reported") { node, peer, _ in
        try peer.run("dial", target(node, transport))
        let (call, incoming) = try await node.incoming()
        call.accept(SessionText.answer(to: incoming.offer))
        try await peer.event("CALL_ESTABLISHED")
        try await call.established()
        try peer.run("hangup")
        let end = try await call.ended()
        try require(end.cause == .remote, "ended by the peer")
        return "taken, BYE of the peer"
      },
      make(transport, "it calls, we are busy", expected: "486, closed there") { node, peer, _ in
        try peer.run("dial", target(node, transport))
        let (call, _) = try await node.incoming()
        call.reject(Rejection(486))
        let closed = try await peer.event("CALL_CLOSED")
        try require(closed.contains("486"), "486, not \(closed)")
        return "486"
      },
      make(transport, "it calls, it gives up", expected: "CANCEL reported") { node, peer, _ in
        try peer.run("dial", target(node, transport))
        let (call, _) = try await node.incoming()
        call.ring()
        try await peer.event("CALL_RINGING")
        try peer.run("hangup")
        let end = try await call.ended()
        try require(end.cause == .remote && !end.wasEstablished, "ended by the peer")
        return "CANCEL"
      },
    ]
  }

  private static func target(_ node: NodeUnderTest, _ transport: BaresipPeer.Transport) -> String {
    "sip:alice@127.0.0.1:\(transport == .tls ? node.tlsPort : node.port);transport=\(transport.rawValue)"
  }

  private static func make(
    _ transport: BaresipPeer.Transport, _ name: String, expected: String, transfers: Bool = false,
    _ body: @escaping @Sendable (NodeUnderTest, BaresipPeer, OutgoingCall) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "baresip", transport: transport.rawValue.uppercased(), name, expected: expected) {
      let certificates = transport == .tls ? try await CertificateFolder.shared() : nil
      let peer = try await BaresipPeer(transport: transport, certificates: certificates)
      var settings = NodeUnderTest.Settings()
      settings.certificates = certificates
      settings.authority = certificates?.authority
      settings.agent.allowsTransfer = transfers
      let node = try await NodeUnderTest.start(settings)
      let happened: String
      do {
        let own: SIPTransport =
          switch transport {
          case .udp: .udp
          case .tcp: .tcp
          case .tls: .tls
          }
        var plan = try node.plan(to: transport == .tls ? peer.tlsPort : peer.port, own, user: "bob")
        plan.paths = plan.paths.map { path in
          var path = path
          path.serverName = transport == .tls ? CertificateFolder.serverName : nil
          return path
        }
        plan.allowsTransfer = transfers
        happened = try await body(node, peer, plan)
      } catch {
        await node.stop()
        throw PeerFailure("\(error); node: \(node.summary); baresip: \(peer.log.lastLines(20))\n\(peer.log)")
      }
      await node.stop()
      return happened
    }
  }
}
