import CallEngine
import CallModel
import CallStory

/// Calls that trunks send.
extension RulesRow {
  static let arrivals: [RulesRow] = [
    RulesRow("numberNotOurs", ended(CallFailure(.numberUnknown)), not: ended(CallFailure(.numberUnserved))),
    RulesRow("nobodyToGoTo", ended(CallFailure(.numberUnserved)), not: ended(CallFailure(.numberUnknown))),
    RulesRow(
      "unsignedCaller", ended(CallFailure(.callerRefused, sipStatus: 428, phrase: "the call has no signed caller")),
      not: ended(CallFailure(.callerRefused, sipStatus: 433, phrase: "the number takes no anonymous calls"))),
    RulesRow(
      "identityFailed", ended(nil, verified: .failed, why: "it was signed 61 s ago, and 60 s is the limit"),
      not: ended(nil, verified: .network, why: "the certificate of the signed caller did not come in time")),
    RulesRow(
      "identityLate", ended(nil, verified: .network, why: "the certificate of the signed caller did not come in time"),
      not: ended(nil, verified: .full)),
    RulesRow(
      "callerTurnedAway", ended(CallFailure(.callerRefused, phrase: "callers +4670 are blocked")),
      not: ended(CallFailure(.userDeclined))),
    RulesRow(
      "inboundNotCovered", ended(CallFailure(CallRefusal.insufficientCredit)),
      not: ended(CallFailure(CallRefusal.insufficientCredit), comesFromTrunk: false)),
    RulesRow("forwardedInALoop", ended(CallFailure(.forwardLoop)), not: ended(CallFailure(.numberUnserved))),
    RulesRow(
      "numberFull", ended(CallFailure(.limit, refusal: .concurrencyCap, phrase: "calls to the number: 2")),
      not: ended(CallFailure(.limit, refusal: .concurrencyCap), comesFromTrunk: false)),
  ]

  private static func ended(
    _ failure: CallFailure?, comesFromTrunk: Bool = true, verified: CallerIdentity.Verification = .none,
    why: String? = nil
  ) -> Situation {
    .call { scene in
      scene.end(failure?.endCause ?? .hungUp, failure)
      scene.sources.record?.call.destination = "+46850000536"
      scene.sources.record?.call.trunk = "carrier"
      if comesFromTrunk {
        scene.sources.record?.call.from = CallerIdentity(
          kind: .phone, value: "+46701111111", name: "", verified: verified, why: why)
      }
    }
  }
}
