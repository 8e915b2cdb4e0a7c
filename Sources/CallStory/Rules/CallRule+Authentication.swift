import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Who the gateway is to the trunk.
  static let authentication: [CallRule] = [
    CallRule("wrongPassword", "The trunk does not take the password") { call in
      guard let attempt = call.last, let status = call.status, [401, 403, 407].contains(status),
        !attempt.proved.isEmpty
      else { return nil }
      let rejected = attempt.challenges.filter { challenge in
        attempt.proved.contains { $0.sequence == challenge.sequence && $0.at <= challenge.at }
      }
      let isStale = rejected.last.map { challenge in
        (challenge.values("www-authenticate") + challenge.values("proxy-authenticate")).contains {
          $0.lowercased().replacing(" ", with: "").contains("stale=true")
        }
      }
      let user = attempt.facts?.username.map { " as \($0)" } ?? ""
      guard let second = rejected.last, isStale == false else {
        // 403 in answer to credentials is what some registrars say for a wrong user or password.
        guard status == 403, call.says("password", "credential", "auth", "unknown user") else { return nil }
        return Verdict(
          75, .gateway,
          "The trunk challenged the call, the gateway answered\(user), and the trunk said 403: its words name the "
            + "credentials.",
          evidence: call.said, fixes: passwordFixes(call))
      }
      return Verdict(
        96, .gateway,
        "The trunk challenged the call, the gateway answered the challenge\(user), and the trunk challenged it again "
          + "with the same request: user or password is wrong.",
        evidence: [
          "\(attempt.challenges.first?.startLine ?? "") after INVITE \(attempt.invites.first?.sequence ?? 0)",
          "\(second.startLine) after INVITE \(second.sequence ?? 0), which had credentials",
        ], fixes: passwordFixes(call))
    },
    CallRule("noCredentials", "The trunk wants credentials, and none are configured") { call in
      guard let attempt = call.last, let challenge = attempt.challenges.last, attempt.proved.isEmpty,
        call.status == challenge.status, attempt.facts?.username == nil
      else { return nil }
      return Verdict(
        attempt.facts == nil ? 60 : 95, .gateway,
        "The trunk asked who calls (\(realm(of: challenge))) and the configuration holds no account for it, so the "
          + "gateway could not answer.",
        evidence: challenge.quoted(["WWW-Authenticate", "Proxy-Authenticate"]),
        fixes: [
          call.setting("account.username: USER"), call.setting("account.password-file: FILE"),
          "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("challengeNotForUs", "The trunk's challenge is not for the configured account") { call in
      guard let attempt = call.last, let challenge = attempt.challenges.last, attempt.proved.isEmpty,
        call.status == challenge.status, let user = attempt.facts?.username
      else { return nil }
      return Verdict(
        93, .gateway,
        "The trunk challenged with \(realm(of: challenge)), and the gateway sent no credentials although \(user) is "
          + "configured: another realm or another algorithm is set.",
        evidence: challenge.quoted(["WWW-Authenticate", "Proxy-Authenticate"]),
        fixes: [
          call.setting("account.realm: \(parameter("realm", of: challenge) ?? "REALM")"),
          call.setting("account.algorithms: [\(parameter("algorithm", of: challenge) ?? "MD5")]"),
        ])
    },
    CallRule("addressNotAllowed", "The trunk does not know the gateway's address") { call in
      guard let attempt = call.last, call.status == 403, attempt.challenges.isEmpty, call.q850 == nil || call.q850 == 21
      else { return nil }
      let isNamed = call.says("acl", "ip address", "source address", "whitelist", "allow list", "not allowed from")
      guard isNamed || !call.says("caller", "from", "cli", "number", "identity", "destination", "credit", "balance")
      else { return nil }
      return Verdict(
        isNamed ? 90 : 55, .trunk,
        "The trunk refused the call at once, without asking for credentials: most often the gateway's public address "
          + "is not on the carrier's access list.",
        evidence: call.said + (attempt.invite.map { ["the INVITE came from \($0.value("via") ?? "")"] } ?? []),
        fixes: [
          "ask the carrier to allow the address that the Via shows", "landline trunk test \(call.trunkName)",
        ] + (attempt.facts?.username == nil ? [call.setting("account.username: USER")] : []))
    },
    CallRule("carrierCredit", "The gateway's account at the carrier is empty") { call in
      guard let status = call.status, status == 402 || (status == 403 || status == 503) && call.says(creditWords)
      else { return nil }
      return Verdict(
        call.says(creditWords) ? 92 : 75, .trunk,
        "The carrier wants money from the operator of this gateway: \(status) is about the operator's account at the "
          + "carrier, not about the caller's credit here.",
        evidence: call.said, fixes: ["top up the gateway's account at the carrier of \(call.trunkName)"])
    },
  ]

  private static let creditWords = ["credit", "balance", "payment", "prepaid", "funds"]

  private static func passwordFixes(_ call: CallEvidence) -> [String] {
    [
      call.setting("account.username and account.password-file: as the carrier gave them"),
      "landline trunk test \(call.trunkName)",
    ]
  }

  private static func realm(of challenge: EvidenceMessage) -> String {
    parameter("realm", of: challenge).map { "realm \($0)" } ?? "a challenge without a realm"
  }

  /// A parameter of the first challenge, its quotes removed.
  private static func parameter(_ name: String, of challenge: EvidenceMessage) -> String? {
    guard let value = (challenge.values("www-authenticate") + challenge.values("proxy-authenticate")).first,
      let start = value.lowercased().firstRange(of: name + "=")
    else { return nil }
    let offset = value.lowercased().distance(from: value.lowercased().startIndex, to: start.upperBound)
    let rest = value.dropFirst(offset)
    let text = rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != "," && $0 != " " }
    return text.isEmpty ? nil : EvidenceMessage.cut(String(text))
  }
}

extension CallEvidence {
  func says(_ texts: [String]) -> Bool { texts.contains { words.contains($0) } }
}
