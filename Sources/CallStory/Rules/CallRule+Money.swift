import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Credit, prices and the account's rules.
  static let money: [CallRule] = [
    CallRule("creditEnded", "The credit ran out in mid-call") { call in
      guard call.failure?.refusal == .insufficientCredit, call.isAnswered else { return nil }
      let spent = call.sources.record?.summary.costMicro.map { amount($0, call) }
      return Verdict(
        98, .account,
        "The account could not pay for the next stretch of the call, so the gateway warned the app and cut the call to the "
          + "second\(spent.map { "; it cost \($0)" } ?? "").",
        evidence: call.told { if case .noMoreCredit = $0 { true } else { false } } + balance(call), fixes: topUp(call))
    },
    CallRule("noCredit", "The account has no credit for the call") { call in
      guard call.failure?.refusal == .insufficientCredit, !call.isAnswered else { return nil }
      return Verdict(
        98, .account,
        "No INVITE went out: the account's available credit does not pay for the first stretch of the call. Open calls "
          + "may hold the rest.",
        evidence: ["refusal: insufficientCredit"] + balance(call), fixes: topUp(call) + ["landline hold list"])
    },
    CallRule("noPrice", "The account's price list has no such destination") { call in
      guard call.failure?.refusal == .noRate else { return nil }
      return Verdict(
        97, .gateway,
        "No INVITE went out: no rate of the account's plan begins the number, so nobody could say what the call costs.",
        evidence: ["refusal: noRate"],
        fixes: [
          "landline rate explain \(call.call?.destination ?? "+NUMBER") --account \(call.call?.account ?? "ACCOUNT")",
          "landline deck import FILE --name NAME --version VERSION --currency EUR",
          "landline account set-plan \(call.call?.account ?? "ACCOUNT") PLAN",
        ])
    },
    CallRule("destinationDenied", "The destination is blocked") { call in
      let account = call.call?.account ?? "ACCOUNT"
      if call.failure?.refusal == .countryNotAllowed {
        return Verdict(
          97, .gateway,
          "No INVITE went out: the account may not call this country. Without a list of its own it may call the countries "
            + "of its caller numbers, or those that the configuration names.",
          evidence: ["refusal: countryNotAllowed"]
            + (call.failure?.invalidValue.map { ["\($0.problem)", "accepted: \($0.accepted)"] } ?? []),
          fixes: [
            "landline cap show \(account)", "landline account set-cap \(account) --countries CODE,CODE",
            "landline.yaml: environments.NAME.countries: for every account without a list",
          ])
      }
      guard call.failure?.refusal == .destinationBlocked, call.failure?.invalidValue == nil else { return nil }
      return Verdict(
        97, .gateway,
        "No INVITE went out: "
          + "\(call.failure?.phrase ?? "the number lies in a range that this gateway lets nobody call").",
        evidence: ["refusal: destinationBlocked"],
        fixes: [
          "landline rate explain \(call.call?.destination ?? "NUMBER") --account \(account)"
            + "   # which range, and what opens it"
        ])
    },
    CallRule("accountLocked", "The account is locked") { call in
      guard call.failure?.refusal == .accountLocked else { return nil }
      return Verdict(
        98, .account,
        call.hasCall
          ? "The account was locked while the call was up, and the gateway ended it at once."
          : "The account is locked: it may place no calls until somebody unlocks it.",
        evidence: ["refusal: accountLocked"],
        fixes: [
          "landline account show \(call.call?.account ?? "ACCOUNT")   # why, by whom, and when",
          "landline account unlock \(call.call?.account ?? "ACCOUNT")",
        ])
    },
    CallRule("accountClosed", "The account is closed") { call in
      guard call.failure?.refusal == .accountClosed else { return nil }
      return Verdict(
        98, .account, "The account is closed for good: its calls need another account.",
        evidence: ["refusal: accountClosed"], fixes: ["landline account create NAME --currency EUR"])
    },
    CallRule("accountMissing", "The ledger has no such account") { call in
      guard call.failure?.refusal == .unknownAccount else { return nil }
      let account = call.call?.account
      return Verdict(
        99, .account,
        "\(account.map { "Account \($0)" } ?? "The account") is not in the ledger of this environment: nobody could have "
          + "paid for the call.",
        evidence: ["refusal: unknownAccount"],
        fixes: ["landline account create \(account ?? "NAME") --currency EUR", "landline serve --check"])
    },
    CallRule("capReached", "A cap of the account is reached") { call in
      guard let refusal = call.failure?.refusal,
        [.rateCap, .dailyCap, .callCap, .durationCap, .rateTooHigh, .hourlyCap].contains(refusal)
      else {
        return nil
      }
      let account = call.call?.account ?? "ACCOUNT"
      return Verdict(
        96, .account,
        "A rule of the account stopped the call: \(CallRule.meanings[refusal] ?? refusal.rawValue).",
        evidence: ["refusal: \(refusal.rawValue)"] + (call.failure?.phrase.map { [$0] } ?? []),
        fixes: refusal == .hourlyCap
          ? ["landline.yaml: environments.NAME.velocity: what an account and a user may do within an hour"]
          : ["landline cap show \(account)", "landline account set-cap \(account) …"])
    },
  ]

  private static let meanings: [CallRefusal: String] = [
    .rateCap: "too many new calls in a short time", .dailyCap: "the spending of a day is used up",
    .callCap: "the spending of one call is used up", .durationCap: "the longest duration of a call is reached",
    .hourlyCap: "what it, or the user, may do within an hour is used up",
    .rateTooHigh: "the price of a minute passes the account's limit",
  ]

  private static func topUp(_ call: CallEvidence) -> [String] {
    let account = call.call?.account ?? call.sources.money?.account ?? "ACCOUNT"
    return ["landline topup \(account) 10 --key KEY", "landline balance \(account)"]
  }

  private static func balance(_ call: CallEvidence) -> [String] {
    guard let money = call.sources.money else { return [] }
    return ["balance \(decimal(money.balanceMicro)) \(money.currency), available \(decimal(money.availableMicro))"]
  }

  private static func amount(_ micro: MicroUnits, _ call: CallEvidence) -> String {
    "\(decimal(micro)) \(call.sources.record?.summary.currency ?? "")"
  }

  /// `-1.25`: micro-units as decimal text with no zeros behind.
  static func decimal(_ micro: MicroUnits) -> String { micro.brief }
}
