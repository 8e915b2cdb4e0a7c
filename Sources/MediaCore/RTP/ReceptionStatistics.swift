public import CallModel

/// What is known about the packets of one incoming stream: order, loss, jitter (RFC 3550 sections 6.4.1, A.1, A.3, A.8).
///
/// A new source (SSRC) begins a new run; totals go on. Fixed in size; ``received(sequence:timestamp:source:payloadCount:arrival:)``
/// is called for every packet and allocates nothing.
public struct ReceptionStatistics: Sendable {
  /// A step forward of so many sequence numbers, or more, is a jump and no loss (MAX_DROPOUT).
  public static let maximumDropout: UInt16 = 3000
  /// A step back of more than so many is a jump and no reordering (MAX_MISORDER).
  public static let maximumMisorder: UInt16 = 100
  /// Microseconds: transit times further apart are a new timestamp origin and no jitter.
  public static let maximumTransitStep = 5_000_000.0

  /// Ticks a second of the RTP timestamp.
  public private(set) var clockRate: Int
  /// SSRC of the present run.
  public private(set) var source: UInt32 = 0
  /// Something has come.
  public private(set) var hasStarted = false
  /// Two packets in a row came from this source (MIN_SEQUENTIAL). Before, a jump is believed at once.
  public private(set) var isValidated = false

  /// Over all runs; duplicates count.
  public private(set) var packets: UInt64 = 0
  /// Payload bytes, over all runs.
  public private(set) var bytes: UInt64 = 0
  /// Packets that came after a later one, over all runs.
  public private(set) var reordered: UInt64 = 0
  /// Packets that had come before, over all runs.
  public private(set) var duplicated: UInt64 = 0
  /// Packets that came when their place had been given up, over all runs: the listener heard something made up.
  public private(set) var tooLate: UInt64 = 0
  /// Packets that never came, over all runs, whose sound was heard from copies in others.
  public private(set) var heardFromCopies: UInt64 = 0
  /// Packets dropped as ``Arrival/stray``.
  public private(set) var strays: UInt64 = 0
  /// Runs after the first.
  public private(set) var restarts: UInt64 = 0
  /// When the newest packet came.
  public private(set) var lastArrival = MonotonicInstant.zero

  /// Where the losses lie.
  private var pattern = LossPattern()

  // The present run.
  private var baseSequence: UInt32 = 0
  private var cycles: UInt32 = 0
  private var highestSequence: UInt16 = 0
  private var badSequence: UInt32 = 0
  private var runReceived: UInt64 = 0
  private var runDuplicated: UInt64 = 0
  private var runTooLate: UInt64 = 0
  /// Packets from before the one that came first.
  private var runEarlier: Int64 = 0
  private var expectedAtReport: Int64 = 0
  /// Packets of the run at the report before, each counted once.
  private var distinctAtReport: UInt64 = 0
  private var tooLateAtReport: UInt64 = 0
  /// Bit n: the packet n before the highest has come.
  private var window: UInt128 = 0
  /// Bit n: of the packet n before the highest, which has not come, a copy was heard.
  private var copied: UInt128 = 0

  // Earlier runs.
  private var expectedBefore: Int64 = 0
  private var receivedBefore: UInt64 = 0
  private var duplicatedBefore: UInt64 = 0

  // Jitter.
  private var microsecondsPerTick: Double
  private var hasTransit = false
  private var transitTimestamp: UInt32 = 0
  private var transitArrival = MonotonicInstant.zero
  private var jitterMicroseconds = 0.0
  private var drift = ClockDrift()

  /// Where ``nextLoss(recovered:)`` stood when it was asked last.
  var atSecond = Totals()

  /// `clockRate`: ticks a second of the RTP timestamp.
  public init(clockRate: Int) {
    self.clockRate = clockRate
    microsecondsPerTick = 1_000_000 / Double(max(clockRate, 1))
  }

  /// The payload has another clock from now on; jitter starts again from its present value.
  public mutating func use(clockRate: Int) {
    guard clockRate != self.clockRate else { return }
    self.clockRate = clockRate
    microsecondsPerTick = 1_000_000 / Double(max(clockRate, 1))
    hasTransit = false
  }

  /// Counts a packet. One that is ``Arrival/stray`` counts in ``strays`` alone.
  public mutating func received(
    sequence: UInt16, timestamp: UInt32, source: UInt32, payloadCount: Int, arrival: MonotonicInstant
  ) -> Arrival {
    let standing: Arrival
    if hasStarted && source == self.source {
      standing = place(sequence)
      if standing == .stray {
        strays += 1
        return .stray
      }
    } else {
      standing = hasStarted ? .restarted : .first
      begin(sequence, source)
    }
    packets += 1
    runReceived += 1
    bytes += UInt64(truncatingIfNeeded: payloadCount)
    if standing != .duplicate { measure(timestamp, arrival) }
    return standing
  }

