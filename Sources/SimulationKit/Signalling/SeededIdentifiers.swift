import Synchronization

/// Tags and branches that a seed decides.
final class SeededIdentifiers: Sendable {
  private let random: Mutex<SeededGenerator>

  init(_ random: SeededGenerator) { self.random = Mutex(random) }

  func next() -> UInt64 { random.withLock { $0.next() } }
}
