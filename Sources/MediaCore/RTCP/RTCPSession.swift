public import CallModel
public import SecureTransport

/// What a compound that came in means for the call.
public struct RTCPReceived: Hashable, Sendable {
  /// False: it is no RTCP and was not looked at any further.
  public var isWellFormed = false
  /// The peer leaves the session. Told once.
  public var bye = false
  /// ``RTCPSession/peerReport`` is new.
  public var reported = false
  /// The peer uses our SSRC (RFC 3550 section 8.2), or our own reports come back to us.
  public var collided = false

  /// As of a datagram that is no RTCP.
  public init() {}
}

/// The way there and back.
public struct RoundTrip: Hashable, Sendable {
  /// Without the time that the peer kept our report.
  public var milliseconds: Double
  /// When the report that measured it left: what was sent later waited elsewhere.
  public var began: MonotonicInstant

  /// `began`: in the clock of who measures.
  public init(milliseconds: Double, began: MonotonicInstant) {
    self.milliseconds = milliseconds
    self.began = began
  }
}

/// What the peer says of the stream we send.
public struct PeerReport: Hashable, Sendable {
  /// Part of the packets lost since the report before, 0 to 1.
  public var lossRate: Double
  /// Since the start, as it stands in the report: RFC 3550 lets it be negative where the network doubled some, and people
  /// are told 0 then.
  public var lost: Int64
  /// Milliseconds.
  public var jitter: Double
  /// Highest sequence number that the peer received, with the count of its cycles above it (RFC 3550 section 6.4.1).
  public var extendedHighestSequence: UInt32
  /// Measured by this report; `nil` where it answers the sender report that one before it answered, or none.
  public var roundTrip: RoundTrip?
  /// When the report came in.
  public var instant: MonotonicInstant
}

/// RTCP of a leg: one source of ours, one of the peer (RFC 3550 sections 6 and A.7; RFC 3611).
///
/// Sans-IO: reports are written into a buffer of the caller when they are due.
public final class RTCPSession {
  /// Milliseconds: a longer round trip is not believed.
  public static let maximumRoundTrip = 30_000.0
  /// Reports after which a source that sent nothing new is no sender any more (section 6.4).
  static let senderTimeout = 2

  /// SSRC of our stream and of our reports.
  public let source: UInt32
  /// Ticks a second of our timestamps.
  public var clockRate: Int
  /// RFC 3611 was agreed on: VoIP metrics, and reference times, are sent.
  public var sendsExtendedReports: Bool

  private let canonicalName: [UInt8]
  private let networkTime: NetworkTime
  private var interval: ReportInterval

  /// When ``advance(to:sent:reception:voice:into:)`` is due; `nil` after ``bye(at:sent:reception:into:)``.
  public private(set) var nextDeadline: MonotonicInstant?

  /// SSRC of the peer's reports.
  public private(set) var peerSource: UInt32?
  /// The newest; `nil` before the first.
  public private(set) var peerReport: PeerReport?
  /// The newest VoIP metrics of the peer about our stream.
  public private(set) var peerVoiceMetrics: RTCPVoiceMetrics?
  /// Milliseconds there and back, of the newest report.
  public private(set) var roundTrip: Double?
  /// Datagrams that were no RTCP.
  public private(set) var malformed: UInt64 = 0
  /// Compounds of the peer since the start.
  public private(set) var received: UInt64 = 0

  private var hasReported = false
  private var hasSaidBye = false
  private var hasHeardBye = false
  private var packetsAtReport: UInt64 = 0
  private var idleReports = RTCPSession.senderTimeout
  /// The peer's newest sender report, and reference time: middle 32 bits of its NTP time, and when it came.
  private var senderReport: (source: UInt32, middle: UInt32, instant: MonotonicInstant)?
  private var reference: (source: UInt32, middle: UInt32, instant: MonotonicInstant)?
  /// LSR of the newest report that was measured with: a peer that got no other since answers the same again.
  private var answered: UInt32 = 0

