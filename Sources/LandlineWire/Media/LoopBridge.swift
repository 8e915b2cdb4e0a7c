package import CallModel
package import MediaCore
package import SecureTransport

/// What a loop drives: a ``MediaBridge``, or in a test something that shows what it was given.
package protocol LoopBridge: AnyObject {
  /// The user fragment of ours that a STUN request is for.
  static func userFragment(in packet: PacketBuffer) -> String?

  var nextDeadline: MonotonicInstant? { get }

  func receive(
    _ packet: PacketBuffer, of id: LegID, on port: MediaPort, from address: MediaAddress,
    at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent])
  func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent])
  func handle(
    _ command: MediaCommand, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent])
}
