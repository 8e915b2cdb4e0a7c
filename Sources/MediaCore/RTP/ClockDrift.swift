import CallModel

/// How much faster or slower than ours the clock is that a stream's time stamps are counted by.
///
/// Of every eight seconds the packet counts that was on its way for the least time: jitter only ever adds to that. Through
/// these of the last two minutes goes the straight line with the least squares, whose slope is the drift. Where the points lie
/// too far from it, since the network's own delay moved or too few packets came, nothing is said. Fixed in size; nothing of it
/// allocates.
struct ClockDrift: Sendable, Equatable {
  /// Microseconds of which the fastest packet counts.
  static let interval: Int64 = 8_000_000
  /// Intervals from which on there is a drift: 32 s.
  static let leastIntervals = 4
  /// Parts per million that the standard error of the slope may have.
  static let mostUncertain = 30.0
  /// Parts per million beyond which it is no clock that drifts.
  static let mostDrift = 20_000.0

  /// When the first packet came.
  private var origin = MonotonicInstant.zero
  /// Microseconds that the latest packet was longer on its way than the first.
  private var transit = 0.0
  private var start = MonotonicInstant.zero
  private var least = Double.infinity
  private var leastAt = 0.0

  /// Seconds since ``origin``, and microseconds, of the fastest of each interval; the oldest give way.
  private var times = SIMD16<Float>()
  private var transits = SIMD16<Float>()
  private var count = 0

  /// The stream begins, or its time stamps have another origin.
  mutating func restart(at now: MonotonicInstant) {
    self = ClockDrift()
    origin = now
    start = now
  }

  /// A packet was so many microseconds longer on its way than the one noted before it.
  @inline(__always) mutating func add(step: Double, at now: MonotonicInstant) {
    transit += step
    if transit < least {
      least = transit
      leastAt = Double(now.microseconds(since: origin)) / 1_000_000
    }
    if now.microseconds(since: start) >= ClockDrift.interval { close(at: now) }
  }

  private mutating func close(at now: MonotonicInstant) {
    times[count % times.scalarCount] = Float(leastAt)
    transits[count % times.scalarCount] = Float(least)
    count += 1
    start = now
    least = .infinity
  }

  /// Parts per million that the sender's clock is faster than ours, below 0 where it is slower; `nil`: not known, or not
  /// yet.
  var partsPerMillion: Double? {
    let used = min(count, times.scalarCount)
    guard used >= ClockDrift.leastIntervals else { return nil }
    let number = Double(used)
    let (first, base) = (Double(times[0]), Double(transits[0]))
    var (sumOfTimes, sumOfTransits, sumOfSquares, sumOfProducts, sumOfTransitSquares) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for index in 0..<used {
      let (time, transit) = (Double(times[index]) - first, Double(transits[index]) - base)
      sumOfTimes += time
      sumOfTransits += transit
      sumOfSquares += time * time
      sumOfProducts += time * transit
      sumOfTransitSquares += transit * transit
    }
    let spread = sumOfSquares - sumOfTimes * sumOfTimes / number
    guard spread > 0 else { return nil }
    let slope = (sumOfProducts - sumOfTimes * sumOfTransits / number) / spread
    let rest =
      sumOfTransitSquares - sumOfTransits * sumOfTransits / number
      - slope * (sumOfProducts - sumOfTimes * sumOfTransits / number)
    let uncertain = (max(rest, 0) / (number - 2) / spread).squareRoot()
    // A sender's second that lasts shorter brings its packets earlier and earlier.
    guard uncertain <= ClockDrift.mostUncertain, abs(slope) <= ClockDrift.mostDrift else { return nil }
    return -slope
  }
}
