import CallModel
import LandlineServer
import NIOCore
import NIOPosix
import Testing

@Suite struct LoopProbeTests {
  /// Trips to a loop until something holds at most: each ends with a look at the descriptors.
  private static let mostTrips = 100_000

  private let asked = MonotonicInstant(milliseconds: 1_000)
  private let later = MonotonicInstant(milliseconds: 1_050)

  @Test("it tells how long a byte has waited, and nothing once the loop has read it or the probe is closed")
  func waiting() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let probe = try await loop.submit {
      let probe = LoopProbe()
      probe.open(on: loop)
      return NIOLoopBound(probe, eventLoop: loop)
    }.get()
    func comes(_ wanted: Int64, _ ask: @escaping @Sendable (LoopProbe) -> Int64) async throws -> Bool {
      for _ in 0..<Self.mostTrips where try await loop.submit({ ask(probe.value) }).get() == wanted { return true }
      return false
    }
    let (asked, later) = (asked, later)
    // Nothing is read between the two within one task.
    #expect(
      try await comes(50_000) { probe in
        _ = probe.ask(at: asked)
        return probe.ask(at: later)
      })
    #expect(try await comes(0) { $0.ask(at: later) })
    try await loop.submit { probe.value.close() }.get()
    #expect(try await comes(0) { $0.ask(at: later) })
  }
}
