public import CallModel
public import SDPCore

/// The packet side of a trunk leg: plain RTP, or SRTP with keys from the description (SDES, RFC 4568), on ports of its own.
///
/// With SDES nothing is sent unprotected and nothing is heard that does not authenticate. It sends nothing by itself.
public final class TrunkTransport {
  /// What a trunk leg is made from.
  public struct Configuration: Sendable {
    /// RTP's socket; RTCP's too where the plan says that both share it.
    public var port: MediaPort
    /// `nil`: RTCP shares ``port`` or is not had.
    public var controlPort: MediaPort?
    /// Whose packets are taken, for RTP and RTCP alike.
    public var source: SourcePolicy

    /// Without a `controlPort`, RTCP is had only where it shares `port`.
    public init(port: MediaPort, controlPort: MediaPort? = nil, source: SourcePolicy = .strict) {
      self.port = port
      self.controlPort = controlPort
      self.source = source
    }
  }

  /// Milliseconds for which a receive key is still tried after a new one was agreed on: packets on their way.
  public static let keyGrace: Int64 = 2_000

  private enum Protection {
    /// Before the first plan, after ``TrunkTransport/close(at:)``, or no key: nothing passes.
    case closed
    case plain
    case secured(send: SRTPContext, receive: SRTPContext)
  }

  private struct FormerKey {
    let context: SRTPContext
    let until: MonotonicInstant
  }

  private let configuration: Configuration
  private var plan: MediaPlan?
  private var protection = Protection.closed
  private var formerKey: FormerKey?
  private var media: SourceLatch
  private var control: SourceLatch
  private var isMultiplexed = false
  private var isExhaustionTold = false
  private var isClosed = false

  /// Datagrams dropped since the start, by ``DropReason/rawValue``.
  public private(set) var dropped = ContiguousArray<UInt64>(repeating: 0, count: DropReason.allCases.count)

  /// Nothing passes before the first plan.
  public init(_ configuration: Configuration, at now: MonotonicInstant) {
    self.configuration = configuration
    media = SourceLatch(configuration.source)
    control = SourceLatch(configuration.source)
  }

  /// The socket that RTP leaves by and comes in on.
  public var port: MediaPort { configuration.port }
  /// Equal to ``port`` when RTCP shares it; `nil` when there is none.
  public var controlPort: MediaPort? { isMultiplexed ? configuration.port : configuration.controlPort }
  /// Where RTP goes; `nil` while the peer wants none.
  public var destination: MediaAddress? { media.destination }
  /// Where RTCP goes; `nil` when there is none.
  public var controlDestination: MediaAddress? { isMultiplexed ? media.destination : control.destination }

  /// Keys or none are agreed on, and there is somewhere to send.
  public var isReady: Bool {
    if case .closed = protection { return false }
    return destination != nil
  }

  /// The first plan, or a later one: another address forgets what was learned, another key replaces ours at once and the
  /// peer's after ``keyGrace``; what did not change goes on.
  public func apply(_ plan: MediaPlan, at now: MonotonicInstant, events: inout [TransportEvent]) {
    guard !isClosed else { return }
    let former = self.plan
    self.plan = plan
    isMultiplexed = plan.multiplexesRTCP
    media.signal(plan.remote.host.flatMap { MediaAddress($0, port: plan.remote.port) })
    control.signal(
      isMultiplexed
        ? nil : plan.remote.rtcpHost.flatMap { host in plan.remote.rtcpPort.flatMap { MediaAddress(host, port: $0) } })
    let changes = former.map { plan.changes(since: $0) } ?? [.sendKey, .receiveKey]
    guard !changes.isDisjoint(with: [.sendKey, .receiveKey, .association]) else { return }
    protect(plan.protection, changes, at: now, events: &events)
  }

  private func protect(
    _ agreed: MediaPlan.Protection, _ changes: MediaPlan.Changes, at now: MonotonicInstant,
    events: inout [TransportEvent]
  ) {
    let before = protection
    // Nothing leaves under the old agreement if the new one cannot be had.
    protection = .closed
    formerKey = nil
    switch agreed {
    case .none:
      protection = .plain
      events.append(.secured(nil))
    case .sdes(let keys):
      do {
        var kept: (send: SRTPContext?, receive: SRTPContext?)
        if case .secured(let formerSend, let formerReceive) = before {
          if !changes.contains(.sendKey) { kept.send = formerSend }
          if changes.contains(.receiveKey) {
            formerKey = FormerKey(
              context: formerReceive, until: now.advanced(byMilliseconds: TrunkTransport.keyGrace))
          } else {
            kept.receive = formerReceive
          }
        }
        protection = .secured(
          send: try TrunkTransport.context(kept.send, keys.suite, keys.send, .send),
          receive: try TrunkTransport.context(kept.receive, keys.suite, keys.receive, .receive))
        isExhaustionTold = false
        events.append(.secured(keys.suite))
      } catch {
        formerKey = nil
        events.append(.failed(error))
      }
    case .dtls: events.append(.failed(.handshake))
    }
  }

