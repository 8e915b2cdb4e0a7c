public import SDPCore

/// What the packet side of a leg tells upwards. Rare: never one a packet.
public enum TransportEvent: Hashable, Sendable {
  /// An authenticated check came from this address: datagrams from it belong to this leg from now on.
  case addressProved(MediaAddress)
  /// An address of ``addressProved(_:)`` belongs to the leg no more.
  case addressDropped(MediaAddress)
  /// Keys are there: media can flow. `nil`: unprotected RTP.
  case secured(CryptoSuite?)
  /// Media goes to another address than before, which the peer proved: it nominated it, or speaks from it alone.
  case moved(MediaAddress)
  case failed(TransportFailure)
  /// The peer ended the DTLS association.
  case closedByPeer
}

/// Why no media can flow on a leg.
public enum TransportFailure: String, Error, Hashable, Sendable, CaseIterable {
  /// The certificate is not the one the description named (RFC 8122 section 6).
  case fingerprint
  /// The handshake broke, or no SRTP profile is common.
  case handshake
  /// The handshake took too long.
  case handshakeTimeout
  /// No ICE check came in time.
  case noConnectivity
  /// The peer stopped its checks, from each of its addresses (RFC 7675).
  case consentLost
  /// A key cannot be used, or has protected as many packets as it may.
  case key
}

/// What became of a datagram that arrived.
public enum ReceivedDatagram: Hashable, Sendable {
  /// The buffer now holds plain RTP.
  case rtp
  /// The buffer now holds a plain RTCP compound.
  case rtcp
  /// STUN or DTLS, dealt with; answers are in the outbox.
  case consumed
  case dropped(DropReason)
}

/// Why a datagram was dropped. Each is counted; none ends a call.
public enum DropReason: Int, Hashable, Sendable, CaseIterable {
  /// Longer than ``PacketBuffer/maximumDatagram``, or too short for what it seems to be.
  case length
  /// Neither STUN, DTLS, RTP nor RTCP (RFC 7983).
  case kind
  /// From an address that is not proved, or that the description does not name.
  case source
  /// STUN without valid integrity, or for another leg.
  case stun
  /// SRTP whose tag is wrong.
  case authentication
  /// SRTP that came before, or too late for the window.
  case replay
  /// Media before the keys are there.
  case early
  /// RTP or RTCP that is not well formed.
  case malformed
  /// A payload type that was not negotiated.
  case payloadType
  /// More packets than any real stream has.
  case rate
}
