import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Trunks that are full, resting, or stand in for each other.
  static let capacity: [CallRule] = [
    CallRule("retryLater", "The trunk asks to wait") { call in
      guard call.status != nil, let seconds = call.failure?.retryAfterSeconds else { return nil }
      return Verdict(
        93, .trunk,
        "The trunk is overloaded or under repair and says when to come back: in \(seconds) s. Until then the gateway "
          + "sends it no calls.",
        evidence: call.said,
        fixes: ["call again in \(seconds) s", "add a second trunk, which would take over at once"])
    },
    CallRule("congestion", "The network behind the trunk is full") { call in
      guard let status = call.status,
        status == 503 || call.q850.map({ [34, 38, 41, 42, 44, 47].contains($0) }) ?? false,
        ![486, 600].contains(status), call.failure?.retryAfterSeconds == nil
      else { return nil }
      return Verdict(
        call.q850 == nil ? 55 : 88, .trunk,
        call.q850.map { "Q.850 cause \($0) is a network without room for the call right now." }
          ?? "503 is a trunk that takes no calls right now: full, in trouble, or switched off.",
        evidence: call.said,
        fixes: [
          "call again in a minute", call.setting("max-calls: as many channels as the carrier gives"),
          "add a second trunk",
        ])
    },
    CallRule("rescued", "Another trunk took the call") { call in
      guard let record = call.sources.record, record.attempts.count > 1, call.isAnswered,
        let first = record.attempts.first, let last = record.attempts.last, first.trunk != last.trunk
      else { return nil }
      return Verdict(
        60, .nobody,
        "Trunk \(first.trunk) failed (\(first.sipStatus.map(String.init) ?? "no response")) and \(last.trunk) took the "
          + "call; it cost the caller \(CallEvidence.difference(first.startedAt, first.endedAt)) ms.",
        evidence: attempts(record.attempts),
        fixes: ["landline trunk test \(first.trunk)"])
    },
    CallRule("allTrunksFailed", "Every trunk failed") { call in
      guard let failure = call.failure, failure.attempts.count > 1, !call.isAnswered else { return nil }
      return Verdict(
        87, .gateway,
        "\(failure.attempts.count) trunks were tried one after the other and none took the call.",
        evidence: attempts(failure.attempts),
        fixes: Set(failure.attempts.map(\.trunk)).sorted().map { "landline trunk test \($0)" })
    },
    CallRule("trunkResting", "No trunk takes calls for the moment") { call in
      guard call.failure?.code == .noRoute, call.failure?.refusal == nil,
        call.says("asked for no calls", "down for", "back from an outage")
      else { return nil }
      return Verdict(
        96, .trunk,
        "No INVITE went out: \(call.failure?.phrase ?? ""). A trunk rests after it asked for it (Retry-After) or failed "
          + "again and again.",
        evidence: [call.failure?.phrase ?? ""],
        fixes: ["call again later", "landline trunk test NAME", "add a second trunk"])
    },
    CallRule("trunkFull", "Every channel of the trunk is in use") { call in
      guard call.failure?.code == .noRoute, call.says("cap of") else { return nil }
      return Verdict(
        97, .gateway,
        "No INVITE went out: \(call.failure?.phrase ?? ""). The cap is the gateway's own setting.",
        evidence: [call.failure?.phrase ?? ""],
        fixes: [
          "landline.yaml: trunks.NAME.max-calls, trunks.NAME.calls-per-second: as the carrier allows",
          "add a second trunk",
        ])
    },
    CallRule("trunkDrained", "The trunk is being emptied") { call in
      guard call.failure?.code == .noRoute, call.says("draining") else { return nil }
      return Verdict(
        97, .gateway,
        "No INVITE went out: an operator set the trunk to take no new calls.",
        evidence: [call.failure?.phrase ?? ""], fixes: ["landline.yaml: trunks.NAME.drain: false"])
    },
  ]

  private static func attempts(_ attempts: [CallAttempt]) -> [String] {
    attempts.map { attempt in
      "\(attempt.trunk): \(attempt.sipStatus.map(String.init) ?? attempt.code?.rawValue ?? "answered") after "
        + "\(CallEvidence.difference(attempt.startedAt, attempt.endedAt)) ms"
    }
  }
}
