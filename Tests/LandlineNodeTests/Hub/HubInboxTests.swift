import AppProtocol
import CallModel
import LandlineNode
import NIOPosix
import Synchronization
import Testing

@Suite("The inbox of the hub", .timeLimit(.minutes(5)))
struct HubInboxTests {
  private let arrival = MonotonicInstant.zero

  private func text(_ number: Int) -> HubInbox.Entry {
    .text(Array("\(number)".utf8), ConnectionID(UInt64(number % 3)), since: arrival)
  }

  private func number(_ entry: HubInbox.Entry) -> Int? {
    guard case .text(let text, _, _) = entry else { return nil }
    return Int(String(decoding: text, as: UTF8.self))
  }

  @Test("the loop gets everything in order, a batch at a time")
  func order() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let inbox = Mutex<HubInbox?>(nil)
    let (batches, continuation) = AsyncStream.makeStream(of: [Int].self)
    let bell = try await LoopBell.open(on: loop) {
      let entries = inbox.withLock { $0 }?.nextBatch() ?? []
      continuation.yield(entries.compactMap(number))
    }
    let open = HubInbox(bell)
    inbox.withLock { $0 = open }
    let count = 10 * HubInbox.batch + 1
    for number in 0..<count { #expect(open.put(text(number))) }
    var taken: [Int] = []
    for await batch in batches {
      #expect(batch.count <= HubInbox.batch)
      taken += batch
      if taken.count == count { break }
    }
    #expect(taken == Array(0..<count))
    #expect(open.close().isEmpty)
    inbox.withLock { $0 = nil }
  }

  @Test("too many messages are refused, ends of connections never; after the end nothing is taken")
  func limits() async throws {
    let bell = try await LoopBell.open(on: MultiThreadedEventLoopGroup.singleton.next()) {}
    let inbox = HubInbox(bell)
    for number in 0..<HubInbox.maximumWaiting where !inbox.put(text(number)) {
      Issue.record("message \(number) was refused")
      break
    }
    #expect(!inbox.put(text(0)))
    #expect(inbox.put(.closed(ConnectionID(1))))
    #expect(inbox.nextBatch().count == HubInbox.batch)
    #expect(inbox.put(text(0)))
    let left = inbox.close()
    #expect(left.count == HubInbox.maximumWaiting - HubInbox.batch + 2)
    #expect(left.first.flatMap(number) == HubInbox.batch)
    #expect(!inbox.put(.closed(ConnectionID(1))))
    #expect(inbox.nextBatch().isEmpty)
  }
}