  /// `canonicalName`: CNAME, at most ``RTCPWriter/maximumName`` bytes of it; random for privacy (RFC 7022). `seed`:
  /// random. `unixMicroseconds`: the wall clock at `now`. `hasFeedback`: the profile is AVPF or SAVPF (RFC 4585), and
  /// reports go out about once a second.
  public init(
    source: UInt32, canonicalName: String, clockRate: Int, seed: UInt64, unixMicroseconds: Int64,
    sendsExtendedReports: Bool = false, hasFeedback: Bool = false, at now: MonotonicInstant
  ) {
    self.source = source
    self.clockRate = clockRate
    self.sendsExtendedReports = sendsExtendedReports
    self.canonicalName = Array(canonicalName.utf8.prefix(RTCPWriter.maximumName))
    networkTime = NetworkTime(unixMicroseconds: unixMicroseconds, at: now)
    interval = ReportInterval(seed: seed, hasFeedback: hasFeedback)
    nextDeadline = now.advanced(byMicroseconds: interval.next(isFirst: true))
  }

  /// Reads a compound. `heard`: SSRC of the RTP that comes in now, so that a BYE of a source it replaced means nothing.
  public func receive(_ packet: PacketBuffer, heard: UInt32? = nil, at now: MonotonicInstant) -> RTCPReceived {
    var received = RTCPReceived()
    guard let compound = try? RTCPCompound(packet) else {
      malformed += 1
      return received
    }
    received.isWellFormed = true
    if compound.contains(where: { compound.sender(of: $0) == source }) {
      received.collided = true
      return received
    }
    self.received += 1
    var saysBye = false
    for part in compound {
      switch part.kind {
      case .senderReport, .receiverReport:
        guard let sender = compound.sender(of: part) else { continue }
        peerSource = sender
        if let information = compound.senderInformation(of: part) {
          senderReport = (sender, NetworkTime.middle(information.networkTime), now)
        }
        if let block = compound.report(on: source, in: part) {
          apply(block, at: now)
          received.reported = true
        }
      case .extendedReport: apply(extended: part, of: compound, at: now)
      case .goodbye: saysBye = saysBye || compound.says(goodbye: part, of: heard ?? peerSource)
      default: continue
      }
    }
    if saysBye && !hasHeardBye {
      hasHeardBye = true
      received.bye = true
    }
    return received
  }

  private func apply(_ block: RTCPReportBlock, at now: MonotonicInstant) {
    peerReport = PeerReport(
      lossRate: Double(block.fractionLost) / 256, lost: Int64(block.cumulativeLost),
      jitter: Double(block.jitter) * 1000 / Double(max(clockRate, 1)),
      extendedHighestSequence: block.extendedHighestSequence, instant: now)
    guard block.lastSenderReport != 0, block.lastSenderReport != answered else { return }
    answered = block.lastSenderReport
    peerReport?.roundTrip = measure(
      since: block.lastSenderReport, delay: block.delaySinceLastSenderReport, at: now)
  }

  private func apply(extended part: RTCPPacket, of compound: RTCPCompound, at now: MonotonicInstant) {
    if let metrics = compound.voiceMetrics(in: part), metrics.source == source { peerVoiceMetrics = metrics }
    if let sender = compound.sender(of: part), let time = compound.referenceTime(in: part) {
      reference = (sender, NetworkTime.middle(time), now)
    }
    if let answer = compound.delaySinceReference(of: source, in: part), answer.reference != 0 {
      _ = measure(since: answer.reference, delay: answer.delay, at: now)
    }
  }

  /// RFC 3550 section 6.4.1: now less the time of our report less the time the peer kept it.
  private func measure(since report: UInt32, delay: UInt32, at now: MonotonicInstant) -> RoundTrip? {
    let trip = Int32(bitPattern: NetworkTime.middle(networkTime.at(now)) &- report &- delay)
    let milliseconds = Double(trip) * 1000 / 65_536
    // A trip shorter than the clocks can tell comes out below zero by a tick or two.
    guard milliseconds > -1, milliseconds <= RTCPSession.maximumRoundTrip else { return nil }
    roundTrip = max(0, milliseconds)
    let age = Int64(trip) + Int64(delay)
    return RoundTrip(
      milliseconds: max(0, milliseconds), began: now.advanced(byMicroseconds: -age * 1_000_000 / 65_536))
  }

