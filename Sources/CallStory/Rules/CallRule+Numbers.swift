import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// The number or address that was called.
  static let numbers: [CallRule] = [
    CallRule("numberFormat", "The trunk wants numbers written in another way") { call in
      guard let status = call.status, [404, 484, 604, 400, 416, 503].contains(status), let invite = call.last?.invite,
        let user = call.last?.invite?.requestURI.flatMap(EvidenceMessage.user), isNumber(user)
      else { return nil }
      let isNamed = call.says(
        "format", "e.164", "e164", "prefix", "international", "national", "country code", "plus sign")
      guard isNamed || ([404, 484].contains(status) && (call.q850 == 3 || call.q850 == 28)) else { return nil }
      let hasPlus = user.hasPrefix("+")
      return Verdict(
        isNamed ? 93 : 68, .gateway,
        "The trunk was dialled as \(user)\(call.facts.map { " (its format is \($0.dialFormat))" } ?? "") and could not "
          + "use it\(isNamed ? ": its words name the format" : ", although the number is complete in international form").",
        evidence: ["INVITE \(invite.requestURI ?? "")"] + call.said,
        fixes: [
          call.setting(hasPlus ? "dial.plus: false" : "dial.plus: true"),
          call.setting("dial.prefix: \"00\"   # where the carrier wants it, with plus: false"),
          "landline trunk test \(call.trunkName) --number \(call.call?.destination ?? "+NUMBER")",
        ])
    },
    CallRule("unallocatedNumber", "There is no such number") { call in
      guard let status = call.status, [404, 604].contains(status) || call.q850 == 1 else { return nil }
      guard call.q850 == nil || call.q850 == 1 else { return nil }
      let isSure = call.q850 == 1
      return Verdict(
        isSure ? 90 : status == 404 || status == 604 ? 50 : 30, .app,
        isSure
          ? "The telephone network itself says that nobody has this number (Q.850 cause 1)."
          : "The far end says \(status): it knows nobody by that number. It does not say whether the network or the trunk "
            + "itself found so.",
        evidence: call.said,
        fixes: ["landline number parse \(call.call?.destination ?? "+NUMBER")", "check the number with its owner"])
    },
    CallRule("incompleteNumber", "The number is not complete") { call in
      guard call.status == 484 || call.status != nil && call.q850 == 28 else { return nil }
      return Verdict(
        call.q850 == 28 ? 90 : 70, .app,
        "The far end wants more digits, or another form of the number.", evidence: call.said,
        fixes: ["landline number parse \(call.call?.destination ?? "+NUMBER")"])
    },
    CallRule("numberChanged", "The number has been given up or changed") { call in
      guard let status = call.status, status == 410 || call.q850 == 22 || call.q850 == 23 else { return nil }
      return Verdict(
        call.q850 == nil ? 70 : 90, .app,
        "The number was in use and no longer is (\(call.q850.map { "Q.850 cause \($0)" } ?? "status \(status)")).",
        evidence: call.said, fixes: ["ask the called party for the new number"])
    },
    CallRule("destinationBarred", "The destination is not enabled on the trunk") { call in
      guard let status = call.status, [403, 503, 603, 480, 500].contains(status) else { return nil }
      let isBarred = call.q850.map { [50, 52, 53, 54, 55, 57, 62, 87, 90].contains($0) } ?? false
      let isNamed = call.says("destination", "barred", "not permitted", "route not allowed", "country")
      guard isBarred || isNamed, !call.says("caller", "from user") else { return nil }
      return Verdict(
        isBarred ? 90 : 84, .trunk,
        "The carrier may carry the call but does not do so for this account: the destination or the service is barred.",
        evidence: call.said,
        fixes: ["ask the carrier of \(call.trunkName) to enable the destination, or add a trunk that has it"])
    },
    CallRule("noRouteBehindTrunk", "The trunk found no way to the number") { call in
      guard call.status != nil, let cause = call.q850, [2, 3, 25].contains(cause) else { return nil }
      return Verdict(
        82, .trunk,
        "The trunk took the call and its network knew no way on (Q.850 cause \(cause)).",
        evidence: call.said,
        fixes: [
          "landline number parse \(call.call?.destination ?? "+NUMBER")",
          "ask the carrier whether it serves the number's range; a second trunk may",
        ])
    },
    CallRule("badNumber", "The text is no telephone number") { call in
      guard call.failure?.code == .number, let invalid = call.failure?.invalidValue,
        !invalid.rule.hasPrefix("keys.")
      else { return nil }
      return Verdict(
        98, .app, "The gateway refused the text before anything went out: \(invalid.problem).",
        evidence: [invalid.description],
        fixes: ["write \(invalid.accepted)", "landline number parse TEXT"])
    },
    CallRule("badAddress", "The text is no address, user or conference") { call in
      guard call.failure?.code == .address, let invalid = call.failure?.invalidValue else { return nil }
      return Verdict(
        98, .app, "The gateway refused the text before anything went out: \(invalid.problem).",
        evidence: [invalid.description], fixes: ["write \(invalid.accepted)"])
    },
    CallRule("hostNotAllowed", "Calls to this domain are not allowed") { call in
      guard let rule = call.failure?.invalidValue?.rule,
        ["sip.hostNotAllowed", "sip.trunk", "sip.number"].contains(rule)
      else { return nil }
      return Verdict(
        97, .gateway,
        "The address is well formed, and the gateway's own rules keep calls from going there: "
          + "\(call.failure?.invalidValue?.problem ?? "").",
        evidence: [call.failure?.invalidValue?.description ?? ""],
        fixes: [
          "landline.yaml: environments.NAME.sip-hosts: [HOST]",
          "a phone number behind a trunk is written +46…@TRUNK-HOST",
        ])
    },
    CallRule("emergency", "An emergency call") { call in
      guard let call = call.call, call.kind == .phone, (2...6).contains(call.destination.utf8.count),
        !call.destination.hasPrefix("+")
      else { return nil }
      return Verdict(
        40, .nobody,
        "\(call.destination) is an emergency number: it is dialled as it is, free of charge, and refused by no cap of "
          + "the account.",
        evidence: ["called: \(call.destination)"])
    },
    CallRule("testNumber", "A test number, answered by the gateway itself") { call in
      let isFarEnd = (call.sources.record?.call ?? call.sources.live)?.trunk == CallTrunk.farEnd
      guard let call = call.call, call.kind == .phone, let value = UInt64(call.destination.dropFirst()),
        TestNumber(rawValue: value) != nil || isFarEnd && SandboxNumber(rawValue: value) != nil
      else { return nil }
      return Verdict(
        45, .nobody,
        "\(call.destination) is a test number: what it does is written down beforehand, and no carrier was asked.",
        evidence: ["called: \(call.destination)"])
    },
  ]

  private static func isNumber(_ user: String) -> Bool {
    let digits = user.hasPrefix("+") ? user.dropFirst() : user[...]
    return digits.utf8.count >= 5 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
