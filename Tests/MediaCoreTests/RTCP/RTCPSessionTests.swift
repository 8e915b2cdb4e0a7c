import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct RTCPSessionTests {
  /// One end of a call: a stream of its own, and what it hears.
  final class End {
    let session: RTCPSession
    var stream: OutgoingStream
    var reception = ReceptionStatistics(clockRate: 8000)
    let packet = PacketBuffer()

    init(_ source: UInt32, unix: Int64, extended: Bool = false) {
      session = RTCPSession(
        source: source, canonicalName: "end\(source)", clockRate: 8000, seed: UInt64(source), unixMicroseconds: unix,
        sendsExtendedReports: extended, at: .zero)
      stream = OutgoingStream(source: source, clockRate: 8000, sequence: 0, timestamp: 0)
    }

    func send(_ count: Int, at start: Int64, to other: End?, losing lost: Set<Int> = []) {
      for index in 0..<count {
        let now = MonotonicInstant(milliseconds: start + Int64(index) * 20)
        let stamp = stream.stamp(timestamp: stream.following(at: now), duration: 160, marker: false, at: now)
        stream.sent(payloadCount: 160)
        guard let other, !lost.contains(index) else { continue }
        _ = other.reception.received(
          sequence: stamp.sequence, timestamp: stamp.timestamp, source: stream.source, payloadCount: 160,
          arrival: now.advanced(byMilliseconds: 30))
      }
    }

    func report(at milliseconds: Int64, voice: RTCPVoiceMetrics? = nil) -> Bool {
      session.advance(
        to: MonotonicInstant(milliseconds: milliseconds), sent: stream.counters, reception: &reception, voice: voice,
        into: packet)
    }

    func bye(at milliseconds: Int64) -> Bool {
      session.bye(
        at: MonotonicInstant(milliseconds: milliseconds), sent: stream.counters, reception: &reception, into: packet)
    }

    func receive(_ packet: PacketBuffer, at milliseconds: Int64) -> RTCPReceived {
      session.receive(packet, at: MonotonicInstant(milliseconds: milliseconds))
    }
  }

  /// Two ends with clocks an hour apart and 100 ms between them.
  @Test func lossJitterAndRoundTrip() throws {
    let left = End(1, unix: 1_700_000_000_000_000)
    let right = End(2, unix: 1_700_003_600_000_000)
    left.send(100, at: 0, to: right, losing: [10, 20, 30, 31])
    right.send(100, at: 0, to: left)
    #expect(left.report(at: 6_000))
    let first = try RTCPCompound(left.packet)
    #expect(first.map(\.kind) == [.senderReport, .description])
    let information = try #require(first.compactMap { first.senderInformation(of: $0) }.first)
    #expect(information.packets == 100)
    #expect(information.octets == 16_000)
    // The timestamp of the instant of the report, not of the newest packet.
    #expect(information.timestamp == UInt32(6_000 * 8))
    #expect(information.networkTime >> 32 == 1_700_000_006 + 2_208_988_800)

    #expect(right.receive(left.packet, at: 6_050) == RTCPReceived.wellFormedReport)
    #expect(right.session.peerReport?.lost == 0)
    #expect(right.session.peerSource == 1)
    #expect(right.report(at: 8_050))
    #expect(left.receive(right.packet, at: 8_100) == RTCPReceived.wellFormedReport)
    let report = try #require(left.session.peerReport)
    #expect(report.lost == 4)
    #expect(report.lossRate == Double(4 * 256 / 100) / 256)
    #expect(report.jitter == 0)
    let roundTrip = try #require(left.session.roundTrip)
    #expect(abs(roundTrip - 100) < 0.1)
    // Nothing new came since: no block, and after two such reports no sender either.
    #expect(right.session.roundTrip == nil)
    for time in [16_000, 24_000, 32_000] as [Int64] { #expect(right.report(at: time)) }
    let idle = try RTCPCompound(right.packet)
    #expect(idle.first { _ in true }?.kind == .receiverReport)
    #expect(idle.first { _ in true }?.count == 0)
  }

  @Test func scheduleIsRandomWithinItsBounds() {
    var gaps: [Double] = []
    for seed in 0..<200 as Range<UInt64> {
      let session = RTCPSession(
        source: 1, canonicalName: "a", clockRate: 8000, seed: seed, unixMicroseconds: 0, at: .zero)
      var reception = ReceptionStatistics(clockRate: 8000)
      var last = MonotonicInstant.zero
      for report in 0..<5 {
        guard let due = session.nextDeadline else {
          Issue.record("no report is due")
          return
        }
        let packet = PacketBuffer([1, 2, 3])
        let early = session.advance(
          to: due.advanced(byMicroseconds: -1), sent: SentCounters(), reception: &reception, into: packet)
        #expect(!early)
        #expect(packet.bytes == [1, 2, 3])
        let written = session.advance(to: due, sent: SentCounters(), reception: &reception, into: packet)
        #expect(written)
        let seconds = Double(due.microseconds(since: last)) / 1_000_000
        let minimum = report == 0 ? 2.5 : 5
        #expect(seconds >= minimum * 0.5 / 1.21829 && seconds <= minimum * 1.5 / 1.21827)
        if report > 0 { gaps.append(seconds) }
        last = due
      }
    }
    let mean = gaps.reduce(0, +) / Double(gaps.count)
    #expect(abs(mean - 5 / 1.21828) < 0.15)
    #expect(Set(gaps).count > 700)
  }

  @Test func goodbyeIsSaidAndHeardOnce() throws {
    let left = End(1, unix: 0)
    let right = End(2, unix: 0)
    // Nobody ever heard of the right end.
    let silent = right.bye(at: 10)
    #expect(!silent)
    #expect(right.session.nextDeadline == nil)
    left.send(10, at: 0, to: right)
    let said = [left.bye(at: 300), left.bye(at: 301)]
    #expect(said == [true, false])
    #expect(left.report(at: 100_000) == false)
    #expect(try RTCPCompound(left.packet).map(\.kind) == [.senderReport, .description, .goodbye])
    let heard = [right.receive(left.packet, at: 350), right.receive(left.packet, at: 351)]
    #expect(heard.map(\.bye) == [true, false])
  }

  /// A source that was replaced says goodbye: the call goes on.
  @Test func goodbyeOfAnEarlierSource() {
    let session = End(1, unix: 0).session
    let packet = PacketBuffer()
    let writer = RTCPWriter(packet)
    writer.report(from: 2, nil, nil)
    writer.goodbye(of: 2)
    #expect(!session.receive(packet, heard: 3, at: .zero).bye)
    #expect(session.receive(packet, heard: 2, at: .zero).bye)
  }

  @Test func reducedSizeAndNonsense() {
    let session = End(1, unix: 0).session
    let goodbye = PacketBuffer([0x81, 203, 0, 1, 0, 0, 0, 2])
    #expect(session.receive(goodbye, at: .zero).bye)
    #expect(session.receive(PacketBuffer([0x81, 203, 0, 1]), at: .zero) == RTCPReceived())
    #expect(session.receive(PacketBuffer(), at: .zero) == RTCPReceived())
    #expect(session.malformed == 2)
  }

  /// Our own source in the peer's report is a loop or a collision: nothing in it is believed.
  @Test func collision() {
    let left = End(1, unix: 0)
    left.send(10, at: 0, to: nil)
    #expect(left.report(at: 5_000))
    let received = left.receive(left.packet, at: 5_001)
    #expect(received.collided)
    #expect(left.session.peerSource == nil)
    #expect(left.session.roundTrip == nil)
  }

  @Test func roundTripsThatCannotBe() {
    let left = End(1, unix: 0)
    let packet = PacketBuffer()
    for (sent, delay) in [(0x7000_0000, 0), (0, 0x7FFF_FFFF), (0xFFFF_0000, 0)] as [(UInt32, UInt32)] {
      RTCPWriter(packet).report(
        from: 2, nil,
        RTCPReportBlock(
          source: 1, fractionLost: 0, cumulativeLost: 0, extendedHighestSequence: 0, jitter: 0,
          lastSenderReport: sent | 1, delaySinceLastSenderReport: delay))
      _ = left.receive(packet, at: 1)
      #expect(left.session.roundTrip == nil)
    }
  }

  /// Two ends that only listen measure the round trip with RFC 3611, and tell each other how it sounds.
  @Test func extendedReports() throws {
    let left = End(1, unix: 5_000_000_000_000, extended: true)
    let right = End(2, unix: 9_000_000_000_000, extended: true)
    right.send(50, at: 0, to: left, losing: [7])
    #expect(left.report(at: 6_000))
    _ = right.receive(left.packet, at: 6_040)
    let rating = TransmissionRating(CodecImpairment(.pcmu), lossRate: 0.02, delay: 100)
    let metrics = RTCPVoiceMetrics(
      of: left.reception, packetMilliseconds: 20, rating: rating, roundTrip: 80, bufferDelay: 40)
    #expect(right.report(at: 8_000))
    _ = left.receive(right.packet, at: 8_040)
    let roundTrip = try #require(left.session.roundTrip)
    #expect(abs(roundTrip - 80) < 0.1)
    #expect(left.report(at: 16_000, voice: metrics))
    #expect(left.packet.count <= RTCPWriter.maximumSize)
    _ = right.receive(left.packet, at: 16_040)
    let heard = try #require(right.session.peerVoiceMetrics)
    #expect(heard == metrics)
    #expect(heard.source == 2)
    #expect(heard.lossRate == 256 / 50)
    #expect(heard.roundTripDelay == 80)
    #expect(heard.endSystemDelay == 60)
    #expect(heard.conversationalScore > 40)
    #expect(heard.listeningScore >= heard.conversationalScore)
  }

  /// RFC 3611 section 4.7.2: losses near to each other are a burst, one alone belongs to the gap.
  @Test func burstsAndGaps() {
    let end = End(1, unix: 0)
    let other = End(2, unix: 0)
    // A single loss; then five of ten from 50 on; then peace.
    other.send(200, at: 0, to: end, losing: [20, 50, 52, 54, 57, 59])
    let metrics = RTCPVoiceMetrics(
      of: end.reception, packetMilliseconds: 20, rating: nil, roundTrip: nil, bufferDelay: 0)
    #expect(metrics.burstDensity == 128)
    #expect(metrics.burstDuration == 10 * 20)
    #expect(metrics.gapDensity == UInt8(256 / 190))
    #expect(metrics.gapDuration == 190 / 2 * 20)
    #expect(metrics.lossRate == UInt8(6 * 256 / 200))
    #expect(metrics.rating == RTCPVoiceMetrics.unavailable)
  }

  /// Any compound at any time: bounded, and no value out of its range.
  @Test func anyCompound() {
    var generator = SeededNumbers(seed: 12)
    let end = End(1, unix: 1_700_000_000_000_000, extended: true)
    end.send(10, at: 0, to: nil)
    let packet = PacketBuffer()
    for step in 0..<20_000 as Range<Int64> {
      packet.count = 0
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let words = Int.random(in: 1...14, using: &generator)
        packet.append(UInt8(0x80 | Int.random(in: 0...2, using: &generator)))
        packet.append(UInt8.random(in: 200...207, using: &generator))
        packet.append(integer: UInt16(words))
        for _ in 0..<words {
          packet.append(integer: UInt32.random(in: 0...(Bool.random(using: &generator) ? 3 : .max), using: &generator))
        }
      }
      _ = end.receive(packet, at: step * 100)
      if let trip = end.session.roundTrip { #expect(trip >= 0 && trip <= RTCPSession.maximumRoundTrip) }
      if end.report(at: step * 100) { #expect(end.packet.count <= RTCPWriter.maximumSize) }
    }
    #expect(end.session.peerReport != nil)
  }
}

extension RTCPReceived {
  fileprivate static let wellFormedReport: RTCPReceived = {
    var received = RTCPReceived()
    received.isWellFormed = true
    received.reported = true
    return received
  }()
}
