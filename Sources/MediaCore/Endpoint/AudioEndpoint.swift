public import CallModel
public import SDPCore
public import SecureTransport

/// One leg with sound of our own: what a microphone or a file gives goes out, what comes in is played.
public final class AudioEndpoint {
  public struct Configuration: Sendable {
    /// The leg; ``MediaLegConfiguration/Transport/client(_:)`` for an app, the others work as well.
    public var leg: MediaLegConfiguration
    /// Hz of the sound that is sent and taken: 8000, 16000 or 48000.
    public var samplingRate = 48_000

    public init(_ leg: MediaLegConfiguration) { self.leg = leg }
  }

  public enum Command: Sendable {
    /// What both ends agreed on, first or anew.
    case plan(MediaPlan)
    /// Our credentials of an ICE restart, and our addresses where they changed, before the plan that it leads to.
    case restart(ICECredentials, locals: [ClientTransport.Local]?)
    /// Press keys, one after the other: milliseconds of each, then of the pause.
    case sendDigits(codes: [Int], milliseconds: Int, pause: Int)
    /// Silence goes out in place of what is given.
    case mute(Bool)
    /// RTCP BYE, DTLS close_notify, then ``Event/closed``.
    case close
  }

  public enum Event: Hashable, Sendable {
    /// An address of the peer works; keys may still be missing.
    case connected(MediaAddress)
    /// Keys are there: sound can flow. `nil`: unprotected RTP.
    case secured(CryptoSuite?)
    /// Packets take another way than before.
    case moved(MediaAddress)
    case failed(TransportFailure)
    /// The peer ended the DTLS association.
    case closedByPeer
    case firstMedia
    case digit(DigitPressed)
    /// No sound has come for ``MediaLegConfiguration/silence``; told once until it comes again.
    case silence
    case soundAgain
    /// The peer said BYE in RTCP.
    case bye
    /// Once a second.
    case statistics(MediaStatistics)
    /// All is released; nothing follows.
    case closed
  }

  public private(set) var isClosed = false

  public init(_ configuration: Configuration, workspace: MediaWorkspace, at now: MonotonicInstant) {}

  /// When ``advance(to:outbox:events:)`` is due; `nil` when closed.
  public var nextDeadline: MonotonicInstant? { nil }

  /// A datagram came in on a port of ours. Its buffer may be changed; it is free again afterwards.
  public func receive(
    _ packet: PacketBuffer, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [Event]
  ) {}

  public func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [Event]) {}

  public func handle(
    _ command: Command, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [Event]
  ) {}

  /// Takes sound at ``Configuration/samplingRate``, best 20 ms at a time every 20 ms; it goes out in packets of the
  /// length that was agreed on. Before the keys are there it is dropped.
  public func send(_ samples: [Int16], at now: MonotonicInstant, outbox: PacketOutbox) {}

  /// The next 20 ms of playout, to be asked for every 20 ms: what came in, in order; concealed where a packet is missing;
  /// silence where there is nothing. Always ``Configuration/samplingRate`` / 50 samples.
  public func take(at now: MonotonicInstant) -> [Int16] { [] }
}
