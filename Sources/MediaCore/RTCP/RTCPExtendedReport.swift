import SecureTransport

/// The blocks of RFC 3611 that are read and written here.
enum RTCPExtendedBlock {
  /// Receiver reference time, section 4.4.
  static let referenceTime: UInt8 = 4
  /// DLRR, section 4.5.
  static let delaySinceReference: UInt8 = 5
  /// VoIP metrics, section 4.7.
  static let voice: UInt8 = 7
}

/// Quality of a voice stream as its receiver saw it (RFC 3611 section 4.7).
public struct RTCPVoiceMetrics: Equatable, Sendable {
  /// Bytes of the block, its header included.
  static let size = 36
  /// Of a level, a rating or a score that is not known.
  public static let unavailable: UInt8 = 127

  /// The source they are about.
  public var source: UInt32 = 0
  /// Of 256.
  public var lossRate: UInt8 = 0
  /// Packets that came too late or too early to be played, of 256. In what we send, those that came too late.
  public var discardRate: UInt8 = 0
  /// Packets lost within bursts of loss, of 256.
  public var burstDensity: UInt8 = 0
  /// Packets lost in the gaps between bursts, of 256.
  public var gapDensity: UInt8 = 0
  /// Milliseconds.
  public var burstDuration: UInt16 = 0
  /// Mean length of a gap between bursts, in milliseconds.
  public var gapDuration: UInt16 = 0
  /// Milliseconds; 0 where it is not known.
  public var roundTripDelay: UInt16 = 0
  /// Milliseconds that the receiver's own buffer and packets add.
  public var endSystemDelay: UInt16 = 0
  /// dBm0, signed; noise too.
  public var signalLevel = RTCPVoiceMetrics.unavailable
  /// dBm0, signed.
  public var noiseLevel = RTCPVoiceMetrics.unavailable
  /// Echo return loss that is left, in dB.
  public var residualEchoReturnLoss = RTCPVoiceMetrics.unavailable
  /// Packets received between two losses from which on they are no longer one burst (Gmin).
  public var minimumGap = UInt8(truncatingIfNeeded: LossPattern.minimumGap)
  /// 0 to 100 (ITU-T G.107).
  public var rating = RTCPVoiceMetrics.unavailable
  /// Of a network behind the RTP session, on the scale of ``rating``.
  public var externalRating = RTCPVoiceMetrics.unavailable
  /// Tenths, 10 to 50.
  public var listeningScore = RTCPVoiceMetrics.unavailable
  /// Tenths, 10 to 50; the delay counts here, unlike in ``listeningScore``.
  public var conversationalScore = RTCPVoiceMetrics.unavailable
  /// Concealment, and kind and rate of the jitter buffer (section 4.7.6).
  public var receiverConfiguration: UInt8 = 0
  /// Milliseconds.
  public var bufferNominal: UInt16 = 0
  /// Milliseconds: the most that the buffer holds now.
  public var bufferMaximum: UInt16 = 0
  /// Milliseconds: the most that the buffer can come to hold.
  public var bufferAbsoluteMaximum: UInt16 = 0

  /// Nothing measured: levels, ratings and scores are ``unavailable``, counts 0.
  public init() {}
}

extension RTCPVoiceMetrics {
  /// Part of the packets that the receiver did not play, 0 to 1: lost, or thrown away.
  var unheard: Double { min(1, Double(Int(lossRate) + Int(discardRate)) / 256) }

  /// Enhanced concealment, no adaptive buffer (section 4.7.6).
  static let ownConfiguration: UInt8 = 0b10_00_0000 | 0b10_0000

  /// What is known of the present run of a stream. `packetMilliseconds`: sound in a packet; `rating` as of ``TransmissionRating``.
  public init(
    of reception: ReceptionStatistics, packetMilliseconds: Int, rating: TransmissionRating?, roundTrip: Double?,
    bufferDelay: Int
  ) {
    self.init()
    source = reception.source
    let pattern = reception.closedPattern
    func rate(_ part: UInt64, of all: UInt64) -> UInt8 { all == 0 ? 0 : UInt8(min(255, min(part, all) * 256 / all)) }
    func milliseconds(_ packets: UInt64, runs: UInt64) -> UInt16 {
      runs == 0 ? 0 : UInt16(clamping: packets / runs * UInt64(max(0, packetMilliseconds)))
    }
    let expected = UInt64(max(1, reception.expected))
    lossRate = rate(UInt64(reception.missing), of: expected)
    discardRate = rate(reception.tooLate, of: expected)
    burstDensity = rate(pattern.burstLost, of: pattern.burstPackets)
    gapDensity = rate(pattern.gapLost, of: pattern.gapPackets)
    burstDuration = milliseconds(pattern.burstPackets, runs: pattern.bursts)
    gapDuration = milliseconds(pattern.gapPackets, runs: pattern.bursts + 1)
    roundTripDelay = roundTrip.map { UInt16(clamping: Int($0.rounded())) } ?? 0
    endSystemDelay = UInt16(clamping: bufferDelay + packetMilliseconds)
    if let rating {
      self.rating = UInt8(clamping: Int(min(max(rating.value, 0), 100).rounded()))
      conversationalScore = UInt8(clamping: Int((rating.meanOpinionScore * 10).rounded()))
      listeningScore = UInt8(clamping: Int((rating.listening.meanOpinionScore * 10).rounded()))
    }
    receiverConfiguration = RTCPVoiceMetrics.ownConfiguration
    bufferNominal = UInt16(clamping: bufferDelay)
    bufferMaximum = bufferNominal
    bufferAbsoluteMaximum = bufferNominal
  }

