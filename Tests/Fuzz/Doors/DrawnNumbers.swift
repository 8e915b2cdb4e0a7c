import Synchronization

/// Numbers in the place of chance: they differ, and they are the same in every run.
final class DrawnNumbers: Sendable {
  private let last = Atomic<UInt64>(0)

  /// The next one.
  func next() -> UInt64 { last.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue }
}
