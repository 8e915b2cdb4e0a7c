import CallEngine
import CallModel
import NodeCore

/// Live calls as a stream of lines: those that are up, then each change, then empty lines while nothing happens.
enum LiveCallStream {
  static let mediaType = "application/x-ndjson"
  /// Most lines that wait for a slow reader; the oldest are dropped.
  static let maximumWaiting = 1024
  /// Seconds between signs of life, which also find out that the reader has gone.
  static let quietSeconds = 15

  static func answer(
    _ operations: any GatewayOperations, _ environment: String, until end: Instant? = nil,
    _ isVisible: @escaping @Sendable (CallSnapshot) -> Bool
  ) async -> RESTAnswer {
    let (lines, continuation) = AsyncStream.makeStream(
      of: [UInt8].self, bufferingPolicy: .bufferingNewest(maximumWaiting))
    // Asked for first, so that no change falls between.
    let changes = await operations.callChanges()
    let live = await operations.liveCalls(environment: environment)
    let feed = Task {
      for call in live where isVisible(call) { continuation.yield(line(call)) }
      for await call in changes where isVisible(call) { continuation.yield(line(call)) }
      continuation.finish()
    }
    let pulse = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(quietSeconds))
        // A page's stream does not outlive its session.
        if let end, RESTService.now() >= end { return continuation.finish() }
        continuation.yield([0x0A])
      }
    }
    continuation.onTermination = { _ in
      feed.cancel()
      pulse.cancel()
    }
    var answer = RESTAnswer(status: 200, mediaType: mediaType, body: [])
    answer.lines = lines
    return answer
  }

  private static func line(_ call: CallSnapshot) -> [UInt8] { RESTTrees.call(call).bytes + [0x0A] }
}
