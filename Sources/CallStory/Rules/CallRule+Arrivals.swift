import CallEngine
import CallModel

extension CallRule {
  /// Calls that trunks send: whether the number is ours, whom it leads to, and who is let through.
  static let arrivals: [CallRule] = [
    CallRule("numberNotOurs", "The number is not ours") { call in
      guard call.failure?.code == .numberUnknown, let number = call.call?.destination else { return nil }
      return Verdict(
        97, .gateway, "Trunk \(trunk(call)) sent a call for a number that no active row of the number table has.",
        evidence: [called(call)],
        fixes: [
          "landline number set \(number) --user USER", "landline number list shows the rows and which are active",
          "landline.yaml: trunks.\(trunk(call)).inbound.numbers, where the trunk writes numbers in another way",
        ])
    },
    CallRule("nobodyToGoTo", "The number leads to nobody") { call in
      guard call.failure?.code == .numberUnserved, let number = call.call?.destination else { return nil }
      return Verdict(
        97, .gateway, "The called number is ours, and its row has no target that can be called.",
        evidence: [called(call)], fixes: ["landline number set \(number) --user USER"])
    },
    CallRule("unsignedCaller", "The trunk wants signed callers, and this one is not verified") { call in
      guard let failure = call.failure, let why = signatureProblem(failure) else { return nil }
      return Verdict(
        97, .trunk,
        "Trunk \(trunk(call)) is configured to bring verified callers alone, and this call was refused with "
          + "\(failure.sipStatus ?? 428): \(why).",
        evidence: [called(call)] + identityFields(call),
        fixes: [
          "ask the carrier how it signs calls, and to send Identity with them",
          "landline.yaml: trunks.\(trunk(call)).stir: verify lets such calls in, and tells apps what is known",
        ])
    },
    CallRule("identityFailed", "The caller's signature does not hold") { call in
      guard let caller = call.arrival, caller.verified == .failed, signatureProblem(call.failure) == nil else {
        return nil
      }
      return Verdict(
        45, .trunk,
        "The call came with a signed caller, and the signature does not hold: \(caller.why ?? "it was not said why"). It "
          + "went on, and the app heard that its caller is not verified.",
        evidence: [called(call)] + identityFields(call),
        fixes: [
          "ask the carrier how it signs calls",
          "landline.yaml: stir.authorities, where the signer's authority is missing there",
          "landline.yaml: trunks.\(trunk(call)).stir: enforce refuses such calls",
        ])
    },
    CallRule("identityLate", "The caller was not verified in time") { call in
      guard let caller = call.arrival, caller.verified != .failed, let why = caller.why,
        signatureProblem(call.failure) == nil
      else { return nil }
      return Verdict(
        40, .gateway,
        "The call came with a signed caller, and nothing is known of the signature: \(why). No call waits for it longer than a "
          + "second.",
        evidence: [called(call)] + identityFields(call),
        fixes: [
          "look whether this machine reaches the server of the certificate, whose address is in the Identity field",
          "nothing: it is tried again a minute later",
        ])
    },
    CallRule("callerTurnedAway", "The number turned the caller away") { call in
      guard call.failure?.code == .callerRefused, signatureProblem(call.failure) == nil,
        let number = call.call?.destination
      else { return nil }
      let rule = call.failure?.phrase ?? "its row says so"
      return Verdict(
        97, .gateway, "The row of the called number turns this caller away: \(rule).", evidence: [called(call)],
        fixes: ["landline number show \(number) shows whom it turns away"])
    },
    CallRule("inboundNotCovered", "The number's account cannot pay for the call") { call in
      guard call.isArrival, let refusal = call.failure?.refusal, refusal.code != .limit, !call.isAnswered,
        let account = call.call?.account
      else { return nil }
      return Verdict(
        99, .account,
        "Calls to this number, or what they are forwarded to, cost its account \(account): the ledger said "
          + "\(refusal.rawValue), so the caller heard that nobody could be reached.",
        evidence: [called(call)],
        fixes: ["landline topup \(account) AMOUNT", "landline balance \(account) shows what is held"])
    },
    CallRule("forwardedInALoop", "The call was forwarded in a loop") { call in
      guard call.failure?.code == .forwardLoop else { return nil }
      return Verdict(
        97, .gateway,
        "The call was diverted five times or more: numbers forward to each other, or the phone that one forwards to "
          + "forwards back.",
        evidence: [called(call)] + (call.arrival?.divertedBy.map { ["diverted by \($0)"] } ?? []),
        fixes: ["landline number list shows the targets of each number"])
    },
    CallRule("numberFull", "The number has all the calls that it may have") { call in
      guard call.isArrival, call.failure?.code == .limit, let number = call.call?.destination else { return nil }
      return Verdict(
        96, .gateway, "A cap was reached: \(call.failure?.phrase ?? "calls at a time").", evidence: [called(call)],
        fixes: [
          "landline number set \(number) --channels N",
          "landline.yaml: trunks.\(trunk(call)).calls, for the trunk's cap",
        ])
    },
  ]

  /// Why a call was refused because its caller is not verified (RFC 8224 section 6.2.2); `nil` for any other end.
  private static func signatureProblem(_ failure: CallFailure?) -> String? {
    guard let failure, failure.code == .callerRefused, let status = failure.sipStatus,
      [403, 428, 436, 437, 438].contains(status)
    else { return nil }
    return failure.phrase ?? "it has none"
  }

  /// The Identity fields of the INVITE, where it was kept.
  private static func identityFields(_ call: CallEvidence) -> [String] {
    call.last?.invite.map { Array($0.quoted(["Identity"]).dropFirst()) } ?? []
  }

  private static func called(_ call: CallEvidence) -> String {
    let from = call.arrival.map { $0.kind == .anonymous ? "an anonymous caller" : "\($0.kind.rawValue) \($0.value)" }
    return "called: \(call.call?.destination ?? "a number") over \(trunk(call))" + (from.map { ", by \($0)" } ?? "")
  }

  private static func trunk(_ call: CallEvidence) -> String {
    (call.sources.record?.call ?? call.sources.live)?.trunk ?? "TRUNK"
  }
}

extension CallEvidence {
  /// Who calls, where a trunk sent the call.
  var arrival: CallerIdentity? { (sources.record?.call ?? sources.live)?.from }
  var isArrival: Bool { arrival != nil }
}
