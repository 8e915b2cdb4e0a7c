/// The end of a wait: tests wait for events and give up at a deadline; they never sleep for a fixed time.
public struct Deadline: Sendable {
  private let end: ContinuousClock.Instant
  private let seconds: Double

  public init(seconds: Double) {
    self.seconds = seconds
    end = .now + .seconds(seconds)
  }

  public var hasPassed: Bool { ContinuousClock.now >= end }

  /// Asks again and again until there is an answer.
  /// - Throws: ``PeerFailure`` that says what was missed.
  public func first<Value: Sendable>(
    _ what: @autoclosure () -> String, everyMilliseconds pause: Int = 5, _ question: () async throws -> Value?
  ) async throws -> Value {
    while true {
      if let value = try await question() { return value }
      guard !hasPassed else { throw PeerFailure("no \(what()) within \(seconds) s") }
      try await Task.sleep(for: .milliseconds(pause))
    }
  }
}
