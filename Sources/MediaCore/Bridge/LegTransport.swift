import CallModel
import SDPCore
import SecureTransport

/// The way packets take on one leg: a browser's or a carrier's.
enum LegTransport {
  case app(AppTransport)
  case trunk(TrunkTransport)

  var port: MediaPort {
    switch self {
    case .app(let transport): transport.port
    case .trunk(let transport): transport.port
    }
  }

  var controlPort: MediaPort? {
    switch self {
    case .app(let transport): transport.port
    case .trunk(let transport): transport.controlPort
    }
  }

  /// Media may leave.
  var isReady: Bool {
    switch self {
    case .app(let transport): transport.isReady
    case .trunk(let transport): transport.isReady
    }
  }

  /// Where RTP goes.
  var destination: MediaAddress? {
    switch self {
    case .app(let transport): transport.destination
    case .trunk(let transport): transport.destination
    }
  }

  /// Where RTCP goes.
  var controlDestination: MediaAddress? {
    switch self {
    case .app(let transport): transport.destination
    case .trunk(let transport): transport.controlDestination
    }
  }

  var nextDeadline: MonotonicInstant? {
    switch self {
    case .app(let transport): transport.nextDeadline
    case .trunk(let transport): transport.nextDeadline
    }
  }

  func dropped(_ reason: DropReason) -> UInt64 {
    switch self {
    case .app(let transport): transport.dropped[reason.rawValue]
    case .trunk(let transport): transport.dropped[reason.rawValue]
    }
  }

  func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    switch self {
    case .app(let transport): transport.apply(plan, at: now, outbox: outbox, events: &events)
    case .trunk(let transport): transport.apply(plan, at: now, events: &events)
    }
  }

  func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    switch self {
    case .app(let transport): transport.receive(packet, from: address, at: now, outbox: outbox, events: &events)
    case .trunk(let transport):
      transport.receive(packet, on: port, from: address, at: now, events: &events)
    }
  }

  func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    switch self {
    case .app(let transport): transport.advance(to: now, outbox: outbox, events: &events)
    case .trunk(let transport): transport.advance(to: now, events: &events)
    }
  }

  func restart(_ credentials: ICECredentials) {
    if case .app(let transport) = self { transport.restart(credentials) }
  }

  /// Protects RTP in place; `false`: it may not leave.
  func protectRTP(_ packet: PacketBuffer) -> Bool {
    switch self {
    case .app(let transport): transport.protectRTP(packet)
    case .trunk(let transport): transport.protectRTP(packet)
    }
  }

  func protectRTCP(_ packet: PacketBuffer) -> Bool {
    switch self {
    case .app(let transport): transport.protectRTCP(packet)
    case .trunk(let transport): transport.protectRTCP(packet)
    }
  }

  func close(at now: MonotonicInstant, outbox: PacketOutbox) {
    switch self {
    case .app(let transport): transport.close(at: now, outbox: outbox)
    case .trunk(let transport): transport.close(at: now)
    }
  }
}
