public import CallModel
public import SDPCore
public import SecureTransport

/// Joins two legs, or a leg and a prompt: a call's sound from one datagram to the other.
///
/// Sans-IO: datagrams and the time come in, datagrams go to the outbox, the rest goes to `events`. Nothing is allocated
/// for a packet in the steady state.
public final class MediaBridge {
  public struct Identifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
  }

  public struct Configuration: Sendable {
    /// Milliseconds without a packet after which silence is told.
    public var silence: Int64 = 5_000

    public init() {}
  }

  public let identifier: Identifier

  public init(_ identifier: Identifier, _ configuration: Configuration, at now: MonotonicInstant) {
    self.identifier = identifier
    nextDeadline = nil
  }

  /// When ``advance(to:outbox:events:)`` is due next.
  public private(set) var nextDeadline: MonotonicInstant?

  /// A datagram came. Its buffer may be changed; it is free again afterwards.
  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [MediaEvent]
  ) {}

  /// Time went by.
  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {}

  public func handle(
    _ command: MediaCommand, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {}
}

/// What the hall asks of a bridge.
public enum MediaCommand: Sendable {
  /// What both ends of a leg agreed on, first or anew.
  case plan(BridgeSide, MediaPlan)
  /// Press keys towards a leg, one after the other: milliseconds of each, then of the pause.
  case sendDigits(BridgeSide, codes: [Int], milliseconds: Int, pause: Int)
  /// Nothing that comes from this leg is passed on; towards the other go silence packets only if it needs them.
  case mute(BridgeSide, Bool)
  /// Ends the bridge: RTCP BYE, DTLS close_notify, then ``MediaEvent/closed``.
  case close
}
