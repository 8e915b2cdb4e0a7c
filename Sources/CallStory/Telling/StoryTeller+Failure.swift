import AppProtocol
import CallEngine
import CallModel
import SIPCore

extension StoryTeller {
  var failure: CallStory.Failure? {
    guard let failure = sources.record?.summary.failure ?? call?.failure else { return nil }
    let cause = failure.cause
    return CallStory.Failure(
      code: failure.code.rawValue, meaning: failure.code.details.meaning, refusal: failure.refusal?.rawValue,
      sipStatus: failure.sipStatus, phrase: failure.phrase, q850: cause,
      q850Name: cause.flatMap { CauseCatalogue.cause($0)?.name }, warning: failure.warning,
      reasons: failure.reasons.map(StoryTeller.text), saidBy: saidBy(failure), retry: failure.retry.text,
      retryAfterSeconds: failure.retryAfterSeconds, documentation: "/errors/\(failure.code.rawValue)")
  }

  /// `Q.850 cause 17 (user busy)`.
  private static func text(_ reason: CallFailure.Reason) -> String {
    let cause = reason.cause.map { " cause \($0)" } ?? ""
    return PlainText.line(reason.protocolName + cause + (reason.text.map { " (\($0))" } ?? ""))
  }

  /// Who said so: the one whose message ended the call, or the gateway where none did.
  private func saidBy(_ failure: CallFailure) -> String {
    if failure.refusal != nil { return "the gateway: its ledger or routing" }
    switch failure.domain {
    case .gateway, .capability: return "the gateway"
    case .network:
      return failure.trunk.map { "the gateway: nothing usable came from trunk \($0)" } ?? "the gateway"
    case .sip: break
    }
    guard let last = response(behind: failure) else {
      if let trunk = failure.trunk {
        return trace == nil ? "trunk \(trunk)" : "the gateway: trunk \(trunk) did not say so itself"
      }
      return failure.leg == .app || failure.leg == nil ? "the gateway" : "the other side"
    }
    let address = last.message.remote.isEmpty ? "" : " at \(last.message.remote)"
    let name = title(ofDialog: last.message.dialog)
    return (dialog(of: last)?.trunk == nil ? name : "trunk \(name)") + address
  }

  /// The final response that a failure is made of: the last one to an INVITE of ours with its status, from its trunk.
  private func response(behind failure: CallFailure) -> Seen? {
    let candidates = messages.filter { seen in
      !seen.message.isSent && seen.read.sequence?.method == "INVITE" && (seen.read.status ?? 0) >= 300
        && seen.read.status == failure.sipStatus
    }
    return candidates.last { dialog(of: $0)?.trunk == failure.trunk } ?? candidates.last
  }

  /// What a final response says of a failure.
  func evidence(_ seen: Seen?) -> CallFailureEvidence? {
    guard let read = seen?.read, let status = read.status else { return nil }
    return CallFailureEvidence(
      status: status, phrase: read.phrase ?? "", reasonFields: read.values("reason").prefix(8),
      retryAfterField: read.value("retry-after"), callInfoFields: read.values("call-info").prefix(8))
  }
}
