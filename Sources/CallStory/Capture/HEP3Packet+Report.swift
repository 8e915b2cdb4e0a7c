extension HEP3Packet {
  /// What a second of a leg was like, as collectors take it: the figures of an RTCP sender report as JSON, and a score.
  ///
  /// Sequence numbers and times that only RTCP itself has are 0.
  /// - Parameters:
  ///   - startedAt: of the trace, Unix microseconds.
  ///   - clockRate: of the leg's codec, in which jitter is told.
  ///   - source: the gateway's address for media of this leg; `destination` the peer's.
  public init(
    _ second: CallTrace.Second, startedAt: Int64, clockRate: Int, source: String, destination: String, agent: UInt32,
    password: String? = nil, node: String? = nil, correlationID: String
  ) {
    let (time, isTooLarge) = startedAt.addingReportingOverflow(second.at)
    let at = max(0, isTooLarge ? startedAt : time)
    self.init(
      .rtcpReport, transport: "udp", source: source, destination: destination, at: at, agent: agent,
      password: password, node: node, correlationID: correlationID,
      payload: Array(HEP3Packet.report(second, at: at, clockRate: clockRate).utf8))
  }

  /// Seconds between the epochs of NTP and Unix (RFC 5905 section 6).
  private static let ntpOffset: Int64 = 2_208_988_800

  private static func report(_ second: CallTrace.Second, at: Int64, clockRate: Int) -> String {
    let received = second.received
    let fraction = whole(received.lossRate * 256, 0...255)
    let jitter = whole(received.jitter * Double(clockRate) / 1000, 0...Int64(UInt32.max))
    let roundTrip = second.roundTrip.map { ",\"round_trip\":\(StoryTeller.decimal($0, 2))" } ?? ""
    let score = received.score > 0 ? ",\"mos\":\(StoryTeller.decimal(received.score, 2))" : ""
    return "{\"type\":200,\"ssrc\":0,\"report_count\":1,\"side\":\"\(second.side)\""
      + ",\"sender_information\":{\"ntp_timestamp_sec\":\(at / 1_000_000 + ntpOffset)"
      + ",\"ntp_timestamp_usec\":\(at % 1_000_000),\"rtp_timestamp\":0,\"packets\":\(second.sent.packets)"
      + ",\"octets\":\(second.sent.bytes)},\"report_blocks\":[{\"source_ssrc\":0,\"fraction_lost\":\(fraction)"
      + ",\"packets_lost\":\(received.lost),\"highest_seq_no\":0,\"ia_jitter\":\(jitter),\"lsr\":0,\"dlsr\":0}]"
      + roundTrip + score + "}"
  }

  /// Rounded, within a range; 0 for what is no number.
  private static func whole(_ value: Double, _ range: ClosedRange<Int64>) -> Int64 {
    guard value.isFinite, value.magnitude < 1e15 else { return range.lowerBound }
    return min(max(Int64(value.rounded()), range.lowerBound), range.upperBound)
  }
}
