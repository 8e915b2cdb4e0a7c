import CallEngine
import CallModel
import LandlineNode
import Logging
import NodeCore
import SIPCore
import Synchronization
import Testing

@Suite("Desk phones of the configuration and of operators")
struct DeskPhoneBookTests {
  private static let password = Redacted("a-long-enough-password")

  private static func row(_ name: String, to user: String = "bob") throws -> DeskPhone {
    DeskPhone(
      name: name, application: "app", user: try UserID(user), keys: try PhoneKeys(password: password, name: name))
  }

  private static func order(
    _ name: String, to user: String = "bob", password: Redacted<String>? = password
  ) throws -> DeskPhoneOrder {
    DeskPhoneOrder(name: name, application: "app", user: try UserID(user), password: password)
  }

  /// What a node was told, and the store beneath.
  private final class Scene: Sendable {
    let store = DeskPhonesInMemory()
    private let told = Mutex<[String]>([])

    func open(_ configured: [DeskPhone], environments: [String] = ["production"]) async throws -> DeskPhoneBook {
      let book = try await DeskPhoneBook(
        environments.map { ($0, store) }, configured: ["production": configured], log: Logger(label: "phones")
      ) { environment, rows in
        let text = rows.map { "\($0.name)>\($0.user)" }.joined(separator: " ")
        self.told.withLock { $0.append("\(environment): \(text)") }
      }
      book.publish()
      return book
    }

    var tables: [String] { told.withLock { $0 } }
  }

  @Test("the node hears of the whole table at the start and after each change; a password that is not named stays")
  func order() async throws {
    let scene = Scene()
    let book = try await scene.open([try Self.row("desk", to: "eve")])
    #expect(try await book.set(try Self.order("lobby"), environment: "production", by: "t") == .made)
    let kept = try Self.order("lobby", to: "al", password: nil)
    #expect(try await book.set(kept, environment: "production", by: "t") == .replaced)
    #expect(book.rows("production").first { $0.row.name == "lobby" }?.row.keys == (try Self.row("lobby").keys))
    #expect(try await scene.store.deskPhones(environment: "production").map(\.name) == ["lobby"])
    #expect(try await book.remove("lobby", environment: "production", by: "t") == .removed)
    #expect(try await book.remove("lobby", environment: "production", by: "t") == .unknown)
    #expect(
      Array(scene.tables.prefix(4)) == [
        "production: desk>eve", "production: desk>eve lobby>bob", "production: desk>eve lobby>al",
        "production: desk>eve",
      ])
  }

  @Test("a new one without a password is refused; one of the configuration, or of another environment, is not changed")
  func refused() async throws {
    let scene = Scene()
    let book = try await scene.open([try Self.row("desk")], environments: ["production", "sandbox"])
    await #expect(throws: InvalidValue.self) {
      _ = try await book.set(try Self.order("lobby", password: nil), environment: "production", by: "t")
    }
    #expect(
      try await book.set(try Self.order("desk"), environment: "production", by: "t")
        == .configured(environment: "production"))
    #expect(try await book.set(try Self.order("lobby"), environment: "sandbox", by: "t") == .made)
    #expect(
      try await book.set(try Self.order("lobby"), environment: "production", by: "t") == .taken(environment: "sandbox"))
    await book.configure(["production": [try Self.row("lobby", to: "eve")]])
    #expect(book.rows("sandbox").isEmpty && book.rows("production").map(\.row.user.text) == ["eve"])
  }
}

private final class DeskPhonesInMemory: DeskPhoneStore {
  private let rows = Mutex<[String: [String: DeskPhone]]>([:])

  func deskPhones(environment: String) async throws -> [DeskPhone] {
    rows.withLock { ($0[environment] ?? [:]).values.sorted { $0.name < $1.name } }
  }
  func keep(_ phone: DeskPhone, environment: String) async throws {
    rows.withLock { $0[environment, default: [:]][phone.name] = phone }
  }
  func removeDeskPhone(_ name: String, environment: String) async throws -> Bool {
    rows.withLock { $0[environment]?.removeValue(forKey: name) != nil }
  }
}
