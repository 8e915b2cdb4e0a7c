public import CallModel

/// What a sender report says of our own stream (RFC 3550 section 6.4.1).
public struct SentCounters: Hashable, Sendable {
  /// RTP packets sent since the start.
  public var packets: UInt64 = 0
  /// Payload bytes.
  public var octets: UInt64 = 0
  /// Timestamp of the newest packet, and when it was first used.
  public var timestamp: UInt32 = 0
  /// When ``timestamp`` was first used.
  public var instant = MonotonicInstant.zero

  /// Nothing sent yet.
  public init() {}
}

/// Our own stream of a leg: one source (SSRC), sequence numbers without a hole that we made, timestamps on one clock,
/// whatever the sound comes from (RFC 3550 section 5.1).
///
/// No sequence number is used twice: under SRTP its key stream would be.
public struct OutgoingStream: Sendable {
  /// The fields of a header that the stream decides.
  public struct Stamp: Hashable, Sendable {
    /// One more than that of the packet before, or more where a gap is shown.
    public var sequence: UInt16
    /// In ticks of the stream's own clock.
    public var timestamp: UInt32
    /// The packet starts a talkspurt.
    public var marker: Bool

    /// As given; ``OutgoingStream`` makes those that may be sent.
    public init(sequence: UInt16, timestamp: UInt32, marker: Bool) {
      self.sequence = sequence
      self.timestamp = timestamp
      self.marker = marker
    }
  }

  /// Missing packets of the incoming stream that are shown as a gap in ours; a wider gap is closed.
  public static let maximumGap: UInt16 = 50
  /// Microseconds: an incoming timestamp that went so much further than the time did has a new origin.
  public static let maximumTimestampStep: Int64 = 2_000_000
  /// Microseconds of sound that a packet is thought to hold before its length is known.
  public static let defaultDuration: Int64 = 20_000
  /// First sequence numbers are below: a first packet that is lost must not look like a roll-over (RFC 3711 section 3.3.1).
  public static let sequenceLimit: UInt16 = 0x8000
  /// Ticks a second: the fastest clock that is counted with.
  public static let maximumClockRate = 1_000_000

  /// SSRC.
  public let source: UInt32
  /// Ticks a second of the timestamps, 1 to ``maximumClockRate``.
  public private(set) var clockRate: Int
  /// Of the next packet.
  public private(set) var nextSequence: UInt16
  /// For sender reports and statistics; over all sources of sound.
  public private(set) var counters = SentCounters()

  /// Timestamp of the newest packet; before the first one, of that one.
  private var timestamp: UInt32
  /// Ticks of sound in the newest packet, where it is known.
  private var duration: UInt32 = 0
  private var hasSent = false

  // Where the incoming clock stands against ours.
  private var isAnchored = false
  private var anchorInput: UInt32 = 0
  private var anchorOutput: UInt32 = 0
  /// Parts of a tick that the anchor lost in a division, times the incoming clock rate.
  private var anchorRemainder: Int64 = 0
  private var anchorInstant = MonotonicInstant.zero
  private var inputRate: Int64 = 1

  /// Sequence number of the newest packet of the incoming stream, while it is the same.
  private var inputSequence: UInt16?
  /// Packets before that one which left a gap in ours that is still open: bit 0 is the one just before it. Our number of
  /// it is as far before ``nextSequence`` as it is before the newest.
  private var openGaps: UInt64 = 0
  private var beginsTalkspurt = true

  /// `clockRate`: ticks a second of our timestamps. `sequence` is taken modulo ``sequenceLimit``; it and `timestamp` are
  /// to be random (RFC 3550 section 5.1).
  public init(source: UInt32, clockRate: Int, sequence: UInt16, timestamp: UInt32) {
    self.source = source
    self.clockRate = min(max(1, clockRate), OutgoingStream.maximumClockRate)
    nextSequence = sequence % OutgoingStream.sequenceLimit
    self.timestamp = timestamp
    counters.timestamp = timestamp
  }

  /// As ``init(source:clockRate:sequence:timestamp:)``, with sequence number and timestamp from `generator`.
  public init(source: UInt32, clockRate: Int, using generator: inout some RandomNumberGenerator) {
    self.init(
      source: source, clockRate: clockRate,
      sequence: UInt16.random(in: 0..<OutgoingStream.sequenceLimit, using: &generator),
      timestamp: UInt32.random(in: 0...UInt32.max, using: &generator))
  }

  /// Our codec has another clock from now on.
  public mutating func use(clockRate: Int) {
    let clockRate = min(max(1, clockRate), OutgoingStream.maximumClockRate)
    guard clockRate != self.clockRate else { return }
    duration = UInt32(truncatingIfNeeded: Int64(duration) * Int64(clockRate) / Int64(self.clockRate))
    self.clockRate = clockRate
    changeSource()
  }

  /// The sound comes from elsewhere from now on, or the incoming stream began anew: the next packet starts a talkspurt,
  /// at a timestamp that stands for the time that went by.
  public mutating func changeSource() {
    isAnchored = false
    inputSequence = nil
    openGaps = 0
    beginsTalkspurt = true
  }

