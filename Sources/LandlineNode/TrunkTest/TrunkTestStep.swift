public import LandlineConfiguration
public import LandlineWire

/// One thing that a test of a trunk looked at.
public struct TrunkTestStep: Hashable, Sendable {
  /// How one step went; that of a whole test is the worst of its steps.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    case ok
    /// Works, and somebody should look at it.
    case warning
    case failed
    /// Not looked at; the text says why.
    case skipped
  }

  /// Stable: `dns`, `options`, `tls`, …
  public var step: String
  public var outcome: Outcome
  /// What was found, and more of it on further lines.
  public var text: String
  /// What to do about it.
  public var fix: String?
  /// How long the step took.
  public var milliseconds: Int64

  /// - Parameter fix: `nil` where there is nothing to do about it.
  public init(step: String, outcome: Outcome, text: String, fix: String? = nil, milliseconds: Int64) {
    self.step = step
    self.outcome = outcome
    self.text = text
    self.fix = fix
    self.milliseconds = milliseconds
  }
}

/// Looks at a trunk, calls somebody where the order says so, and tells each step as it is done.
///
/// Given what the gateway listens on. Returns the worst outcome; every wait inside has an end.
public typealias TrunkTester =
  @Sendable (TrunkConfiguration, TrunkTestOrder, [SIPListener], @escaping @Sendable (TrunkTestStep) -> Void)
  async throws
  -> TrunkTestStep.Outcome
