import CallModel
import Foundation
import PeerKit
import SIPCore
import TestVectors

/// SIPp scenarios that other projects test themselves with, run as they are. The catalogue beside them says what each is
/// about; here stands what the application above our node does meanwhile.
enum PublicScriptCases {
  /// What our node does with the script.
  private enum Part: Sendable {
    /// Calls, hangs up once it is up and the peer has made so many offers.
    case calls(offers: Int)
    /// Calls, and the peer hangs up.
    case callsUntilTheEnd
    /// Calls, and the call fails.
    case callsInVain
    /// Calls, and gives up at this provisional response.
    case gives(up: Int)
    /// Takes the call; the peer hangs up, or stops talking.
    case takes
    /// Rings with early media, and the peer gives up or goes on.
    case rings(takes: Bool)
    /// Takes the call and hangs up.
    case ends
    case rejects(Int)
    /// Lets the node answer by itself.
    case watches
  }

  private struct Script: Sendable {
    let id: String
    let path: String
    let part: Part
    var isIPv6 = false
    /// Least session interval of our node, in seconds.
    var minimumSession: UInt32?
  }

  /// Left out of those that can be run: s26, s51 and s52 lose at random, which ``DatagramCases`` do on purpose; s33
  /// and s34 write an empty Request-URI, s54 an impossible RAck, s90 an empty Route, and are refused for it; s07 pauses
  /// where SIPp 3.6 never goes on; s37 and s38 come without their file of accounts.
  private static let scripts = [
    Script(id: "s01", path: "drachtio--drachtio-server/uas-success.xml", part: .calls(offers: 0)),
    Script(id: "s02", path: "drachtio--drachtio-server/uas-183-180-200.xml", part: .calls(offers: 0)),
    Script(id: "s04", path: "drachtio--drachtio-srf/uas-prack.xml", part: .calls(offers: 0)),
    Script(id: "s06", path: "siphon-project--siphon-sip/b2bua_reliable_prov_uas.xml", part: .calls(offers: 0)),
    Script(
      id: "s08", path: "asterisk--testsuite/rel100__outgoing__peer_supported_not_used__check_100rel.xml",
      part: .callsUntilTheEnd),
    Script(id: "s09", path: "drachtio--drachtio-srf/uas-auth.xml", part: .calls(offers: 0)),
    Script(
      id: "s16", path: "asterisk--testsuite/apps__queues__queue_member_forward__redirect-invalid.xml",
      part: .callsInVain),
    Script(id: "s17", path: "drachtio--drachtio-server/uas-fail-486.xml", part: .callsInVain),
    Script(id: "s18", path: "drachtio--drachtio-server/uas-fail-480.xml", part: .callsInVain),
    Script(id: "s20", path: "jambonz--sbc-outbound/uas-503.xml", part: .callsInVain),
    Script(id: "s23", path: "drachtio--drachtio-server/uas-cancel.xml", part: .gives(up: 183)),
    Script(id: "s28", path: "drachtio--drachtio-server/uas-slow-response.xml", part: .calls(offers: 0)),
    Script(id: "s35", path: "siphon-project--siphon-sip/b2bua_reinvite_bleg_uas.xml", part: .calls(offers: 1)),
    Script(id: "s46", path: "drachtio--drachtio-server/uac.xml", part: .takes),
    Script(id: "s47", path: "drachtio--drachtio-server/uac-cancel.xml", part: .rings(takes: false)),
    Script(id: "s57", path: "drachtio--drachtio-srf/uac-nosdp.xml", part: .takes),
    Script(id: "s62", path: "drachtio--drachtio-server/uac-long-sdp.xml", part: .takes),
    Script(id: "s63", path: "drachtio--drachtio-server/uac-utf8.xml", part: .takes),
    Script(id: "s64", path: "drachtio--drachtio-server/uac-long-uri.xml", part: .takes),
    Script(id: "s65", path: "drachtio--drachtio-srf/uac-expect-400-no-contact-header.xml", part: .watches),
    Script(
      id: "s67", path: "asterisk--testsuite/session_timers__session-timer-minse__session-timer-minse.xml",
      part: .watches, minimumSession: 1800),
    Script(id: "s68", path: "drachtio--drachtio-server/uac-session-expires.xml", part: .ends),
    Script(id: "s72", path: "siphon-project--siphon-sip/b2bua_reinvite_uac.xml", part: .takes),
    Script(id: "s79", path: "thevoiceguy--siphon-rs/update.xml", part: .takes),
    Script(id: "s82", path: "thevoiceguy--siphon-rs/update_out_of_dialog.xml", part: .watches),
    Script(id: "s85", path: "thevoiceguy--siphon-rs/options.xml", part: .watches),
    Script(id: "s88", path: "siphon-project--siphon-sip/b2bua_bye_glare_uac.xml", part: .ends),
    Script(id: "s89", path: "drachtio--drachtio-server/uac-preloaded-route.xml", part: .takes),
    Script(id: "s91", path: "thevoiceguy--siphon-rs/invite_bye_ipv6.xml", part: .takes, isIPv6: true),
    Script(id: "s92", path: "siphon-project--siphon-sip/ack_non2xx.xml", part: .rejects(407)),
  ]

