import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// A hang-up sooner than this after the answer is hardly a talk.
  static let briefMilliseconds: Int64 = 3_000

  /// How the call went.
  static let flow: [CallRule] = [
    CallRule("ringTimeout", "The gateway stopped ringing") { call in
      guard call.failure?.code == .noAnswer, call.status == nil || call.status == 487, call.last?.sent("CANCEL") != nil
      else { return nil }
      return Verdict(
        92, .callee,
        call.hasRung
          ? "The phone rang\(ringing(call)), nobody answered, and the gateway gave up at the trunk's ring timeout."
          : "The trunk took the call and never said that the phone rings; the gateway gave up at the trunk's ring timeout.",
        evidence: ["CANCEL sent by the gateway"] + call.told(.rings),
        fixes: ["call again later", call.setting("ring-timeout: 3m   # how long it may ring")])
    },
    CallRule("cancelledByCaller", "The caller gave up") { call in
      guard call.cause == .canceled, !call.isAnswered, call.happened(.callerGaveUp) else { return nil }
      let silent = call.last.map { $0.invite != nil && $0.responses.isEmpty } ?? false
      return Verdict(
        silent ? 60 : 88, .nobody,
        call.hasRung
          ? "It rang\(ringing(call)) and the caller hung up before anybody answered."
          : "The caller hung up before it rang\(silent ? "; the trunk had said nothing at all by then" : "").",
        evidence: call.last?.sent("CANCEL").map { ["\($0.startLine)"] + $0.values("reason").map { "Reason: \($0)" } }
          ?? [])
    },
    CallRule("cancelCrossed", "The caller gave up as the call was answered") { call in
      let crossed = call.attempts.first { attempt in
        guard let cancel = attempt.sent("CANCEL"), let success = attempt.success else { return false }
        return success.at >= cancel.at
      }
      guard !call.isAnswered, call.failure == nil, crossed != nil || call.flags.contains(.cancelRace) else {
        return nil
      }
      return Verdict(
        93, .nobody,
        "The CANCEL and the answer crossed on the way: the gateway acknowledged the answer and hung up at once, and nobody "
          + "is charged.",
        evidence: [crossed?.sent("CANCEL")?.startLine, crossed?.success?.startLine].compactMap { $0 }
          + (call.flags.contains(.cancelRace) ? ["flag: \(CallRecord.Flag.cancelRace)"] : []))
    },
    CallRule("droppedAtOnce", "The called side hung up right after answering") { call in
      guard call.isAnswered, call.failure == nil, call.cause == .hungUp, call.durationMilliseconds < briefMilliseconds,
        call.isHungUpByFar
      else { return nil }
      let bye = call.attempts.compactMap { $0.received("BYE") }.last
      let reasons = bye?.values("reason") ?? []
      return Verdict(
        84, .callee,
        "The called side answered and hung up \(call.durationMilliseconds) ms later: a machine that answers first and "
          + "refuses then, a queue that drops calls, or a person who changed their mind.",
        evidence: [bye?.startLine ?? "BYE"] + reasons.map { "Reason: \($0)" },
        fixes: [
          "listen to what is said in that time: landline call \(call.call?.destination ?? "+NUMBER") --record FILE"
        ])
    },
    CallRule("announcement", "An announcement came before the refusal") { call in
      guard call.status != nil, !call.isAnswered, let attempt = call.last,
        let early = attempt.provisionals.first(where: { !$0.body.isEmpty }), let refusal = attempt.refusal,
        refusal.at > early.at
      else { return nil }
      return Verdict(
        70, .callee,
        "The trunk played sound for \(CallEvidence.milliseconds(early.at, refusal.at)) ms before it said \(refusal.status ?? 0): what "
          + "it played is the network's own explanation, in words.",
        evidence: [early.startLine, refusal.startLine],
        fixes: ["listen to it: landline call \(call.call?.destination ?? "+NUMBER") --record FILE"])
    },
    CallRule("fine", "The call was fine") { call in
      guard call.hasCall, !call.isLive, call.failure == nil, call.isAnswered, !call.isBadlyHeard
      else { return nil }
      let seconds = call.durationMilliseconds / 1_000
      return Verdict(
        50, .nobody,
        "The call was answered, lasted \(seconds) s and was ended by \(call.isHungUpByFar ? "the called side" : "the caller"), as calls "
          + "are.",
        evidence: ["answered for \(call.durationMilliseconds) ms"])
    },
  ]
}
