import AppProtocol
import CallEngine
import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import RecordsSQLite
import Testing

@Suite("Gateway store: call records")
struct CallRecordStoreTests {
  private let now = GatewayFile.now

  /// A record with something in every place.
  private func full() throws -> CallRecord {
    let failure = CallFailure(
      .limit, refusal: .dailyCap, sipStatus: 403, phrase: "Förbidden",
      reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 21, text: "x", location: .user)], warning: "w",
      retryAfterSeconds: 7, trunk: "t",
      attempts: [CallAttempt(trunk: "t", startedAt: now, endedAt: now, sipStatus: 503, code: .congestion)], leg: .trunk,
      correlationID: "c",
      invalidValue: InvalidValue(kind: "k", rule: "r", offset: 3, problem: "p", accepted: "a"))
    var call = CallSnapshot(
      id: CallID(unchecked: "full"), environment: "production", account: AccountName(unchecked: "anna"),
      application: "app", user: try UserID("anna@x"), kind: .sip, destination: "bo@example.com", state: .ended,
      startedAt: now, currency: try Currency("SEK"))
    call.answeredAt = now.advanced(byMilliseconds: 5)
    call.trunk = "carrier"
    call.nearCodec = "opus"
    call.farCodec = "PCMA"
    call.heldMicro = .max
    call.quality = CallQuality(
      sent: CallQuality.Direction(meanOpinionScore: 4.1, jitter: 0.1, loss: 0, packets: .max),
      received: CallQuality.Direction(meanOpinionScore: 1, jitter: 2, loss: 1, packets: 0), roundTrip: 12.5)
    call.failure = failure
    let headers = try CustomHeaders([(name: "x-order", value: "17"), (name: "x-b", value: "ü")])
    var record = CallRecord(
      call: call,
      summary: CallSummary(
        startedAt: now, progressedAt: now, rungAt: now, answeredAt: now, establishedAt: now, endedAt: now,
        cause: .error, failure: failure, headers: headers, durationMilliseconds: 61_001, billedSeconds: 62,
        costMicro: nil, currency: "SEK"))
    record.callerNumber = "+46812345678"
    record.attempts = failure.attempts
    record.sipCallID = "abc@host"
    record.story = [CallRecord.StoryLine(milliseconds: 3, text: "INVITE")]
    record.clientStatistics = ["rtt": 0.25, "loss": 0]
    record.meanScoreNear = 4.4
    record.meanScoreFar = 1.1
    record.flags = [.cancelRace, CallRecord.Flag(rawValue: "early-media")]
    return record
  }

  @Test("every part of a record comes back, after a restart and from what a crash leaves")
  func wholeRecord() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let record = try full()
    try await store.keep(record)
    #expect(try await store.record(record.call.id) == record)
    // Nothing was closed: the answer alone promised that it is on disk.
    let copy = try file.copy()
    let crashed = try copy.open()
    #expect(try await crashed.record(record.call.id) == record)
    await crashed.close()
    await store.close()
    let again = try file.open()
    #expect(try await again.record(record.call.id) == record)
    #expect(try await again.record(CallID(unchecked: "other")) == nil)
    await again.close()
  }

  @Test("records that share commits are all kept, and what was answered is seen by whoever reads meanwhile")
  func gathered() async throws {
    let file = try GatewayFile()
    let store = try SQLiteGatewayStore.open(path: file.path, createIfMissing: true, gathers: true)
    let ids = (0..<20).map { "c\($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in ids { group.addTask { try await store.keep(GatewayFile.record(id)) } }
      group.addTask {
        // Reads come while records wait for each other: each sees what was answered before.
        for id in ids {
          let call = CallID(unchecked: id)
          try await store.keep(trace: [1], of: call, at: GatewayFile.now)
          let trace = try await store.trace(of: call)
          #expect(trace == [1])
        }
      }
      try await group.waitForAll()
    }
    #expect(Set(try await store.records(CallRecordQuery()).records.map(\.call.id.text)) == Set(ids))
    await store.close()
  }

  @Test("a record replaces the one with its id")
  func replace() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    try await store.keep(GatewayFile.record("a", destination: "+46701"))
    try await store.keep(GatewayFile.record("a", at: 9, destination: "+46702", cause: .noAnswer))
    let page = try await store.records(CallRecordQuery())
    #expect(page.records == [GatewayFile.record("a", at: 9, destination: "+46702", cause: .noAnswer)])
    await store.close()
  }

  @Test("what an app measured is added, before or after the record, within bounds")
  func statistics() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let id = CallID(unchecked: "a")
    try await store.add(["rtt": 1, "loss": 0.5], to: id)
    #expect(try await store.record(id) == nil)
    var record = GatewayFile.record("a")
    record.clientStatistics = ["rtt": 0, "own": 3]
    try await store.keep(record)
    try await store.add(["rtt": 2, "bad": .nan, "worse": .infinity, "": 1, "a\nb": 1], to: id)
    #expect(try await store.record(id)?.clientStatistics == ["rtt": 2, "loss": 0.5, "own": 3])
    var many: [String: Double] = [:]
    for number in 0..<1000 { many["s\(number)"] = 1 }
    many[String(repeating: "x", count: 65)] = 1
    try await store.add(many, to: CallID(unchecked: "b"))
    try await store.keep(GatewayFile.record("b"))
    #expect(try await store.record(CallID(unchecked: "b"))?.clientStatistics.count == 64)
    #expect(try await store.dropStatistics(before: now.advanced(byMilliseconds: 60_000)) == 0)
    #expect(try await store.dropStatistics(before: now.advanced(byMilliseconds: 60_001)) == 3)
    #expect(try await store.record(id)?.clientStatistics.isEmpty == true)
    #expect(try await store.dropStatistics(before: now.advanced(byMilliseconds: 60_001)) == 0)
    await store.close()
  }

  @Test("what JSON cannot hold does not stop a record; stories are cut")
  func oddValues() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    var record = GatewayFile.record("a")
    record.meanScoreNear = .nan
    record.call.quality = CallQuality(
      sent: CallQuality.Direction(meanOpinionScore: .nan, jitter: 0, loss: 0, packets: 0),
      received: CallQuality.Direction(meanOpinionScore: 1, jitter: 0, loss: 0, packets: 0), roundTrip: .infinity)
    record.story = (0..<300).map { CallRecord.StoryLine(milliseconds: $0, text: "x\u{0}\n") }
    record.sipCallID = String(repeating: "i", count: 10_000)
    try await store.keep(record)
    let kept = try #require(try await store.record(record.call.id))
    #expect(kept.meanScoreNear == nil)
    #expect(kept.call.quality == nil)
    #expect(kept.story.count == CallRecord.maximumStoryLines)
    #expect(kept.story.first?.text == "x??")
    #expect(kept.sipCallID?.utf8.count == CallFailure.maximumTextBytes)
    await store.close()
  }

  @Test("later versions may add to a document, and to its words")
  func laterVersions() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    try await store.keep(full())
    try SQLiteDoor.execute(
      """
      UPDATE call_record SET cause = 'beamed', document = json_set(document, '$.surprise', json('{"a":[1]}'),
        '$.state', 'floating', '$.kind', 'hologram', '$.summary.failure.code', 'gw.unheardOf')
      """, path: file.path)
    let record = try #require(try await store.record(CallID(unchecked: "full")))
    #expect(record.call.state == .ended)
    #expect(record.call.kind == .phone)
    #expect(record.summary.cause == .error)
    #expect(record.summary.failure == nil)
    #expect(record.call.failure?.code == .limit)
    // And an older one may lack what this one has.
    try SQLiteDoor.execute(
      "UPDATE call_record SET document = json_remove(document, '$.flags', '$.story', '$.attempts', '$.statistics')",
      path: file.path)
    #expect(try await store.record(CallID(unchecked: "full"))?.flags == [])
    try SQLiteDoor.execute("UPDATE call_record SET document = '{'", path: file.path)
    await #expect(throws: LedgerUnavailable.self) { try await store.record(CallID(unchecked: "full")) }
    await store.close()
  }

  @Test("pages are newest first, and calls that come meanwhile neither repeat nor hide any")
  func paging() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    // Two calls each second, so that the id decides among them.
    for number in 0..<25 { try await store.keep(GatewayFile.record("c\(100 + number)", at: Int64(number / 2))) }
    var seen: [String] = []
    var query = CallRecordQuery(limit: 4)
    var pages = 0
    while true {
      let page = try await store.records(query)
      seen += page.records.map(\.call.id.text)
      pages += 1
      #expect(page.records.count <= 4)
      try await store.keep(GatewayFile.record("new\(pages)", at: 1000 + Int64(pages)))
      guard let next = page.next else { break }
      query.cursor = next
    }
    #expect(pages == 7)
    #expect(seen == (0..<25).reversed().map { "c\(100 + $0)" })
    query = CallRecordQuery(limit: 32)
    #expect(try await store.records(query).next == nil)
    query.limit = 31
    #expect(try await store.records(query).next != nil)
    await store.close()
  }

  @Test(
    "a cursor that no page ended with",
    arguments: ["", "x", "MTIz", "LmE", "MS4", "!!!!", "MS5hIA", "MS5hPT0=", String(repeating: "A", count: 100_000)])
  func badCursor(_ text: String) async throws {
    let file = try GatewayFile()
    let store = try file.open()
    let error = await #expect(throws: InvalidValue.self) {
      try await store.records(CallRecordQuery(cursor: text))
    }
    #expect(error?.rule == "records.cursor")
    await store.close()
  }

  @Test("filters, alone and together")
  func filters() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    try await store.keep(GatewayFile.record("a", at: 0, account: "anna", destination: "+46701"))
    try await store.keep(GatewayFile.record("b", at: 1, account: "bo", destination: "+46702", cause: .noAnswer))
    try await store.keep(GatewayFile.record("c", at: 2, account: "anna", destination: "+4770", cause: .noAnswer))
    try await store.keep(
      GatewayFile.record("d", at: 3, environment: "sandbox", account: "anna", destination: "100%_'\"--"))
    func found(_ change: (inout CallRecordQuery) -> Void) async throws -> String {
      var query = CallRecordQuery()
      change(&query)
      return try await store.records(query).records.map(\.call.id.text).joined()
    }
    let now = now
    #expect(try await found { _ in } == "dcba")
    #expect(try await found { $0.account = AccountName(unchecked: "anna") } == "dca")
    #expect(try await found { $0.cause = .noAnswer } == "cb")
    #expect(try await found { $0.destination = "+4670" } == "ba")
    #expect(try await found { $0.destination = "+46701" } == "a")
    #expect(try await found { $0.destination = "100%_'\"" } == "d")
    #expect(try await found { $0.destination = "%" } == "")
    #expect(try await found { $0.destination = "" } == "dcba")
    #expect(try await found { $0.from = now.advanced(byMilliseconds: 1000) } == "dcb")
    #expect(try await found { $0.to = now.advanced(byMilliseconds: 1000) } == "a")
    #expect(
      try await found {
        $0.account = AccountName(unchecked: "anna")
        $0.cause = .noAnswer
        $0.from = now
        $0.to = now.advanced(byMilliseconds: 3000)
        $0.destination = "+47"
      } == "c")
    let sandbox = store.records(of: "sandbox")
    #expect(try await sandbox.records(CallRecordQuery()).records.map(\.call.id.text) == ["d"])
    #expect(try await sandbox.record(CallID(unchecked: "a")) == nil)
    #expect(try await sandbox.record(CallID(unchecked: "d")) != nil)
    await store.close()
  }

  @Test("records are pruned by their end, with what apps measured in them")
  func prune() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    for number in 0..<1200 {
      let id = "c\(number)"
      try await store.keep(GatewayFile.record(id, at: Int64(number)))
    }
    try await store.add(["x": 1], to: CallID(unchecked: "c0"))
    try await store.add(["x": 1], to: CallID(unchecked: "c1199"))
    #expect(try await store.useNonce("n", application: "a", until: now, now: .distantPast))
    // Every call lasted a minute; the one that ended at the instant itself stays.
    let instant = now.advanced(byMilliseconds: 1_150_000 + 60_000)
    #expect(try await store.prune(before: instant) == 1150)
    #expect(try file.count("call_record") == 50)
    #expect(try await store.record(CallID(unchecked: "c1150")) != nil)
    #expect(try await store.record(CallID(unchecked: "c1149")) == nil)
    #expect(try file.count("call_statistics") == 1)
    // What has ended by itself goes along.
    #expect(try file.count("identity_nonce") == 0)
    #expect(try await store.prune(before: instant) == 0)
    await store.close()
  }

  @Test("many tasks keep records at the same time; each is there once answered")
  func crowd() async throws {
    let file = try GatewayFile()
    let store = try file.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<500 {
        group.addTask {
          let record = GatewayFile.record("c\(number)", at: Int64(number))
          try await store.keep(record)
          let kept = try await store.record(record.call.id)
          #expect(kept == record)
        }
      }
      try await group.waitForAll()
    }
    #expect(try file.count("call_record") == 500)
    await store.close()
  }
}
