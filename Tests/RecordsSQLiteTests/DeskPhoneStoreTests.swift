import CallEngine
import CallModel
import LandlineSQLite
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: desk phones")
struct DeskPhoneStoreTests {
  private func row(_ name: String, to user: String = "bob", country: Int? = nil) throws -> DeskPhone {
    DeskPhone(
      name: name, application: "app", user: try UserID(user), country: country,
      keys: PhoneKeys(sha256: Redacted("5\(name)"), md5: Redacted("m")))
  }

  @Test("every part of a row comes back, from the next opening too; rows are replaced and removed by their name")
  func whole() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    let (desk, lobby) = (try row("desk", country: 46), try row("lobby", to: "eve~"))
    try await store.keep(lobby, environment: "production")
    try await store.keep(desk, environment: "production")
    try await store.keep(desk, environment: "sandbox")
    await store.close()
    store = try file.open()
    #expect(try await store.deskPhones(environment: "production") == [desk, lobby])
    #expect(try await store.deskPhones(environment: "other").isEmpty)
    let moved = try row("desk", to: "al")
    try await store.keep(moved, environment: "production")
    #expect(try await store.deskPhones(environment: "production") == [moved, lobby])
    #expect(try await store.removeDeskPhone("desk", environment: "production"))
    #expect(try await !store.removeDeskPhone("desk", environment: "production"))
    #expect(try await store.deskPhones(environment: "production") == [lobby])
    #expect(try await store.deskPhones(environment: "sandbox") == [desk])
    await store.close()
  }
}