  @inline(__always) private mutating func place(_ sequence: UInt16) -> Arrival {
    let step = sequence &- highestSequence
    if step == 1 {
      isValidated = true
      advance(to: sequence, by: 1)
      return .next
    }
    if step == 0 { return duplicate() }
    if step < ReceptionStatistics.maximumDropout {
      let missing = Int(step) - 1
      pattern.lost(missing, before: extendedHighestSequence &+ UInt32(step))
      advance(to: sequence, by: step)
      return .ahead(missing: missing)
    }
    let back = highestSequence &- sequence
    if back <= ReceptionStatistics.maximumMisorder {
      let bit: UInt128 = 1 &<< UInt128(back)
      if window & bit != 0 { return duplicate() }
      if isOfRun(back) {
        pattern.filled(olderIsThere: window & (bit &<< 1) != 0, newerIsThere: window & (bit &>> 1) != 0)
      } else {
        // Nobody missed it before it came, and nobody does now.
        runEarlier += 1
      }
      window |= bit
      reordered += 1
      guard copied & bit != 0 else { return .late }
      forgetCopy(bit)
      return .heardFromCopy
    }
    // The other side may have started again: two packets in a row prove it, as long as the old run was real.
    let follows = UInt32(sequence) == badSequence
    if follows || !isValidated {
      begin(sequence, source)
      isValidated = follows
      return .restarted
    }
    badSequence = UInt32(sequence &+ 1)
    return .stray
  }

  @inline(__always) private mutating func advance(to sequence: UInt16, by step: UInt16) {
    if sequence < highestSequence { cycles &+= 1 << 16 }
    highestSequence = sequence
    window = step < 128 ? window &<< UInt128(step) | 1 : 1
    if copied != 0 { copied = step < 128 ? copied &<< UInt128(step) : 0 }
    badSequence = ReceptionStatistics.noSequence
  }

  /// The packet just counted, an ``Arrival/late`` one, or a copy of one, came when its place had been given up: it counts
  /// as lost.
  /// RFC 3550 section A.3 would count it as received, and its sender would never learn that nobody heard it.
  public mutating func cameTooLate(_ sequence: UInt16) {
    let back = highestSequence &- sequence
    guard back > 0, back <= ReceptionStatistics.maximumMisorder, isOfRun(back) else { return }
    let bit: UInt128 = 1 &<< UInt128(back)
    guard copied & bit == 0 else { return forgetCopy(bit) }
    pattern.emptied(olderIsThere: window & (bit &<< 1) != 0, newerIsThere: window & (bit &>> 1) != 0)
    tooLate += 1
    runTooLate += 1
  }

  /// A packet carries a copy of an earlier one (RFC 2198). True: that one has not come and no copy of it was used, so this
  /// one is to be.
  public mutating func copyCame(of sequence: UInt16) -> Bool {
    let back = highestSequence &- sequence
    guard hasStarted, back > 0, back <= ReceptionStatistics.maximumMisorder, isOfRun(back) else { return false }
    let bit: UInt128 = 1 &<< UInt128(back)
    guard (window | copied) & bit == 0 else { return false }
    copied |= bit
    heardFromCopies += 1
    return true
  }

  private mutating func forgetCopy(_ bit: UInt128) {
    copied &= ~bit
    heardFromCopies -= 1
  }

  /// Whether the packet so far behind the highest is none from before the run's first.
  private func isOfRun(_ back: UInt16) -> Bool { UInt32(back) <= extendedHighestSequence &- baseSequence }

  private mutating func duplicate() -> Arrival {
    duplicated += 1
    runDuplicated += 1
    return .duplicate
  }

  private mutating func begin(_ sequence: UInt16, _ source: UInt32) {
    if hasStarted {
      expectedBefore += runExpected
      receivedBefore += runReceived
      duplicatedBefore += runDuplicated
      restarts += 1
    }
    hasStarted = true
    isValidated = false
    self.source = source
    baseSequence = UInt32(sequence)
    cycles = 0
    highestSequence = sequence
    badSequence = ReceptionStatistics.noSequence
    runReceived = 0
    runDuplicated = 0
    runTooLate = 0
    runEarlier = 0
    expectedAtReport = 0
    distinctAtReport = 0
    tooLateAtReport = 0
    window = 1
    copied = 0
    hasTransit = false
    pattern.restart(at: UInt32(sequence))
  }

