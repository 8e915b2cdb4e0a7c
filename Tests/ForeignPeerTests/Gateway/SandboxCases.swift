import CallEngine
import CallModel
import Foundation
import LedgerCore
import NodeCore
import PeerKit

/// The numbers of the sandbox, answered by the gateway's own far end over SIP and RTP.
enum SandboxCases {
  private struct Row: Sendable {
    let number: SandboxNumber
    let code: String
    var status: Int?
    var isLong = false
  }

  private static let refusals: [Row] = [
    Row(number: .notFound, code: "sip.unallocated", status: 404),
    Row(number: .unavailable, code: "sip.unreachable", status: 480),
    Row(number: .busy, code: "sip.busy", status: 486),
    Row(number: .notAcceptable, code: "sip.media", status: 488),
    Row(number: .congestion, code: "sip.congestion", status: 503),
    Row(number: .declined, code: "sip.declined", status: 603),
    Row(number: .timeout, code: "sip.noAnswer", status: 408),
    Row(number: .earlyMediaThenReject, code: "sip.busy", status: 486),
  ]

  private static func make(
    _ name: String, expected: String, _ body: @escaping @Sendable (AppPeer) async throws -> String
  ) -> PeerCase {
    GatewayCase.make("far end", "UDP", "sandbox: \(name)", expected: expected) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        let app = try await AppPeer(gateway, as: .trial)
        return try await GatewayCase.reported(app) { try await body(app) }
      }
    }
  }

  private static func target(_ number: SandboxNumber) -> String { "+\(number.rawValue)" }

  static let cases: [PeerCase] = [
    make("every number that refuses", expected: refusals.map(\.code).joined(separator: ", ")) { app in
      for row in refusals {
        let call = try await app.placed(target(row.number))
        if row.number == .earlyMediaThenReject { try await app.told("early") }
        let end = try await app.ended(within: 20)
        try FailureCases.failed(end, code: row.code, status: row.status)
        if row.number == .congestion {
          try require(end.number("failure.retry_after") != nil, "Retry-After: \(end)")
        }
        try await app.uncharged(call)
        _ = try await app.gateway.record(call, in: "sandbox")
      }
      return "as expected"
    },
    make("no credit", expected: "gw.funds before anything") { app in
      try app.call(target(.insufficientCredit))
      let error = try await app.told("error")
      try require(error.text("error.code") == "gw.funds", "gw.funds: \(error)")
      try await app.uncharged()
      return "gw.funds"
    },
    make("no answer", expected: "rings until the app gives up") { app in
      let call = try await app.placed(target(.noAnswer))
      try await app.told("ringing")
      try app.hangUp()
      let end = try await app.ended()
      try require(end.text("cause") == "canceled", "canceled: \(end)")
      try await app.uncharged(call)
      return "canceled"
    },
    make("answers and drops", expected: "hung up after two seconds, free") { app in
      let (call, end) = try await GatewayCase.timed {
        let call = try await app.placed(target(.answerThenDrop))
        let end = try await app.ended()
        return (value: (call, end), figure: .init("duration_ms", end.number("duration_ms"), 1_700...2_600))
      }
      try require(end.text("cause") == "hungUp", "hung up: \(end)")
      let duration = end.number("duration_ms") ?? 0
      try require(end.number("cost_micro") == 0, "free: \(end)")
      try await app.uncharged(call)
      return "\(Int(duration)) ms"
    },
    make("echo", expected: "the app hears itself, free") { app in
      let call = try await app.established(target(.echo))
      // It speaks first, and echoes afterwards.
      let folder = try TemporaryFolder("prompt")
      _ = try await EchoCases.recording(of: app.peer, seconds: 5, in: folder)
      let sound = try await GatewayCase.echoHeard(app)
      try app.hangUp()
      try require(try await app.ended().number("cost_micro") == 0, "free")
      try await app.uncharged(call)
      return sound
    },
    make("echo with loss", expected: "one packet of fifty is lost on the way back") { app in
      let call = try await app.established(target(.echoWithLoss))
      let losses = try await Deadline(seconds: 12).first("loss in the figures", everyMilliseconds: 200) {
        () -> Double? in
        let shares = app.peer.events.filter { $0.name == "got-quality" }.compactMap { $0.number("received.loss") }
        return shares.filter { $0 > 0 }.count >= 2 ? shares.reduce(0, +) / Double(shares.count) : nil
      }
      try require((0.005...0.05).contains(losses), "about 2 %, not \(losses)")
      try app.hangUp()
      _ = try await app.ended()
      try await app.uncharged(call)
      return "\(rounded(losses * 100)) %"
    },
    make("one way", expected: "established, hung up by the app") { app in
      let call = try await app.established(target(.oneWay))
      try app.hangUp()
      try require(try await app.ended().text("cause") == "hungUp", "hung up")
      try await app.uncharged(call)
      return "hung up"
    },
    GatewayCase.withSIPp(
      "a sandbox number with a production key", "gateway-answers",
      expected: "an ordinary number: the trunk answers, production pays, the sandbox knows nothing"
    ) { app, sipp in
      let call = try await app.established(target(.busy))
      try require(
        sipp.message("INVITE", wasReceived: true)?.message.requestURI?.contains(target(.busy)) == true,
        "the trunk is dialled")
      try app.hangUp()
      let money = try await app.charged(try await app.ended(), call)
      let sandbox = try app.gateway.stores("sandbox")
      let records = try await sandbox.records.records(.init())
      let holds = try await sandbox.ledger.read { try $0.holds(.init(limit: 10)) }
      try require(records.records.isEmpty && holds.isEmpty, "nothing of it is in the sandbox")
      try require(try await app.gateway.account(.trial).posted == GatewayPayer.trial.credit, "its account is as it was")
      return money
    },
  ]
}
