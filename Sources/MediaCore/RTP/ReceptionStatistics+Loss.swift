extension ReceptionStatistics {
  struct Totals {
    var expected: Int64 = 0
    var unheard: Int64 = 0
    /// The most that ``unheard`` less what copies made good ever was.
    var effective: Int64 = 0
  }

  /// Shares of the packets of a stretch of time, 0 to 1.
  public struct Loss: Hashable, Sendable {
    /// Never came, or too late.
    public var rate: Double
    /// Of these, what no copy made good: for as much, something was made up.
    public var effective: Double
  }

  /// The loss since it was asked last; to be asked once a second. Packets that came late after all, and copies found in a
  /// later second, make up for it in their own second. `recovered`: packets made good from copies, since the start.
  public mutating func nextLoss(recovered: UInt64 = 0) -> Loss {
    let now = Totals(
      expected: expected, unheard: unheard,
      effective: max(atSecond.effective, unheard - Int64(clamping: recovered)))
    defer { atSecond = now }
    let expected = now.expected - atSecond.expected
    func share(_ packets: Int64) -> Double {
      expected > 0 && packets > 0 ? min(1, Double(packets) / Double(expected)) : 0
    }
    return Loss(
      rate: share(now.unheard - atSecond.unheard), effective: share(now.effective - atSecond.effective))
  }

  /// ``Loss/rate`` of ``nextLoss(recovered:)``, where nothing is made good.
  public mutating func nextLossRate() -> Double { nextLoss().rate }
}
