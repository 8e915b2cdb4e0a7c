/// What a path does to datagrams. Parts are 0 to 1, times are microseconds.
public struct ImpairmentOptions: Hashable, Sendable {
  /// Longest ``delay``, ``jitter`` and ``reorderDelay``: a minute.
  public static let maximumDelay: Int64 = 60_000_000
  /// Most datagrams that ``queue`` may hold.
  public static let maximumQueue = 100_000
  /// Most bytes that ``headers`` may be.
  public static let maximumHeaders = 1_000

  /// How the delay of a datagram varies.
  public enum Distribution: String, Hashable, Sendable, CaseIterable {
    /// Anything from nothing to the whole of ``ImpairmentOptions/jitter`` on top, each as likely.
    case uniform
    /// Around ``ImpairmentOptions/delay``, with ``ImpairmentOptions/jitter`` as standard deviation; never below zero.
    case normal
  }

  /// Which datagrams never arrive.
  public enum Loss: Hashable, Sendable {
    /// Each by itself.
    case independent(Double)
    /// A chain of two states, each with a loss of its own (Gilbert 1960, Elliott 1963).
    case gilbertElliott(GilbertElliott)

    /// Every datagram arrives.
    public static let none = Loss.independent(0)

    /// Losses that come in runs.
    /// - Parameters:
    ///   - rate: part of all datagrams.
    ///   - length: mean datagrams of a run; at 1 or less, or when so high a rate leaves no room between runs of that
    ///     length, each datagram is lost by itself.
    public static func bursts(rate: Double, length: Double) -> Loss {
      let rate = ImpairmentOptions.part(rate)
      guard length > 1, rate > 0, rate < 1 else { return .independent(rate) }
      let toBad = rate / ((1 - rate) * length)
      guard toBad <= 1 else { return .independent(rate) }
      return .gilbertElliott(GilbertElliott(toBad: toBad, toGood: 1 / length, lossInGood: 0, lossInBad: 1))
    }

    /// Part of all datagrams that are lost in the long run.
    public var rate: Double {
      switch self {
      case .independent(let rate): return ImpairmentOptions.part(rate)
      case .gilbertElliott(let chain):
        let moves = chain.toBad + chain.toGood
        let bad = moves > 0 ? chain.toBad / moves : 0
        return bad * chain.lossInBad + (1 - bad) * chain.lossInGood
      }
    }
  }

  /// Chances of a change of state before each datagram, and of a loss in each state.
  public struct GilbertElliott: Hashable, Sendable {
    /// Chance to go from the good state to the bad one before a datagram.
    public let toBad: Double
    /// Chance to go back; its inverse is the mean length of a bad time, in datagrams.
    public let toGood: Double
    /// Part of the datagrams lost in the good state, which a path starts in.
    public let lossInGood: Double
    /// Part of the datagrams lost in the bad state.
    public let lossInBad: Double

    /// Chances below 0 or above 1 are taken as 0 or 1, and those that are not finite as 0.
    public init(toBad: Double, toGood: Double, lossInGood: Double, lossInBad: Double) {
      self.toBad = ImpairmentOptions.part(toBad)
      self.toGood = ImpairmentOptions.part(toGood)
      self.lossInGood = ImpairmentOptions.part(lossInGood)
      self.lossInBad = ImpairmentOptions.part(lossInBad)
    }
  }

  /// Time that every datagram takes.
  public var delay: Int64 = 0
  /// How much more, or around it. Jitter alone changes no order: a datagram waits for the one before it.
  public var jitter: Int64 = 0
  /// How ``jitter`` is spread above or around ``delay``.
  public var distribution = Distribution.uniform
  /// A datagram that is lost still takes its time on a link with a ``bitRate``.
  public var loss = Loss.none
  /// Part that later ones may overtake: it arrives ``reorderDelay`` later and holds nobody up.
  public var reorder = 0.0
  /// Microseconds on top of the usual delay; 50 ms unless said otherwise.
  public var reorderDelay: Int64 = 50_000
  /// Part that arrives twice.
  public var duplicate = 0.0
  /// Part of which one to ``flips`` bits are turned.
  public var corrupt = 0.0
  /// Most bits turned in one damaged datagram; below 1 is taken as 1, above 64 as 64.
  public var flips = 3
  /// Bits a second that get through, datagram by datagram; `nil`: no limit.
  public var bitRate: Int64?
  /// Bytes of headers that a datagram takes along on such a link: 28 of IPv4 and UDP, 48 of IPv6.
  public var headers = 0
  /// Datagrams that wait for the limit; further ones are dropped.
  public var queue = 100

  /// As ``perfect``: no delay, no loss, no limit of the rate.
  public init() {}

  /// Nothing happens to datagrams.
  public static let perfect = ImpairmentOptions()

  static func part(_ value: Double) -> Double { value.isFinite ? min(max(value, 0), 1) : 0 }

  static func time(_ value: Int64) -> Int64 { min(max(value, 0), maximumDelay) }
}

/// What became of the datagrams of a path.
public struct ImpairmentCounts: Hashable, Sendable {
  /// Handed to the path.
  public var offered: UInt64 = 0
  /// Handed out, doubles included.
  public var delivered: UInt64 = 0
  /// Dropped as ``ImpairmentOptions/loss`` says; those for which there was no room count as overflowed.
  public var lost: UInt64 = 0
  /// Second copies made.
  public var duplicated: UInt64 = 0
  /// Sent the long way; whether another overtook it depends on the traffic.
  public var reordered: UInt64 = 0
  /// Sent on with turned bits; one that was lost as well counts as lost alone.
  public var corrupted: UInt64 = 0
  /// Dropped because too many waited.
  public var overflowed: UInt64 = 0
  /// Bytes handed out.
  public var bytes: UInt64 = 0

  public init() {}

  /// Adds field by field, as for both directions of a network.
  public static func + (left: ImpairmentCounts, right: ImpairmentCounts) -> ImpairmentCounts {
    var sum = left
    sum.offered += right.offered
    sum.delivered += right.delivered
    sum.lost += right.lost
    sum.duplicated += right.duplicated
    sum.reordered += right.reordered
    sum.corrupted += right.corrupted
    sum.overflowed += right.overflowed
    sum.bytes += right.bytes
    return sum
  }
}
