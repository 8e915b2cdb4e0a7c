import CallModel
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: idempotency keys")
struct IdempotencyStoreTests {
  private let now = GatewayFile.now

  @Test("a key gives its first answer for a day, and no other request may use it")
  func life() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    let digest = [UInt8](repeating: 1, count: 32)
    let other = [UInt8](repeating: 2, count: 32)
    #expect(try await store.begin("k", scope: "s", digest: digest, now: now) == .fresh)
    #expect(try await store.begin("k", scope: "s", digest: digest, now: now) == .running)
    #expect(try await store.begin("k", scope: "s", digest: other, now: now) == .conflict)
    #expect(try await store.begin("k", scope: "t", digest: other, now: now) == .fresh)
    await store.close()
    store = try file.open()
    #expect(try await store.begin("k", scope: "s", digest: digest, now: now) == .running)
    try await store.finish("k", scope: "s", status: 201, body: Array("{}".utf8))
    let finished = IdempotencyState.finished(status: 201, body: Array("{}".utf8))
    #expect(try await store.begin("k", scope: "s", digest: digest, now: now) == finished)
    // A finished request is not given up.
    try await store.abandon("k", scope: "s")
    let almost = now.advanced(byMilliseconds: 86_399_999)
    #expect(try await store.begin("k", scope: "s", digest: digest, now: almost) == finished)
    #expect(try await store.begin("k", scope: "s", digest: other, now: almost) == .conflict)
    let day = now.advanced(byMilliseconds: 86_400_000)
    #expect(try await store.begin("k", scope: "s", digest: other, now: day) == .fresh)
    #expect(try await store.begin("k", scope: "s", digest: other, now: day) == .running)
    await store.close()
  }

  @Test("what was never carried out frees its key; an answer may be empty, and has a bound")
  func abandon() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    #expect(try await store.begin("k", scope: "s", digest: [1], now: now) == .fresh)
    try await store.abandon("k", scope: "s")
    #expect(try await store.begin("k", scope: "s", digest: [2], now: now) == .fresh)
    try await store.finish("k", scope: "s", status: 204, body: [])
    #expect(try await store.begin("k", scope: "s", digest: [2], now: now) == .finished(status: 204, body: []))
    await #expect(throws: InvalidValue.self) {
      try await store.finish(
        "k", scope: "s", status: 200, body: [UInt8](repeating: 0, count: SQLiteGatewayStore.maximumBodyBytes + 1))
    }
    await #expect(throws: InvalidValue.self) {
      try await store.begin(String(repeating: "k", count: 513), scope: "s", digest: [1], now: now)
    }
    await store.close()
  }

  @Test("of 64 tasks with one key exactly one is fresh, over two stores of one file")
  func race() async throws {
    let file = try GatewayFile()
    let stores = [try file.open(), try file.open()]
    let now = now
    let answers = try await withThrowingTaskGroup(of: IdempotencyState.self) { group in
      for task in 0..<64 {
        group.addTask { try await stores[task % 2].begin("k", scope: "s", digest: [1], now: now) }
      }
      return try await group.reduce(into: [IdempotencyState]()) { $0.append($1) }
    }
    #expect(answers.filter { $0 == .fresh }.count == 1)
    #expect(answers.filter { $0 == .running }.count == 63)
    for store in stores { await store.close() }
  }
}
