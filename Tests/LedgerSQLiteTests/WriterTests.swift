import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import Synchronization
import Testing

/// A gate before the first commit: the test learns when the writer stands there, and lets it go.
final class CommitGate: Sendable {
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation
  private let open = DispatchSemaphore(value: 0)
  private let state = Mutex<(groups: [Int], isOpen: Bool)>(([], false))

  init() { (arrivals, arrived) = AsyncStream.makeStream() }

  var faults: CommitFaults {
    CommitFaults { [self] point, operations in
      guard case .beforeCommit = point else { return nil }
      let mustWait = state.withLock { state in
        state.groups.append(operations)
        return !state.isOpen
      }
      if mustWait {
        arrived.yield()
        open.wait()
      }
      return nil
    }
  }

  /// Operations in each commit so far.
  var groups: [Int] { state.withLock { $0.groups } }

  func writerArrives() async {
    var iterator = arrivals.makeAsyncIterator()
    await iterator.next()
  }

  func release() {
    state.withLock { $0.isOpen = true }
    open.signal()
  }
}

/// Answers that arrive on the writer's thread.
final class Answers: Sendable {
  private let stream: AsyncStream<Result<LedgerReceipt, LedgerUnavailable>>
  private let continuation: AsyncStream<Result<LedgerReceipt, LedgerUnavailable>>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func receive(_ results: [Result<LedgerReceipt, LedgerUnavailable>]) {
    for result in results { continuation.yield(result) }
  }

  func first(_ count: Int) async -> [Result<LedgerReceipt, LedgerUnavailable>] {
    var all: [Result<LedgerReceipt, LedgerUnavailable>] = []
    for await result in stream {
      all.append(result)
      if all.count == count { break }
    }
    return all
  }
}

@Suite("The writer of a SQLite ledger")
struct WriterTests {
  private static func options(_ change: (inout SQLiteLedgerStore.Options) -> Void) -> SQLiteLedgerStore.Options {
    var options = SQLiteLedgerStore.Options(flush: .normal)
    change(&options)
    return options
  }

