public import CallModel

/// One SIP endpoint: calls, queries and registrations over any number of listeners. No socket, clock or random source
/// inside: inputs carry the time, effects are appended for the shell, which performs them in order.
public final class UserAgent {
  /// How this node names itself.
  public struct Configuration: Sendable {
    /// One for each listener.
    public var addresses: [AdvertisedAddress]
    public var limits: UserAgentLimits
    /// User-Agent and Server.
    public var productName: String
    /// Whether calls from outside are reported; otherwise an INVITE gets 404.
    public var acceptsCalls: Bool
    /// What session timers calls that came in get.
    public var sessionTimer: SessionTimerPolicy
    /// Whether 100rel is asked for in provisional responses of ours.
    public var reliability: OutgoingCall.Reliability
    public var allowsTransfer: Bool

    public init(
      addresses: [AdvertisedAddress], limits: UserAgentLimits = .standard, productName: String = "Landline",
      acceptsCalls: Bool = false, sessionTimer: SessionTimerPolicy = .standard,
      reliability: OutgoingCall.Reliability = .supported, allowsTransfer: Bool = false
    ) {
      self.addresses = addresses
      self.limits = limits
      self.productName = productName
      self.acceptsCalls = acceptsCalls
      self.sessionTimer = sessionTimer
      self.reliability = reliability
      self.allowsTransfer = allowsTransfer
    }
  }

  public let configuration: Configuration

  public init(_ configuration: Configuration, identifiers: IdentifierSource) {
    self.configuration = configuration
  }

  /// When ``advance(to:into:)`` is due next; `nil` while nothing waits.
  public var nextDeadline: MonotonicInstant? { nil }

  /// One datagram, or one message that ``StreamFramer`` cut out of a stream.
  /// - Parameter date: The wall clock, for Date and Retry-After dates.
  public func receive(
    _ bytes: [UInt8], from path: SIPPath, at now: MonotonicInstant, into effects: inout [UserAgentEffect]
  ) {}

  public func handle(_ command: UserAgentCommand, at now: MonotonicInstant, into effects: inout [UserAgentEffect]) {}

  /// The bytes of a `send` with this transaction could not be sent, or its connection broke before an answer.
  public func transportFailed(
    _ transaction: TransactionID, at now: MonotonicInstant, into effects: inout [UserAgentEffect]
  ) {}

  /// Fires every timer that is due.
  public func advance(to now: MonotonicInstant, into effects: inout [UserAgentEffect]) {}
}
