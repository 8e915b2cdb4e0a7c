import CallModel
import SDPCore
import SecureTransport

/// The way packets take on one leg: a browser's, a carrier's, or that of an app of our own.
enum LegTransport {
  case app(AppTransport)
  case trunk(TrunkTransport)
  case client(ClientTransport)

  var port: MediaPort {
    switch self {
    case .app(let transport): transport.port
    case .trunk(let transport): transport.port
    case .client(let transport): transport.port
    }
  }

  var controlPort: MediaPort? {
    switch self {
    case .app(let transport): transport.port
    case .trunk(let transport): transport.controlPort
    case .client(let transport): transport.port
    }
  }

  /// Media may leave.
  var isReady: Bool {
    switch self {
    case .app(let transport): transport.isReady
    case .trunk(let transport): transport.isReady
    case .client(let transport): transport.isReady
    }
  }

  /// Where RTP goes.
  var destination: MediaAddress? {
    switch self {
    case .app(let transport): transport.destination
    case .trunk(let transport): transport.destination
    case .client(let transport): transport.destination
    }
  }

  /// Where RTCP goes.
  var controlDestination: MediaAddress? {
    switch self {
    case .app(let transport): transport.destination
    case .trunk(let transport): transport.controlDestination
    case .client(let transport): transport.destination
    }
  }

  /// Bytes that protection adds to a packet of RTP; 0 before there are keys.
  var rtpOverhead: Int {
    switch self {
    case .app(let transport): transport.rtpOverhead
    case .trunk(let transport): transport.rtpOverhead
    case .client(let transport): transport.rtpOverhead
    }
  }

  var nextDeadline: MonotonicInstant? {
    switch self {
    case .app(let transport): transport.nextDeadline
    case .trunk(let transport): transport.nextDeadline
    case .client(let transport): transport.nextDeadline
    }
  }

  func dropped(_ reason: DropReason) -> UInt64 {
    switch self {
    case .app(let transport): transport.dropped[reason.rawValue]
    case .trunk(let transport): transport.dropped[reason.rawValue]
    case .client(let transport): transport.dropped[reason.rawValue]
    }
  }

  func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    switch self {
    case .app(let transport): transport.apply(plan, at: now, outbox: outbox, events: &events)
    case .trunk(let transport): transport.apply(plan, at: now, events: &events)
    case .client(let transport): transport.apply(plan, at: now, outbox: outbox, events: &events)
    }
  }

  func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    switch self {
    case .app(let transport):
      transport.receive(packet, on: port, from: address, at: now, outbox: outbox, events: &events)
    case .trunk(let transport):
      transport.receive(packet, on: port, from: address, at: now, events: &events)
    case .client(let transport):
      transport.receive(packet, on: port, from: address, at: now, outbox: outbox, events: &events)
    }
  }

  func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    switch self {
    case .app(let transport): transport.advance(to: now, outbox: outbox, events: &events)
    case .trunk(let transport): transport.advance(to: now, events: &events)
    case .client(let transport): transport.advance(to: now, outbox: outbox, events: &events)
    }
  }

  /// `locals`: our addresses, where they changed; only the app's own side has a say in that.
  func restart(_ credentials: ICECredentials, locals: [ClientTransport.Local]? = nil) {
    switch self {
    case .app(let transport): transport.restart(credentials)
    case .client(let transport): transport.restart(credentials, locals: locals)
    case .trunk: break
    }
  }

  /// Whether a way is still looked for; only the app's own side looks.
  var seeksWay: Bool {
    if case .client(let transport) = self { return transport.seeksWay }
    return false
  }

  /// When the peer was last heard; only the app's own side asks.
  var heard: MonotonicInstant? {
    if case .client(let transport) = self { return transport.heard }
    return nil
  }

  /// Another address of ours that sound may take; only the app's own side has a say in that.
  func add(
    _ local: ClientTransport.Local, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {
    if case .client(let transport) = self { transport.add(local, at: now, outbox: outbox, events: &events) }
  }

  /// Protects RTP in place; `false`: it may not leave.
  func protectRTP(_ packet: PacketBuffer) -> Bool {
    switch self {
    case .app(let transport): transport.protectRTP(packet)
    case .trunk(let transport): transport.protectRTP(packet)
    case .client(let transport): transport.protectRTP(packet)
    }
  }

  func protectRTCP(_ packet: PacketBuffer) -> Bool {
    switch self {
    case .app(let transport): transport.protectRTCP(packet)
    case .trunk(let transport): transport.protectRTCP(packet)
    case .client(let transport): transport.protectRTCP(packet)
    }
  }

  func close(at now: MonotonicInstant, outbox: PacketOutbox) {
    switch self {
    case .app(let transport): transport.close(at: now, outbox: outbox)
    case .trunk(let transport): transport.close(at: now)
    case .client(let transport): transport.close(at: now, outbox: outbox)
    }
  }
}
