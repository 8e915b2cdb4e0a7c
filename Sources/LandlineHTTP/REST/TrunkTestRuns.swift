import Synchronization

/// Tests of trunks that run now: one of a trunk, and few at all.
final class TrunkTestRuns: Sendable {
  static let maximumRuns = 4

  private let running = Mutex<Set<String>>([])

  /// - Returns: `false` where the trunk is being tested, or too many others are.
  func begin(_ trunk: String) -> Bool {
    running.withLock { $0.count < Self.maximumRuns && $0.insert(trunk).inserted }
  }

  func end(_ trunk: String) { running.withLock { _ = $0.remove(trunk) } }
}
