public import CallModel
public import SDPCore

/// The packet side of an app's own leg to a gateway: full ICE, DTLS and SRTP. Belongs to one thread.
public final class ClientTransport {
  /// An address of ours with the socket that is bound to it.
  public struct Local: Hashable, Sendable {
    public var port: MediaPort
    /// What the peer sees and a candidate names.
    public var address: MediaAddress
    /// The higher, the better; 65535 for the only one (RFC 8445 section 5.1.2.1).
    public var preference: UInt16

    public init(port: MediaPort, address: MediaAddress, preference: UInt16 = .max) {
      self.port = port
      self.address = address
      self.preference = preference
    }

    /// For `a=candidate`.
    public var candidate: ICECandidate {
      ICECandidate(
        foundation: String(UInt32(address.high >> 32 ^ address.high ^ address.low >> 32 ^ address.low) ^ 1),
        component: 1, priority: Int(ICEPriority.of(.host, localPreference: preference)),
        address: address.host.description, port: Int(address.port))
    }
  }

  public struct Configuration: Sendable {
    /// At most ``ClientTransport/maximumLocals`` count, in this order.
    public var locals: [Local]
    public var certificate: DTLSCertificate
    public var credentials: ICECredentials
    /// Best first. As DTLS client the peer's order decides.
    public var suites: [CryptoSuite] = [.aesGCM128, .aesGCM256, .aesCM128HMAC80]
    /// Milliseconds from the first plan, or a restart, to a nominated address.
    public var connectivityTimeout: Int64 = 30_000
    /// Milliseconds that media goes on without an answer of the peer (RFC 7675 section 5.1).
    public var consentTimeout: Int64 = 30_000
    /// Milliseconds from the first working address to the keys.
    public var handshakeTimeout: Int64 = 15_000
    /// Random numbers for transactions and times, from the system's generator.
    public var draw: @Sendable () -> UInt64

    public init(
      locals: [Local], certificate: DTLSCertificate, credentials: ICECredentials, draw: @escaping @Sendable () -> UInt64
    ) {
      self.locals = locals
      self.certificate = certificate
      self.credentials = credentials
      self.draw = draw
    }
  }

  public static let maximumLocals = 8

  /// Dropped datagrams by ``DropReason``'s raw value.
  public var dropped: ContiguousArray<UInt64> { counts }
  private var counts = ContiguousArray<UInt64>(repeating: 0, count: DropReason.allCases.count)
  private let configuration: Configuration

  public init(_ configuration: Configuration, at now: MonotonicInstant) { self.configuration = configuration }

  /// The socket of the nominated pair; before, that of the first address.
  public var port: MediaPort { configuration.locals.first?.port ?? MediaPort(rawValue: 0) }
  /// Where media goes: the nominated address; `nil` before, and after consent is lost.
  public var destination: MediaAddress? { nil }
  public var isReady: Bool { false }
  public var nextDeadline: MonotonicInstant? { nil }

  public func apply(
    _ plan: MediaPlan, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]
  ) {}

  /// Our credentials of an ICE restart, and our addresses where they changed, before the plan that it leads to.
  public func restart(_ credentials: ICECredentials, locals: [Local]? = nil) {}

  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from source: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [TransportEvent]
  ) -> ReceivedDatagram { .dropped(.early) }

  public func protectRTP(_ packet: PacketBuffer) -> Bool { false }
  public func protectRTCP(_ packet: PacketBuffer) -> Bool { false }
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {}
  public func close(at now: MonotonicInstant, outbox: PacketOutbox) {}
}
