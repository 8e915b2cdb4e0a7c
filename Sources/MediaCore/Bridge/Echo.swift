import CallModel
import SDPCore
import SecureTransport

/// Sends what comes from a leg back to it, and loses a packet of it now and then when asked to.
struct Echo {
  /// One of so many packets is dropped; 0: none.
  private let dropping: Int
  private var packets = 0

  init(dropping: Int) { self.dropping = max(0, dropping) }

  /// Whether the packet that comes now is one to be dropped.
  mutating func drops() -> Bool {
    guard dropping > 0 else { return false }
    packets += 1
    guard packets >= dropping else { return false }
    packets = 0
    return true
  }
}

extension MediaLeg {
  /// Sound that came in goes out again. What is missing in the peer's stream is missing in ours as well; a codec other
  /// than the one we send is not sent back.
  func echoSound(_ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard mayPlay, !isMuted, let send, codec(of: header.payloadType) == send.codec,
      let stamp = outgoing.relay(header, clockRate: send.codec.clockRate, at: now)
    else { return }
    // A dropped packet has its number: the peer sees that it is missing.
    guard echo?.drops() == false else { return }
    let out = outbox.next
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: outgoing.source)
    out.copy(packet, from: header.payloadOffset, count: header.payloadCount, to: RTPHeader.size)
    out.count = RTPHeader.size + header.payloadCount
    self.send(out, outbox: outbox)
  }

  /// A packet of a key that came in goes out again, none dropped: what it tests are digits.
  func echoDigit(_ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard !isMuted else { return }
    _ = outgoing.skip(header.sequence)
    relayDigit(packet, header, clockRate: eventClock(of: header.payloadType), at: now, outbox: outbox)
  }
}
