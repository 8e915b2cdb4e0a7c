import Testing

/// Which suites of this target may run at the same time: those that only signal run together; one that listens runs by
/// itself, since a browser and a telephone judge by the clock what they hear, and would hear ninety other calls.
struct SuiteOrderTrait: SuiteTrait, TestScoping {
  let isAlone: Bool

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await SuiteOrder.shared.begin(alone: isAlone)
    do {
      try await function()
    } catch {
      await SuiteOrder.shared.end(alone: isAlone)
      throw error
    }
    await SuiteOrder.shared.end(alone: isAlone)
  }
}

extension Trait where Self == SuiteOrderTrait {
  /// Runs while no other suite does.
  static var alone: Self { SuiteOrderTrait(isAlone: true) }
  /// Runs beside its like.
  static var together: Self { SuiteOrderTrait(isAlone: false) }
}

private actor SuiteOrder {
  static let shared = SuiteOrder()

  private var together = 0
  private var isOneAlone = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func begin(alone: Bool) async {
    while isOneAlone || (alone && together > 0) {
      await withCheckedContinuation { waiting.append($0) }
    }
    if alone { isOneAlone = true } else { together += 1 }
  }

  func end(alone: Bool) {
    if alone { isOneAlone = false } else { together -= 1 }
    let woken = waiting
    waiting = []
    for continuation in woken { continuation.resume() }
  }
}
