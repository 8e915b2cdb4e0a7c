import AppProtocol
import CallModel
import Foundation
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: registrations")
struct IdentityStoreTests {
  private let now = GatewayFile.now

  private func user(_ text: String) throws -> UserID { try UserID(text) }

  @Test("a sequence is taken only when it is higher than all before, up to the largest")
  func sequences() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let anna = try user("anna")
    let steps: [(UInt64, SequenceVerdict)] = [
      (0, .notAbove(least: 1)), (5, .used), (5, .notAbove(least: 6)), (4, .notAbove(least: 6)), (9, .used), (10, .used),
      (9, .notAbove(least: 11)), (1 << 63, .used), ((1 << 63) - 1, .notAbove(least: 1 << 63 + 1)), (.max - 1, .used),
      (3, .notAbove(least: .max)), (.max, .used), (.max, .notAbove(least: nil)), (0, .notAbove(least: nil)),
    ]
    for (sequence, verdict) in steps {
      #expect(
        try await store.useSequence(sequence, application: "a", user: anna) == verdict, "\(sequence)")
    }
    // Of another user, and of another application, nothing is known.
    #expect(try await store.useSequence(0, application: "b", user: anna) == .notAbove(least: 1))
    #expect(try await store.useSequence(1, application: "a", user: user("bo")) == .used)
    await store.close()
  }

  @Test("of 64 tasks with one sequence exactly one wins, over two stores of one file")
  func sequenceRace() async throws {
    let file = try GatewayFile()
    let stores = [try file.open(), try file.open()]
    let anna = try user("anna")
    for sequence: UInt64 in 1...4 {
      let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
        for task in 0..<64 {
          group.addTask {
            try await stores[task % 2].useSequence(sequence, application: "a", user: anna) == .used
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(winners == 1)
    }
    for store in stores { await store.close() }
  }

  @Test("a nonce is taken once, until its time has passed")
  func nonces() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let until = now.advanced(byMilliseconds: 60_000)
    #expect(try await store.useNonce("n", application: "a", until: until, now: now))
    #expect(try await !store.useNonce("n", application: "a", until: until, now: now))
    #expect(try await store.useNonce("n", application: "b", until: until, now: now))
    #expect(try await store.useNonce("", application: "a", until: until, now: now))
    #expect(
      try await !store.useNonce("n", application: "a", until: until, now: until.advanced(byMilliseconds: -1)))
    #expect(
      try await store.useNonce("n", application: "a", until: until.advanced(byMilliseconds: 60_000), now: until))
    await #expect(throws: InvalidValue.self) {
      try await store.useNonce(String(repeating: "n", count: 513), application: "a", until: until, now: now)
    }
    await store.close()
  }

  @Test("new nonces take those along whose time has passed")
  func noncesStayFew() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    for number in 0..<200 {
      let time = now.advanced(byMilliseconds: Int64(number) * 1000)
      #expect(
        try await store.useNonce(
          "n\(number)", application: "a", until: time.advanced(byMilliseconds: 10_000), now: time))
    }
    #expect(try file.count("identity_nonce") <= 11)
    await store.close()
  }

  private func credential(_ id: String, device: String = "phone", ends: Instant? = nil) throws -> StoredCredential {
    StoredCredential(
      id: id, digest: [UInt8](repeating: 7, count: 32), application: "a", user: try user("anna"), device: device,
      expiresAt: ends)
  }

  @Test("a credential takes the place of the device's former one and outlives a restart")
  func credentials() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    let first = try credential("one", ends: now)
    let second = try credential("two")
    try await store.keep(first)
    #expect(try await store.credential("one") == first)
    #expect(try await store.credential("none") == nil)
    try await store.keep(second)
    try await store.keep(credential("three", device: "tablet"))
    #expect(try await store.credential("one") == nil)
    await store.close()
    store = try file.open()
    #expect(try await store.credential("two") == second)
    try await store.forget(application: "a", user: user("anna"), device: "phone")
    #expect(try await store.credential("two") == nil)
    #expect(try await store.credential("three") != nil)
    // The id of another device's credential is nobody else's.
    await #expect(throws: InvalidValue.self) { try await store.keep(credential("three", device: "desk")) }
    #expect(try await store.credential("three")?.device == "tablet")
    await store.close()
  }

  @Test("a user is known by a signature or a credential, of the same application alone, and after a restart")
  func users() async throws {
    let file = try GatewayFile()
    var store = try file.open()
    let anna = try user("anna")
    let bo = try user("bo")
    #expect(try await !store.knows(anna, application: "a"))
    try await store.keep(credential("one"))
    #expect(try await store.useSequence(1, application: "a", user: bo) == .used)
    await store.close()
    store = try file.open()
    for user in [anna, bo] {
      #expect(try await store.knows(user, application: "a"))
      #expect(try await !store.knows(user, application: "b"))
    }
    #expect(try await !store.knows(anna, application: String(repeating: "a", count: 10_000)))
    await store.close()
  }

  @Test("a change that is refused does not take its neighbours in the same commit along")
  func neighbours() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    try await store.keep(credential("taken", device: "first"))
    let credentials = try (0..<20).map { try credential($0 == 7 ? "taken" : "c\($0)", device: "d\($0)") }
    let refused = await withTaskGroup(of: String?.self) { group in
      for credential in credentials {
        group.addTask {
          do {
            try await store.keep(credential)
            return nil
          } catch {
            return credential.device
          }
        }
      }
      return await group.reduce(into: [String]()) { if let device = $1 { $0.append(device) } }
    }
    #expect(refused == ["d7"])
    #expect(try file.count("identity_credential") == 20)
    await store.close()
  }

  @Test("a user has a bounded number of devices; the oldest make room")
  func devices() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let limit = SQLiteGatewayStore.maximumDevicesPerUser
    for number in 0..<limit + 3 { try await store.keep(credential("c\(number)", device: "d\(number)")) }
    #expect(try file.count("identity_credential") == Int64(limit))
    #expect(try await store.credential("c2") == nil)
    #expect(try await store.credential("c3") != nil)
    await store.close()
  }

  @Test("what has ended is swept, and nothing else")
  func sweep() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let later = now.advanced(byMilliseconds: 1)
    try await store.keep(credential("ended", device: "1", ends: now))
    try await store.keep(credential("alive", device: "2", ends: later))
    try await store.keep(credential("endless", device: "3"))
    for number in 0..<2500 {
      #expect(
        try await store.useNonce("n\(number)", application: "a", until: number < 2400 ? now : later, now: .distantPast))
    }
    _ = try await store.begin("old", scope: "s", digest: [1], now: now.advanced(byMilliseconds: -86_400_000))
    _ = try await store.begin("new", scope: "s", digest: [1], now: now.advanced(byMilliseconds: -86_399_999))
    #expect(try await store.sweep(now: now) == 2402)
    #expect(try file.count("identity_nonce") == 100)
    #expect(try file.count("identity_credential") == 2)
    #expect(try file.count("idempotency") == 1)
    #expect(try await store.credential("ended") == nil)
    #expect(try await store.sweep(now: now) == 0)
    await store.close()
  }
}