  /// RFC 3550 section A.8. Packets of one instant (RFC 4733 sends an event many times) say nothing about transit but
  /// by the first of them.
  @inline(__always) private mutating func measure(_ timestamp: UInt32, _ arrival: MonotonicInstant) {
    lastArrival = arrival
    if hasTransit {
      let ticks = Int32(bitPattern: timestamp &- transitTimestamp)
      if ticks == 0 { return }
      let step = Double(arrival.microseconds(since: transitArrival)) - Double(ticks) * microsecondsPerTick
      if abs(step) <= ReceptionStatistics.maximumTransitStep {
        jitterMicroseconds += (abs(step) - jitterMicroseconds) / 16
        drift.add(step: step, at: arrival)
      } else {
        drift.restart(at: arrival)
      }
    } else {
      drift.restart(at: arrival)
    }
    hasTransit = true
    transitTimestamp = timestamp
    transitArrival = arrival
  }

  /// Not the number of any packet.
  private static let noSequence = UInt32.max
}

extension ReceptionStatistics {
  /// Highest sequence number of the present run, with the count of its cycles above it.
  public var extendedHighestSequence: UInt32 { cycles &+ UInt32(highestSequence) }

  /// Packets that should have come in the present run.
  private var runExpected: Int64 {
    hasStarted ? Int64(extendedHighestSequence &- baseSequence) + 1 + runEarlier : 0
  }

  /// Packets that should have come, over all runs.
  var expected: Int64 { expectedBefore + runExpected }

  /// The pattern of losses up to now.
  var closedPattern: LossPattern { pattern.closed(through: extendedHighestSequence &+ 1) }

  /// Packets that never came, over all runs (RFC 3550 section A.3): negative where the network doubled more than it lost.
  public var lost: Int64 {
    expected - Int64(truncatingIfNeeded: receivedBefore + runReceived)
  }

  /// Like ``lost`` with each packet counted once: never negative, whatever came twice.
  public var missing: Int64 { max(0, lost + Int64(truncatingIfNeeded: duplicatedBefore + runDuplicated)) }

  /// Packets of which a listener heard nothing: ``missing`` and ``tooLate``.
  public var unheard: Int64 { missing + Int64(truncatingIfNeeded: tooLate) }

  /// In ticks of the RTP timestamp (RFC 3550 section A.8).
  public var jitter: UInt32 { UInt32(clamping: Int64(jitterMicroseconds / microsecondsPerTick)) }

  /// Of the newest packets (RFC 3550 section A.8).
  public var jitterMilliseconds: Double { jitterMicroseconds / 1000 }

  /// Parts per million that the sender's clock is faster than ours, below 0 where it is slower; `nil` in the first 32 s of a
  /// run, and where the network's delay moves so much that it is not to be told. From the least delay of every eight seconds
  /// of the last two minutes: jitter of 20 ms leaves it right to 5.
  public var clockDrift: Double? { drift.partsPerMillion }

  /// Mean length of a run of lost packets, against the length it would have if losses were independent (ITU-T G.107,
  /// BurstR): 1 or more.
  public var burstRatio: Double {
    let lost = Double(unheard)
    let expected = Double(expected)
    guard pattern.events > 0, lost > 0, lost < expected else { return 1 }
    return max(1, lost / Double(pattern.events) * (1 - lost / expected))
  }

  /// What a report says of the present run since the report before. Unlike in RFC 3550 (section A.3) a packet that came
  /// twice counts once, since a sender that is to send less must learn of every loss, and what came too late counts as lost.
  struct Interval: Equatable {
    /// Of 256, as the report block has it.
    let fractionLost: UInt8
    /// Packets of the run: 0 or more, within 24 bits.
    let cumulativeLost: Int32
    let extendedHighestSequence: UInt32
    let jitter: UInt32
  }

  /// `nil`: nothing new came since the report before.
  mutating func nextInterval() -> Interval? {
    let distinct = runReceived - runDuplicated
    guard hasStarted, distinct > distinctAtReport else { return nil }
    let expected = runExpected
    let expectedInterval = expected - expectedAtReport
    let receivedInterval = Int64(truncatingIfNeeded: distinct - distinctAtReport)
    expectedAtReport = expected
    distinctAtReport = distinct
    let tooLateInterval = Int64(truncatingIfNeeded: runTooLate - tooLateAtReport)
    tooLateAtReport = runTooLate
    let lostInterval = expectedInterval - receivedInterval + tooLateInterval
    let fraction = expectedInterval > 0 && lostInterval > 0 ? min(255, lostInterval * 256 / expectedInterval) : 0
    let cumulative = expected - Int64(truncatingIfNeeded: distinct) + Int64(truncatingIfNeeded: runTooLate)
    return Interval(
      fractionLost: UInt8(fraction), cumulativeLost: Int32(min(max(cumulative, 0), 0x7F_FFFF)),
      extendedHighestSequence: extendedHighestSequence, jitter: jitter)
  }
}
