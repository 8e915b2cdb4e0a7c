import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// What the far end said, where the status or the cause is the whole matter.
  static let answers: [CallRule] = [
    CallRule("busy", "The called party is busy") { call in
      guard call.status == 486 || call.status != nil && call.q850 == 17, call.q850 == nil || call.q850 == 17 else {
        return nil
      }
      return Verdict(
        call.q850 == 17 ? 92 : 80, .callee,
        "The called party is in another call"
          + (call.q850 == 17 ? ", as the telephone network says too (Q.850 cause 17)." : "."),
        evidence: call.said, fixes: ["call again later"])
    },
    CallRule("busyIsCongestion", "It says busy, and the network is full") { call in
      guard call.status == 486 || call.status == 600, let cause = call.q850, [34, 38, 41, 42, 44, 47].contains(cause)
      else { return nil }
      return Verdict(
        94, .trunk,
        "The status says busy, and the cause beside it says otherwise: Q.850 \(cause) is a network without a free "
          + "circuit. The called party's line may well be free.",
        evidence: call.said,
        fixes: ["call again in a minute", "add a second trunk for the destination", "show the carrier the cause"])
    },
    CallRule("busyEverywhere", "Busy on every device") { call in
      guard call.status == 600, call.q850 == nil || call.q850 == 17 else { return nil }
      return Verdict(
        85, .callee,
        "600 speaks for all of the called party's devices: another way to the same party would find it busy too.",
        evidence: call.said, fixes: ["call again later\(call.failure?.retryAfterSeconds.map { ", in \($0) s" } ?? "")"])
    },
    CallRule("declined", "The call was declined") { call in
      guard call.status == 603 || call.q850 == 21 && call.status == 480, call.failure?.code != .blocked else {
        return nil
      }
      let quick = call.last.flatMap { attempt -> Int64? in
        guard let invite = attempt.invite, let refusal = attempt.refusal else { return nil }
        return CallEvidence.milliseconds(invite.at, refusal.at)
      }
      let isMachine = !call.hasRung && (quick ?? .max) < 300
      return Verdict(
        isMachine ? 68 : 86, isMachine ? .trunk : .callee,
        isMachine
          ? "603 came \(quick ?? 0) ms after the INVITE and nothing had rung: more likely a rule or a limit of new calls a "
            + "second at the trunk than a person."
          : "The phone rang and somebody, or the phone's own rule, declined.",
        evidence: call.said,
        fixes: isMachine
          ? [
            call.setting("calls-per-second: 5   # compare with the carrier's limit"),
            "ask the carrier who declined",
          ] : ["reach the called party another way"])
    },
    CallRule("notReachable", "The phone is off or not registered") { call in
      guard let status = call.status, [480, 408].contains(status) || call.q850 == 20 || call.q850 == 18,
        !call.hasRung, call.q850 != 19, call.failure?.retryAfterSeconds == nil
      else { return nil }
      let named = call.q850 == 20 || call.q850 == 18
      return Verdict(
        named ? 90 : status == 480 ? 60 : 45, .callee,
        named
          ? "The network knows the called party and cannot reach its phone (Q.850 cause \(call.q850 ?? 0)): off, out of "
            + "coverage, or not registered."
          : "The far end says \(status) and nothing rang: most often no phone is registered.",
        evidence: call.said, fixes: ["call again later"])
    },
    CallRule("rangOut", "It rang and nobody answered") { call in
      guard let status = call.status, [408, 480, 487, 486, 603].contains(status), call.hasRung || call.q850 == 19,
        call.q850 == 19 || [408, 480].contains(status), call.failure?.retryAfterSeconds == nil
      else { return nil }
      return Verdict(
        call.q850 == 19 ? 93 : 80, .callee,
        "The phone rang\(ringing(call)) until the network gave up"
          + (call.q850 == 19 ? " (Q.850 cause 19, no answer)." : "."),
        evidence: call.said, fixes: ["call again later"])
    },
    CallRule("redirected", "The far end named another destination") { call in
      guard let status = call.status, 300...399 ~= status else { return nil }
      let contact = call.last?.refusal?.value("contact")
      return Verdict(
        94, .trunk,
        "\(status) asks to call \(contact.map(EvidenceMessage.cut) ?? "another address") instead, where the "
          + "gateway does not go: trunk \(call.trunkName) may redirect no call or none any more, or the new destination is in "
          + "another country, is not allowed or costs more than what was dialled.",
        evidence: call.said,
        fixes: [
          call.setting("redirections: 1"), "call the new destination: it is priced on its own",
        ])
    },
    CallRule("loop", "The call went round in a circle") { call in
      guard
        call.status == 482 || call.status == 483 && (call.last?.refusal?.values("via").count ?? 0) > 1
          || call.status == 483 || call.status != nil && call.q850 == 25
      else { return nil }
      return Verdict(
        call.status == 482 ? 88 : 82, .trunk,
        call.status == 482
          ? "A server saw the same request twice: two servers send the number to each other."
          : "The request passed too many servers: most often two of them send the number to each other.",
        evidence: call.said,
        fixes: [
          "check that the number is not routed back to this gateway by \(call.trunkName)",
          "show the carrier this message: landline calls pcap \(call.call?.id ?? "ID")",
        ])
    },
    CallRule("requestRefused", "The trunk does not take something in the request") { call in
      guard let status = call.status, [400, 405, 413, 414, 415, 416, 489, 493, 501, 505, 513].contains(status) else {
        return nil
      }
      let warning = call.last?.refusal?.values("warning").first ?? call.failure?.warning
      return Verdict(
        warning == nil ? 45 : 78, .trunk,
        "The trunk could read the INVITE and will not have it"
          + (warning.map { "; it says why: \(EvidenceMessage.cut($0))." } ?? ", and does not say what is wrong."),
        evidence: call.said,
        fixes: [
          "landline trunk test \(call.trunkName)",
          "show the carrier this message: landline calls pcap \(call.call?.id ?? "ID")",
        ])
    },
    CallRule("peerFailed", "The trunk itself failed") { call in
      guard let status = call.status, [500, 502, 504, 580].contains(status), call.failure?.retryAfterSeconds == nil
      else { return nil }
      let name = call.q850.map { " (Q.850 cause \($0))" } ?? ""
      return Verdict(
        call.q850 == nil ? 55 : 80, .trunk,
        status == 504
          ? "A server behind the trunk did not answer in time\(name)."
          : "A fault inside the trunk or behind it\(name): the same call may pass in a minute.",
        evidence: call.said, fixes: ["call again", "add a second trunk", "show the carrier the time and the Call-ID"])
    },
  ]

  static func ringing(_ call: CallEvidence) -> String {
    guard let rung = call.sources.record?.summary.rungAt, let ended = call.sources.record?.summary.endedAt else {
      return ""
    }
    return " for \(CallEvidence.difference(rung, ended) / 1_000) s"
  }
}