  private static func context(
    _ kept: SRTPContext?, _ suite: CryptoSuite, _ key: SRTPMasterKey, _ direction: SRTPContext.Direction
  ) throws(TransportFailure) -> SRTPContext {
    if let kept { return kept }
    return try SRTPContext(suite, key, direction)
  }

  /// A datagram came in on one of the ports. What is ``ReceivedDatagram/rtp`` or ``ReceivedDatagram/rtcp`` stands plain in
  /// the buffer.
  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    let result = open(packet, on: port, from: address, at: now, events: &events)
    if case .dropped(let reason) = result { dropped[reason.rawValue] += 1 }
    return result
  }

  private func open(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    events: inout [TransportEvent]
  ) -> ReceivedDatagram {
    guard packet.count <= PacketBuffer.maximumDatagram, packet.count >= SRTPLayout.rtcpHeader else {
      return .dropped(.length)
    }
    guard packet[0] >> 6 == 2 else { return .dropped(.kind) }
    // RFC 5761 section 4: packet types 192 to 223 are RTCP where both share a port.
    let isControl = 192...223 ~= packet[1]
    let isOnMediaPort = port == configuration.port
    guard isOnMediaPort || port == configuration.controlPort,
      isControl != isOnMediaPort || isMultiplexed && isOnMediaPort
    else { return .dropped(.kind) }
    guard isControl || packet.count >= SRTPLayout.rtpHeader else { return .dropped(.length) }

    let isProtected: Bool
    var isProof = false
    switch protection {
    case .closed: return .dropped(.early)
    case .plain: isProtected = false
    case .secured: isProtected = true
    }
    guard (isOnMediaPort ? media : control).admits(address, at: now, isProtected: isProtected) else {
      return .dropped(.source)
    }
    switch protection {
    case .secured(_, let receive):
      switch isControl ? receive.unprotectRTCP(packet) : receive.unprotectRTP(packet) {
      case .opened: isProof = true
      case let verdict:
        guard opensWithFormerKey(packet, isControl: isControl, at: now) else {
          tellExhaustion(&events)
          return .dropped(TrunkTransport.reason(verdict))
        }
      }
    case .plain, .closed:
      guard isControl || SRTPLayout.headerCount(packet, within: packet.count) != nil else {
        return .dropped(.malformed)
      }
    }
    guard isProof || !isProtected else { return isControl ? .rtcp : .rtp }
    if isOnMediaPort {
      if let moved = media.accept(address, at: now, isProtected: isProtected) { events.append(.moved(moved)) }
    } else {
      _ = control.accept(address, at: now, isProtected: isProtected)
    }
    return isControl ? .rtcp : .rtp
  }

  /// Says nothing about where the peer is now: its packets may be on their way from where it was.
  private func opensWithFormerKey(_ packet: PacketBuffer, isControl: Bool, at now: MonotonicInstant) -> Bool {
    guard let formerKey, now < formerKey.until else { return false }
    return (isControl ? formerKey.context.unprotectRTCP(packet) : formerKey.context.unprotectRTP(packet)) == .opened
  }

  private static func reason(_ verdict: SRTPVerdict) -> DropReason {
    switch verdict {
    case .length: .length
    case .replay: .replay
    case .opened, .authentication, .exhausted: .authentication
    }
  }

  /// Bytes that protection adds to a packet of RTP; 0 without one.
  public var rtpOverhead: Int {
    if case .secured(let send, _) = protection { send.rtpOverhead } else { 0 }
  }

  /// Protects an RTP packet in place. `false`: it may not be sent.
  public func protectRTP(_ packet: PacketBuffer) -> Bool {
    switch protection {
    case .closed: false
    case .plain: true
    case .secured(let send, _): send.protectRTP(packet)
    }
  }

  /// Protects an RTCP compound in place. `false`: it may not be sent.
  public func protectRTCP(_ packet: PacketBuffer) -> Bool {
    switch protection {
    case .closed: false
    case .plain: true
    case .secured(let send, _): send.protectRTCP(packet)
    }
  }

  /// When ``advance(to:events:)`` is due next.
  public var nextDeadline: MonotonicInstant? { isExhaustionDue ? .zero : formerKey?.until }

  /// Time went by: forgets the former key after its grace, and tells a key that is used up.
  public func advance(to now: MonotonicInstant, events: inout [TransportEvent]) {
    if let formerKey, now >= formerKey.until { self.formerKey = nil }
    tellExhaustion(&events)
  }

  private var isExhaustionDue: Bool {
    guard case .secured(let send, let receive) = protection, !isExhaustionTold else { return false }
    return send.isExhausted || receive.isExhausted
  }

  private func tellExhaustion(_ events: inout [TransportEvent]) {
    guard isExhaustionDue else { return }
    isExhaustionTold = true
    events.append(.failed(.key))
  }

  /// Forgets all keys; nothing passes any more.
  public func close(at now: MonotonicInstant) {
    isClosed = true
    protection = .closed
    formerKey = nil
  }
}