  init(_ packet: PacketBuffer, at offset: Int) {
    // The block was measured: exactly `size` bytes of the packet begin at the offset.
    source = packet.integer(at: offset + 4, as: UInt32.self)
    lossRate = packet[offset + 8]
    discardRate = packet[offset + 9]
    burstDensity = packet[offset + 10]
    gapDensity = packet[offset + 11]
    burstDuration = packet.integer(at: offset + 12, as: UInt16.self)
    gapDuration = packet.integer(at: offset + 14, as: UInt16.self)
    roundTripDelay = packet.integer(at: offset + 16, as: UInt16.self)
    endSystemDelay = packet.integer(at: offset + 18, as: UInt16.self)
    signalLevel = packet[offset + 20]
    noiseLevel = packet[offset + 21]
    residualEchoReturnLoss = packet[offset + 22]
    minimumGap = packet[offset + 23]
    rating = packet[offset + 24]
    externalRating = packet[offset + 25]
    listeningScore = packet[offset + 26]
    conversationalScore = packet[offset + 27]
    receiverConfiguration = packet[offset + 28]
    bufferNominal = packet.integer(at: offset + 30, as: UInt16.self)
    bufferMaximum = packet.integer(at: offset + 32, as: UInt16.self)
    bufferAbsoluteMaximum = packet.integer(at: offset + 34, as: UInt16.self)
  }
}

/// A block inside an extended report.
struct RTCPExtendedPart: Equatable {
  let type: UInt8
  let offset: Int
  let end: Int
}

extension RTCPCompound {
  /// The blocks of an extended report up to the first whose length runs past its end.
  func extendedBlock(in part: RTCPPacket, after previous: RTCPExtendedPart?) -> RTCPExtendedPart? {
    guard part.kind == .extendedReport else { return nil }
    let offset = previous?.end ?? part.offset + 8
    guard offset + 4 <= part.end else { return nil }
    let end = offset + (Int(packet.integer(at: offset + 2, as: UInt16.self)) + 1) * 4
    guard end <= part.end else { return nil }
    return RTCPExtendedPart(type: packet[offset], offset: offset, end: end)
  }

  /// The first VoIP metrics block of an extended report.
  package func voiceMetrics(in part: RTCPPacket) -> RTCPVoiceMetrics? {
    var block = extendedBlock(in: part, after: nil)
    while let found = block {
      if found.type == RTCPExtendedBlock.voice, found.end - found.offset == RTCPVoiceMetrics.size {
        return RTCPVoiceMetrics(packet, at: found.offset)
      }
      block = extendedBlock(in: part, after: found)
    }
    return nil
  }

  /// NTP time of the first receiver reference time block.
  package func referenceTime(in part: RTCPPacket) -> UInt64? {
    var block = extendedBlock(in: part, after: nil)
    while let found = block {
      if found.type == RTCPExtendedBlock.referenceTime, found.end - found.offset == 12 {
        return packet.integer(at: found.offset + 4, as: UInt64.self)
      }
      block = extendedBlock(in: part, after: found)
    }
    return nil
  }

  /// What DLRR blocks say of our reference time: its middle 32 bits, and the delay in 1/65536 s.
  package func delaySinceReference(of source: UInt32, in part: RTCPPacket) -> (reference: UInt32, delay: UInt32)? {
    var block = extendedBlock(in: part, after: nil)
    while let found = block {
      if found.type == RTCPExtendedBlock.delaySinceReference {
        for offset in stride(from: found.offset + 4, through: found.end - 12, by: 12)
        where packet.integer(at: offset, as: UInt32.self) == source {
          return (packet.integer(at: offset + 4, as: UInt32.self), packet.integer(at: offset + 8, as: UInt32.self))
        }
      }
      block = extendedBlock(in: part, after: found)
    }
    return nil
  }
}
