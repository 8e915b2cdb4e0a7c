import AppProtocol
import CallEngine
import CallModel
import SIPCore

extension CallRule {
  /// The way to the trunk.
  static let transport: [CallRule] = [
    CallRule("trunkSilent", "The trunk answers nothing at all") { call in
      guard let attempt = call.last, let invite = attempt.invite, attempt.responses.isEmpty,
        attempt.repeatedInvites >= 2, !call.isAnswered, call.unreadable == nil
      else { return nil }
      let seconds = call.sources.record.map {
        CallEvidence.difference($0.summary.startedAt, $0.summary.endedAt) / 1_000
      }
      return Verdict(
        95, .trunk,
        "The INVITE went out \(attempt.repeatedInvites + 1) times to \(invite.remote) over \(invite.transport), and not "
          + "even a 100 came back\(seconds.map { " in \($0) s" } ?? ""): the packets are dropped on the way, or nothing runs "
          + "there. No phone rang.",
        evidence: ["INVITE to \(invite.remote), repeated \(attempt.repeatedInvites) times, no response"],
        fixes: [
          "landline trunk test \(call.trunkName)",
          "check firewalls for \(invite.remote), and that the carrier knows the gateway's address",
          call.setting("uri: sip:HOST;transport=tcp   # tells a closed way from a silent one"),
        ])
    },
    CallRule("responseUnreadable", "The trunk answered, and its answer cannot be read") { call in
      guard let response = call.unreadable else { return nil }
      return Verdict(
        97, .trunk,
        "The trunk did answer\(response.status == 0 ? "" : " (\(response.status))"), and the gateway dropped the response: it "
          + "breaks the rule \(response.rule.rawValue) (\(response.rule.reason)). The trunk itself may count the call as "
          + "answered or refused.",
        evidence: call.said,
        fixes: [
          "show the carrier this message: landline calls pcap \(call.call?.id ?? "ID")",
          "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("connectionRefused", "The trunk takes no connection") { call in
      guard call.failure?.code == .transport, call.last?.responses.isEmpty ?? true, !isTLSTrouble(call) else {
        return nil
      }
      let isDatagram = call.last?.transport == "udp"
      let told =
        problem(call, .connect, .connectRefused, .connectTimeout) + (isDatagram ? problem(call, .unreachable) : [])
      let isStream = ["transport=tcp", "transport=tls", "sips:"].contains { call.facts?.uri.contains($0) ?? false }
      guard !told.isEmpty || isStream && call.last?.repeatedInvites ?? 0 == 0 else { return nil }
      let isRefused = call.pathProblems.contains { $0.problem == .connectRefused }
      return Verdict(
        told.isEmpty ? 70 : 96, .trunk,
        explanation(isDatagram: isDatagram, isRefused: isRefused),
        evidence: ["trunks.\(call.trunkName).uri: \(call.facts?.uri ?? "?")"] + told,
        fixes: [call.setting("uri: check host, port and transport"), "landline trunk test \(call.trunkName)"])
    },
    CallRule("certificateUntrusted", "The trunk's certificate is signed by a stranger") { call in
      tls(
        call, .certificateUntrusted, 97,
        "The trunk showed a certificate that no trusted authority vouches for, so the gateway sent nothing.",
        ["tls.authorities: [FILE]   # the authority of the carrier", "tls.fingerprints: [\"SHA-256\"]"])
    },
    CallRule("certificateName", "The trunk's certificate names another host") { call in
      tls(
        call, .certificateName, 97,
        "The trunk's certificate is of another name than the one that was called, so the gateway sent nothing.",
        ["uri: sips:NAME   # a name that the certificate holds", "tls.wildcard-names: true"])
    },
    CallRule("certificateExpired", "The trunk's certificate has expired") { call in
      tls(
        call, .certificateExpired, 97,
        "The trunk's certificate has run out, so the gateway sent nothing. The carrier has to renew it; a wrong clock "
          + "here would look the same.",
        ["tls.fingerprints: [\"SHA-256\"]   # until it is renewed, if you know the certificate"])
    },
    CallRule("requestsRepeated", "Messages to the trunk were lost or late") { call in
      guard let attempt = call.attempts.first(where: { $0.repeatedInvites > 0 && !$0.responses.isEmpty }),
        let invite = attempt.invites.first, let first = attempt.firstResponse
      else { return nil }
      return Verdict(
        35, .trunk,
        "The INVITE to \(attempt.name) went out \(attempt.repeatedInvites + attempt.invites.count) times before its "
          + "first response, which came after \(CallEvidence.milliseconds(invite.at, first.at)) ms: packets were lost, or the trunk is "
          + "slow to say 100.",
        evidence: ["first response: \(first.startLine)"],
        fixes: [call.setting("uri: sip:HOST;transport=tcp", of: attempt.trunk)])
    },
    CallRule("slowTrunk", "The trunk took long before it rang") { call in
      guard let attempt = call.attempts.first(where: { $0.success != nil || $0.hasRung }),
        let invite = attempt.invites.first,
        let sign = attempt.responses.first(where: { ($0.status ?? 0) > 100 && $0.status != 401 && $0.status != 407 })
      else { return nil }
      let delay = CallEvidence.milliseconds(invite.at, sign.at)
      guard delay >= slowMilliseconds else { return nil }
      return Verdict(
        42, .trunk,
        "From the INVITE to the first sign of life (\(sign.startLine)) \(delay) ms passed at \(attempt.name); the gateway "
          + "itself waited for nothing else.",
        evidence: ["INVITE at \(invite.at / 1_000) ms, \(sign.startLine) at \(sign.at / 1_000) ms"],
        fixes: ["ask the carrier for its post-dial delay to the destination", "prefer another trunk for it: priority"])
    },
  ]

  private static func explanation(isDatagram: Bool, isRefused: Bool) -> String {
    switch (isDatagram, isRefused) {
    case (true, true):
      "The INVITE reached nobody: the trunk's host says that nothing listens on that UDP port."
    case (true, false): "The INVITE reached nobody: the network says that there is no way to the trunk's host."
    case (false, true):
      "No INVITE went out: the trunk's host refused the connection, so nothing listens on that port."
    case (false, false): "No INVITE went out: no connection to the trunk could be made."
    }
  }

  /// Post-dial delay that a caller takes for a fault.
  static let slowMilliseconds: Int64 = 4_000

  private static func isTLSTrouble(_ call: CallEvidence) -> Bool { call.pathProblems.contains { $0.problem.isTLS } }

  private static func problem(_ call: CallEvidence, _ meant: CallTrace.PathProblem...) -> [String] {
    call.pathProblems.first { meant.contains($0.problem) }.map { [EvidenceMessage.cut($0.note.text)] } ?? []
  }

  private static func tls(
    _ call: CallEvidence, _ meant: CallTrace.PathProblem, _ confidence: Int, _ explanation: String, _ settings: [String]
  ) -> Verdict? {
    let told = problem(call, meant)
    guard !told.isEmpty else { return nil }
    return Verdict(
      confidence, .trunk, explanation, evidence: told,
      fixes: settings.map { call.setting($0) } + ["landline trunk test \(call.trunkName)"])
  }
}
