import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import PeerKit

/// What happens to a call before it is answered and while it is up.
enum MidCallCases {
  static let cases: [PeerCase] = [
    GatewayCase.withSIPp(
      "gives up while it rings", "answer-ringing-cancelled", expected: "CANCEL with a reason, canceled, free"
    ) { app, _ in
      let call = try await app.placed()
      try await app.told("ringing")
      try app.hangUp()
      let end = try await app.ended()
      try require(end.text("cause") == "canceled", "canceled: \(end)")
      try await app.uncharged(call)
      return "canceled, free"
    },
    GatewayCase.withSIPp(
      "gives up as it is answered", "gateway-crosses-cancel", expected: "ACK and BYE for the late 200, free"
    ) { app, sipp in
      let call = try await app.placed()
      try await app.told("ringing")
      try app.hangUp()
      let end = try await app.ended()
      try require(end.text("cause") == "canceled", "canceled: \(end)")
      try await sipp.succeeds()
      try await app.uncharged(call)
      _ = try await app.gateway.record(call)
      return "canceled, free"
    },
    GatewayCase.withSIPp(
      "held by the trunk", "gateway-holds", expected: "held, then taken back; billed all the time", echoes: true
    ) { app, _ in
      let call = try await app.established()
      try require(try await app.told("held").flag("held") == true, "held")
      try require(try await app.told("held").flag("held") == false, "taken back")
      let sound = try await GatewayCase.echoHeard(app)
      try app.hangUp()
      return "\(sound); \(try await app.charged(try await app.ended(), call))"
    },
    GatewayCase.withSIPp(
      "holds and takes back", "gateway-is-held", expected: "sendonly, then sendrecv at the trunk", echoes: true
    ) { app, sipp in
      let call = try await app.established()
      for (number, command) in ["hold", "unhold"].enumerated() {
        try app.peer.run(command)
        try await app.told("answer")
        _ = try await Deadline(seconds: 10).first("ACK of the re-INVITE", everyMilliseconds: 20) { () -> Bool? in
          let acks = sipp.messages.filter { $0.wasReceived && $0.message.method == "ACK" }
          return Set(acks.compactMap { $0.message["CSeq"] }).count >= number + 2 ? true : nil
        }
      }
      let sound = try await GatewayCase.echoHeard(app)
      try app.hangUp()
      return "\(sound); \(try await app.charged(try await app.ended(), call))"
    },
    GatewayCase.withSIPp(
      "sound before it is busy", "gateway-early-then-busy", expected: "early, then sip.busy, free",
      keys: ["linger": "1000"]
    ) { app, _ in
      let call = try await app.placed()
      try await app.told("early")
      let end = try await app.ended()
      try FailureCases.failed(end, code: "sip.busy", status: 486, phrase: "Busy Here", cause: 17)
      try require(end.text("headers.X-Busy") == "in a meeting", "the header of the 486: \(end)")
      try await app.uncharged(call)
      return "early, sip.busy"
    },
    GatewayCase.withSIPp(
      "the app's socket is lost and comes back", "gateway-answers", expected: "sound goes on, the call is taken up",
      echoes: true
    ) { app, _ in
      let call = try await app.established()
      _ = try await app.peer.ask("drop", for: "dropped")
      let sound = try await GatewayCase.echoHeard(app)
      _ = try await app.peer.ask("connect", ["port": Int(app.gateway.httpPort)], for: "connected-socket")
      try app.peer.run("resume")
      let resumed = try await app.told("resumed")
      try require(resumed.text("calls.0") == call && resumed.count("calls") == 1, "the call: \(resumed)")
      try app.hangUp()
      let end = try await app.ended()
      try require(end.text("cause") == "hungUp", "hung up: \(end)")
      return "\(sound); \(try await app.charged(end, call))"
    },
    GatewayCase.withSIPp(
      "the app says goodbye", "gateway-answers", expected: "BYE at once, charged"
    ) { app, sipp in
      let call = try await app.established()
      try app.peer.run("bye")
      try await sipp.succeeds()
      let record = try await app.gateway.record(call)
      let cost = record.summary.costMicro ?? -1
      let seconds = GatewayRate.seconds(milliseconds: record.summary.durationMilliseconds)
      try require(cost == GatewayRate.cost(seconds: seconds), "the cost of \(seconds) s, not \(cost)")
      return "\(seconds) s, \(cost) micro"
    },
    GatewayCase.withSIPp(
      "the app never comes back", "gateway-answers", expected: "BYE after the session's 30 s, charged", isLong: true
    ) { app, sipp in
      let call = try await app.established()
      _ = try await app.peer.ask("drop", for: "dropped")
      try await sipp.succeeds(within: 60)
      let record = try await app.gateway.record(call)
      try require(record.summary.failure?.code == .networkLost, "lost: \(record.summary)")
      let seconds = GatewayRate.seconds(milliseconds: record.summary.durationMilliseconds)
      try require((29...36).contains(seconds), "about 30 s, not \(seconds)")
      try require(record.summary.costMicro == GatewayRate.cost(seconds: seconds), "the cost of \(seconds) s")
      return "\(seconds) s"
    },
    credit(grants: ["first-grant: 2s", "grant: 2s", "grant-guard: 1s", "ledger-timeout: 1s"], "in grants of 2 s"),
    credit(grants: [], "in one grant"),
  ]

  /// - Parameter grants: how the credit is asked for.
  private static func credit(grants: [String], _ name: String) -> PeerCase {
    let seconds: Int64 = 6
    let payer = GatewayPayer.short(seconds: seconds)
    return GatewayCase.withSIPp(
      "the credit ends, \(name)", "gateway-answers", expected: "warned, cut at \(seconds) s ± 0.3, cost is the credit",
      echoes: true, payer: payer, calls: grants
    ) { app, sipp in
      try await GatewayCase.timed {
        let call = try await app.established()
        let warning = try await app.told("credit")
        try require((1...Double(seconds)).contains(warning.number("ends_in") ?? 0), "warned in time: \(warning)")
        let end = try await app.ended(within: 12)
        try FailureCases.failed(end, code: "gw.funds")
        try require(end.text("failure.refusal") == "insufficientCredit", "for want of credit: \(end)")
        let money = try await app.charged(end, call)
        let account = try await app.gateway.account(payer)
        try require(account.posted == 0, "all is spent and no more: \(account.posted)")
        let hold = try await app.gateway.hold(call, of: payer)
        try require(hold?.amount == hold?.cost, "the hold is the cost: \(String(describing: hold))")
        try await sipp.succeeds()
        guard let answer = sipp.message("SIP/2.0 200", wasReceived: false),
          let bye = sipp.message("BYE", wasReceived: true)
        else { throw PeerFailure("200 and BYE in SIPp's trace") }
        let lasted = bye.at - answer.at
        let saved = try await app.peer.ask(
          "save", ["file": app.peer.folder.url.appendingPathComponent("heard.wav").path], for: "saved")
        try require(saved.number("seconds") ?? 99 < Double(seconds) + 1, "no sound after the end: \(saved)")
        return (
          value: "\(money); BYE after \(rounded(lasted)) s",
          figure: .init("seconds to the BYE", lasted, (Double(seconds) - 0.3)...(Double(seconds) + 0.3))
        )
      }
    }
  }
}
