import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Who calls, as the other side sees it.
  static let identity: [CallRule] = [
    CallRule("fromUser", "The trunk wants another user in From") { call in
      guard let attempt = call.last, call.status == 403, let invite = attempt.invite,
        let user = invite.user(of: "from"), call.q850 == nil || call.q850 == 21
      else { return nil }
      let isNamed = call.says("from user", "from header", "from-user", "username in from", "from uri")
      guard let account = attempt.facts?.username, user != account, isNamed || !attempt.proved.isEmpty,
        isNamed || !call.says("caller", "cli", "destination", "password", "credential", "credit", "balance")
      else { return nil }
      return Verdict(
        isNamed ? 94 : 65, .gateway,
        "The credentials were \(attempt.proved.isEmpty ? "not the matter" : "taken"), yet the trunk said 403: the INVITE "
          + "says From \(user), and many carriers only take calls whose From is the account, \(account).",
        evidence: invite.quoted(["From", "P-Asserted-Identity"]).dropFirst() + call.said,
        fixes: [
          call.setting("caller.from-user: account"), call.setting("caller.identity: asserted"),
          "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("callerNumberNotAllowed", "The trunk does not take this caller's number") { call in
      guard let status = call.status, [403, 603, 480, 500, 503].contains(status), let invite = call.last?.invite,
        call.says(callerWords), !call.says("from user", "from header")
      else { return nil }
      let shown = invite.user(of: "p-asserted-identity") ?? invite.user(of: "from") ?? "none"
      return Verdict(
        91, .trunk,
        "The trunk's words are about the caller's number. The call showed \(shown), which the carrier does not know as "
          + "yours.",
        evidence: call.said + invite.quoted(["From", "P-Asserted-Identity", "P-Preferred-Identity"]).dropFirst(),
        fixes: [
          "have the carrier verify the number, or show one of theirs",
          call.setting("caller.numbers: [\"+NUMBER\"]"), call.setting("caller.identity: preferred"),
        ])
    },
    CallRule("identityWanted", "The other side wants signed caller identity") { call in
      guard let status = call.status, [428, 429, 436, 437, 438].contains(status),
        call.failure?.code != .callerRefused
      else { return nil }
      return Verdict(
        88, .trunk,
        "\(status) belongs to signed caller identity (STIR, RFC 8224): the call carried none that the other side could "
          + "verify, and this gateway signs none.",
        evidence: call.said,
        fixes: ["send these calls over a carrier that signs them", "ask the carrier to sign calls of this trunk"])
    },
    CallRule("anonymousRefused", "Calls without a caller's number are refused") { call in
      let isNamed = call.status == 433 || call.q850 == 24 || call.says("anonym", "withheld", "private caller")
      guard call.status != nil, isNamed else { return nil }
      let hides =
        call.last?.invite?.user(of: "from")?.lowercased() == "anonymous" || call.last?.invite?.value("privacy") != nil
      return Verdict(
        hides ? 95 : 70, .callee,
        "The called party, or its network, takes no calls of callers who do not show themselves"
          + (hides ? ", and this call hid its number." : "."),
        evidence: call.said + (call.last?.invite?.quoted(["From", "Privacy"]).dropFirst() ?? []),
        fixes: ["call with a number: leave out \"anonymous\" and give \"from\""])
    },
    CallRule("callerNotOfTrunk", "The trunk's own list has no such caller's number") { call in
      guard call.hasCall || call.failure?.leg == .trunk, call.failure?.code == .identity,
        call.failure?.invalidValue?.rule == "caller.owned"
      else { return nil }
      let trunk = call.failure?.trunk ?? call.trunkName
      return Verdict(
        97, .gateway,
        "The call never left: the caller's number is not among those that trunk \(trunk) may show.",
        evidence: [call.failure?.invalidValue?.description ?? ""],
        fixes: [
          call.setting("caller.numbers: add the number, or leave the key out", of: trunk),
          "call with \"from\" set to a number of that list",
        ])
    },
    CallRule("callerNotOfApplication", "The application may not show this caller's number") { call in
      guard call.failure?.code == .policy, call.failure?.invalidValue?.rule == "caller.owned" else { return nil }
      return Verdict(
        97, .app,
        "The app asked to show a caller's number that is not one of its application's.",
        evidence: [call.failure?.invalidValue?.description ?? ""],
        fixes: [
          "landline.yaml: environments.NAME.applications.NAME.caller-numbers: add the number",
          "leave \"from\" out: the first number of the list is shown then",
        ])
    },
    CallRule("unwanted", "The call was blocked as unwanted") { call in
      guard let failure = call.failure, let status = call.status,
        [607, 608].contains(status) || failure.code == .blocked
      else { return nil }
      let machine = status == 608 || failure.code == .blocked
      return Verdict(
        92, .trunk,
        machine
          ? "A machine on the way took the call for unwanted and rejected it; nobody was asked."
          : "The called party marked calls of this number as unwanted (RFC 8197).",
        evidence: call.said,
        fixes: [
          "check the caller number's reputation with the carrier",
          machine ? "use the redress address of the Call-Info field, where one came (RFC 8688)" : "do not call again",
        ])
    },
  ]

  private static let callerWords = [
    "caller id", "caller-id", "callerid", "cli ", "cli not", "calling number", "a-number", "caller number",
    "origination number", "ani ",
  ]
}
