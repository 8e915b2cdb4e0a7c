import CallModel
import LandlineNode
import NodeCore
import Testing

/// Telephones that register here. Every answer is held against the description by the kit.
@Suite struct DeskPhoneRouteTests {
  private static func kit() async throws -> RESTKit {
    let kit = try await RESTKit(applications: [
      AppCredentials(
        name: "phone", key: "key-phone", secret: Redacted("s"), environment: "production",
        account: AccountName(unchecked: "acme"))
    ])
    try await kit.makeAccount("acme")
    return kit
  }

  private static let path = "/v1/desk-phones/lobby"

  @Test func aDeskPhoneIsMadeWithAPasswordThatIsShownOnce() async throws {
    let kit = try await Self.kit()
    let made = try await kit.send("PUT", Self.path, #"{"user":"bob","country":46}"#)
    #expect(made.status == 200 && made.tree["user"] == .string("bob") && made.tree["account"] == .string("acme"))
    #expect(made.tree["country"] == .integer(46) && made.tree["registrations"]?.elements.isEmpty == true)
    guard case .string(let password)? = made.tree["password"] else {
      Issue.record("\(made)")
      return
    }
    #expect(password.utf8.count == 25)
    let order = kit.operations.with { $0.deskPhoneOrders }.last
    #expect(order?.password?.exposed == password && order?.application == "key-phone")
    #expect(try await kit.send("GET", Self.path).tree["password"] == .null)

    // What is left out has its default; the password stays unless another is asked for.
    let kept = try await kit.send("PUT", Self.path, #"{"user":"eve"}"#)
    #expect(kept.tree["password"] == .null && kept.tree["country"] == .null && kept.tree["user"] == .string("eve"))
    #expect(kit.operations.with { $0.deskPhoneOrders }.last?.password == nil)
    let other = try await kit.send("PUT", Self.path, #"{"user":"eve","new_password":true}"#)
    #expect(other.tree["password"] != .null && other.tree["password"] != made.tree["password"])
    let given = try await kit.send("PUT", Self.path, #"{"user":"eve","password":"a-long-enough-password"}"#)
    #expect(given.tree["password"] == .null)
    #expect(kit.operations.with { $0.deskPhoneOrders }.last?.password?.exposed == "a-long-enough-password")
    #expect(try await kit.send("GET", "/v1/desk-phones").tree["desk_phones"]?.elements.count == 1)
    #expect(try await kit.send("DELETE", Self.path).status == 204)
    #expect(try await kit.send("DELETE", Self.path).code == "desk-phone.unknown")
    #expect(try await kit.send("GET", Self.path).code == "desk-phone.unknown")
    await kit.close()
  }

  @Test(
    arguments: [
      (#"{}"#, "body.missingMember"), (#"{"user":"b b"}"#, "body.member"),
      (#"{"user":"bob","country":999}"#, "body.member"),
      (#"{"user":"bob","password":"short"}"#, "body.member"), (#"{"user":"bob","application":"other"}"#, "body.member"),
      (#"{"user":"bob","password":"a-long-enough-password","new_password":true}"#, "body.member"),
    ])
  func whatIsWrongIsNamed(_ body: String, _ code: String) async throws {
    let kit = try await Self.kit()
    let refused = try await kit.send("PUT", Self.path, body)
    #expect(refused.status == 400 || refused.status == 422)
    #expect(refused.code == code, "\(refused)")
    #expect(kit.operations.with { $0.deskPhoneOrders }.isEmpty)
    await kit.close()
  }

  @Test func pagesGoOnBehindTheLastNameWhateverWasRemovedBeforeIt() async throws {
    let kit = try await Self.kit()
    let rows = try ["desk", "hall", "lobby", "roof"].map { name in
      DeskPhoneReport(
        row: DeskPhone(
          name: name, application: "key-phone", user: try UserID("bob"),
          keys: PhoneKeys(sha256: Redacted("s"), md5: Redacted("m"))), isConfigured: false, registrations: [])
    }
    func names(_ answer: RESTKit.Answer) -> [JSONValue] {
      answer.tree["desk_phones"]?.elements.compactMap { $0["name"] } ?? []
    }
    kit.operations.with { $0.deskPhones = rows }
    let first = try await kit.send("GET", "/v1/desk-phones?limit=2")
    #expect(names(first) == [.string("desk"), .string("hall")])
    guard case .string(let cursor)? = first.tree["next"] else {
      Issue.record("\(first)")
      return
    }
    kit.operations.with { $0.deskPhones = Array(rows.dropFirst()) }
    let second = try await kit.send("GET", "/v1/desk-phones?limit=2&cursor=\(cursor)")
    #expect(names(second) == [.string("lobby"), .string("roof")] && second.tree["next"] == .null)
    for cursor in ["numbers", "bnVtYmVyczox", "!"] {
      #expect(try await kit.send("GET", "/v1/desk-phones?cursor=\(cursor)").code == "query.cursor")
    }
    await kit.close()
  }

  @Test func registrationsAreListedAndTheConfigurationHasTheLastWord() async throws {
    let kit = try await Self.kit()
    let row = DeskPhone(
      name: "lobby", application: "key-phone", user: try UserID("bob"),
      keys: PhoneKeys(sha256: Redacted("s"), md5: Redacted("m")))
    kit.operations.with {
      $0.deskPhones = [
        DeskPhoneReport(
          row: row, isConfigured: true,
          registrations: [
            .init(
              address: "udp:192.0.2.7:5060", contact: "sip:lobby@10.0.0.7", expiresInSeconds: 599,
              userAgent: "telephone")
          ])
      ]
    }
    let shown = try await kit.send("GET", Self.path)
    #expect(shown.tree["configured_at"] == .string("environments.production.desk-phones.lobby"))
    #expect(shown.tree["registrations"]?.elements.first?["address"] == .string("udp:192.0.2.7:5060"))
    #expect(shown.tree["registrations"]?.elements.first?["expires_in_seconds"] == .integer(599))
    kit.operations.with { $0.change = .configured(environment: "production") }
    #expect(try await kit.send("PUT", Self.path, #"{"user":"bob"}"#).code == "desk-phone.configured")
    kit.operations.with { $0.change = .taken(environment: "sandbox") }
    #expect(try await kit.send("DELETE", Self.path).code == "desk-phone.taken")
    await kit.close()
  }
}
