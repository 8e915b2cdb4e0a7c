package import SecureTransport

/// Builds a compound in a buffer, packet by packet.
package struct RTCPWriter {
  /// Bytes: a compound is never longer, so that no path cuts it.
  package static let maximumSize = 1200
  /// Bytes of a CNAME (RFC 3550 section 6.5): the length is one byte.
  package static let maximumName = 255

  private let packet: PacketBuffer

  /// Starts a compound; what stood in the buffer is gone.
  package init(_ packet: PacketBuffer) {
    self.packet = packet
    packet.count = 0
  }

  /// A sender report, or without `information` a receiver report.
  package func report(from source: UInt32, _ information: RTCPSenderInformation?, _ block: RTCPReportBlock?) {
    let start = begin(information == nil ? .receiverReport : .senderReport, count: block == nil ? 0 : 1)
    packet.append(integer: source)
    if let information {
      packet.append(integer: information.networkTime)
      packet.append(integer: information.timestamp)
      packet.append(integer: information.packets)
      packet.append(integer: information.octets)
    }
    if let block {
      packet.append(integer: block.source)
      packet.append(
        integer: UInt32(block.fractionLost) << 24 | UInt32(bitPattern: block.cumulativeLost) & 0x00FF_FFFF)
      packet.append(integer: block.extendedHighestSequence)
      packet.append(integer: block.jitter)
      packet.append(integer: block.lastSenderReport)
      packet.append(integer: block.delaySinceLastSenderReport)
    }
    end(start)
  }

  /// A description with the CNAME alone, cut to ``maximumName``.
  package func description(of source: UInt32, canonicalName: [UInt8]) {
    let start = begin(.description, count: 1)
    packet.append(integer: source)
    packet.append(RTCPCompound.canonicalNameItem)
    packet.append(UInt8(min(canonicalName.count, RTCPWriter.maximumName)))
    for byte in canonicalName.prefix(RTCPWriter.maximumName) { packet.append(byte) }
    // One zero at least ends the items.
    repeat { packet.append(UInt8(0)) } while !(packet.count - start).isMultiple(of: 4)
    end(start)
  }

  package func goodbye(of source: UInt32) {
    let start = begin(.goodbye, count: 1)
    packet.append(integer: source)
    end(start)
  }

  /// An extended report with the blocks that are given; none without any.
  package func extendedReport(
    from source: UInt32, referenceTime: UInt64?,
    delaySinceReference: (source: UInt32, reference: UInt32, delay: UInt32)?,
    voice: RTCPVoiceMetrics?
  ) {
    guard referenceTime != nil || delaySinceReference != nil || voice != nil else { return }
    let start = begin(.extendedReport, count: 0)
    packet.append(integer: source)
    if let referenceTime {
      block(RTCPExtendedBlock.referenceTime, words: 2)
      packet.append(integer: referenceTime)
    }
    if let delaySinceReference {
      block(RTCPExtendedBlock.delaySinceReference, words: 3)
      packet.append(integer: delaySinceReference.source)
      packet.append(integer: delaySinceReference.reference)
      packet.append(integer: delaySinceReference.delay)
    }
    if let voice { append(voice) }
    end(start)
  }

  private func append(_ voice: RTCPVoiceMetrics) {
    block(RTCPExtendedBlock.voice, words: 8)
    packet.append(integer: voice.source)
    packet.append(voice.lossRate)
    packet.append(voice.discardRate)
    packet.append(voice.burstDensity)
    packet.append(voice.gapDensity)
    packet.append(integer: voice.burstDuration)
    packet.append(integer: voice.gapDuration)
    packet.append(integer: voice.roundTripDelay)
    packet.append(integer: voice.endSystemDelay)
    packet.append(voice.signalLevel)
    packet.append(voice.noiseLevel)
    packet.append(voice.residualEchoReturnLoss)
    packet.append(voice.minimumGap)
    packet.append(voice.rating)
    packet.append(voice.externalRating)
    packet.append(voice.listeningScore)
    packet.append(voice.conversationalScore)
    packet.append(voice.receiverConfiguration)
    packet.append(UInt8(0))
    packet.append(integer: voice.bufferNominal)
    packet.append(integer: voice.bufferMaximum)
    packet.append(integer: voice.bufferAbsoluteMaximum)
  }

  private func block(_ type: UInt8, words: UInt16) {
    packet.append(type)
    packet.append(UInt8(0))
    packet.append(integer: words)
  }

  private func begin(_ kind: RTCPPacket.Kind, count: UInt8) -> Int {
    let start = packet.count
    packet.append(0x80 | count)
    packet.append(kind.rawValue)
    packet.append(integer: UInt16(0))
    return start
  }

  private func end(_ start: Int) {
    // What is written fits a packet buffer, far below 65,536 words.
    packet.store(UInt16((packet.count - start) / 4 - 1), at: start + 2)
  }
}
