import CallModel
import SDPCore
import SecureTransport

extension MediaLeg: RoomMember {
  var jitterMilliseconds: Double { reception.jitterMilliseconds }

  /// The sender says of a packet for a room that nobody would hear it. It is believed: who lies is not heard, and nobody else
  /// is any louder or softer for it.
  func saysQuiet(_ packet: PacketBuffer) -> Bool {
    guard seat != nil, let audioLevelExtension, let level = packet.audioLevel(audioLevelExtension) else { return false }
    return level > RoomSeat.quiet
  }

  func sendRoomSound(
    _ payload: PacketBuffer, timestamp: UInt32, duration: Int, marker: Bool, repeating: Bool, at now: MonotonicInstant,
    outbox: PacketOutbox
  ) {
    guard let send, payload.count <= PacketBuffer.capacity - RTPHeader.size - AudioEncoder.reserve else { return }
    let out = outbox.next
    let stamp = outgoing.stamp(
      timestamp: outgoing.map(timestamp: timestamp, clockRate: send.codec.clockRate, at: now), duration: duration,
      marker: marker, at: now)
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: outgoing.source)
    out.copy(payload, from: 0, count: payload.count, to: RTPHeader.size)
    out.count = RTPHeader.size + payload.count
    self.send(out, repeating: repeating, outbox: outbox)
  }
}
