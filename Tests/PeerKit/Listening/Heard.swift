/// What a test heard, and how late all who had a part in it were meanwhile.
public struct Heard: Sendable {
  /// One figure of it and what it must come to.
  public struct Figure: Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// `nil`: there was nothing to measure.
    public var value: Double?
    public var accepted: ClosedRange<Double>

    public init(_ name: String, _ value: Double?, _ accepted: ClosedRange<Double>) {
      self.name = name
      self.value = value
      self.accepted = accepted
    }

    public init(_ name: String, _ value: Double?, atLeast least: Double) {
      self.init(name, value, least...Double.infinity)
    }

    public var isMissed: Bool { value.map { !accepted.contains($0) } ?? true }

    public var description: String {
      func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String((value * 1_000).rounded() / 1_000)
      }
      let bounds =
        accepted.upperBound == .infinity
        ? "at least \(text(accepted.lowerBound))"
        : "\(text(accepted.lowerBound)) to \(text(accepted.upperBound))"
      return "\(name) \(value.map(text) ?? "not measured") (\(bounds))"
    }
  }

  public var figures: [Figure]
  /// Packets that the listening peer had, and those it found missing by their numbers; `nil` where nobody counts.
  public var packets: (received: Double, lost: Double)?
  public var lateness: [Lateness]
  /// Seconds that were listened to.
  public var seconds: Double

  public init(
    _ figures: [Figure], packets: (received: Double, lost: Double)? = nil, lateness: [Lateness] = [], seconds: Double
  ) {
    self.figures = figures
    self.packets = packets
    self.lateness = lateness
    self.seconds = seconds
  }

  public var missed: [Figure] { figures.filter(\.isMissed) }
}