  @Test("what queues during a commit shares the next one")
  func groupCommit() async throws {
    let file = try LedgerFile()
    let gate = CommitGate()
    let store = try file.open(Self.options { $0.faults = gate.faults })
    let answers = Answers()
    store.submit([file.create("acme")]) { answers.receive($0) }
    await gate.writerArrives()
    for _ in 0..<100 { store.submit([try file.topup("acme", 1)]) { answers.receive($0) } }
    gate.release()
    for answer in await answers.first(101) { #expect(try answer.get().refusal == nil) }
    #expect(gate.groups == [1, 100])
    await store.close()
    #expect(try file.verify().isSound)
  }

  @Test("a group has a limit, and a batch is never split by it")
  func groupLimit() async throws {
    let file = try LedgerFile()
    let gate = CommitGate()
    let store = try file.open(
      Self.options {
        $0.faults = gate.faults
        $0.groupLimit = 10
      })
    let answers = Answers()
    store.submit([file.create("acme")]) { answers.receive($0) }
    await gate.writerArrives()
    for size in [4, 4, 4, 25, 1] {
      store.submit(try (0..<size).map { _ in try file.topup("acme", 1) }) { answers.receive($0) }
    }
    gate.release()
    for answer in await answers.first(39) { #expect(try answer.get().refusal == nil) }
    #expect(gate.groups == [1, 8, 4, 25, 1])
    await store.close()
  }

  @Test("a full queue refuses at once by name and forgets nothing it took")
  func overloaded() async throws {
    let file = try LedgerFile()
    let gate = CommitGate()
    let store = try file.open(
      Self.options {
        $0.faults = gate.faults
        $0.queueLimit = 4
      })
    let taken = Answers()
    let refused = Answers()
    store.submit([file.create("acme")]) { taken.receive($0) }
    await gate.writerArrives()
    for _ in 0..<4 { store.submit([try file.topup("acme", 1)]) { taken.receive($0) } }
    for _ in 0..<3 { store.submit([try file.topup("acme", 1)]) { refused.receive($0) } }
    for answer in await refused.first(3) {
      #expect(throws: LedgerUnavailable.self) { try answer.get() }
      if case .failure(let error) = answer { #expect(error.cause == .overloaded) }
    }
    gate.release()
    for answer in await taken.first(5) { #expect(try answer.get().refusal == nil) }
    #expect(try await store.perform(file.topup("acme", 1)).refusal == nil, "it works again")
    await store.close()
    #expect(try file.verify().counts.transfers == 5)
  }

  @Test("close carries out what is queued, then refuses; closing twice is harmless")
  func closeDrains() async throws {
    let file = try LedgerFile()
    let gate = CommitGate()
    let store = try file.open(Self.options { $0.faults = gate.faults })
    let answers = Answers()
    store.submit([file.create("acme")]) { answers.receive($0) }
    await gate.writerArrives()
    for _ in 0..<50 { store.submit([try file.topup("acme", 1)]) { answers.receive($0) } }
    async let first: Void = store.close()
    async let second: Void = store.close()
    gate.release()
    _ = await (first, second)
    for answer in await answers.first(51) { #expect(try answer.get().refusal == nil) }
    await store.close()
    let late = try file.topup("acme", 1)
    await #expect { try await store.perform(late) } throws: { ($0 as? LedgerUnavailable)?.cause == .closed }
    await #expect { try await store.read { try $0.head() } } throws: { ($0 as? LedgerUnavailable)?.cause == .closed }
    await #expect { try await store.recover(nil, at: file.now) } throws: {
      ($0 as? LedgerUnavailable)?.cause == .closed
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path).contains("ledger.db-wal") == false)
    #expect(try file.verify().counts.transfers == 50)
  }

  @Test("what was answered is in the log: a copy taken without a close has it all")
  func logReplay() async throws {
    let file = try LedgerFile()
    let store = try file.open(.init(flush: .full))
    _ = try await store.registerNode(file.node, at: file.now)
    var operations = [file.create("acme"), try file.topup("acme", 1_000_000)]
    for index in 0..<10 {
      operations += [
        try file.authorise("acme", "c\(index)"), file.call("acme", "c\(index)", .answer),
        file.settle("acme", "c\(index)", milliseconds: 1000),
      ]
    }
    for operation in operations { #expect(try await store.perform(operation).refusal == nil) }
    let crashed = try file.copy()
    #expect(try FileManager.default.attributesOfItem(atPath: crashed.path + "-wal")[.size] as? Int ?? 0 > 0)
    let again = try crashed.open()
    for operation in operations { #expect(try await again.perform(operation).isReplay) }
    await again.close()
    #expect(try crashed.verify().isSound)
    await store.close()
  }

  @Test("a torn end of the log loses whole commits only")
  func tornLog() async throws {
    let file = try LedgerFile()
    let store = try file.open()
    #expect(try await store.perform(file.create("acme")).refusal == nil)
    for _ in 0..<20 { #expect(try await store.perform(file.topup("acme", 1)).refusal == nil) }
    let wal = try Data(contentsOf: URL(fileURLWithPath: file.path + "-wal"))
    var counts: Set<Int64> = []
    for cut in stride(from: wal.count, to: 0, by: -wal.count / 23) {
      let torn = try file.copy()
      try wal.prefix(cut).write(to: URL(fileURLWithPath: torn.path + "-wal"))
      guard let reopened = try? torn.open() else {
        Issue.record("\(cut) bytes of the log cannot be opened")
        continue
      }
      let transfers = try await reopened.read { try $0.counts().transfers }
      counts.insert(transfers)
      await reopened.close()
      #expect(try torn.verify().isSound, "\(cut) bytes")
    }
    #expect(counts.count > 10 && counts.max() == 20)
    await store.close()
  }

  @Test("a reader keeps its state while commits go on")
  func snapshot() async throws {
    let file = try LedgerFile()
    let store = try file.open()
    _ = await store.perform([file.create("acme"), try file.topup("acme", 7)])
    let (looked, hasLooked) = AsyncStream<Void>.makeStream()
    let proceed = DispatchSemaphore(value: 0)
    async let balances = store.read { reading in
      let before = try reading.customer(named: "acme")?.posted
      hasLooked.yield()
      proceed.wait()
      return (before, try reading.customer(named: "acme")?.posted, try reading.counts().transfers)
    }
    var iterator = looked.makeAsyncIterator()
    await iterator.next()
    for _ in 0..<20 { #expect(try await store.perform(file.topup("acme", 1)).refusal == nil) }
    proceed.signal()
    let (before, after, transfers) = try await balances
    #expect(before == 7 && after == 7 && transfers == 1)
    #expect(try await store.read { try $0.customer(named: "acme")?.posted } == 27)
    await store.close()
  }

  @Test("the log stays bounded under a long run of commits")
  func boundedLog() async throws {
    let file = try LedgerFile()
    let pages: Int32 = 200
    let store = try file.open(
      Self.options {
        // The checkpoint thread stays away, so that the writer alone decides and time decides nothing.
        $0.checkpointPages = .max
        $0.logPagesLimit = pages
      })
    #expect(try await store.perform(file.create("acme")).refusal == nil)
    for _ in 0..<600 { #expect(try await store.perform(file.topup("acme", 1)).refusal == nil) }
    let size = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int ?? 0
    // A frame is a page and its header; one commit may pass the limit before the next begins anew.
    #expect(size > 0 && size < (Int(pages) + 60) * (4096 + 24), "\(size) bytes")
    await store.close()
  }

  @Test("a full disk is told by name, writes nothing, and is over when there is room")
  func fullDisk() async throws {
    let file = try LedgerFile()
    let store = try file.open(Self.options { $0.maximumPages = 80 })
    _ = try await store.registerNode(file.node, at: file.now)
    _ = await store.perform([file.create("acme"), try file.topup("acme", 1_000_000)])
    var failed: LedgerOperation?
    for index in 0..<5000 where failed == nil {
      let authorise = try file.authorise("acme", "c\(index)")
      do throws(LedgerUnavailable) {
        _ = try await store.perform(authorise)
        _ = try await store.perform(file.call("acme", "c\(index)", .void(reason: "busy", carriers: [])))
      } catch {
        #expect(error.cause == .full)
        failed = authorise
      }
    }
    let refused = try #require(failed, "the disk never filled")
    let head = try await store.read { try $0.head() }
    await #expect { try await store.perform(refused) } throws: { ($0 as? LedgerUnavailable)?.cause == .full }
    #expect(try await store.read { try $0.head() } == head, "nothing was written")
    #expect(try await store.read { try LedgerVerifier.verify($0, full: true) }.isSound)
    file.now = file.now.advanced(byMilliseconds: 1000)
    #expect(try await store.prune(before: file.now) > 0)
    #expect(try await store.perform(refused).refusal == nil, "there is room again")
    await store.close()
    #expect(try file.verify().isSound)
  }

  @Test("one operation that the rows contradict fails alone, its neighbours go through")
  func faultAlone() async throws {
    let file = try LedgerFile()
    let store = try file.open()
    _ = await store.perform([file.create("acme"), file.create("bolt")])
    _ = try await store.registerNode(file.node, at: file.now)
    let topup = try file.topup("acme", 1_000_000)
    _ = try await store.perform(topup)
    try SQLiteDoor.execute("UPDATE op SET outcome = 'nonsense' WHERE outcome LIKE 'posted%'", path: file.path)
    let results = await store.perform([try file.topup("bolt", 1), topup, try file.topup("bolt", 2)])
    #expect(try results[0].get().refusal == nil && results[2].get().refusal == nil)
    #expect(throws: LedgerUnavailable.self) { try results[1].get() }
    #expect(try await store.read { try $0.customer(named: "bolt")?.posted } == 3)
    // A row that is in the way stops the one that would have taken its place.
    try SQLiteDoor.execute(
      "INSERT INTO entry SELECT account, version + 1, transfer, amount, balance_after FROM entry WHERE account = 1",
      path: file.path)
    let more = await store.perform([try file.topup("acme", 1), file.create("cent")])
    #expect(throws: LedgerUnavailable.self) { try more[0].get() }
    #expect(try more[1].get().outcome == .changed)
    await store.close()
  }

  @Test("a failed commit answers every member of its group, and the next one goes well")
  func failedCommit() async throws {
    let file = try LedgerFile()
    let counter = Counter()
    let store = try file.open(
      Self.options {
        $0.faults = CommitFaults { point, _ in
          guard case .beforeCommit = point, counter.next() == 2 else { return nil }
          return LedgerUnavailable(.inputOutput, "the disk failed, as the test asked")
        }
      })
    #expect(try await store.perform(file.create("acme")).refusal == nil)
    let batch = try (0..<5).map { _ in try file.topup("acme", 1) }
    for result in await store.perform(batch) { #expect(throws: LedgerUnavailable.self) { try result.get() } }
    for result in await store.perform(batch) { #expect(try result.get().isReplay == false) }
    await store.close()
    #expect(try file.verify().isSound)
  }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}
