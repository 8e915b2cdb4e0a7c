import CallModel
import SDPCore
import SecureTransport

/// The place of a packet in its stream (RFC 3550 section 5.1).
struct SoundPosition {
  var sequence = UInt16.random(in: 0...0x7FFF)
  var timestamp = UInt32.random(in: 0...UInt32.max)
  let source = UInt32.random(in: 1...UInt32.max)

  /// Writes one packet of 20 ms of silence, and goes on to the next.
  mutating func write(_ format: MediaPlan.Format, into packet: PacketBuffer) {
    if format.codec == .opus {
      // Over the whole band (RFC 6716 section 3.1: one CELT frame).
      write([0xF8, 0xFF, 0xFE], format, into: packet)
    } else {
      write(repeatElement(format.codec == .pcma ? 0xD5 : 0xFF, count: 160), format, into: packet)
    }
  }

  /// The same with this payload.
  mutating func write(_ payload: some Sequence<UInt8>, _ format: MediaPlan.Format, into packet: PacketBuffer) {
    // Version 2, no padding, extension or contributors.
    packet.replace(with: [0x80, UInt8(truncatingIfNeeded: format.payloadType.number)])
    packet.append(integer: sequence)
    packet.append(integer: timestamp)
    packet.append(integer: source)
    for byte in payload { packet.append(byte) }
    sequence &+= 1
    timestamp &+= UInt32(format.codec.clockRate / 50)
  }
}

extension HandshakeLeg {
  /// Sends one packet of silence where keys and direction allow.
  /// - Returns: whether it went out.
  @discardableResult
  func sendSound() -> Bool { sendSound { sound, format, packet in sound.write(format, into: packet) } }

  /// Sends the packet that `write` makes.
  /// - Returns: whether it went out.
  @discardableResult
  func sendSound(_ write: (inout SoundPosition, MediaPlan.Format, PacketBuffer) -> Void) -> Bool {
    guard let plan = negotiation.plan, plan.audio.direction.sends else { return false }
    var isSent = false
    work { transport, _ in
      guard let destination = transport.destination else { return }
      let packet = side.outbox.next
      write(&sound, plan.audio.send, packet)
      guard transport.protectRTP(packet) else { return }
      side.outbox.commit(on: transport.port, to: destination)
      isSent = true
    }
    return isSent
  }

  /// An offer inside the call: on hold or back from it.
  /// - Returns: `nil` while another one is open.
  func change(to direction: MediaDirection) -> String? {
    negotiation.direction = direction
    return reoffer()
  }

  /// An offer that starts ICE anew, as after a change of network.
  func restart() -> String? {
    guard !negotiation.isOfferPending else { return nil }
    let credentials = side.credentials()
    media?.iceCredentials = credentials
    transport?.restart(credentials)
    return reoffer()
  }

  private func reoffer() -> String? {
    guard let media, transport != nil else { return nil }
    return try? negotiation.offer(from: media).text
  }

  func withdrawOffer() { negotiation.withdrawOffer() }

  /// Answers an offer of the gateway.
  func answer(_ offer: String) -> String? {
    guard let media, let description = try? SessionDescription(parsing: offer),
      let (answer, plan) = try? negotiation.answer(description, from: media)
    else { return nil }
    work { transport, now in transport.apply(plan, at: now, outbox: side.outbox, events: &side.events) }
    return answer.text
  }
}
