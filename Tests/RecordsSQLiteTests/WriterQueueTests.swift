import Foundation
import LandlineSQLite
import LedgerCore
import Synchronization
import Testing

@Suite("The queue of a store's writer")
struct WriterQueueTests {
  private struct Job: WriterJob, Equatable {
    var number: Int
    var canWait = true
    var weight: Int { 1 }
    func refuse(_ reason: LedgerUnavailable) {}
  }

  /// Longer than any test waits.
  private static let forEver = 3_600_000

  private func queue(gathers milliseconds: Int = forEver) -> WriterQueue<Job> {
    WriterQueue(store: "the store", limit: 100, gatherMilliseconds: milliseconds)
  }

  /// Asks for a group as the writer does, on a thread of its own.
  private func nextGroup(of queue: WriterQueue<Job>, limit: Int = 10, _ body: () -> Void = {}) async -> [Int]? {
    async let group = withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: queue.nextGroup(limit: limit)) }
    }
    body()
    return await group?.map(\.number)
  }

  @Test("jobs that can wait go with the first one that cannot")
  func gathered() async {
    let queue = queue()
    queue.append(Job(number: 1))
    let group = await nextGroup(of: queue) {
      queue.append(Job(number: 2))
      queue.append(Job(number: 3, canWait: false))
    }
    // The third is in any case there before the writer stops waiting.
    #expect(group == [1, 2, 3])
    // Nothing of the last group counts for the next.
    queue.append(Job(number: 4))
    #expect(await nextGroup(of: queue) { queue.append(Job(number: 5, canWait: false)) } == [4, 5])
  }

  @Test("a full group waits for nobody")
  func full() async {
    let queue = queue()
    for number in 1...3 { queue.append(Job(number: number)) }
    #expect(await nextGroup(of: queue, limit: 2) == [1, 2])
    // One alone waits until it has company.
    #expect(await nextGroup(of: queue, limit: 2) { queue.append(Job(number: 4)) } == [3, 4])
  }

  @Test("a queue that is closed waits for nobody")
  func closed() async {
    let queue = queue()
    queue.append(Job(number: 1))
    #expect(await nextGroup(of: queue) { queue.close {} } == [1])
    #expect(await nextGroup(of: queue) == nil)
  }

  @Test("time ends the wait, and without a time to wait there is none")
  func time() async {
    for milliseconds in [0, 5] {
      let queue = queue(gathers: milliseconds)
      queue.append(Job(number: 1))
      #expect(await nextGroup(of: queue) == [1])
    }
  }
}
