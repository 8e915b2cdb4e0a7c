import CallEngine
import CallModel
import LandlineNode
import Logging
import NodeCore
import Synchronization
import Testing

@Suite("Numbers of the configuration and of operators")
struct NumberBookTests {
  private static let acme = AccountName(unchecked: "acme")

  private static func row(_ number: String, to user: String = "bob") throws -> InboundNumber {
    InboundNumber(try E164Number(number), application: "app", account: acme, targets: [.init(.user(try UserID(user)))])
  }

  /// What a node was told, and the store beneath.
  private final class Scene: Sendable {
    let store = NumbersInMemory()
    private let told = Mutex<[String]>([])

    func open(_ configured: [InboundNumber], environments: [String] = ["production"]) async throws -> NumberBook {
      let book = try await NumberBook(
        environments.map { ($0, store) }, configured: ["production": configured], log: Logger(label: "numbers")
      ) { environment, rows in
        let text = rows.map { "\($0.number)>\($0.targets.first?.destination.text ?? "")" }.joined(separator: " ")
        self.told.withLock { $0.append("\(environment): \(text)") }
      }
      book.publish()
      return book
    }

    var tables: [String] { told.withLock { $0 } }
  }

  @Test("the node hears of the whole table at the start and after each change, in their order")
  func order() async throws {
    let scene = Scene()
    try await scene.store.keep(try Self.row("+46850000537"), environment: "production")
    let book = try await scene.open([try Self.row("+46850000536", to: "eve")])
    #expect(try await book.set(try Self.row("+46850000535"), environment: "production", by: "t") == .made)
    #expect(try await book.set(try Self.row("+46850000535", to: "al"), environment: "production", by: "t") == .replaced)
    let number = try E164Number("+46850000537")
    #expect(try await book.remove(number, environment: "production", by: "t") == .removed)
    #expect(try await book.remove(number, environment: "production", by: "t") == .unknown)
    #expect(
      Array(scene.tables.prefix(4)) == [
        "production: +46850000536>eve +46850000537>bob",
        "production: +46850000535>bob +46850000536>eve +46850000537>bob",
        "production: +46850000535>al +46850000536>eve +46850000537>bob",
        "production: +46850000535>al +46850000536>eve",
      ])
    #expect(book.rows("production").map(\.isConfigured) == [false, true])
    #expect(try await scene.store.numbers(environment: "production").map { "\($0.number)" } == ["+46850000535"])
  }

  @Test("what the configuration says is nobody's to change, and hides what was made before")
  func configured() async throws {
    let scene = Scene()
    let made = try Self.row("+46850000536")
    try await scene.store.keep(made, environment: "production")
    let book = try await scene.open([])
    await book.configure(["production": [try Self.row("+46850000536", to: "eve")]])
    #expect(book.rows("production").map(\.row) == [try Self.row("+46850000536", to: "eve")])
    let refusal = RowChange.configured(environment: "production")
    #expect(try await book.set(made, environment: "production", by: "t") == refusal)
    #expect(try await book.remove(made.number, environment: "production", by: "t") == refusal)
    // Taken out of the configuration, the row that was made holds again.
    await book.configure(["production": []])
    #expect(book.rows("production").map(\.row) == [made])
    #expect(scene.tables.last == "production: +46850000536>bob")
  }

  @Test("a number belongs to one environment")
  func environments() async throws {
    let scene = Scene()
    let book = try await scene.open([try Self.row("+46850000536")], environments: ["production", "sandbox"])
    #expect(
      try await book.set(try Self.row("+46850000536"), environment: "sandbox", by: "t")
        == .configured(environment: "production"))
    #expect(try await book.set(try Self.row("+46850000537"), environment: "sandbox", by: "t") == .made)
    #expect(
      try await book.set(try Self.row("+46850000537"), environment: "production", by: "t")
        == .taken(environment: "sandbox"))
    #expect(
      try await book.remove(try E164Number("+46850000537"), environment: "production", by: "t")
        == .taken(environment: "sandbox"))
    #expect(book.rows("sandbox").count == 1 && book.rows("nowhere").isEmpty)
    #expect(try await book.set(try Self.row("+46850000538"), environment: "nowhere", by: "t") == .unknown)
  }

  @Test("changes from everywhere at once reach store and node in one order")
  func concurrent() async throws {
    let scene = Scene()
    let book = try await scene.open([])
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<64 {
        group.addTask {
          _ = try? await book.set(
            try Self.row("+4685000053\(task % 4)", to: "u\(task)"), environment: "production", by: "t")
        }
      }
    }
    let kept = try await scene.store.numbers(environment: "production")
    #expect(kept.count == 4 && book.rows("production").map(\.row) == kept)
    let last = kept.map { "\($0.number)>\($0.targets.first?.destination.text ?? "")" }.joined(separator: " ")
    #expect(scene.tables.last == "production: \(last)")
    #expect(scene.tables.count == 65)
  }

  @Test("what the store refuses changes nothing")
  func refused() async throws {
    let scene = Scene()
    let book = try await scene.open([])
    var row = try Self.row("+46850000536")
    row.noAnswerStatus = 200
    do {
      _ = try await book.set(row, environment: "production", by: "t")
      Issue.record("a row beyond its limits was kept")
    } catch {
      #expect((error as? InvalidValue)?.rule == "inbound.status")
    }
    #expect(book.rows("production").isEmpty && scene.tables.count == 1)
    // The next change is not held up.
    #expect(try await book.set(try Self.row("+46850000536"), environment: "production", by: "t") == .made)
  }
}

private final class NumbersInMemory: InboundNumberStore {
  private let rows = Mutex<[String: [E164Number: InboundNumber]]>([:])

  func numbers(environment: String) async throws -> [InboundNumber] {
    rows.withLock { ($0[environment] ?? [:]).values.sorted { $0.number.value < $1.number.value } }
  }
  func keep(_ number: InboundNumber, environment: String) async throws {
    try number.check()
    // Others get their turn in the middle.
    await Task.yield()
    rows.withLock { $0[environment, default: [:]][number.number] = number }
  }
  func remove(_ number: E164Number, environment: String) async throws -> Bool {
    rows.withLock { $0[environment]?.removeValue(forKey: number) != nil }
  }
}
