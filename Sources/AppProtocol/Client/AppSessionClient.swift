public import CallModel

/// What the client's end of a session is told.
public enum AppSessionClientInput: Sendable {
  /// Connect and register with this proof. From ``AppSessionClient/State/idle`` or ``AppSessionClient/State/ended(_:)``.
  case start(Registration)
  /// The WebSocket asked for with ``AppSessionClientEffect/connect(_:)`` is open.
  case opened(ConnectionID)
  /// A whole text message.
  case text(ConnectionID, [UInt8])
  /// The WebSocket closed or never opened; `code` of the peer's close frame, `nil` without one.
  case closed(ConnectionID, code: UInt16?)
  /// Something that breaks WebSocket itself or a binary message came.
  case violation(ConnectionID)
  /// The device has another network: connect again at once rather than wait for a sign of loss.
  case networkChanged
  /// Say bye and end.
  case stop
}

/// What the client's end of a session wants done, in order.
public enum AppSessionClientEffect: Sendable {
  /// Open a WebSocket with sub-protocol ``AppMessageCoder/subprotocol``; the last asked for is the only one that counts.
  case connect(ConnectionID)
  case send(ConnectionID, [UInt8])
  case close(ConnectionID, code: UInt16)
  case state(AppSessionClient.State)
  /// Replies and events, in the gateway's order.
  case event(AppEvent)
  /// Keep for the next start, in place of the former.
  case keep(DeviceCredential)
  /// The gateway wants no new calls.
  case draining
}

/// The client's end of a session: registers, numbers requests, matches replies, takes the session up again after a loss.
public final class AppSessionClient {
  public struct Configuration: Hashable, Sendable {
    /// Name and version of the app's software, for records.
    public var client: String
    /// A request without reply is given up after this long.
    public var replyMilliseconds: Int64 = 15_000
    /// A connection that is not open and registered by then is given up and tried anew.
    public var connectMilliseconds: Int64 = 10_000
    /// Nothing for this long: a ping is sent; and as long again without anything: the connection counts as lost.
    public var pingMilliseconds: Int64 = 20_000
    public var pongMilliseconds: Int64 = 10_000
    /// The wait before the second attempt; doubles with each, up to the longest.
    public var firstBackoffMilliseconds: Int64 = 250
    public var longestBackoffMilliseconds: Int64 = 30_000
    /// Most requests without reply at a time.
    public var maximumPending = 64
    public init(client: String) { self.client = client }
  }

  public enum State: Hashable, Sendable {
    case idle
    case connecting
    case registering
    /// Requests may be sent.
    case ready
    /// The connection is lost and being made anew; requests wait for it.
    case reconnecting
    /// `nil` after ``AppSessionClientInput/stop``.
    case ended(CallFailure?)
  }

  public private(set) var state = State.idle
  /// The latest answer to a registration.
  public private(set) var registered: Registered?
  public private(set) var nextDeadline: MonotonicInstant?

  /// - Parameter draw: 64 random bits, for the jitter of the waits.
  public init(_ configuration: Configuration, draw: @escaping () -> UInt64) {}

  public func handle(
    _ input: AppSessionClientInput, at now: MonotonicInstant, into effects: inout [AppSessionClientEffect]
  ) {}

  /// Sends a request, or keeps it until the connection stands again. The reply comes as
  /// ``AppEvent/placed(_:_:answer:)``, ``AppEvent/done(_:)``, ``AppEvent/answered(_:_:_:)`` or
  /// ``AppEvent/refused(_:_:)`` with this number; exactly one, a timeout included.
  /// - Returns: `nil` unless the session stands, or when too many requests wait.
  public func send(
    _ request: AppRequest, at now: MonotonicInstant, into effects: inout [AppSessionClientEffect]
  ) -> RequestNumber? { nil }

  public func advance(to now: MonotonicInstant, into effects: inout [AppSessionClientEffect]) {}
}