  /// The timestamp in our stream that belongs to an incoming one. It keeps the distances of the incoming stream.
  /// `clockRate`: ticks a second of the incoming timestamps.
  public mutating func map(timestamp input: UInt32, clockRate: Int, at now: MonotonicInstant) -> UInt32 {
    let step = Int64(Int32(bitPattern: input &- anchorInput))
    if isAnchored, Int64(clockRate) == inputRate {
      let passed = step * 1_000_000 / inputRate
      if abs(passed - elapsed(from: anchorInstant, to: now)) <= OutgoingStream.maximumTimestampStep {
        let numerator = step * Int64(self.clockRate) + anchorRemainder
        let ticks = numerator >= 0 ? numerator / inputRate : (numerator + 1) / inputRate - 1
        let output = anchorOutput &+ UInt32(truncatingIfNeeded: ticks)
        if step > 0 {
          anchorInput = input
          anchorOutput = output
          anchorRemainder = numerator - ticks * inputRate
          anchorInstant = now
        }
        return output
      }
      beginsTalkspurt = true
    }
    isAnchored = true
    inputRate = Int64(max(1, clockRate))
    anchorInput = input
    anchorOutput = following(at: now)
    anchorRemainder = 0
    anchorInstant = now
    return anchorOutput
  }

  /// The timestamp of sound that we make ourselves (prompt, tone) and that follows what was sent last: directly behind
  /// it, or later by the time of silence between.
  public func following(at now: MonotonicInstant) -> UInt32 {
    guard hasSent else { return timestamp }
    let step = duration > 0 ? Int64(duration) : ticks(OutgoingStream.defaultDuration)
    let passed = ticks(elapsed(from: counters.instant, to: now))
    // Packets of one source come at uneven times: only what is longer than two of them is a pause.
    return timestamp &+ UInt32(truncatingIfNeeded: passed > 2 * step ? passed : step)
  }

  /// Numbers a packet that is sent now. `duration`: ticks of sound in it, 0 for an event (RFC 4733) or where it is not
  /// known. `marker`: its sound starts a talkspurt; the first packet of a source has it anyway.
  public mutating func stamp(timestamp: UInt32, duration: Int, marker: Bool, at now: MonotonicInstant) -> Stamp {
    // A number of our own comes between ours and those of the incoming stream.
    openGaps = 0
    return number(timestamp, duration, marker, at: now)
  }

  private mutating func number(
    _ timestamp: UInt32, _ duration: Int, _ marker: Bool, at now: MonotonicInstant
  ) -> Stamp {
    let stamp = Stamp(sequence: nextSequence, timestamp: timestamp, marker: marker || beginsTalkspurt)
    nextSequence = nextSequence &+ 1
    beginsTalkspurt = false
    // The packets of an event bear the timestamp of its start (RFC 4733 section 2.2.2): that instant counts.
    if timestamp != self.timestamp || !hasSent {
      self.timestamp = timestamp
      counters.timestamp = timestamp
      counters.instant = now
    }
    self.duration = UInt32(clamping: duration)
    hasSent = true
    return stamp
  }

  /// Numbers a packet that is passed on as it is. What is missing in the incoming stream is missing in ours, so that the
  /// far end can conceal it; what comes late takes its place there. `nil`: it is late and its place is gone, so it is to
  /// be dropped.
  public mutating func relay(_ header: RTPHeader, clockRate: Int, duration: Int = 0, at now: MonotonicInstant) -> Stamp?
  {
    if let place = openGap(of: header.sequence) {
      return Stamp(
        sequence: place, timestamp: map(timestamp: header.timestamp, clockRate: clockRate, at: now),
        marker: header.marker)
    }
    guard follow(header.sequence) else { return nil }
    let output = map(timestamp: header.timestamp, clockRate: clockRate, at: now)
    return number(output, duration, header.marker, at: now)
  }

  /// A packet of the incoming stream that is not passed on (an event that is sent anew, comfort noise): it leaves no gap.
  /// False: it is older than one that was passed on.
  public mutating func skip(_ sequence: UInt16) -> Bool {
    guard follow(sequence) else { return false }
    // It has a number and ours has none: the distances are no longer the same.
    openGaps = 0
    return true
  }

  /// The stamped packet left, with so many bytes of payload.
  public mutating func sent(payloadCount: Int) {
    counters.packets += 1
    counters.octets += UInt64(max(0, payloadCount))
  }

  /// Our number for a packet that comes late, if it was left open. It is given once: under SRTP a number used twice would
  /// use its key stream twice.
  private mutating func openGap(of sequence: UInt16) -> UInt16? {
    guard openGaps != 0, let inputSequence else { return nil }
    let back = inputSequence &- sequence
    guard back >= 1, back <= UInt64.bitWidth, openGaps & 1 << UInt64(back - 1) != 0 else { return nil }
    openGaps &= ~(1 << UInt64(back - 1))
    return nextSequence &- 1 &- back
  }

  private mutating func follow(_ sequence: UInt16) -> Bool {
    if let inputSequence {
      let step = sequence &- inputSequence
      guard step != 0, step < 0x8000 else { return false }
      if step - 1 <= OutgoingStream.maximumGap {
        nextSequence = nextSequence &+ (step - 1)
        openGaps = openGaps << UInt64(step) | (1 << UInt64(step - 1)) - 1
      } else {
        openGaps = 0
      }
    }
    inputSequence = sequence
    return true
  }

  /// Microseconds: a longer pause counts as this one (an hour).
  private static let maximumElapsed: Int64 = 3_600_000_000

  private func elapsed(from earlier: MonotonicInstant, to now: MonotonicInstant) -> Int64 {
    min(max(0, now.microseconds(since: earlier)), OutgoingStream.maximumElapsed)
  }

  private func ticks(_ microseconds: Int64) -> Int64 { microseconds * Int64(clockRate) / 1_000_000 }
}
