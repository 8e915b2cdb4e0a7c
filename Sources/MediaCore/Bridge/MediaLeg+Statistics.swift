import CallModel
import SDPCore
import SecureTransport

extension MediaLeg {
  /// What the last second was like, and counts since the start. `sendsCopies`: what goes out holds copies of the packets
  /// before, which the peer can repair losses from.
  func statistics(sendsCopies: Bool) -> MediaStatistics {
    var all = MediaStatistics()
    all.roundTrip = control.roundTrip
    all.reports = control.received
    all.received = receivedStatistics
    all.sent = sentStatistics(sendsCopies)
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

  /// Milliseconds one way. What the far end's own buffer adds is known where it says so (RFC 3611).
  private var delay: Double { (control.roundTrip ?? 0) / 2 }

  private var receivedStatistics: MediaStatistics.Direction {
    var received = MediaStatistics.Direction()
    let loss = reception.nextLoss(recovered: recovered)
    received.packets = reception.packets
    received.bytes = reception.bytes
    received.lost = reception.unheard
    received.lossRate = loss.rate
    received.effectiveLoss = loss.effective
    received.jitter = reception.jitterMilliseconds
    received.clockDrift = reception.clockDrift
    received.buffered = Double(longestWait) / 1000
    longestWait = 0
    received.reordered = reception.reordered
    received.duplicated = reception.duplicated
    received.tooLate = reception.tooLate
    received.recovered = recovered
    received.concealed = concealed
    if reception.packets > packetsAtStatistics {
      // What copies made good is no loss any more, so the codec's robustness is that without them.
      received.meanOpinionScore = MeanOpinionScore.estimate(
        codec: heardCodec ?? audio?.receive.first?.codec ?? .pcmu, lossRate: loss.effective,
        burstRatio: reception.burstRatio, delay: delay)
    }
    packetsAtStatistics = reception.packets
    return received
  }

  private func sentStatistics(_ sendsCopies: Bool) -> MediaStatistics.Direction {
    var sent = MediaStatistics.Direction()
    sent.packets = outgoing.counters.packets
    sent.bytes = outgoing.counters.octets
    guard let report = control.peerReport else { return sent }
    let voice = control.peerVoiceMetrics
    sent.lost = max(0, report.lost)
    sent.lossRate = report.lossRate
    // A report block counts what the peer threw away as received, its voice metrics do not. They are of the whole call, so
    // they count only where they say more.
    sent.effectiveLoss = max(report.lossRate, voice.map(\.unheard) ?? 0)
    sent.jitter = report.jitter
    sent.meanOpinionScore = MeanOpinionScore.estimate(
      codec: send?.codec ?? .pcmu, forwardCorrection: sendsCopies, lossRate: sent.effectiveLoss,
      delay: delay + Double(voice?.endSystemDelay ?? 0))
    return sent
  }
}
