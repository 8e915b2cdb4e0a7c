public import CallModel

/// One WebSocket connection.
public struct ConnectionID: Hashable, Sendable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// One proof under examination.
public struct VerificationID: Hashable, Sendable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// What the door is told.
public enum AppDoorInput: Sendable {
  /// A WebSocket with sub-protocol `landline.v1` was opened from this address.
  case opened(ConnectionID, host: SIPHost)
  /// A whole text message.
  case text(ConnectionID, [UInt8])
  /// Something that has no place in the protocol: a binary message, text that is no UTF-8, more than may be sent.
  case violation(ConnectionID, closeCode: UInt16, String)
  case pong(ConnectionID)
  /// What is to be sent has piled up beyond the limit: a reader that does not read.
  case clogged(ConnectionID)
  case closed(ConnectionID)
  case verified(VerificationID, RegistrationVerdict)
  /// Something to tell an app.
  case event(SessionID, AppEvent)
  /// No new sessions, no new calls.
  case drain
}

/// What the door wants done, in order.
public enum AppDoorEffect: Sendable {
  case send(ConnectionID, [UInt8])
  case ping(ConnectionID)
  /// A close frame with this code (RFC 6455 section 7.4), after all that was sent.
  case close(ConnectionID, code: UInt16, reason: String)
  case verify(VerificationID, Registration, host: SIPHost)
  case opened(SessionID, AppIdentity)
  case request(SessionID, RequestNumber, AppRequest)
  /// The connection is lost; the session waits to be resumed.
  case absent(SessionID)
  case resumed(SessionID)
  /// The session is over: its calls end.
  case ended(SessionID)
}

/// The gateway's end of all app connections of one node. Not shared between threads.
public final class AppDoor {
  /// Named limits.
  public struct Configuration: Hashable, Sendable {
    /// The gateway's version, told with each registration.
    public var version: String
    public var authenticationMilliseconds: Int64 = 5000
    public var pingMilliseconds: Int64 = 20_000
    public var pongMilliseconds: Int64 = 10_000
    /// How long a session without connection waits.
    public var resumeMilliseconds: Int64 = 30_000
    public var maximumMessageBytes = AppMessageCoder.maximumMessageBytes
    public var maximumConnections = 10_000
    public var maximumConnectionsPerHost = 256
    public var maximumSessions = 10_000
    public var maximumSessionsPerUser = 32
    /// Live calls of one session.
    public var maximumCalls = 64
    /// Requests of one session that wait for their reply.
    public var maximumPendingRequests = 64
    /// Events of one session kept until they are known to have arrived, by number and by bytes.
    public var maximumBufferedEvents = 256
    public var maximumBufferedBytes = 1_048_576
    /// Messages of one session a second, and at once.
    public var requestsPerSecond: Int64 = 20
    public var requestBurst: Int64 = 60
    /// Registrations and resumptions of one host a second, and at once. An IPv6 host is its /64.
    public var registrationsPerSecond: Int64 = 20
    public var registrationBurst: Int64 = 100
    /// Hosts whose registrations are counted one by one.
    public var maximumHosts = 4096
    /// Proofs under examination at a time.
    public var maximumVerifications = 256
    /// A proof without verdict by then counts as unavailable.
    public var verificationMilliseconds: Int64 = 4000
    public init(version: String) { self.version = version }
  }

  public private(set) var connectionCount = 0
  public private(set) var sessionCount = 0
  public private(set) var nextDeadline: MonotonicInstant?

  /// - Parameter draw: 64 bits from the system's generator; resumption tokens are made of them.
  public init(_ configuration: Configuration, draw: @escaping () -> UInt64) {}

  public func handle(
    _ input: AppDoorInput, at now: MonotonicInstant, clock: Instant, into effects: inout [AppDoorEffect]
  ) {}
  public func advance(to now: MonotonicInstant, clock: Instant, into effects: inout [AppDoorEffect]) {}
}
