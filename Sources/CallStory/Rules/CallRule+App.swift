import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// The app and its connection.
  static let appLeg: [CallRule] = [
    CallRule("appLost", "The app lost its connection and did not come back") { call in
      guard call.failure?.code == .networkLost else { return nil }
      return Verdict(
        96, .app,
        "The app's connection broke in mid-call; the gateway kept the call for 30 s, nobody took it up again, and it was "
          + "ended.",
        evidence: told(call),
        fixes: [
          "have the app resume its session after a change of network (landline.js does so by itself)",
          "call again",
        ])
    },
    CallRule("appBack", "The app lost its connection and took the call up again") { call in
      guard call.happened(.appBack) || !call.notes(.appBack).isEmpty, call.failure?.code != .networkLost
      else { return nil }
      return Verdict(
        36, .nobody, "The app's connection broke in mid-call and came back in time; the call went on meanwhile.",
        evidence: told(call))
    },
    CallRule("appGone", "The app ended its session with the call up") { call in
      guard call.failure == nil, call.happened(.appGone) || !call.notes(.appGone).isEmpty else {
        return nil
      }
      return Verdict(
        72, .app,
        "The app said goodbye to the gateway while the call was up, so the gateway hung up for it: a page that is closed "
          + "or loaded again does that.",
        evidence: told(call), fixes: ["hang up before leaving the page, or ask the user first"])
    },
    CallRule("hungUpByOperator", "An operator ended the call") { call in
      guard call.flags.contains(.endedByOperator) || call.says("ended by an operator") else { return nil }
      let told = call.told { if case .endedByOperator = $0 { true } else { false } }
      return Verdict(
        97, .gateway, "Somebody with the operator's key ended the call; neither side did.",
        evidence: told.isEmpty ? ["flag: \(CallRecord.Flag.endedByOperator)"] : told, fixes: ["ask the operator named"])
    },
    CallRule("badHeader", "A custom header breaks the rules") { call in
      guard call.failure?.code == .header, let invalid = call.failure?.invalidValue else { return nil }
      let prefix = invalid.rule.contains("prefix")
      return Verdict(
        98, .app,
        "The gateway refused the request before anything went out: \(invalid.problem).",
        evidence: [invalid.description],
        fixes: [prefix ? "name it X-…: other headers are the gateway's own" : "write \(invalid.accepted)"])
    },
    CallRule("notCarried", "What was asked for is not carried") { call in
      guard let failure = call.failure, failure.code == .capabilityRemote else { return nil }
      return Verdict(
        94, .app,
        failure.phrase.map { "The gateway refused: \($0)." } ?? "The other side has no device that can take the call.",
        evidence: failure.phrase.map { [$0] } ?? [],
        fixes: ["call a phone number, a SIP address or a user: kind phone, sip or user"])
    },
    CallRule("tooManyCalls", "Too many calls at once") { call in
      guard let failure = call.failure, failure.code == .limit, failure.refusal == .concurrencyCap else { return nil }
      let ofSession = failure.phrase?.contains("session") ?? false
      let ofGateway = failure.phrase?.contains("gateway") ?? false
      return Verdict(
        95, ofGateway || ofSession ? .gateway : .account,
        "The cap of calls at once is reached\(failure.phrase.map { ": \($0)" } ?? ", which the account sets").",
        evidence: [failure.phrase ?? "concurrencyCap"],
        fixes: [
          ofSession
            ? "landline.yaml: calls.per-session"
            : ofGateway ? "landline.yaml: calls.maximum" : "landline account set-cap ACCOUNT --concurrent N",
          "end a call",
        ])
    },
  ]

  private static func told(_ call: CallEvidence) -> [String] {
    call.lines { [.appLost, .appBack, .appGone].contains($0) }.map { "\($0.milliseconds) ms: \($0.text)" }
  }
}