  static let cases: [PeerCase] = {
    guard TestVectors.arePresent, let rows = try? TestVectors.table("sipp/catalogue.tsv") else { return [] }
    let expected = Dictionary(rows.map { ($0["id"] ?? "", $0) }) { first, _ in first }
    return scripts.map { script in
      let row = expected[script.id] ?? [:]
      return PeerCase(
        peer: "scripts", transport: script.isIPv6 ? "UDP, IPv6" : "UDP", "\(script.id) \(row["behaviour"] ?? "")",
        expected: row["expected"] ?? ""
      ) { try await run(script) }
    }
  }()

  private static func run(_ script: Script) async throws -> String {
    let url = TestVectors.folder.appendingPathComponent("sipp/\(script.path)")
    var settings = NodeUnderTest.Settings()
    if let minimum = script.minimumSession {
      settings.agent.sessionTimer = SessionTimerPolicy(interval: 1800, minimum: minimum)
    }
    settings.hasIPv6 = script.isIPv6
    // The scripts that are refused do not know 100, which a test on a busy machine would be too slow to prevent.
    if case .rejects(let status) = script.part { settings.refusesCalls = status }
    let node = try await NodeUnderTest.start(settings)
    var options = SIPpPeer.Options()
    if script.isIPv6 { options.host = "::1" }
    options.remote = node.port
    let isServer =
      switch script.part {
      case .calls, .callsUntilTheEnd, .callsInVain, .gives: true
      case .takes, .rings, .ends, .rejects, .watches: false
      }
    let peer = try await SIPpPeer(url, as: isServer ? .server : .client(target: node.port), options)
    let happened: String
    do {
      happened = try await act(script.part, node, peer)
      try await peer.succeeds(within: 30)
    } catch {
      await node.stop()
      throw PeerFailure(
        "\(error); node: \(node.summary); SIPp: \(peer.complaint)\n\(peer.transcript)", wasLate: peer.sawDelay)
    }
    await node.stop()
    return happened
  }

  private static func act(_ part: Part, _ node: NodeUnderTest, _ peer: SIPpPeer) async throws -> String {
    switch part {
    case .calls, .callsUntilTheEnd, .callsInVain, .gives:
      var plan = try node.plan(to: peer.port)
      plan.account = DigestAccount(username: "service", password: Redacted("password"))
      plan.headers = try SIPpCase.headers(("X-Custom", "custom header value"))
      return try await accompany(node.place(plan), part, peer)
    case .watches: return "answered by the node itself"
    case .takes, .rings, .ends, .rejects:
      let (call, incoming) = try await node.incoming()
      let answer = incoming.offer.map { SessionText.answer(to: $0) } ?? SessionText.body()
      switch part {
      case .rejects(let status):
        _ = try await call.ended()
        return "\(status)"
      case .rings(let takes):
        // The script wants a 100 first.
        try await seen("SIP/2.0 100", by: peer)
        call.ring(183, body: answer)
        if takes { call.accept(nil) }
      default:
        call.ring()
        call.accept(answer)
      }
      if case .ends = part {
        try await call.established()
        call.hangUp()
      }
      // Some scripts stop talking once they have seen what they wanted.
      try await peer.succeeds()
      return "the script went through"
    }
  }

  private static func seen(_ text: String, by peer: SIPpPeer) async throws {
    _ = try await Deadline(seconds: 8).first("\(text) at SIPp") { peer.transcript.contains(text) ? true : nil }
  }

  /// Scripts pause where SIPp takes no message: waits until it neither sent nor got one for a while.
  private static func quiet(_ peer: SIPpPeer) async throws {
    var last = peer.transcript
    var since = ContinuousClock.now
    while since.duration(to: .now) < .milliseconds(700) {
      try await Task.sleep(for: .milliseconds(20))
      let transcript = peer.transcript
      if transcript != last {
        last = transcript
        since = .now
      }
    }
  }

  private static func accompany(_ call: CallUnderTest, _ part: Part, _ peer: SIPpPeer) async throws -> String {
    switch part {
    case .calls(let offers):
      try await call.established()
      if offers > 0 {
        _ = try await call.offered(offers)
        try await quiet(peer)
      }
      call.hangUp()
    case .gives(let status):
      _ = try await call.progress(status)
      call.hangUp()
    default: break
    }
    let end = try await call.ended(within: 30)
    if case .callsInVain = part { try require(end.cause == .failed, "the call fails") }
    return end.failure.map { "failed: \($0.code.rawValue)" } ?? "ended, \(end.cause)"
  }
}
