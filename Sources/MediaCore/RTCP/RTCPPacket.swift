import SecureTransport

/// One packet of an RTCP compound, by its place in the datagram.
package struct RTCPPacket: Equatable, Sendable {
  /// Types that are known by name; others are passed over.
  package enum Kind: UInt8, Sendable {
    /// SR, RFC 3550 section 6.4.1.
    case senderReport = 200
    /// RR, section 6.4.2.
    case receiverReport = 201
    /// SDES, section 6.5.
    case description = 202
    /// BYE, section 6.6.
    case goodbye = 203
    /// APP, section 6.7.
    case application = 204
    /// RTPFB, RFC 4585 section 6.2.
    case transportFeedback = 205
    /// PSFB, RFC 4585 section 6.3.
    case payloadFeedback = 206
    /// XR, RFC 3611.
    case extendedReport = 207
  }

  package let type: UInt8
  /// The five bits beside the version: reports, chunks or sources, or a format.
  package let count: Int
  /// Of its header, from the start of the datagram.
  package let offset: Int
  /// Of its last byte and one, padding taken off.
  package let end: Int
  /// Bytes, header and padding included.
  package let size: Int

  package var kind: Kind? { Kind(rawValue: type) }

  /// Bytes that header and counted parts of a type take at least. SDES chunks have no fixed size and are read with
  /// their own checks.
  static func minimumSize(type: UInt8, count: Int) -> Int {
    switch Kind(rawValue: type) {
    case .senderReport: 28 + count * RTCPReportBlock.size
    case .receiverReport: 8 + count * RTCPReportBlock.size
    case .goodbye: 4 + count * 4
    case .application, .transportFeedback, .payloadFeedback: 12
    case .extendedReport: 8
    case .description, nil: 4
    }
  }
}

/// Why a datagram is no RTCP compound.
package enum RTCPFault: Error, Equatable, Sendable {
  /// Less than a header.
  case short
  case version(Int)
  /// A length runs past the end.
  case length
  /// Padding of no bytes, of more than there are, or not of whole words.
  case padding
  /// Too short for its type and count.
  case count(type: UInt8)
}

/// A block of a report about one source (RFC 3550 section 6.4.1).
package struct RTCPReportBlock: Equatable, Sendable {
  package static let size = 24

  package var source: UInt32
  /// Of 256, since the report before.
  package var fractionLost: UInt8
  /// 24 bits, signed.
  package var cumulativeLost: Int32
  package var extendedHighestSequence: UInt32
  /// Ticks.
  package var jitter: UInt32
  /// Middle 32 bits of the NTP time of the last sender report; 0 if none came.
  package var lastSenderReport: UInt32
  /// Since then, in 1/65536 s.
  package var delaySinceLastSenderReport: UInt32

  package init(
    source: UInt32, fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequence: UInt32, jitter: UInt32,
    lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
  ) {
    self.source = source
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.extendedHighestSequence = extendedHighestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  init(_ packet: PacketBuffer, at offset: Int) {
    let lost = packet.integer(at: offset + 4, as: UInt32.self)
    self.init(
      source: packet.integer(at: offset, as: UInt32.self), fractionLost: UInt8(truncatingIfNeeded: lost >> 24),
      // The sign is the highest of 24 bits.
      cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
      extendedHighestSequence: packet.integer(at: offset + 8, as: UInt32.self),
      jitter: packet.integer(at: offset + 12, as: UInt32.self),
      lastSenderReport: packet.integer(at: offset + 16, as: UInt32.self),
      delaySinceLastSenderReport: packet.integer(at: offset + 20, as: UInt32.self))
  }
}

/// What a sender report says of the sender (RFC 3550 section 6.4.1).
package struct RTCPSenderInformation: Equatable, Sendable {
  /// Seconds since 1900 in the upper half, their fraction in the lower.
  package var networkTime: UInt64
  package var timestamp: UInt32
  package var packets: UInt32
  package var octets: UInt32

  package init(networkTime: UInt64, timestamp: UInt32, packets: UInt32, octets: UInt32) {
    self.networkTime = networkTime
    self.timestamp = timestamp
    self.packets = packets
    self.octets = octets
  }
}
