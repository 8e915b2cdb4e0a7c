/// The route table as Markdown for people.
enum RouteText {
  static func text(_ routes: [RESTRoute]) -> String {
    var out = """
      # REST

      JSON over HTTP. Amounts are decimal texts beside whole micro-units, times are RFC 3339 in UTC. A problem is \
      `application/problem+json` (RFC 9457), its `type` leads to an [explanation](/errors). What moves money or starts a \
      call takes an `Idempotency-Key`: the same key with the same request gives the first answer for 24 hours. For \
      programs: [/openapi.json](/openapi.json).

      """
    for (title, isWanted) in sections {
      out += "\n## \(title)\n"
      for route in routes where isWanted(route.path) { out += text(route) }
    }
    return out
  }

  private static let sections: [(String, @Sendable (String) -> Bool)] = [
    ("Accounts and money", { $0.hasPrefix("/v1/accounts") }),
    (
      "Calls and users",
      { path in ["calls", "live-calls", "number-hints", "users"].contains { path.hasPrefix("/v1/\($0)") } }
    ),
    ("Numbers that trunks bring calls to", { $0.hasPrefix("/v1/numbers") }),
    ("Desk phones", { $0.hasPrefix("/v1/desk-phones") }),
    ("Conferences", { $0.hasPrefix("/v1/conferences") }),
    ("Recordings", { $0.hasPrefix("/v1/recordings") }),
    ("Trunks and the gateway", { $0.hasPrefix("/v1/trunks") || $0.hasPrefix("/v1/status") }),
    ("People and pages' phones", { ["/v1/sign-in", "/v1/me", "/v1/phone-registrations"].contains($0) }),
    ("For everybody", { !$0.hasPrefix("/v1/") || $0 == ConnectRequest.path }),
  ]

  private static func text(_ route: RESTRoute) -> String {
    let access =
      switch route.access {
      case .anyone: "Anybody."
      case .principal: "An operator, an account's owner, an application."
      case .operators: "Operators."
      }
    var out = "\n### \(route.method) \(route.path)\n\n\(route.summary). \(access)"
    switch route.repeating {
    case .harmless: break
    case .keyOptional: out += " Takes an `Idempotency-Key`."
    case .keyRequired: out += " Needs an `Idempotency-Key`."
    }
    out += "\n"
    let parameters = route.query.map { "| `\($0.name)` | query | \(cell($0.description)) |\n" }
    let members = (route.body ?? []).map { member in
      "| `\(member.name)` | \(member.isRequired ? "body, required" : "body") | \(cell(member.description)) |\n"
    }
    if !parameters.isEmpty || !members.isEmpty {
      out += "\n| Name | Where | Meaning |\n|---|---|---|\n" + (parameters + members).joined()
    }
    let problems = route.problems.map { "[\($0.name)](/errors/\($0.name))" }
    if !problems.isEmpty { out += "\nProblems of its own: \(problems.joined(separator: ", ")).\n" }
    return out
  }

  private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
