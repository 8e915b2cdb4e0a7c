import AppProtocol
import CallModel
import LandlineNode
import NodeCore
import Testing

/// Whether somebody can be called, and whom a development gateway's pages may be.
@Suite struct UserRouteTests {
  /// Of another account, of the application that `app` signs for, and of the same account again.
  private static let applications = [
    application("other-key", "other"), application("one", "acme"), application("two", "acme"),
  ]

  private static func application(_ key: String, _ account: String) -> AppCredentials {
    AppCredentials(
      key: key, secret: Redacted("YW5vdGhlci1zZWNyZXQtcw=="), environment: "production",
      account: AccountName(unchecked: account))
  }

  private func user(_ text: String) throws -> UserID { try UserID(text, rules: .standard) }

  @Test func presenceIsToldInThreeWords() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    let (here, away, odd) = (try user("alice"), try user("bob"), try user("a/b%~?"))
    kit.operations.with { $0.present = [here: .reachable, away: .unreachable, odd: .reachable] }
    let rows = [("alice", "reachable"), ("bob", "unreachable"), ("carol", "unknown"), ("a%2Fb%25~%3F", "reachable")]
    for (name, presence) in rows {
      let answer = try await kit.send("GET", "/v1/users/\(name)", as: "app")
      #expect(answer.status == 200, "\(name)")
      #expect(answer.tree["presence"] == .string(presence), "\(name)")
      #expect(answer.tree["application"] == .string("one"), "\(name)")
    }
    for wrong in ["a%20b", "%C3%A9", String(repeating: "a", count: 300)] {
      let answer = try await kit.send("GET", "/v1/users/\(wrong)", as: "app")
      #expect(answer.status == 400, "\(wrong)")
      #expect(answer.code == "query.parameter")
      #expect(answer.tree["parameter"] == .string("user"))
    }
    await kit.close()
  }

  @Test func strangersAndOtherApplicationsLearnNothing() async throws {
    let kit = try await RESTKit(applications: Self.applications)
    let here = try user("alice")
    kit.operations.with { $0.present = [here: .reachable] }
    // What an application may ask about is itself; an owner, every application of the account; an operator, all.
    let rows: [(who: String?, key: String?, status: Int)] = [
      ("app", "one", 200), ("app", "two", 404), ("app", "other-key", 404), ("app", "none", 404),
      ("owner", nil, 200), ("owner", "two", 200), ("owner", "other-key", 404),
      ("operator", nil, 200), ("operator", "other-key", 200), ("operator", "none", 404),
      (nil, nil, 401), (nil, "one", 401), ("wrong", "one", 401), ("stray", nil, 503),
    ]
    for row in rows {
      let answer = try await kit.send(
        "GET", "/v1/users/alice" + (row.key.map { "?application=\($0)" } ?? ""), as: row.who)
      #expect(answer.status == row.status, "\(row)")
      if row.status == 404 { #expect(answer.code == "application.unknown", "\(row)") }
      if row.status != 200 { #expect(answer.tree["presence"] == nil, "\(row)") }
    }
    await kit.close()
  }

  /// Only whoever was let in without a key, on this machine, is several people.
  @Test func aPageChoosesItsUserInDevelopmentAlone() async throws {
    for isDevelopment in [false, true] {
      let kit = try await RESTKit(signsInLocally: isDevelopment, applications: Self.applications)
      let cookie = try await SignInTests.cookie(kit, "operator")
      for (body, fields) in [(#"{"user":"alice"}"#, [cookie, SignInTests.own]), (#"{"user":"alice"}"#, [])] {
        // A request inside the process comes from no address of this machine.
        let answer = try await kit.send(
          "POST", "/v1/phone-registrations", body, as: fields.isEmpty ? "operator" : nil, fields: fields)
        #expect(answer.status == 403)
        #expect(answer.code == "auth.role")
      }
      await kit.close()
    }
  }
}
