import CallModel
import SDPCore
import SecureTransport

extension MediaLeg {
  /// What the last second was like, and counts since the start.
  func statistics(at now: MonotonicInstant) -> MediaStatistics {
    var all = MediaStatistics()
    all.received.packets = reception.packets
    all.received.bytes = reception.bytes
    all.received.lost = reception.lost
    all.received.lossRate = reception.nextLossRate()
    all.received.jitter = reception.jitterMilliseconds
    all.received.buffered = Double(longestWait) / 1000
    longestWait = 0
    all.received.reordered = reception.reordered
    all.received.duplicated = reception.duplicated
    all.received.recovered = recovered
    all.received.concealed = concealed
    all.sent.packets = outgoing.counters.packets
    all.sent.bytes = outgoing.counters.octets
    if let report = control.peerReport {
      all.sent.lost = report.lost
      all.sent.lossRate = report.lossRate
      all.sent.jitter = report.jitter
    }
    all.roundTrip = control.roundTrip
    // One way; what the far end's own buffer adds is not known.
    let delay = (control.roundTrip ?? 0) / 2
    if reception.packets > packetsAtStatistics {
      all.received.meanOpinionScore = MeanOpinionScore.estimate(
        codec: heardCodec ?? audio?.receive.first?.codec ?? .pcmu, lossRate: all.received.lossRate,
        burstRatio: reception.burstRatio, delay: delay)
    }
    packetsAtStatistics = reception.packets
    if control.peerReport != nil {
      all.sent.meanOpinionScore = MeanOpinionScore.estimate(
        codec: send?.codec ?? .pcmu, lossRate: all.sent.lossRate, delay: delay)
    }
    all.dropped = DropReason.allCases.map { reason in
      let own: UInt64 =
        switch reason {
        case .malformed: malformed + control.malformed
        case .payloadType: unknownPayloadType
        case .rate: overRate
        default: 0
        }
      return transport.dropped(reason) + own
    }
    return all
  }
}
