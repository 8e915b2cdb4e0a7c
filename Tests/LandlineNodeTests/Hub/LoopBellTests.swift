import LandlineNode
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite("The bell of a loop", .timeLimit(.minutes(5)))
struct LoopBellTests {
  /// Not the loops of everybody: what rings all the time keeps a processor.
  private func withLoop(_ body: (any EventLoop) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do { try await body(group.next()) } catch {
      try await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
  }

  @Test("a ring from any thread is heard, many before it as one, and one that comes meanwhile after it")
  func heard() async throws {
    try await withLoop { loop in
      let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
      let bell = try await LoopBell.open(on: loop) { continuation.yield() }
      var rings = heard.makeAsyncIterator()
      // Within one task of the loop nothing is heard.
      try await loop.submit { for _ in 0..<10 { bell.ring() } }.get()
      await rings.next()
      for _ in 0..<100 {
        bell.ring()
        await rings.next()
      }
      bell.close()
      bell.ring()
      try await loop.submit { continuation.finish() }.get()
      #expect(await rings.next() == nil)
    }
  }

  @Test("who rings without end leaves the loop its other descriptors and its tasks")
  func fairness() async throws {
    try await withLoop { loop in
      let bells = Mutex<[LoopBell]>([])
      let (turns, continuation) = AsyncStream.makeStream(of: Int.self)
      for index in 0..<2 {
        let bell = try await LoopBell.open(on: loop) {
          continuation.yield(index)
          let bell = bells.withLock { $0.indices.contains(index) ? $0[index] : nil }
          bell?.ring()
        }
        bells.withLock { $0.append(bell) }
      }
      for bell in bells.withLock({ $0 }) { bell.ring() }
      var counts = [0, 0]
      for await turn in turns {
        counts[turn] += 1
        if counts.allSatisfy({ $0 >= 1000 }) { break }
      }
      try await loop.submit {}.get()
      for bell in bells.withLock({ $0 }) { bell.close() }
      bells.withLock { $0 = [] }
    }
  }
}