  /// Writes the report that is due. False: none is, and the buffer was left alone. `voice` goes out where extended
  /// reports were agreed on.
  public func advance(
    to now: MonotonicInstant, sent: SentCounters, reception: inout ReceptionStatistics, voice: RTCPVoiceMetrics? = nil,
    into packet: PacketBuffer
  ) -> Bool {
    guard let due = nextDeadline, now >= due else { return false }
    nextDeadline = now.advanced(byMicroseconds: interval.next(isFirst: false))
    write(RTCPWriter(packet), at: now, sent, &reception, voice)
    return true
  }

  /// Writes the end of the session, once. False: it was said before, or nobody ever heard of us (section 6.3.7).
  public func bye(
    at now: MonotonicInstant, sent: SentCounters, reception: inout ReceptionStatistics, into packet: PacketBuffer
  ) -> Bool {
    nextDeadline = nil
    guard !hasSaidBye, hasReported || sent.packets > 0 else { return false }
    hasSaidBye = true
    let writer = RTCPWriter(packet)
    write(writer, at: now, sent, &reception, nil)
    writer.goodbye(of: source)
    return true
  }

  private func write(
    _ writer: RTCPWriter, at now: MonotonicInstant, _ sent: SentCounters, _ reception: inout ReceptionStatistics,
    _ voice: RTCPVoiceMetrics?
  ) {
    idleReports = sent.packets == packetsAtReport ? idleReports + 1 : 0
    packetsAtReport = sent.packets
    hasReported = true
    let isSender = sent.packets > 0 && idleReports < RTCPSession.senderTimeout
    writer.report(
      from: source, isSender ? information(sent, at: now) : nil, block(on: &reception, at: now))
    writer.description(of: source, canonicalName: canonicalName)
    guard sendsExtendedReports else { return }
    writer.extendedReport(
      from: source, referenceTime: isSender ? nil : networkTime.at(now),
      delaySinceReference: reference.map { ($0.source, $0.middle, delay(since: $0.instant, at: now)) }, voice: voice)
    reference = nil
  }

  private func information(_ sent: SentCounters, at now: MonotonicInstant) -> RTCPSenderInformation {
    let elapsed = min(max(0, now.microseconds(since: sent.instant)), RTCPSession.maximumElapsed)
    let ticks = elapsed * Int64(min(max(clockRate, 1), OutgoingStream.maximumClockRate)) / 1_000_000
    return RTCPSenderInformation(
      networkTime: networkTime.at(now), timestamp: sent.timestamp &+ UInt32(truncatingIfNeeded: ticks),
      packets: UInt32(truncatingIfNeeded: sent.packets), octets: UInt32(truncatingIfNeeded: sent.octets))
  }

  private func block(on reception: inout ReceptionStatistics, at now: MonotonicInstant) -> RTCPReportBlock? {
    guard let interval = reception.nextInterval() else { return nil }
    let report = senderReport.flatMap { $0.source == reception.source ? $0 : nil }
    return RTCPReportBlock(
      source: reception.source, fractionLost: interval.fractionLost, cumulativeLost: interval.cumulativeLost,
      extendedHighestSequence: interval.extendedHighestSequence, jitter: interval.jitter,
      lastSenderReport: report?.middle ?? 0,
      delaySinceLastSenderReport: report.map { delay(since: $0.instant, at: now) } ?? 0)
  }

  /// In 1/65536 s, at most what 32 bits hold.
  private func delay(since instant: MonotonicInstant, at now: MonotonicInstant) -> UInt32 {
    let elapsed = min(max(0, now.microseconds(since: instant)), RTCPSession.maximumElapsed)
    return UInt32(clamping: elapsed * 65_536 / 1_000_000)
  }

  /// Microseconds: an hour; more is not told apart.
  private static let maximumElapsed: Int64 = 3_600_000_000
}
